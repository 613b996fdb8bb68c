"""The field registry: every field is whole, and a value that cannot be true is refused in words."""

import pytest
from django.utils import translation

from stackviz.base.units import UNITS, to_si
from stackviz.pages.learn.glossary import read_glossary
from stackviz.records.catalog.absences import RULES
from stackviz.records.catalog.conditions import canonical
from stackviz.records.catalog.fields import (
    COMPUTE_RATE,
    FIELDS,
    GROUPS,
    HEADLINES,
    MEANING_OF,
    MEANINGS,
    amount_of,
    grouped,
)
from stackviz.records.catalog.files import read_catalogue


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_a_field_is_whole(field):
    assert field.group in {group.name for group in GROUPS}
    assert not field.unit or field.unit in UNITS
    assert str(field.title)
    assert str(field.meaning).endswith(".")
    assert field.is_text == (field.plausible is None)


def test_what_a_field_refers_to_is_in_the_glossary():
    anchors = {term.anchor for chapter in read_glossary("en") for term in chapter.terms}
    assert {field.glossary for field in FIELDS.values() if field.glossary} <= anchors


@pytest.mark.parametrize(
    ("name", "value", "unit", "amount"),
    [
        ("memory_bandwidth_gb_s", "3350", "GB/s", 3.35e12),
        ("memory_gb", "32", "GiB", 32e9),
        ("l2_cache_mb", "256", "MiB", 256e6),
        ("gpu_memory_limit_mb", "21845.34", "MiB", 21845.34 * 2**20),
        ("bf16_tensor_tflops", "989.4", "TFLOPS", 989.4e12),
        ("transistors", "80", "billion", 80e9),
        ("mig_instances", "0", "count", 0.0),
        ("architecture", "Hopper", "", None),
        ("release_date", "2022", "", None),
        ("release_date", "2022-10", "", None),
        ("release_date", "2022-10-13", "", None),
    ],
)
def test_a_printed_value_has_an_amount_in_base_units(name, value, unit, amount):
    assert amount_of(FIELDS[name], value, unit) == (pytest.approx(amount) if amount else amount)


@pytest.mark.parametrize(
    ("name", "value", "unit", "words"),
    [
        ("memory_bandwidth_gb_s", "fast", "GB/s", "is a number, not 'fast'"),
        ("memory_bandwidth_gb_s", "3350", "", "needs a unit, such as GB/s"),
        ("memory_bandwidth_gb_s", "3350", "GB", "measures something else"),
        ("memory_bandwidth_gb_s", "3350", "parsec", "unknown unit 'parsec'"),
        ("memory_bandwidth_gb_s", "-1", "GB/s", "cannot be negative"),
        ("memory_bandwidth_gb_s", "nan", "GB/s", "not a finite quantity"),
        ("memory_bandwidth_gb_s", "inf", "GB/s", "not a finite quantity"),
        ("memory_bandwidth_gb_s", "1e308", "GB/s", r"1e\+308 GB/s is not a finite quantity"),
        ("tdp_w", "700000", "W", "lies between 1 and 30000 W"),
        ("architecture", "Hopper", "W", "is text and has no unit"),
        ("release_date", "soon", "", "is written 2022, 2022-10 or 2022-10-13, not 'soon'"),
        ("release_date", "2022-13", "", "is written 2022"),
        ("release_date", "2022-02-30", "", "is written 2022"),
        ("release_date", "13.10.2022", "", "is written 2022"),
    ],
)
def test_a_value_that_cannot_be_true_is_refused_in_words(name, value, unit, words):
    with pytest.raises(ValueError, match=words):
        amount_of(FIELDS[name], value, unit)


def test_unit_errors_are_in_the_curators_language():
    with translation.override("zh-hans"):
        with pytest.raises(ValueError, match=r"^未知单位 'parsec'：可用的有 %, "):
            amount_of(FIELDS["tdp_w"], "1", "parsec")
        with pytest.raises(ValueError, match=r"^nan W 不是有限的数值$"):
            amount_of(FIELDS["tdp_w"], "nan", "W")


def test_groups_and_fields_keep_the_registry_order():
    found = [
        (group.name, [field.name for field in fields])
        for group, fields in grouped(["tdp_w", "memory_type", "memory_gb"])
    ]
    assert found == [("memory", ["memory_gb", "memory_type"]), ("power", ["tdp_w"])]


def test_a_sheet_leads_with_memory_bandwidth_rates_and_power():
    assert [field.name for field in HEADLINES] == [
        "release_date",
        "memory_gb",
        "memory_bandwidth_gb_s",
        "fp32_tflops",
        "fp16_tensor_tflops",
        "bf16_tensor_tflops",
        "int8_tensor_tops",
        "tdp_w",
    ]


@pytest.mark.parametrize(
    ("name", "vendor", "kind", "applies"),
    [
        ("metal_gpu_family", "apple", "soc", True),
        ("metal_gpu_family", "nvidia", "soc", False),
        ("neural_engine_tops", "google", "asic", False),
        ("min_macos", "nvidia", "gpu", False),
        ("nvml_name", "nvidia", "gpu", True),
        ("nvml_name", "amd", "gpu", False),
        ("mig_instances", "apple", "soc", False),
        ("compute_capability", "amd", "gpu", True),
        ("compute_capability", "apple", "soc", False),
        ("fp64_tensor_tflops", "apple", "soc", False),
        ("fp64_tensor_tflops", "nvidia", "gpu", True),
        ("pcie", "nvidia", "soc", True),
        ("pcie", "apple", "soc", False),
        ("cuda_cores", "nvidia", "soc", True),
        ("cuda_cores", "apple", "soc", False),
        ("cuda_cores", "google", "asic", False),
        ("cpu_p_cores", "nvidia", "gpu", False),
        ("memory_gb", "apple", "soc", True),
        ("tdp_w", "apple", "soc", True),
    ],
)
def test_a_field_says_for_whom_it_can_be_at_all(name, vendor, kind, applies):
    assert FIELDS[name].applies_to(vendor, kind) is applies


def test_whom_a_field_is_for_names_makers_and_kinds_that_exist():
    catalogue = read_catalogue()
    known = {line.vendor for line in catalogue.accelerators} | {"gpu", "soc", "npu", "asic"}
    known |= {f"{line.vendor}/{line.kind}" for line in catalogue.accelerators}
    assert frozenset().union(*(field.only | field.never for field in FIELDS.values())) <= known


def test_no_published_value_stands_in_a_field_that_cannot_be():
    catalogue = read_catalogue()
    products = {line.slug: (line.vendor, line.kind) for line in catalogue.accelerators}
    hidden = [line.key for line in catalogue.specs if not FIELDS[line.field].applies_to(*products[line.device])]
    assert hidden == []


# --- meanings and absences are rules over the registry ---

ALL = (*MEANINGS, COMPUTE_RATE)


@pytest.mark.parametrize("meaning", ALL, ids=lambda meaning: meaning.name)
def test_members_are_fields_of_one_scale(meaning):
    fields = [FIELDS[member.field] for member in meaning.members]
    assert len(fields) > 1
    assert len({to_si(1.0, field.unit) for field in fields if field.unit}) <= 1
    assert all(canonical(condition) == condition for member in meaning.members for condition in member.conditions)


def test_a_field_has_one_meaning():
    assert len(MEANING_OF) == sum(len(meaning.members) for meaning in MEANINGS)
    assert len({meaning.name for meaning in ALL}) == len(ALL)


def test_members_of_one_kind_have_one_unit():
    for meaning in ALL:
        kinds = {(member.counts, bool(FIELDS[member.field].unit)) for member in meaning.members}
        assert len(kinds) == len({kind for kind, _unit in kinds})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.words))
def test_rules_name_fields_and_what_proves_them(rule):
    assert {*rule.fields, rule.proof[0]} <= {*FIELDS}
    assert rule.bounded <= {*rule.fields}
    assert rule.proof[0] not in rule.fields

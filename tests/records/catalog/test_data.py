"""The curated files themselves: every public value sourced, plausible, and the figures people ask for right."""

import csv
import shutil
from collections import defaultdict

import pytest

from stackviz.records.catalog.conditions import parse
from stackviz.records.catalog.fields import FIELDS, amount_of
from stackviz.records.catalog.files import DATA, SpecLine, read_catalogue
from stackviz.records.curated.rows import CuratedDataError
from tests.records.catalog.fixtures import change


@pytest.fixture(scope="module")
def catalogue():
    return read_catalogue()


@pytest.fixture(scope="module")
def preferred(catalogue) -> dict[tuple[str, str, str], SpecLine]:
    return {line.slot: line for line in catalogue.specs if line.status == "public"}


def test_the_catalogue_has_the_breadth_it_promises(catalogue):
    reviewed = [line for line in catalogue.specs if line.status in ("public", "alternative")]
    assert len(catalogue.accelerators) >= 190
    assert len(reviewed) >= 4000
    assert {line.device for line in reviewed} == {line.slug for line in catalogue.accelerators}


@pytest.mark.parametrize(
    ("device", "field", "condition", "value"),
    [
        ("nvidia-h100-sxm5-80gb", "bf16_tensor_tflops", "sparsity=dense", "989.4"),
        ("nvidia-h100-sxm5-80gb", "bf16_tensor_tflops", "sparsity=sparse", "1978.9"),
        ("nvidia-geforce-rtx-4090", "fp16_tensor_tflops", "sparsity=dense; accumulate=fp32", "165.2"),
        ("nvidia-geforce-rtx-4090", "fp16_tensor_tflops", "sparsity=dense; accumulate=fp16", "330.3"),
        ("nvidia-geforce-rtx-4060", "die_area_mm2", "", "158.7"),
        ("nvidia-t4", "fp16_tensor_tflops", "sparsity=dense", "65"),
        ("nvidia-b200-hgx", "memory_gb", "", "180"),
        ("nvidia-b200-hgx", "memory_bandwidth_gb_s", "", "7700"),
        ("nvidia-b300-hgx", "fp4_tensor_tflops", "sparsity=dense", "14000"),
        ("nvidia-dgx-spark-gb10", "fp4_tensor_tflops", "sparsity=sparse", "1000"),
        ("nvidia-jetson-agx-thor", "tensor_cores", "", "80"),
        ("nvidia-titan-v", "fp32_tflops", "sparsity=dense", "13.8"),
        ("nvidia-l40", "release_date", "event=launched", "2022-10-13"),
        ("apple-m3-max-40", "memory_bandwidth_gb_s", "", "400"),
        ("apple-m3-max-30", "memory_bandwidth_gb_s", "", "300"),
        ("apple-m3-max-30", "memory_gb_max", "", "96"),
        ("apple-m3-max-40", "memory_gb_max", "", "128"),
        ("apple-m4-10", "neural_engine_tops", "", "38"),
        ("apple-m3-10", "neural_engine_tops", "", "18"),
        ("apple-m3-max-40", "cpu_p_cores", "", "12"),
        ("apple-m3-max-30", "cpu_p_cores", "", "10"),
        ("apple-m4-max-40", "gpu_clock_mhz", "", "1578"),
        ("google-tpu-v5e", "memory_bandwidth_gb_s", "", "819"),
        ("amd-mi325x", "tdp_w", "", "1000"),
        ("nvidia-geforce-rtx-5090", "release_date", "", "2025-01-30"),
    ],
)
def test_the_figures_people_ask_for_are_right(preferred, device, field, condition, value):
    assert preferred[device, field, condition].value == value


@pytest.mark.parametrize(
    ("device", "field", "value"),
    [
        ("nvidia-geforce-rtx-4060", "die_area_mm2", "146"),
        ("amd-rx-7900-xtx", "fp64_tflops", "0.96"),
        ("intel-max-1550", "bf16_tensor_tflops", "839"),
    ],
)
def test_figures_known_to_be_wrong_are_retired(catalogue, device, field, value):
    lines = [line for line in catalogue.specs if (line.device, line.field, line.value) == (device, field, value)]
    assert [line.status for line in lines] == ["retired"]


def test_no_sparse_figure_stands_in_a_dense_place(preferred):
    """With 2:4 sparsity the rate is at most twice the dense one; Amazon's 4:1 at most four times."""
    wrong = []
    for (device, field, condition), line in preferred.items():
        parts = parse(condition)
        if parts.get("sparsity") not in ("sparse", "sparse-4:1"):
            continue
        dense = preferred.get((device, field, condition.replace(parts["sparsity"], "dense")))
        most = 4.0 if parts["sparsity"] == "sparse-4:1" else 2.0
        if dense and not 1.0 < float(line.value) / float(dense.value) <= most * 1.03:
            wrong.append((device, field, condition, dense.value, line.value))
    assert wrong == []


@pytest.fixture(scope="module")
def asked_for() -> list[str]:
    with (DATA / "asked_for.csv").open(encoding="utf-8", newline="") as file:
        return [line["device"] for line in csv.DictReader(file)]


def test_fifty_requested_accelerators_exist(catalogue, asked_for):
    assert len(set(asked_for)) == len(asked_for) == 50
    assert set(asked_for) <= {line.slug for line in catalogue.accelerators}


def test_requested_memory_figures_have_two_sources(catalogue, asked_for):
    """Of a chip that is sold with several memories the largest counts."""
    said = defaultdict(set)
    for line in catalogue.specs:
        if line.status in ("public", "alternative"):
            field = "memory_gb" if line.field == "memory_gb_max" else line.field
            said[line.device, field].add(line.source)
    asked = [(device, field) for device in asked_for for field in ("memory_gb", "memory_bandwidth_gb_s")]
    assert [cell for cell in asked if len(said[cell]) < 2] == []


def test_a_price_that_a_shop_lists_is_not_the_launch_price(catalogue):
    titles = {line.key: line.title for line in catalogue.sources}
    prices = [line for line in catalogue.specs if line.field == "launch_price_usd"]
    listed = [line for line in prices if "listing" in titles[line.source] or "listing" in line.note]
    assert len(listed) > 10
    assert [line.key for line in listed if line.status != "retired"] == []
    street = {(line.device, line.source) for line in catalogue.prices if line.kind == "street"}
    assert [line.key for line in listed if (line.device, line.source) not in street] == []


def test_sparse_only_vendor_page_derives_dense_rate(catalogue):
    """NVIDIA's page of the H100 prints the rates with sparsity: half of one is arithmetic, not what the page says."""
    lines = [
        line
        for line in catalogue.specs
        if (line.device, line.source) == ("nvidia-h100-sxm5-80gb", "nvidia-h100-product-page")
        and "tensor" in line.field
    ]
    bases = {(parse(line.condition)["sparsity"], line.basis) for line in lines}
    assert bases == {("sparse", "published"), ("dense", "derived")}


def test_fields_hold_a_unit_of_their_own_kind(catalogue):
    odd = {(line.field, line.unit) for line in catalogue.specs if line.unit != FIELDS[line.field].unit}
    assert odd == {
        ("memory_gb", "GiB"),
        ("memory_bandwidth_gb_s", "GiB/s"),
        ("gpu_memory_limit_mb", "MiB"),
        ("l2_cache_mb", "MiB"),
    }


def test_one_vendors_memory_sizes_compare_in_one_unit(catalogue):
    """Google prints 32 GiB for the TPU v4 and 32 GB for the v6e: neither is larger."""
    amounts = defaultdict(set)
    for line in catalogue.specs:
        if FIELDS[line.field].is_memory_size:
            amounts[line.field, line.value].add(amount_of(FIELDS[line.field], line.value, line.unit))
    assert {key: found for key, found in amounts.items() if len(found) > 1} == {}


def test_preferred_bandwidths_are_in_decimal_units(catalogue):
    lines = [line for line in catalogue.specs if line.field == "memory_bandwidth_gb_s" and line.status == "public"]
    assert {line.unit for line in lines} == {"GB/s"}


def test_notes_name_no_place_on_anybodys_disk(catalogue):
    notes = [line.note for line in (*catalogue.specs, *catalogue.aliases)]
    assert [
        note for note in notes if "/work" in note or "/home/" in note or "specs_" in note or "trap article" in note
    ] == []


def test_bins_of_one_chip_share_a_family(catalogue):
    families = defaultdict(list)
    for line in catalogue.accelerators:
        if line.family:
            families[line.family].append(line.vendor)
    assert families["m3-max"] == ["apple"] * 2
    assert families["m2"] == ["apple"] * 3
    assert families["ascend-910b"] == ["huawei"] * 5
    assert families["geforce-rtx-4090"] == ["nvidia"] * 3
    assert [family for family, vendors in families.items() if len(set(vendors)) > 1] == []


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("sources.csv", "https://www.nvidia.com", "ftp://www.nvidia.com", "not a web address"),
        ("sources.csv", "quote,2026-11-22", "hearsay,2026-11-22", "read_as must be one of first-hand, copy"),
        ("sources.csv", "quote,2026-11-22", "quote,22.11.2026", "read_on is a day such as 2026-11-20"),
        ("accelerators.csv", "nvidia-t4,NVIDIA T4,nvidia", "nvidia-t4,NVIDIA T4,nowhere", "unknown vendor 'nowhere'"),
        ("specs/nvidia.csv", "nvidia-t4,tdp_w,70,W,", "nvidia-t4,tdp_w,seventy,W,", "tdp_w is a number, not 'seventy'"),
        ("specs/nvidia.csv", "nvidia-t4,tdp_w,70,W,", "nvidia-t4,tdp_w,70,GB,", "measures something else"),
        ("specs/nvidia.csv", "nvidia-t4,tdp_w,70,W,,", "nvidia-t4,tdp_w,70,W,hot,", "is not key=value"),
        ("specs/nvidia.csv", "nvidia-t4,tdp_w,", "nvidia-t4,power,", "unknown field 'power'"),
        ("specs/nvidia.csv", "nvidia-t4,tdp_w,", "nvidia-t5,tdp_w,", "unknown accelerator 'nvidia-t5'"),
        ("aliases.csv", "nvidia-t4,Tesla T4,", "nvidia-t4,®,", "consists only of the vendor"),
        ("vendors.csv", "slug,name", "slug,title", "the header is"),
    ],
)
def test_a_mistake_in_the_files_is_named_with_its_line(tmp_path, file, old, new, problem):
    folder = shutil.copytree(DATA, tmp_path / "data")
    change(folder, file, old, new)
    with pytest.raises(CuratedDataError, match=problem) as error:
        read_catalogue(folder)
    assert error.value.problems[0].startswith(file.split("/")[-1] if "header" in problem else file)

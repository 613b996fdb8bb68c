"""Facts of a report as people read them."""

import pytest

from stackviz.intake.report_parts.facts import fact_text, missing_facts, one_fact, shown_facts
from stackviz.records.labs.queries import absences


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("memory.total_bytes", 137_438_953_472, "128 GiB"),
        ("cpu.cores_logical", 224, "224"),
        ("sm_clock_max_hz", 1_980_000_000.0, "1.98 GHz"),
        ("power_limit_w", 700.0, "700 W"),
        ("before.temperature_c", 41.0, "41 °C"),
        ("before.busy_ratio", 0.0, "0"),
        ("mps.available", False, "no"),
        ("torch.version", "2.8.0+cu128", "2.8.0+cu128"),
        ("a.fact.nobody.knows", 12.5, "12.5"),
        ("torch.version", None, ""),
    ],
)
def test_a_fact_is_written_in_its_unit(name, value, text):
    assert fact_text(name, value) == text


def test_a_very_long_text_is_cut_where_it_is_shown():
    assert len(fact_text("cpu.features", "x" * 4096)) < 500


def test_a_missing_fact_says_why_in_words():
    absent = absences({"torch.version": {"reason": "not_installed", "detail": "no module torch"}})
    fact = one_fact("torch.version", {}, absent)
    assert (fact.text, fact.missing, fact.detail) == ("", "not installed", "no module torch")
    assert one_fact("torch.version", {}, {}).missing == "not reported"
    broken = missing_facts(absences({"os.name": None, "x": {"reason": 7}}))
    assert [fact.missing for fact in broken] == ["unknown", "unknown"]


def test_facts_keep_registry_order():
    names = [fact.name for fact in shown_facts({"zz.new": 1, "torch.version": "2", "os.name": "Ubuntu"})]
    assert names == ["os.name", "torch.version", "zz.new"]

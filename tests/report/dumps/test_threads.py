"""What people paste into issue threads: causes named, nothing dangerous; own texts always, real ones where they are."""

import pytest

from tests.report.dumps.threads import (
    HAS_REAL_TEXTS,
    OWN_TEXTS,
    judge_text,
    own_verdicts,
    real_verdicts,
    table,
    truth,
)

VERDICTS = tuple(own_verdicts())


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda verdict: verdict.file.removesuffix(".txt"))
def test_the_cause_of_a_text_is_named_and_no_advice_hurts(verdict):
    assert not verdict.dangerous, verdict.findings
    assert not verdict.alarming, verdict.findings
    assert verdict.is_named is verdict.is_decidable, verdict.findings


def test_each_text_has_its_line_and_each_line_its_text():
    assert {row["file"] for row in truth(OWN_TEXTS / "TRUTH.tsv")} == {path.name for path in OWN_TEXTS.glob("*.txt")}


@pytest.mark.skipif(not HAS_REAL_TEXTS, reason="ACCELWEB_THREADS names no folder with the texts of real threads")
def test_nine_of_ten_causes_of_real_threads_are_named():
    verdicts = list(real_verdicts())
    decidable = [verdict for verdict in verdicts if verdict.is_decidable]
    assert sum(verdict.is_named for verdict in decidable) >= 0.9 * len(decidable), table(verdicts)
    assert sum(bool(verdict.dangerous or verdict.alarming) for verdict in verdicts) <= 0.01 * len(verdicts), table(
        verdicts
    )


def test_a_dangerous_command_and_a_false_alarm_are_noticed():
    row = {"file": "x", "cause": "", "decidable": "yes", "must": "lost", "forbid": "dmesg", "healthy": "yes"}
    verdict = judge_text("Unable to determine the device handle for GPU 0000:C1:00.0: Unknown Error\n", row)
    assert (verdict.is_named, verdict.dangerous[:1], verdict.alarming[:1]) == (True, ("cards-lost",), ("cards-lost",))
    assert not verdict.is_right
    assert "1 of 1 causes named; 1 of 1 texts with a wrong finding or command." in table([verdict])

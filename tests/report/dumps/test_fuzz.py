"""Mutated dumps go through all of diagnosing without an exception: a few hundred here, 100,000 by hand (bench)."""

import pytest

from bench.fuzz_diagnose import MUTATORS, corpus, diagnose, run

HOSTILE = {
    "empty": "",
    "blank": " \n\t\n" * 1000,
    "a hundred thousand lines": "a\n" * 100_000,
    "a hundred thousand labels": "OS: x\n" * 20_000,
    "one long line": "PyTorch version: " + "1" * 200_000,
    "starts of dumps": "Is debug build: x\nPyTorch version: 1\n" * 2000,
    "starts of XML": "<nvidia_smi_log>" * 5000,
    "starts of tables": "| model | test | t/s |\n" * 5000,
    "cards": "GPU 0: NVIDIA L4 (UUID: GPU-1)\n" * 5000,
    "an external entity": '<!DOCTYPE nvidia_smi_log [<!ENTITY x SYSTEM "file:///etc/passwd">]><nvidia_smi_log>&x;',
    "half a pair": "\ud800 PyTorch version: 2\ud800\nIs debug build: \udfff",
    "NUL": "PyTorch version: 2\x00\nIs debug build: False\x00\n",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_are_answered(text):
    diagnose(text)


def test_mutated_dumps_are_answered():
    outcome = run(seed=7, numbers=range(150), texts=corpus(), limit_s=60)
    assert outcome.failures == []
    assert outcome.with_dump > 30
    assert set(outcome.mutations) == {mutate.__name__ for mutate in MUTATORS}


def test_a_failure_is_told_with_its_number(monkeypatch):
    def refuse(_text, **_options):
        raise ZeroDivisionError

    monkeypatch.setattr("bench.fuzz_diagnose.diagnose", refuse)
    outcome = run(seed=7, numbers=[3, 4], texts=corpus())
    assert [number for number, _problem in outcome.failures] == [3, 4]

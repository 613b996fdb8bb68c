"""Findings as stored: their English, with the keys that another language needs; without them they are English."""

import pytest

from stackviz.base.sentence import Sentence, join_sentences, say
from stackviz.records.labs.models import Finding, Report
from stackviz.records.labs.wording import MOST_CHARS, MOST_DEPTH, with_keys, wording_of
from tests.languages import chinese
from tests.pages.machines.factories import make_lab, make_machine, make_report

NESTED = join_sentences([say("{wants}: has {driver}", say("CUDA {cuda} needs it", "{13}"), "535"), say("End them.")])


def test_a_sentence_is_read_back_with_its_keys():
    read = with_keys(wording_of(NESTED), str(NESTED))
    assert (read, read.key, read.joined[0].values["wants"].key) == (NESTED, NESTED.key, "CUDA {cuda} needs it")
    assert read.joined[1].key == "End them."


def test_a_text_that_is_its_own_key_needs_none():
    assert wording_of("plain") is None
    assert wording_of(say("End them.")) is None
    assert wording_of(say("It said {what}", "x" * MOST_CHARS)) is None


def endless():
    wording = "x"
    for _ in range(MOST_DEPTH + 1):
        wording = {"key": "{inner}", "values": {"inner": wording}}
    return wording


@pytest.mark.parametrize(
    "wording",
    [
        None,
        "another text",
        7,
        [],
        {},
        {"key": "x"},
        {"key": "x", "values": []},
        {"key": "{a}", "values": {}},
        {"key": "{a}", "values": {"a": 7}},
        {"key": 7, "values": {}},
        {"key": "Another {a}", "values": {"a": "x"}},
        endless(),
    ],
)
def test_keys_that_do_not_give_the_text_count_as_none(wording):
    assert not isinstance(with_keys(wording, "x"), Sentence)
    assert with_keys(wording, "x") == "x"


def test_findings_are_chinese_and_those_without_keys_english(client, db):
    report = make_report(make_machine(make_lab()), facts={"os.name": "Ubuntu", "torch.version": "2.9.0"})
    snapshot = Report.objects.get(pk=report.pk).snapshot
    for version in ("2.9.0", "2.8.0"):
        title = say("torch {running} runs, and the same version is listed", version)
        Finding.objects.create(
            snapshot=snapshot,
            rule="torch-versions-disagree",
            severity="note",
            component="pytorch",
            title=str(title),
            wording={"title": wording_of(title)} if version == "2.9.0" else None,
        )
    page = client.get(chinese("/machines/north/dgx-07/")).content.decode()
    assert "运行的是 torch 2.9.0" in page
    assert '<span lang="en">torch 2.8.0 runs' in page
    assert "torch 2.9.0 runs" in client.get("/machines/north/dgx-07/").content.decode()

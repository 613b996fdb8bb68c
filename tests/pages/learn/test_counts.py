"""Prose counts nothing of ours by hand: the number is filled in, or held here against the data."""

import re
from pathlib import Path

import pytest

from stackviz.draw.diagrams.layers import Layer
from stackviz.pages.learn.checks import list_faults
from stackviz.records.stacks.models import Stack
from tests.live import ROOT

TEXTS = (
    *sorted((ROOT / "stackviz/pages/learn/texts/en").rglob("*.md")),
    ROOT / "stackviz/records/catalog/data/claims.csv",
    *(ROOT / "stackviz/records/stacks/data" / name for name in ("components.toml", "stacks.toml")),
    *(ROOT / name for name in ("templates/stacks/_list.html", "stackviz/pages/data/schema.py")),
)
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
COUNTED = re.compile(
    rf"\b(?<!=)(?:\d+|{'|'.join(NUMBERS)}|fifteen) (?:stacks|spec sheets|accelerators|chapters|benchmarks|layers|components)\b"
    rf"|\b(?:{'|'.join(NUMBERS)}) (?:operators|claims|causes|rules|vendors)\b"
    rf"|\]\(/\w+/\)[^.]{{0,20}} for (?:{'|'.join(NUMBERS)}) of them"
)
HELD = {"eight layers": lambda: len(Layer)}
# Of a neural network, or of what each card holds.
OF_NETWORKS = {"two layers", "four layers", "1000 layers", "three operators", "five operators"}


def counted_by_hand(text):
    return [phrase.group().replace("\n", " ") for phrase in COUNTED.finditer(text)]


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_no_text_counts_what_this_site_has(file: Path):
    for phrase in counted_by_hand(file.read_text(encoding="utf-8")):
        if phrase in HELD:
            assert phrase.split()[0] == NUMBERS[HELD[phrase]() - 2]
        else:
            assert phrase in OF_NETWORKS, f"write {{{{ count:… }}}} in place of: {phrase}"


def test_a_count_by_hand_is_noticed():
    assert counted_by_hand("all nine stacks, [The stacks](/stacks/) show that for nine of them.") == [
        "nine stacks",
        "](/stacks/) show that for nine of them",
    ]


@pytest.mark.parametrize("language", ["", "/zh-hans"])
def test_a_chapter_has_the_number_of_stacks(curated, client, db, language):
    page = client.get(f"{language}/learn/from-cpu-to-accelerator/").content.decode()
    count = Stack.objects.filter(is_public=True).count()
    assert re.search(rf"(The|\u7684) {count} \D{{0,3}}<a href=\"{language}/stacks/\"", page)


def test_a_stack_that_is_hidden_is_counted_no_more(curated, client, db):
    address = "/learn/from-cpu-to-accelerator/"
    count = Stack.objects.filter(is_public=True).count()
    assert f"The {count} <a" in client.get(address).content.decode()
    hidden = Stack.objects.filter(is_public=True).first()
    hidden.is_public = False
    hidden.save()
    assert f"The {count - 1} <a" in client.get(address).content.decode()


def test_an_unknown_count_is_a_fault(monkeypatch):
    monkeypatch.setattr("stackviz.pages.learn.checks.COUNTS", {})
    assert any("nothing counts 'stacks'" in fault for fault in list_faults())

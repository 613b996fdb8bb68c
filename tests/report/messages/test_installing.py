"""Errors of compilers, installers and package managers, one a line as programs print them: each is of its kind.

The lines were written after the table, from the sources of programs that the table was not made from.
"""

import csv

import pytest

from stackviz.report.importers import read_all
from stackviz.report.messages import SYMPTOMS
from tests.live import ROOT

with (ROOT / "tests" / "fixtures" / "messages" / "installing.tsv").open(encoding="utf-8", newline="") as file:
    LINES = [(row["message"], row["line"]) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


@pytest.mark.parametrize(("key", "line"), LINES)
def test_an_error_of_building_or_installing_is_of_its_kind(key, line):
    found = [
        word for reading in read_all(line).readings for word in str(reading.facts.get("message.symptoms", "")).split()
    ]
    assert key in found


def test_lines_without_an_error_have_no_message():
    text = "Successfully built flash-attn\nInstalling collected packages: torch\n[100%] Built target ggml-cuda\n"
    assert read_all(text).readings == ()


def test_general_messages_are_marked():
    general = {symptom.key for symptom in SYMPTOMS if symptom.is_general}
    assert {"extension-not-built", "packages-collide", "apt-held"} <= general

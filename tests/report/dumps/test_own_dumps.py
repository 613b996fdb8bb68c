"""Invented dumps, one at least of each kind, from text to answer."""

import pytest

from stackviz.report.dumps import answer, machines, mask_text
from stackviz.report.importers import IMPORTERS, read_all
from stackviz.report.rules import packaged_tables
from tests.report.importers.own_dump import own_dumps

DUMPS = own_dumps()


def test_every_kind_has_a_dump_of_our_own():
    assert {dump.kind for dump in DUMPS} == {importer.kind for importer in IMPORTERS}


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.kind)
def test_a_dump_of_each_kind_is_read_judged_and_answered(dump):
    for text in (dump.text, mask_text(dump.text)):
        paste = read_all(text)
        answered = answer(machines(paste), packaged_tables(), not_understood=paste.not_understood)
        assert dump.kind in answered["kinds"], text
        assert {name: answered["facts"].get(name) for name in dump.facts} == dump.facts, text
        assert (len(answered["cards"]), "machines" in answered) == (dump.cards, False), text
        assert set(dump.rules) <= {finding["rule"] for finding in answered["findings"]}, text
        assert len(paste.not_understood) <= 2, text  # titles of sections

"""Invented dumps, one at least of each kind, from text to answer."""

import pytest

from stackviz.dumps import answer, machines, mask_text
from stackviz.importers import IMPORTERS, read_all
from stackviz.rules import packaged_tables
from tests.importers.own_dump import own_dumps

DUMPS = own_dumps()


def test_every_kind_has_a_dump_of_our_own():
    assert {dump.kind for dump in DUMPS} == {importer.kind for importer in IMPORTERS}


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.kind)
@pytest.mark.parametrize("change", [str, mask_text], ids=["as-printed", "masked"])
def test_a_dump_of_each_kind_is_read_judged_and_answered(dump, change):
    paste = read_all(change(dump.text))
    answered = answer(machines(paste), packaged_tables(), not_understood=paste.not_understood)
    assert answered["kinds"][0] == dump.kind
    assert {name: answered["facts"].get(name) for name in dump.facts} == dump.facts
    assert (len(answered["cards"]), "machines" in answered) == (dump.cards, False)
    assert set(dump.rules) <= {finding["rule"] for finding in answered["findings"]}

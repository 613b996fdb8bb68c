"""How the cards of a machine are linked, as a matrix."""

import pytest

from stackviz.intake.report_parts.cards import MOST_CARDS, card_links


def links(text):
    return card_links({"nvidia.topology": text})


def texts(found):
    return [[text for text, _rank in row] for row in found.rows.values()]


def test_each_card_has_a_row_and_a_cell_for_each_other_one():
    found = links("0-1:NV18 0-2:SYS 1-2:NODE")
    assert list(found.rows) == [0, 1, 2]
    assert texts(found) == [["", "NV18", "SYS"], ["NV18", "", "NODE"], ["SYS", "NODE", ""]]
    assert [word for word, _meaning in found.legend] == ["NV18", "NODE", "SYS"]
    assert dict(found.legend)["NV18"] == "18 NVLinks"


def test_fewer_links_than_others_have_are_marked():
    found = links("0-1:NV18 0-2:NV17 1-2:PIX")
    assert {text: rank for row in found.rows.values() for text, rank in row} == {
        "": "", "NV18": "nvlink", "NV17": "fewer", "PIX": "pcie",
    }  # fmt: skip


def test_what_is_not_stated_or_known_has_no_meaning():
    assert texts(links("0-1:PIX 2-3:PIX"))[0] == ["", "PIX", "?", "?"]
    found = links("0-1:C2C")  # a word of a newer driver
    assert (texts(found)[0][1], found.legend, found.rows[0][1][1]) == ("C2C", (), "")


@pytest.mark.parametrize("text", ["", "0-1", "0-1:<b>", "0-1:PIX and more", "100-1:PIX", "0-1:TOOLONGWORD"])
def test_what_is_no_topology_is_none(text):
    assert links(text) is None
    assert card_links({}) is None


def test_a_page_shows_sixteen_cards_and_counts_the_others():
    found = links(" ".join(f"0-{other}:SYS" for other in range(1, 20)))
    assert (len(found.rows), len(found.rows[0]), found.more) == (MOST_CARDS, MOST_CARDS, 4)

"""`tpu-info`: chips, their memory and load; without a program that runs on them, and cut."""

import pytest

from stackviz.report.importers import read_all
from tests.report.importers.own_dump import fixture

TEXT = fixture("dumps/tools/tpu_info.txt")


def test_tpu_info_tells_chips_with_memory_and_load():
    (reading,) = read_all("$ tpu-info\n" + TEXT).readings
    assert [(card.kind, card.vendor, card.reported_name) for card in reading.cards] == [
        ("tpu", "google", "TPU v6e")
    ] * 2
    assert [card.memory_bytes for card in reading.cards] == [round(31.25 * 2**30)] * 2
    assert reading.cards[0].facts == {"memory_used_bytes": round(2.5 * 2**30), "busy_ratio": 0.75}
    assert read_all(TEXT).not_understood == ()


def test_idle_chips_have_a_name_and_no_size():
    (reading,) = read_all(TEXT.partition("TPU Runtime")[0]).readings
    assert [card.memory_bytes for card in reading.cards] == [None, None]
    assert reading.cards[0].absent["memory_bytes"].reason == "not_reported"


@pytest.mark.parametrize("cut", range(10, len(TEXT), 60))
def test_a_cut_table_is_still_one(cut):
    assert read_all(TEXT[:cut]).kinds == ("tpu-info",)

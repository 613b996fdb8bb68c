"""Cards that were looked at again and again are drawn: a lane each for utilization, memory and power."""

import re

import pytest

from tests.pages.diagnose.conftest import FIXTURES
from tests.responses import words_of


def lanes(page: str) -> list[str]:
    return re.findall(r'<polygon points="([^"]+)"', page)


def slow(name: str) -> str:
    return (FIXTURES / f"slow/{name}.txt").read_text(encoding="utf-8")


@pytest.fixture
def paste(client, curated, db):
    return lambda text, language="": client.post(f"{language}/diagnose/", {"text": text})


def test_a_starving_card_is_drawn_and_its_branch_linked(paste):
    response = paste(slow("starving-loader"))
    page, words = response.content.decode(), words_of(response)
    assert "Utilization, 0% to 99% Memory, 13.9 GiB Power, 62 W to 300 W" in words
    assert len(lanes(page)) == 3
    assert lanes(page)[0].startswith("0,40 0,")
    assert '<figure class="v-nvidia">' in page
    assert 'href="/learn/why-is-it-slow/#data"' in page


def test_each_card_of_a_series_has_its_figure(paste):
    response = paste(slow("straggler"))
    assert response.content.decode().count("<figure") == 4
    assert "20 readings in 19 s" in words_of(response)
    assert "Power, 181 W to 196 W of 400 W" in words_of(response)


def test_a_single_look_is_not_drawn(paste):
    assert "Readings over time" not in words_of(paste(slow("layers-on-the-processor")))


def test_readings_are_labelled_in_chinese(paste):
    words = words_of(paste(slow("starving-loader"), "/zh-hans"))
    assert "随时间的读数" in words
    assert "利用率：0% 至 99%" in words
    assert "它在等数据" in words

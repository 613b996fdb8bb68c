"""`docs/topics.csv`: what introductions to accelerators tell, and where this site does. Each phrase stands at its address."""

import csv
import re
from collections import defaultdict
from datetime import date
from html import unescape
from urllib.parse import urlsplit

import pytest

from tests.live import ROOT

with (ROOT / "docs" / "topics.csv").open(encoding="utf-8", newline="") as lines:
    TOPICS = list(csv.DictReader(lines))
SHARED = ROOT.parent / "shared" / "TOPICS.tsv"


def words_of(html):
    """What the page shows from here on, without marks; white space folded."""
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", text)).split())


def section_of(page, anchor):
    """The page's main part; with an anchor a chapter's section, or what follows up to the next id. "" without that anchor."""
    main = page.partition("<main")[2].partition("</main>")[0]
    if not anchor:
        return main
    end = r"<h2\b" if 'class="chapter"' in main else r' id="'
    return re.split(end, main.partition(f'id="{anchor}"')[2])[0]


def test_each_topic_has_a_place_or_a_reason():
    assert len(TOPICS) == len({topic["topic"] for topic in TOPICS}) > 200
    for topic in TOPICS:
        assert bool(topic["address"]) == bool(topic["phrase"]), topic
        assert topic["address"] or topic["missing"], topic


def test_each_topic_was_judged_on_a_day():
    """`found`: all of it is told there; `partly`: but for what `missing` names; `missing`: nowhere, for that reason."""
    for topic in TOPICS:
        place, lack = bool(topic["address"]), bool(topic["missing"])
        assert topic["verdict"] == {(1, 0): "found", (1, 1): "partly", (0, 1): "missing"}[place, lack], topic
        assert date.fromisoformat(topic["read"]) >= date(2026, 11, 24), topic


def test_at_least_97_per_cent_of_the_topics_are_found():
    assert sum(topic["verdict"] == "found" for topic in TOPICS) >= 0.97 * len(TOPICS)


def test_no_topic_is_left_out():
    if not SHARED.exists():
        pytest.skip(f"{SHARED.name}: the list of topics is not beside this checkout")
    listed = [line.split("\t") for line in SHARED.read_text(encoding="utf-8").splitlines()[1:]]
    assert [line[1] for line in listed] == [topic["topic"] for topic in TOPICS]


@pytest.mark.django_db
def test_each_phrase_stands_at_its_address(client, curated, cited):
    by_page = defaultdict(list)
    for topic in TOPICS:
        if topic["address"]:
            by_page[topic["address"].partition("#")[0]].append(topic)
    wrong = []
    for address, topics in by_page.items():
        answer = client.get(address)
        assert answer.status_code == 200, address
        page = answer.content.decode()
        for topic in topics:
            section = section_of(page, urlsplit(topic["address"]).fragment)
            if topic["phrase"] not in words_of(section):
                wrong.append((topic["address"], topic["phrase"]))
    assert wrong == [], "\n".join(map(str, wrong))

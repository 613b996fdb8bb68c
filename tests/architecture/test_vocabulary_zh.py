"""One Chinese term for one thing: docs/vocabulary.zh.md against every translation and every chapter."""

import re
from collections.abc import Iterator

import pytest

from stackviz.web.i18n.model_labels import CONTEXT
from tests.live import ROOT
from tools.translations import read_catalog

VOCABULARY = ROOT / "docs/vocabulary.zh.md"
CATALOGS = sorted((ROOT / "locale/zh_Hans/LC_MESSAGES").glob("*.po"))
CHAPTERS = sorted((ROOT / "stackviz/pages/learn/texts/zh_Hans").glob("*/*.md"))


def rows() -> list[tuple[str, str, str]]:
    """(English, Chinese, what is not used) of each line of the first table."""
    table = VOCABULARY.read_text(encoding="utf-8").partition("## 保留英文的词")[0]
    lines = [line.strip("| ").split("|") for line in table.splitlines() if line.startswith("| ")]
    return [(english.strip(), chinese.strip(), unused.strip()) for english, chinese, unused in map(padded, lines[1:])]


def padded(cells: list[str]) -> tuple[str, str, str]:
    english, chinese, *rest = cells
    return english, chinese, rest[0] if rest else ""


def terms(cell: str) -> list[str]:
    return [term for term in re.split(r"[；、;]", cell) if term]


def texts() -> Iterator[tuple[str, str]]:
    """(where, Chinese text) of everything that is translated."""
    for path in CATALOGS:
        for message in read_catalog(path):
            for text in [message.string] if isinstance(message.string, str) else message.string:
                if message.id:
                    yield f"{path.name}: {message.id!r}", text
    for path in CHAPTERS:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path.name}:{number}", line


@pytest.fixture(scope="module")
def everything() -> list[tuple[str, str]]:
    return list(texts())


def test_no_text_has_a_term_that_is_not_used(everything):
    unused = [term for _english, _chinese, cell in rows() for term in terms(cell)]
    assert len(unused) > 40
    assert [(term, where) for term in unused for where, text in everything if term in text] == []


def test_every_term_of_the_vocabulary_is_in_use(everything):
    whole = "\n".join(text for _where, text in everything)
    wanted = [term.strip() for _english, chinese, _unused in rows() for term in terms(chinese)]
    assert len(wanted) > 80
    assert [term for term in wanted if term not in whole] == []


def named_alone() -> list[tuple[str, str]]:
    """(English, Chinese) where a line has as many terms of one as of the other; what is in brackets left out."""
    pairs = []
    for english, chinese, _unused in rows():
        of_english = [re.sub(r"\s*\(.*?\)", "", term).strip() for term in english.split(";")]
        of_chinese = [term.strip() for term in chinese.split("；")]
        if len(of_english) == len(of_chinese):
            pairs += list(zip(of_english, of_chinese, strict=True))
    return pairs


def test_a_text_that_is_one_term_has_its_translation():
    meanings: dict[str, set[str]] = {}
    for english, chinese in named_alone():
        meanings.setdefault(english.lower(), set()).update(chinese.split("、"))
    checked = [
        (message.id, message.string, meanings[one])
        for path in CATALOGS
        for message in read_catalog(path)
        if isinstance(message.id, str) and message.context != CONTEXT  # a token of the admin is a secret
        if (one := message.id.lower().removesuffix("s")) in meanings
    ]
    assert len(checked) > 20
    assert [(text, form) for text, form, wanted in checked if not any(term in form for term in wanted)] == []


def test_no_term_is_both_used_and_unused():
    used = {term for _english, chinese, _unused in rows() for term in terms(chinese)}
    assert used.isdisjoint(term for _english, _chinese, cell in rows() for term in terms(cell))


def test_the_words_that_stay_in_english_are_listed_once():
    listed = re.findall(r"`([a-z]+)`", VOCABULARY.read_text(encoding="utf-8").partition("## 保留英文的词")[2])
    assert len(listed) == len(set(listed)) > 60

"""Curated texts in another language: by their English, marked where nobody has translated them."""

import re
from collections import Counter

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from django.utils import translation

from stackviz.web.i18n import curated_text
from stackviz.web.i18n.curated_text import curated, curated_code, curated_words, entries_of, translate_curated
from tests.live import ROOT
from tools.curated_texts import FILES, curated_texts, texts_of_file
from tools.translations import curated_files, read_catalog

NUMBER = re.compile(r"\d[\d,.]*\d|\d")


@pytest.fixture
def chinese(tmp_path, settings):
    """Four translated texts, and the site in Chinese."""
    catalog = Catalog(locale="zh_Hans")
    texts = {"A library.": "一个库。", "It multiplies.": "它做乘法。", "Reads <b>": "读取 <b>", "see `a<b`": "见 `a<b`"}
    for english, text in texts.items():
        catalog.add(english, text)
    path = tmp_path / "zh_Hans" / "LC_MESSAGES" / "curated.mo"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_mo(file, catalog)
    settings.LOCALE_PATHS = [tmp_path]
    entries_of.cache_clear()
    curated_text._translated.cache_clear()
    with translation.override("zh-hans"):
        yield
    entries_of.cache_clear()
    curated_text._translated.cache_clear()


def test_texts_are_escaped_joined_and_marked_as_english(chinese):
    assert curated("A library.") == "一个库。"
    assert curated("A corrected library.") == '<span lang="en">A corrected library.</span>'
    assert translate_curated("A corrected library.") is None
    assert curated_words("A corrected library.") == "A corrected library."
    assert curated("A library. It multiplies.") == "一个库。它做乘法。"
    for text in ("A library. It divides.", " A library.", "A library. ", " "):  # never the head of the file
        assert translate_curated(text) is None
    assert curated("Reads <b>") == "读取 &lt;b&gt;"
    assert curated("<i>") == '<span lang="en">&lt;i&gt;</span>'
    assert curated_code("see `a<b`") == "见 <code>a&lt;b</code>"
    assert curated_code("one `x`, <y>") == '<span lang="en">one <code>x</code>, &lt;y&gt;</span>'
    assert curated("Reads <b>", ".") == "读取 &lt;b&gt;。"
    assert curated("Writes", ".") == '<span lang="en">Writes.</span>'
    with translation.override("en"):
        assert curated("Writes", ".") == "Writes."
    with translation.override("en"):
        assert curated("A library.") == "A library."
        assert translate_curated("") == ""


def test_every_file_of_the_list_has_texts():
    for name, keys in FILES.items():
        assert len(list(texts_of_file(ROOT / name, keys))) >= 5, name


def test_the_file_has_exactly_the_texts_of_the_data():
    texts = set(curated_texts(ROOT))
    for path in curated_files(ROOT):
        assert {message.id for message in read_catalog(path) if message.id} == texts


def test_translations_keep_figures_and_signs():
    """No number is lost; nothing that HTML or a template would read is added."""
    for path in curated_files(ROOT):
        for message in read_catalog(path):
            if message.id and message.string:
                for sign in "<>&%{}":
                    assert message.string.count(sign) == message.id.count(sign), message.id
                numbers = Counter(NUMBER.findall(_in_ten_thousands(message.id)))
                assert not numbers - Counter(NUMBER.findall(message.string)), message.id  # a month becomes one more


def _in_ten_thousands(text: str) -> str:
    """`7 billion` as Chinese counts it: 70 of 10⁸; `6 million`: 600 of 10⁴."""
    for word, factor in (("billion", 10), ("million", 100)):
        text = re.sub(rf"(\d[\d.]*) {word}", lambda match, factor=factor: f"{float(match[1]) * factor:g}", text)
    return text

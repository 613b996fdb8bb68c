"""The glossary: every "?" leads somewhere, every term says where it is from."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from stackviz.pages.learn.glossary import GLOSSARY as KIND
from stackviz.pages.learn.glossary import read_glossary
from stackviz.pages.learn.text_files import list_untranslated, read_texts

CHAPTERS = read_glossary("en")
TERMS = [term for chapter in CHAPTERS for term in chapter.terms]
# Words of this site itself, which only it can define.
OUR_OWN = {"basis", "correction", "kinds", "unknown", "stack", "counterpart", "finding", "comparable"}
BASE = Path(settings.BASE_DIR)
TEXTS = BASE / "stackviz/pages/learn/texts"


def test_every_question_mark_in_a_template_leads_to_a_term():
    used = set()
    for template in [*(BASE / "templates").rglob("*.html"), *(BASE / "templates").rglob("*.jinja")]:
        text = template.read_text()
        used |= set(re.findall(r'\bhelp[\s(]+"([\w-]+)"', text)) | set(
            re.findall(r"learn:glossary'\) }}#([\w-]+)", text)
        )
    assert used >= {"finding", "kinds", "peak"}
    assert used - {term.anchor for term in TERMS} == set()


def test_each_term_is_on_the_page_once_with_its_source(client, django_assert_num_queries, db):
    anchors = [term.anchor for term in TERMS] + [chapter.anchor for chapter in CHAPTERS]
    assert len(anchors) == len(set(anchors))
    assert [term.anchor for term in TERMS if bool(term.source_title) == (term.anchor in OUR_OWN)] == []
    assert [term.anchor for term in TERMS if term.source_url and not term.source_url.startswith("https://")] == []
    with django_assert_num_queries(0):
        text = client.get("/glossary/").content.decode()
    assert all(f'id="{term.anchor}"' in text for term in TERMS)


# --- the files ---

ENGLISH = """\
# Figures

## Peak {#peak}

The most the units
could do.

Source: [A paper](https://example.org/paper)

## Rate, “dense” {#dense}

Half of it. See <b>.

Source: A book, 3rd edition
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "en" / KIND).mkdir(parents=True)
    (tmp_path / "zh_Hans" / KIND).mkdir(parents=True)
    (tmp_path / "en" / KIND / "1-figures.md").write_text(ENGLISH)
    return tmp_path


def of(folder, anchor):
    (file,) = read_texts(KIND, "en", folder)
    return next(section.fingerprint for section in file.sections if section.anchor == anchor)


def listed(folder):
    return list(list_untranslated(KIND, "zh_Hans", folder))


def test_glossary_files_are_well_formed(settings):
    for code, _name in settings.LANGUAGES:
        assert [(chapter.anchor, len(chapter.terms)) for chapter in read_glossary(code)] == [
            (chapter.anchor, len(chapter.terms)) for chapter in CHAPTERS
        ]
    names = {path.name for path in TEXTS.glob("en/glossary/*.md")}
    assert {path.name for path in TEXTS.glob("*/glossary/*.md")} == names != set()
    assert [line for line in list_untranslated(KIND, "zh_Hans") if "no such section" in line] == []


def test_chapter_joins_lines_and_reads_both_sources(folder):
    (chapter,) = read_glossary("en", folder)
    assert (chapter.anchor, chapter.title) == ("figures", "Figures")
    assert [(term.anchor, term.title, term.text, term.source_title, term.source_url) for term in chapter.terms] == [
        ("peak", "Peak", "The most the units could do.", "A paper", "https://example.org/paper"),
        ("dense", "Rate, “dense”", "Half of it. See <b>.", "A book, 3rd edition", ""),
    ]


def test_a_term_without_translation_is_english_and_listed(folder):
    (folder / "zh_Hans" / KIND / "1-figures.md").write_text(
        f"# 数值\n\n## 峰值 {{#peak of={of(folder, 'peak')}}}\n\n上限。\n"
    )
    (chapter,) = read_glossary("zh-hans", folder)
    assert chapter.title == "数值"
    assert [(term.title, term.text, term.source_title) for term in chapter.terms] == [
        ("峰值", "上限。", "A paper"),
        ("Rate, “dense”", "Half of it. See <b>.", "A book, 3rd edition"),
    ]
    dense = of(folder, "dense")
    assert listed(folder) == [f"1-figures.md: not translated: Rate, “dense” {{#dense of={dense}}}"]


def test_what_has_no_file_is_english_however_it_is_wrapped(folder):
    assert read_glossary("zh-hans", folder) == read_glossary("fr", folder) == read_glossary("en", folder)
    assert listed(folder) == ["1-figures.md: not translated"]
    before = of(folder, "peak")
    (folder / "en" / KIND / "1-figures.md").write_text(ENGLISH.replace("units\ncould", "units could"))
    read_glossary.cache_clear()
    assert of(folder, "peak") == before


def test_outdated_and_orphaned_terms_are_listed(folder):
    (folder / "zh_Hans" / KIND / "1-figures.md").write_text(
        f"# 数值\n\n## 峰值 {{#peak of=00000000}}\n\n上限。\n\n"
        f"## 稠密 {{#dense of={of(folder, 'dense')}}}\n\n一半。\n\n## 旧 {{#old of=00000000}}\n\n旧。\n"
    )
    assert listed(folder) == [
        f"1-figures.md: the English text changed: Peak {{#peak of={of(folder, 'peak')}}}",
        "1-figures.md: no such section in English: #old",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("## Peak {#peak}\n\nText.\n", "begins with '# '"),
        ("# Figures\n\nText.\n\n## Peak {#peak}\n\nText.\n", "nothing before its first term"),
        ("# Figures\n\n## Peak\n\nText.\n", "does not end in an anchor"),
        ("# Figures\n\n## Peak {#peak}\n\nOne.\n\nTwo.\n", "one paragraph of text"),
        ("# Figures\n\n## Peak {#peak}\n", "one paragraph of text"),
        ("# Figures\n\n## Peak {#peak}\n\nOne.\n\nSource: [A](http://example.org)\n", "has one source"),
    ],
)
def test_malformed_file_is_refused_by_name(folder, text, words):
    (folder / "en" / KIND / "1-figures.md").write_text(text)
    with pytest.raises(ValueError, match=words) as refused:
        read_glossary("en", folder)
    assert "1-figures.md" in str(refused.value)


def test_a_text_of_a_file_is_shown_as_text(client, db, folder, monkeypatch):
    monkeypatch.setattr(
        "stackviz.pages.learn.index_page.read_glossary", lambda language: read_glossary(language, folder)
    )
    assert "Half of it. See &lt;b&gt;." in client.get("/glossary/").content.decode()

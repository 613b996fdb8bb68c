"""tools/translations.py: what it finds in templates and code, and what becomes of a .po file."""

import gettext
import os

import pytest

from tools import translations

HEADER = """\
# Chinese of a test
msgid ""
msgstr ""
"Language: zh_Hans\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"
"""


@pytest.fixture
def project(tmp_path):
    """A folder with the three searched folders and an empty Chinese file."""
    for folder in translations.FOLDERS:
        (tmp_path / folder).mkdir()
    po = tmp_path / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
    po.parent.mkdir(parents=True)
    po.write_text(HEADER)
    return tmp_path


def po_of(project):
    (path,) = translations.po_files(project)
    return path


def texts_in(project):
    return {(message.context, message.id) for message in translations.extract_catalog(project) if message.id}


def merged(project):
    return translations.merge(po_of(project), translations.extract_catalog(project))


def read_compiled(project):
    with po_of(project).with_suffix(".mo").open("rb") as file:
        return gettext.GNUTranslations(file)


def test_template_texts_are_extracted(project):
    (project / "templates" / "page.html").write_text(
        """{% load i18n %}
        <p title="{% translate "Peak" %}">{% translate 'Memory' context "of a machine" %} {{ _("Rate")|title }}
          {% blocktranslate trimmed with n=cards.count %}
            {{ n }} of
            100 % used
          {% endblocktranslate %}
    {% blocktranslate trimmed count n=cards %}
      {{ n }} card
    {% plural %}
      {{ n }} cards
    {% endblocktranslate %}
        {# not {% translate "a comment" %} #}</p>"""
    )
    assert texts_in(project) == {
        (None, "Peak"),
        ("of a machine", "Memory"),
        (None, "Rate"),
        (None, "%(n)s of 100 %% used"),
        (None, ("%(n)s card", "%(n)s cards")),
    }


def test_texts_of_code_are_found_whatever_function_marks_them(project):
    (project / "stackviz" / "page.py").write_text(
        "_('a' ' b'); gettext_lazy('c'); gettext_noop('d'); ngettext('e', 'es', n); pgettext_lazy('of', 'f'); say('g')"
    )
    assert texts_in(project) == {
        (None, "a b"), (None, "c"), (None, "d"), (None, ("e", "es")), ("of", "f"),
    }  # fmt: skip


def test_file_is_sorted_by_text_and_keeps_header(project):
    (project / "stackviz" / "b.py").write_text("_('Two\\nlines of %(n)s')")
    (project / "stackviz" / "a.py").write_text("_('Zebra'); _('Ape')")
    po_of(project).write_text(f'{HEADER}\nmsgid "Zebra"\nmsgstr "斑马"\n\nmsgid "Gone"\nmsgstr "没了"\n')
    text, missing = merged(project)
    assert text == (
        f'{HEADER}\nmsgid "Ape"\nmsgstr ""\n\n#, python-format\nmsgid ""\n"Two\\n"\n"lines of %(n)s"\nmsgstr ""\n\n'
        'msgid "Zebra"\nmsgstr "斑马"\n'
    )
    assert missing == ["Ape", "Two\nlines of %(n)s"]
    po_of(project).write_text(text)
    assert merged(project) == (text, missing)


def test_fuzzy_and_empty_translations_are_missing(project):
    (project / "stackviz" / "a.py").write_text("_('yes'); _('no'); _('maybe')")
    po_of(project).write_text(
        f'{HEADER}\nmsgid "yes"\nmsgstr "是"\n\n#, fuzzy\nmsgid "no"\nmsgstr "是"\n\n'
        'msgid "maybe"\nmsgstr ""\n\n#~ msgid "old"\n#~ msgstr "旧"\n'
    )
    assert merged(project)[1] == ["maybe", "no"]
    translations.compile_changed(project)
    read = read_compiled(project)
    assert [read.gettext(text) for text in ("yes", "no", "maybe", "old")] == ["是", "no", "maybe", "old"]


def test_a_file_is_compiled_again_only_when_it_changed(project):
    po = po_of(project)
    compiled = po.with_suffix(".mo")
    translations.compile_changed(project)
    first = compiled.stat().st_ino, compiled.stat().st_mtime_ns
    translations.compile_changed(project)
    assert (compiled.stat().st_ino, compiled.stat().st_mtime_ns) == first
    po.write_text(f'{HEADER}\nmsgid "yes"\nmsgstr "是"\n')
    os.utime(po, ns=(first[1] + 1_000, first[1] + 1_000))
    translations.compile_changed(project)
    assert read_compiled(project).gettext("yes") == "是"
    assert sorted(path.name for path in po.parent.iterdir()) == ["django.mo", "django.po"]


def test_the_release_check_lists_what_is_missing(project):
    (project / "stackviz" / "a.py").write_text("_('New text')")
    name = "locale/zh_Hans/LC_MESSAGES/django.po"
    differs = f"{name}: differs from the texts of templates and code; run: make translations"
    assert translations.update(project, write=False) == [differs, f"{name}: not translated: New text"]
    assert po_of(project).read_text() == HEADER
    assert translations.update(project, write=True) == [f"{name}: not translated: New text"]
    assert translations.update(project, write=False) == [f"{name}: not translated: New text"]


def test_the_release_check_lists_what_the_glossary_lacks(project):
    chapter = project / translations.TEXTS / "en" / "glossary" / "1-figures.md"
    chapter.parent.mkdir(parents=True)
    chapter.write_text("# Figures\n")
    assert translations.update(project, write=True) == [
        "stackviz/pages/learn/texts/zh_Hans/glossary/1-figures.md: not translated"
    ]

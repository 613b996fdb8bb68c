"""The glossary: every "?" leads somewhere, every term says where it is from."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from stackviz.pages.glossary import CHAPTERS

TERMS = [term for chapter in CHAPTERS for term in chapter.terms]
# Words of this site itself, which only it can define.
OUR_OWN = {"basis", "correction", "kinds", "unknown", "stack", "counterpart", "finding", "comparable"}
BASE = Path(settings.BASE_DIR)


def test_every_question_mark_in_a_template_leads_to_a_term():
    used = set()
    for template in (BASE / "templates").rglob("*.html"):
        text = template.read_text()
        used |= set(re.findall(r'{%\s*help\s+"([\w-]+)"', text)) | set(re.findall(r"/learn/#([\w-]+)", text))
    assert used
    assert used - {term.anchor for term in TERMS} == set()


def test_every_anchor_is_there_once():
    anchors = [term.anchor for term in TERMS] + [chapter.anchor for chapter in CHAPTERS]
    assert len(anchors) == len(set(anchors))


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.anchor)
def test_a_term_names_its_source_unless_it_is_our_own_word(term):
    assert bool(term.source_title) != (term.anchor in OUR_OWN)
    assert not term.source_url or term.source_url.startswith("https://")


def test_the_page_shows_every_term_without_a_query(client, django_assert_num_queries, db):
    with django_assert_num_queries(0):
        text = client.get("/learn/").content.decode()
    assert all(f'id="{term.anchor}"' in text for term in TERMS)

"""One word for one thing, as far as a program can hold it; docs/vocabulary.md says the rest.

What is left of the old words stands here as numbers that may only fall.
"""

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.live import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import house

THE_FORMAT_AND_THE_TABLES = "the wire format and the tables name the same thing"
THE_RULES_AND_THE_TABLES = "rules read rows of the tables as plain data and cannot import models"
IN_THE_API = "the name is part of the OpenAPI document that clients were generated from"
TWICE_WITH_NEED = {
    "Command": "Django finds management commands by this name",
    "Card": THE_FORMAT_AND_THE_TABLES,
    "Machine": THE_FORMAT_AND_THE_TABLES,
    "Report": THE_FORMAT_AND_THE_TABLES,
    "Result": THE_FORMAT_AND_THE_TABLES,
    "Finding": THE_RULES_AND_THE_TABLES,
    "Release": THE_RULES_AND_THE_TABLES,
    "Requirement": THE_RULES_AND_THE_TABLES,
    "Refused": IN_THE_API,
    "Field": "a field of a spec sheet, and a field of the wire format: both are what readers call it",
}
FUNCTIONS_LEFT = 4  # public functions that another module defines too
IDENTIFIERS_LEFT = 5  # uses of told, said, kept, one, asked and their like: columns of tables, a setting
# Phrases that no page, message or template may show; the right one is in docs/vocabulary.md.
NEVER_SHOWN = (
    "lay too long", "tells them not apart", "is like that", "Nobody is known", "answers to it", "All that was told",
    "what you took", "delete word", "the next bell", "should none be there", "Mend what", "Past the drawing",
    "makers usually", "Thrifty cores", "take this filter away", "Take back into the queue",
    "Nobody can be asked", "Names that wait", "What follows from them", "Near relatives", "Also says so",
    "Most like it", "asked for cuda", "Middle half",
    "are no part of it", "You belong to no", "Nothing if CUDA starts",
    "that serves it", "one of Apple's", "leans on the older driver", "Both cannot be true of one moment", "all the same,",
    "held back", "is cut into instances", "take it away first", "Leave it out:", "waits to be replaced",
)  # fmt: skip


@pytest.fixture(scope="module")
def code() -> list[house.Module]:
    return house.modules(ROOT)


def defined_twice(code: list[house.Module], *kinds: type) -> set[str]:
    modules: Counter[str] = Counter()
    for module in code:
        names = {node.name for node in module.tree.body if isinstance(node, kinds) and not node.name.startswith("_")}
        modules.update(names)
    return {name for name, count in modules.items() if count > 1}


def test_a_class_name_is_defined_once_or_says_why_not(code):
    assert defined_twice(code, ast.ClassDef) == set(TWICE_WITH_NEED)


def test_duplicate_function_names_only_decrease(code):
    assert len(defined_twice(code, ast.FunctionDef, ast.AsyncFunctionDef)) <= FUNCTIONS_LEFT


def test_banned_words_only_decrease(code):
    uses = [
        f"{module.path}: {name}" for module in code for name in house.bound_names(module.tree) if house.is_banned(name)
    ]
    assert len(uses) <= IDENTIFIERS_LEFT, uses


@pytest.mark.parametrize("phrase", NEVER_SHOWN)
def test_no_text_says_it_in_the_old_words(phrase):
    words = re.compile(r"\s+".join(map(re.escape, phrase.split())))
    files = [
        path
        for folder, ending in (("templates", "*.*"), ("stackviz", "*.py"))
        for path in Path(ROOT / folder).rglob(ending)
    ]
    assert files
    assert [path.name for path in files if words.search(path.read_text(encoding="utf-8"))] == []

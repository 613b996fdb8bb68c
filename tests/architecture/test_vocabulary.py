"""Names and docstrings: no class twice, no word that names nothing. docs/vocabulary.md has the rest."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.live import ROOT

PATHS = [path for package in ("accelweb", "stackviz") for path in (ROOT / package).rglob("*.py")]
# Words that name nothing, as an identifier or as a part of one.
BANNED = frozenset(
    {"told", "said", "kept", "one", "asked", "found", "looked", "place", "own", "lot", "dear", "word", "saying"}
)
NAMES_A_THING = frozenset({"word", "place", "own", "found", "one"})  # fine inside a longer name: keyword, placement

# No docstring has these; write what a person or a program does.
BANNED_IN_DOCSTRINGS = re.compile(r"\b(stands?|told|said|beside|of (its|their) own|none of)\b", re.IGNORECASE)
NOT_YET_CLEAN = (
    "desk",
    "draw",
    "pages",
    "records",
    "report/dumps",
    "report/importers",
    "report/messages",
    "report/rules",
)

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


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    """Path -> syntax tree of the code, without migrations."""
    paths = sorted(path for path in PATHS if "migrations" not in path.parts)
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def defined_twice(modules: dict[str, ast.Module], *kinds: type) -> set[str]:
    counts: Counter[str] = Counter()
    for tree in modules.values():
        counts.update({node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")})
    return {name for name, count in counts.items() if count > 1}


def bound_names(tree: ast.AST) -> Iterator[str]:
    """Every name that the code chose: variables, arguments, functions, classes, fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def is_banned(name: str) -> bool:
    """`told`, `_told_of_all`, `ReadTold`, but not `OneToOneField`, where the word is a part of a thing's name."""
    if name.strip("_").lower() in BANNED:
        return True
    parts = {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
    return not parts.isdisjoint(BANNED - NAMES_A_THING)


def test_a_class_name_is_defined_once_or_says_why_not(modules):
    assert defined_twice(modules, ast.ClassDef) == set(TWICE_WITH_NEED)


def test_duplicate_function_names_only_decrease(modules):
    assert len(defined_twice(modules, ast.FunctionDef, ast.AsyncFunctionDef)) <= FUNCTIONS_LEFT


def test_banned_words_only_decrease(modules):
    uses = [f"{path}: {name}" for path, tree in modules.items() for name in bound_names(tree) if is_banned(name)]
    assert len(uses) <= IDENTIFIERS_LEFT, uses


def docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def test_docstrings_of_clean_floors_stay_clean(modules):
    not_yet = tuple(f"stackviz/{room}/" for room in NOT_YET_CLEAN)
    uses = [
        f"{path}: {found[0]}"
        for path, tree in modules.items()
        if not path.startswith(not_yet)
        for text in docstrings(tree)
        if (found := BANNED_IN_DOCSTRINGS.search(text))
    ]
    assert uses == []


@pytest.mark.parametrize("room", NOT_YET_CLEAN)
def test_a_floor_that_became_clean_is_listed_as_clean(modules, room):
    texts = [
        text for path, tree in modules.items() if path.startswith(f"stackviz/{room}/") for text in docstrings(tree)
    ]
    assert any(map(BANNED_IN_DOCSTRINGS.search, texts))

"""What docs/catalogue.md says is what the code does."""

from pathlib import Path

import pytest

from stackviz.records.catalog.by_formula import NOT_BY_FORMULA
from stackviz.records.catalog.checks import CHECKS
from stackviz.records.catalog.conditions import KEYS
from stackviz.records.catalog.fields import FORMULAS
from stackviz.records.catalog.files import BASES, STATUSES
from stackviz.records.catalog.models import SpecValue

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def text() -> str:
    return (ROOT / "docs" / "catalogue.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("key", [key.name for key in KEYS])
def test_every_condition_is_documented(text, key):
    assert f"`{key}`" in text


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_of_the_files_is_documented(text, status):
    assert f"| `{status}` |" in text


def test_every_basis_is_documented_and_known_to_the_table(text):
    assert set(BASES) == set(SpecValue.Basis.values)
    assert all(basis in text for basis in BASES)


@pytest.mark.parametrize("file", ["vendors.csv", "accelerators.csv", "sources.csv", "aliases.csv", "exceptions.csv"])
def test_the_headers_are_those_of_the_files(text, file):
    header = (ROOT / "stackviz" / "records" / "catalog" / "data" / file).read_text(encoding="utf-8").splitlines()[0]
    assert header in text


@pytest.mark.parametrize("name", [*CHECKS, *FORMULAS])
def test_every_check_and_formula_is_documented(text, name):
    assert f"`{name}`" in text


def test_how_a_note_excuses_a_figure_is_documented(text):
    assert f"`{NOT_BY_FORMULA}`" in text

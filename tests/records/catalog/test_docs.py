"""What docs/catalogue.md says is what the code does."""

from pathlib import Path

import pytest

from stackviz.records.catalog.by_formula import NOT_BY_FORMULA
from stackviz.records.catalog.checks import CHECKS
from stackviz.records.catalog.conditions import KEYS
from stackviz.records.catalog.fields import FORMULAS
from stackviz.records.catalog.files import BASES, DATA, STATUSES
from stackviz.records.catalog.models import SpecValue

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def text() -> str:
    return (ROOT / "docs" / "catalogue.md").read_text(encoding="utf-8")


FILES = ("vendors.csv", "accelerators.csv", "sources.csv", "aliases.csv", "exceptions.csv")
WORDS = (
    *(f"`{name}`" for name in (*(key.name for key in KEYS), *CHECKS, *FORMULAS, NOT_BY_FORMULA)),
    *(f"| `{status}` |" for status in STATUSES),
    *BASES,
    *((DATA / file).read_text(encoding="utf-8").splitlines()[0] for file in FILES),
)


@pytest.mark.parametrize("words", WORDS)
def test_conditions_states_checks_and_headers_are_documented(text, words):
    assert words in text


def test_every_basis_is_known_to_the_table():
    assert set(BASES) == set(SpecValue.Basis.values)

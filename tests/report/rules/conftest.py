"""A rule asks for facts and components that exist: a misspelt one is never reported, and the rule silent for ever.

What it says is said on the Chinese site too.
"""

from collections.abc import Iterator

import pytest

from stackviz.report.format import CARD_FACTS, COMPONENTS, FACTS
from stackviz.report.rules import Finding, rule
from stackviz.report.rules.look import CardLook, Look
from tests.report.rules.chinese import untranslated


@pytest.fixture(autouse=True)
def _facts_asked_for_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    for look, known in ((Look, FACTS.keys() | COMPONENTS.keys()), (CardLook, CARD_FACTS)):
        for method in ("get", "number", "mentions", "states_none"):
            monkeypatch.setattr(look, method, _checked(getattr(look, method), known))


def _checked(method, known):
    def ask(self, name: str):
        assert name in known, f"no fact is called {name}"
        return method(self, name)

    return ask


@pytest.fixture(autouse=True)
def _findings_can_be_translated(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test of these makes a rule say is recognised by the entries of `findings.po`."""
    findings: list[Finding] = []

    def remember(*arguments):
        findings.append(make(*arguments))
        return findings[-1]

    make = rule._finding
    monkeypatch.setattr(rule, "_finding", remember)
    yield
    assert [text for finding in findings for text in untranslated(finding)] == []

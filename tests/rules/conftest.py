"""A rule asks for facts and components that exist: a misspelt one is never reported, and the rule silent for ever."""

import pytest

from stackviz.rules.look import CardLook, Look
from stackviz.wire import CARD_FACTS, COMPONENTS, FACTS


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

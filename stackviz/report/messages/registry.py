"""All messages: what the modules of `messages/` name SYMPTOMS and FAMILIES."""

from collections.abc import Iterator

from stackviz.base.discovery import modules_of
from stackviz.report.messages import messages
from stackviz.report.messages.symptom import Family, Symptom

__all__ = ["BY_KEY", "FAMILIES", "SYMPTOMS"]

_MODULES = modules_of(messages)
FAMILIES: tuple[Family, ...] = tuple(family for module in _MODULES for family in getattr(module, "FAMILIES", ()))


def _each_symptom() -> Iterator[Symptom]:
    for module in _MODULES:
        yield from getattr(module, "SYMPTOMS", ())
        for family in getattr(module, "FAMILIES", ()):
            yield from (member for member in family.members.values() if not member.patterns)
            if family.unlisted:
                yield family.unlisted


BY_KEY = {symptom.key: symptom for symptom in _each_symptom()}
SYMPTOMS: tuple[Symptom, ...] = tuple(BY_KEY.values())
"""Those of families too, each once."""

"""The pages of error messages, and which of them a finding leads to. The room `diagnose` draws the pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Protocol

from stackviz.report.messages import BY_KEY, SYMPTOMS
from stackviz.web.reverse import address_by_name

__all__ = ["MessagePage", "message_keys", "message_page", "message_pages"]

MOST_LINKS = 3  # of one finding
EXPLAINS_MESSAGES = "error-message"  # the rule whose findings are messages
_SYMPTOMS = "message.symptoms"


class _Finding(Protocol):
    @property
    def rule(self) -> str: ...
    @property
    def explanation(self) -> str: ...
    @property
    def component(self) -> str: ...
    @property
    def evidence(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class MessagePage:
    """A message as it is printed, and the address of its page."""

    message: str
    url: str


def message_page(key: str) -> MessagePage:
    """Raises KeyError for no message of this key."""
    return MessagePage(BY_KEY[key].message, address_by_name("diagnose:cause", key))


def message_pages(finding: _Finding) -> tuple[MessagePage, ...]:
    """Of a finding that is a message its own page; of any other the messages that its rule explains."""
    keys = message_keys(finding) or _explained_by(finding)
    return tuple(message_page(key) for key in keys[:MOST_LINKS])


def _explained_by(finding: _Finding) -> list[str]:
    """The messages of its rule that are about the same component, or all where they are about one."""
    keys = _by_rule().get(finding.rule, ())
    near = [key for key in keys if key == finding.rule or BY_KEY[key].component == finding.component]
    return near or (list(keys) if len({BY_KEY[key].component for key in keys}) == 1 else [])


def message_keys(finding: _Finding) -> tuple[str, ...]:
    """The message that a finding is, none for any other finding."""
    if finding.rule != EXPLAINS_MESSAGES:
        return ()
    in_text = [key for key in str(finding.evidence.get(_SYMPTOMS, "")).split() if key in BY_KEY]
    meant = [key for key in in_text if finding.explanation.startswith(BY_KEY[key].meaning)]
    return tuple(meant[:1])


@lru_cache(maxsize=1)
def _by_rule() -> Mapping[str, tuple[str, ...]]:
    """Rule -> keys of the messages whose cause it finds, those first that name it first."""
    named = sorted(
        ((symptom.rules.index(rule), rule, symptom.key) for symptom in SYMPTOMS for rule in symptom.rules),
        key=lambda row: row[0],
    )
    keys: dict[str, tuple[str, ...]] = {}
    for _position, rule, key in named:
        keys[rule] = (*keys.get(rule, ()), key)
    return MappingProxyType(keys)

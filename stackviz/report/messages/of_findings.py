"""Which error messages a finding is about. Standard library only."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Protocol

from stackviz.report.messages import BY_KEY, SYMPTOMS, Symptom
from stackviz.report.messages.similar import similar_messages

__all__ = ["EXPLAINS_MESSAGES", "QUOTES_UNEXPLAINED", "message_keys", "messages_like", "messages_of"]

MOST_LINKS = 3  # of one finding
EXPLAINS_MESSAGES = "error-message"  # the rule whose findings are messages
QUOTES_UNEXPLAINED = "unexplained-error"  # the rule whose findings are lines that no message explains
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


def messages_of(finding: _Finding) -> list[Symptom]:
    """Return the message that a finding is, or the messages that its rule explains."""
    keys = message_keys(finding) or _explained_by(finding)
    return [BY_KEY[key] for key in keys[:MOST_LINKS]]


def messages_like(finding: _Finding) -> tuple[Symptom, ...]:
    """Return messages that read like a line which none explains: similar, not the same. None for other findings."""
    line = str(finding.evidence.get("message.unexplained", ""))
    return similar_messages(line) if finding.rule == QUOTES_UNEXPLAINED else ()


def _explained_by(finding: _Finding) -> list[str]:
    """Return the messages of its rule about the same component, or all where they are about one."""
    keys = _by_rule().get(finding.rule, ())
    near = [key for key in keys if key == finding.rule or BY_KEY[key].component == finding.component]
    return near or (list(keys) if len({BY_KEY[key].component for key in keys}) == 1 else [])


def message_keys(finding: _Finding) -> tuple[str, ...]:
    """Return the key of the message that a finding is; none for other findings."""
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

"""What a rule says about a report."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from stackviz.base.backports import StrEnum
from stackviz.report.rules.compatibility import RuleSource

__all__ = ["Conclusion", "Finding", "Severity"]


class Severity(StrEnum):
    """How bad it is. `fits` and `cannot-tell` are answers too; only the first three are problems."""

    BROKEN = "broken"  # something does not work
    WARNING = "warning"  # it works, and not as it should
    NOTE = "note"  # worth knowing; nothing needs fixing
    CANNOT_TELL = "cannot-tell"  # a fact the rule needs was not reported
    FITS = "fits"  # the rule compared, and it holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What a check yields; the runner adds the rule's name, the evidence and the rule's own source.

    `cards`: indexes of the cards it is about; () for the machine. `component` and `source` override the rule's.
    """

    severity: Severity
    title: str
    explanation: str = ""
    advice: str = ""
    cards: tuple[int, ...] = ()
    component: str = ""
    source: RuleSource | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One answer of one rule, with the facts it used (`evidence`: name -> value as text)."""

    rule: str
    severity: str
    component: str
    title: str
    evidence: Mapping[str, str] = field(default_factory=dict)
    explanation: str = ""
    advice: str = ""
    source_title: str = ""
    source_url: str = ""

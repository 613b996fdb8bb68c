"""What can be found: one entry for each public thing that has an address."""

from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class SearchKind(TextChoices):
    """What an entry is. Of entries that match alike, those of the first kinds come first."""

    ACCELERATOR = "accelerator", _("Accelerators")
    COMPONENT = "component", _("Components")
    OPERATOR = "operator", _("Operators")
    TERM = "term", _("Glossary")
    FIELD = "field", _("Fields of spec sheets")
    MESSAGE = "message", _("Error messages")
    BENCHMARK = "benchmark", _("Benchmarks")
    MODEL = "model", _("Language models")
    STACK = "stack", _("Stacks")
    MACHINE = "machine", _("Machines")
    RULE = "rule", _("Checks of the diagnosis")
    CLAIM = "claim", _("Claims")
    PAGE = "page", _("Pages of this site")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEntry:
    """One thing with an address.

    `line`: what it is, in one line. `names`: other names; a result says which of them matched. `keywords`, `text`:
    words that count less than a name, and much less.
    """

    kind: SearchKind
    title: str
    url: str
    line: str
    names: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    text: str = ""

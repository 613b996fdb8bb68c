"""What a change log is made of: the entries, their place in the log, and which part of it is read."""

from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.web.http.address import whole_number

PER_PAGE = 50

# Options of the field filter besides the registry's fields.
SHEETS, NAMES, PRICES, CITED = "sheet", "name", "price", "cited"

WHAT = {
    "added": gettext_lazy("added"),
    "changed": gettext_lazy("changed"),
    "preferred": gettext_lazy("preferred"),
    "alternative": gettext_lazy("made an alternative"),
    "retired": gettext_lazy("retired"),
    "withdrawn": gettext_lazy("withdrawn"),
    "doubted": gettext_lazy("marked doubtful"),
    "accepted": gettext_lazy("accepted"),
    "removed": gettext_lazy("removed"),
}


@dataclass(frozen=True, slots=True, order=True)
class LogPosition:
    """Position of an entry in the log. Within one moment the lower rank comes first: see `steps`."""

    when: datetime
    rank: int
    pk: int

    def __str__(self) -> str:
        return f"{self.when.astimezone(UTC):%Y%m%dT%H%M%S.%f}-{self.rank}-{self.pk}"

    @classmethod
    def read(cls, text: str) -> "LogPosition | None":
        """The position written in a text; None if it cannot be read."""
        moment, _dash, rest = text.partition("-")
        rank, _dash, pk = rest.partition("-")
        row = whole_number(pk, max_digits=17)
        if rank not in ("0", "1", "2", "3", "4", "5", "6") or row is None:
            return None
        try:
            when = datetime.strptime(moment, "%Y%m%dT%H%M%S.%f").replace(tzinfo=UTC)
        except ValueError:
            return None
        return cls(when, int(rank), row)


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which part of the log to read. `load`: the single steps of one load of the files, instead of its one entry.

    `each`: list steps one by one that would be grouped otherwise.
    """

    accelerator: str = ""
    vendor: str = ""
    field: str = ""
    load: int | None = None
    each: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One step, or a group of steps (`count` > 1; `counts`: how many of which kind).

    `old` and `new` are what the public saw before and after, "" for nothing. `details`: other differences. `slug` is ""
    where the accelerator has no public sheet any more, or several are meant. `url`: the page of a cited result.
    `reason` may be "".
    """

    key: str
    when: datetime
    who: str
    what: str
    accelerator: str = ""
    slug: str = ""
    field: str = ""
    title: str = ""
    condition: str = ""
    old: str = ""
    new: str = ""
    details: tuple[str, ...] = ()
    reason: str = ""
    source_title: str = ""
    source_url: str = ""
    count: int = 1
    counts: tuple[str, ...] = ()
    load: int | None = None
    url: str = ""

    @property
    def what_happened(self) -> str:
        return str(WHAT.get(self.what, self.what))

    @property
    def headline(self) -> str:
        """The entry in one line, as a feed's title: `H100 SXM5: Board power changed: 650 W → 700 W`."""
        if self.counts:
            return f"{self.accelerator or self.who}: {'; '.join(self.counts)}"
        what = " ".join(filter(None, [self.title, f"({self.condition})" if self.condition else "", self.what_happened]))
        figures = " → ".join(filter(None, [self.old, self.new])) or "; ".join(self.details)
        return ": ".join(filter(None, [self.accelerator, what, figures]))


@dataclass(frozen=True, slots=True)
class Log:
    """A part of the log, newest first. `next_place`: where the older ones begin, None where there are none."""

    entries: tuple[Entry, ...]
    next_place: LogPosition | None


@dataclass(frozen=True, slots=True)
class Line:
    """An entry with its place and what joins it to its neighbours; a line of many steps ends at `last`."""

    position: LogPosition
    last: LogPosition
    cause: tuple[object, ...]
    rank: int
    entry: Entry


def counted_words(rank: int, what: str, n: int) -> str:
    """`4,812 values added`."""
    nouns = {
        0: ngettext("%(n)s value", "%(n)s values", n),
        1: ngettext("%(n)s name", "%(n)s names", n),
        2: ngettext("%(n)s accelerator", "%(n)s accelerators", n),
        4: ngettext("%(n)s cited result", "%(n)s cited results", n),
        6: ngettext("%(n)s price", "%(n)s prices", n),
    }
    return _("%(things)s %(happened)s") % {"things": nouns[rank] % {"n": f"{n:,}"}, "happened": WHAT.get(what, what)}

"""Read the query of an address. What cannot be used is left out with a note; nothing raises. No database.

    reader = AddressReader(request.GET)
    vendor = reader.choice("vendor", vendors, _("vendor"))
    query = ListQuery(vendor=vendor, notes=reader.notes({"vendor"}))

A page shows the notes (`web/_notes.jinja`), the API refuses with the first one.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import TypeVar
from urllib.parse import quote

from django.http import HttpRequest
from django.http.request import QueryDict
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

LONGEST_TEXT = 100  # characters of a parameter that are read
LONGEST_SHOWN = 40  # characters of a bad parameter that a note repeats
MOST_NOTES = 3
MOST_CHOICES = 30  # of one parameter
MOST_NAMED = 20  # choices, where an unknown one was given
YEARS = range(1990, 2101)
IGNORED = gettext_lazy("it was ignored")

_NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)

Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True)
class Note:
    """Why a parameter was not used, and what the page does instead; both without a full stop.

    `choices`: what it could have been, where these are few.
    """

    parameter: str
    problem: str
    consequence: str | Promise = IGNORED
    choices: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return _("%(problem)s; %(consequence)s.") % {"problem": self.problem, "consequence": self.consequence}

    def __str__(self) -> str:
        return self.text


def text_parameter(request: HttpRequest, name: str) -> str:
    """The text of a parameter, cleaned; "" where it is not given."""
    return clean_text(request.GET.get(name, ""))


def clean_text(text: str) -> str:
    """Trimmed, at most LONGEST_TEXT long, without NUL, which PostgreSQL refuses."""
    return text.replace("\x00", "").strip()[:LONGEST_TEXT]


def without_controls(text: str) -> str:
    """The text without control characters, and what would change the direction of the text after it."""
    return "".join(character for character in text if character.isprintable())


def ascii_number(text: str) -> float | None:
    """`80`, `1.5`, `1e3` -> a number, else None. float() alone also reads ` ١٢ ` and 1_000."""
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def whole_number(text: str, max_digits: int) -> int | None:
    """`007` -> 7; None for anything but at most `max_digits` ASCII digits. int() alone also reads ` ١٢ ` and 1_000."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= max_digits else None


def row_key(text: str) -> int:
    """The primary key a form or an address names; 0, which no row has, for anything else."""
    return whole_number(text, max_digits=17) or 0


def comma_separated(values: Iterable[str]) -> list[str]:
    """`["a,b", "c"]` -> a, b, c: a parameter may be given several times, or once with commas."""
    return [part for value in values for part in (piece.strip() for piece in value.split(",")) if part]


class AddressReader:
    """Reads parameters one by one and collects a note for each that cannot be used.

    `respelled`: parameter -> the known value, of choices given in another letter case. Addresses of ours have that.
    """

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self.parameters = parameters
        self.respelled: dict[str, str] = {}
        self._notes: list[Note] = []
        self._repeated: set[str] = set()

    def note(
        self, parameter: str, problem: str, consequence: str | Promise = IGNORED, choices: tuple[str, ...] = ()
    ) -> None:
        """Add a note about a parameter, without control characters, which may be in what it repeats."""
        few = choices if len(choices) <= MOST_NAMED else ()
        self._notes.append(Note(without_controls(parameter), without_controls(problem), consequence, few))

    def text(self, name: str) -> str:
        """A free text, cleaned; a note where it is cut."""
        given = self._given(name)
        if len(given.strip()) > LONGEST_TEXT:
            problem = _("The text is longer than %(n)d characters") % {"n": LONGEST_TEXT}
            self.note(name, problem, gettext_lazy("the rest was ignored"))
        return clean_text(given)

    def _given(self, name: str) -> str:
        """The last value of a parameter that is read once; a note where there are several."""
        values = self.parameters.getlist(name) if isinstance(self.parameters, QueryDict) else []
        if len(values) > 1 and name not in self._repeated:
            self._repeated.add(name)
            problem = _("“%(name)s” is given more than once") % {"name": name}
            self.note(name, problem, gettext_lazy("the last value is used"))
        return self.parameters.get(name, "")

    def choice(self, name: str, known: Collection[str], what: str | Promise, default: str = "") -> str:
        """One of the known values, whatever its letter case; the default where none or another is given.

        `what` names it in the note. Where two known values differ in their case only, each is found as it is spelled.
        """
        value = clean_text(self._given(name))
        if not value or value in known:
            return value or default
        alike = min((each for each in known if each.casefold() == value.casefold()), default="")
        if alike:
            self.respelled[name] = alike
            return alike
        self.unknown_value(name, what, value)
        return default

    def choices(self, name: str, known: Iterable[str], what: str | Promise) -> tuple[str, ...]:
        """Those of the values given that are known, each once, whatever their letter case."""
        by_folded = {value.casefold(): value for value in known}
        given = dict.fromkeys(self.values(name)[:MOST_CHOICES])
        for value in given:
            if value.casefold() not in by_folded:
                self.unknown_value(name, what, value, choices=tuple(by_folded.values()))
        return tuple(dict.fromkeys(by_folded[value.casefold()] for value in given if value.casefold() in by_folded))

    def values(self, name: str) -> list[str]:
        """All values of a parameter that may be repeated or hold commas."""
        query = self.parameters
        return comma_separated(query.getlist(name) if isinstance(query, QueryDict) else [query.get(name, "")])

    def year(self, name: str) -> int | None:
        """A year of YEARS."""

        def parse(text: str) -> int | None:
            year = whole_number(text, max_digits=4)
            return year if year in YEARS else None

        return self.parsed(name, parse, gettext_lazy("“%(value)s” is not a year"))

    def quantity(self, name: str, unit: str, most: float, problem: str | Promise) -> float | None:
        """`80`, `80 GB` -> 80.0: a number above 0 and up to `most`, its unit optional."""

        def parse(text: str) -> float | None:
            number = ascii_number(text.casefold().removesuffix(unit.casefold()))
            return number if number is not None and 0 < number <= most else None

        return self.parsed(name, parse, problem)

    def parsed(
        self,
        name: str,
        parse: Callable[[str], Parsed | None],
        problem: str | Promise,
        consequence: str | Promise = IGNORED,
    ) -> Parsed | None:
        """What `parse` makes of the text; None where none is given, or with a note where `parse` returns None.

        The problem may name the text as `%(value)s`.
        """
        given = self._given(name).strip()
        text = clean_text(given)
        value = parse(text) if text else None
        if given and value is None:
            self.note(name, str(problem) % {"value": text[:LONGEST_SHOWN]}, consequence)
        return value

    def unknown_value(
        self,
        name: str,
        what: str | Promise,
        value: str,
        consequence: str | Promise = IGNORED,
        choices: tuple[str, ...] = (),
    ) -> None:
        """Add the note that there is no such thing: "Unknown vendor “amd2”; it was ignored."."""
        problem = _("Unknown %(what)s “%(value)s”") % {"what": what, "value": value[:LONGEST_SHOWN]}
        self.note(name, problem, consequence, choices)

    def notes(self, known: Collection[str], most: int | None = MOST_NOTES) -> tuple[Note, ...]:
        """The notes so far and one for each parameter that is not `known`, at most `most` of them; all with None."""
        unknown = [name for name in sorted(self.parameters) if name not in known]
        for name in unknown[:most]:
            self.note(name[:LONGEST_SHOWN], _("Unknown parameter “%(name)s”") % {"name": name[:LONGEST_SHOWN]})
        return tuple(self._notes[:most])


# --- comparisons ---


def comparison_query(subjects: Iterable[str]) -> str:
    """The query, without its question mark, that compares these subjects; colons and slashes stay readable."""
    return "&".join(f"a={quote(subject, safe=':/')}" for subject in subjects)


def machine_subject(lab: str, slug: str) -> str:
    """What the address of a comparison calls a machine."""
    return f"machine:{lab}/{slug}"


# --- moments ---

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)(Z|[+ -]\d\d:\d\d)?)?", re.ASCII)


def read_moment(text: str) -> datetime | None:
    """`2026-11-20` or `2026-11-20T16:00:00Z` -> aware UTC; a date alone means the end of that day, today's: now.

    None if it is no moment or lies in the future. Without a zone a time is UTC; a space before the zone is an unescaped
    plus sign.
    """
    parts = _MOMENT.fullmatch(text.strip())
    if parts is None:
        return None
    day, clock, zone = parts.groups()
    now = timezone.now()
    try:
        if clock is None:
            return _end_of(datetime.fromisoformat(day), now)
        moment = datetime.fromisoformat(f"{day}T{clock}{zone or 'Z'}".replace(" ", "+")).astimezone(UTC)
    except (ValueError, OverflowError):  # the 31st of June; the year 1, a zone east of here
        return None
    return moment if moment <= now else None


def _end_of(day: datetime, now: datetime) -> datetime | None:
    if day.date() > now.date():
        return None
    return min(datetime.combine(day, time.max, UTC), now)


def write_moment(moment: datetime) -> str:
    """As `read_moment` reads it: `2026-11-20T16:00:00Z`; parts of a second only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")

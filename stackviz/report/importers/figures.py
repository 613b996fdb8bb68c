"""Read figures under their labels, options of commands and JSON in a text: what importers of benchmarks share."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from stackviz.report.format import LIMITS, Result, Scalar
from stackviz.report.importers.importer import Span
from stackviz.report.importers.reading import Reading, clean

__all__ = [
    "NO_DEVICE",
    "CitedKind",
    "Figure",
    "TableColumns",
    "add_figures",
    "command_options",
    "finite_number",
    "first_line_above",
    "model_name",
    "objects_in",
    "positive_count",
    "starts_of_lines",
]

NO_DEVICE = "not in the text"

# ---- results --------------------------------------------------------------------------------------------------------

_MOST = 1e12  # of any unit read here
_NUMBER = re.compile(r"[+-]?\d{1,18}(?:,\d{3}){0,5}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CitedKind:
    """A benchmark of which the site has cited results only: its key there, and the unit of a figure as printed."""

    key: str
    unit: str
    version: int = 1


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that a tool prints: the label or key it stands under, what it measures, parameters that it implies."""

    label: str
    kind: CitedKind
    params: Mapping[str, Scalar] = field(default_factory=dict)


def finite_number(written: object) -> float | None:
    """The number that was written, finite; None for anything else."""
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    text = written.strip() if isinstance(written, str) else str(written)
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text.replace(",", ""))
    return number if math.isfinite(number) else None


def positive_count(written: object) -> int | None:
    """A count that was written, above 0; None for anything else."""
    number = finite_number(written)
    return int(number) if number is not None and 0 < number < 2**53 and number == int(number) else None


def add_figures(
    reading: Reading,
    figures: Iterable[Figure],
    values: Mapping[str, object],
    params: Mapping[str, Scalar | None],
    *,
    device: str = NO_DEVICE,
    card: int | None = None,
    conditions: Mapping[str, Scalar] | None = None,
) -> None:
    """Add a result for each figure among the values. One that cannot be meant is a problem, with its label.

    `params` with None are not in the text and left out.
    """
    stated = {name: value for name, value in params.items() if value not in (None, "")}
    for figure in figures:
        if figure.label not in values:
            continue
        written = values[figure.label]
        number = finite_number(written)
        if number is None or not 0 < number < _MOST:
            reading.problem(f"{figure.label}: {clean(str(written), 60) or 'nothing'} is no figure above 0")
        elif len(reading.results) < LIMITS.results:
            reading.results.append(
                Result(
                    benchmark=figure.kind.key,
                    version=figure.kind.version,
                    device=device,
                    card=card,
                    params={**stated, **figure.params},
                    state="ok",
                    reason=None,
                    unit=figure.kind.unit,
                    samples=(number,),
                    started_at=None,
                    duration_s=None,
                    conditions=dict(conditions or {}),
                    framework="other",
                )
            )
        else:
            reading.problem(f"more than {LIMITS.results} results: the others were not read")
            return


# ---- commands -------------------------------------------------------------------------------------------------------

_OPTION = re.compile(
    r"(?<!\S)--?([A-Za-z][\w-]{0,60})(?:=|[ \t]{1,20}(?:\\[ \t]{0,8}\n[ \t]{0,40})?)"
    r"(\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|[^\s\\\"'-][^\s\\]{0,300})"
)
_SETTING = re.compile(
    r"(?<![\w.])'?([a-z_]{2,60})'?(?:=|: )(\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|[\w.+-]{1,60})(?=[,)}\]])"
)


def command_options(text: str) -> dict[str, str]:
    """Options of the commands in a text, `--max-model-len 8192`, and settings as Python prints them,
    `max_model_len=8192`, `'max_model_len': 8192`: the first of each name, with underscores. None is no value."""
    options: dict[str, str] = {}
    for match in _OPTION.finditer(text):
        options.setdefault(match[1].replace("-", "_"), match[2].strip("\"'"))
    for match in _SETTING.finditer(text):
        if match[2] != "None":
            options.setdefault(match[1], match[2].strip("\"'"))
    return options


def model_name(written: object) -> str:
    """The name of a model without the folder or the account that it lies in; "" where it is none."""
    if not isinstance(written, str):
        return ""
    name = re.split(r"[/\\]", written.strip().rstrip("/\\"))[-1]
    return clean(name.removesuffix(".gguf").partition("@")[0], 120)


# ---- lines and tables -----------------------------------------------------------------------------------------------


@dataclass
class TableColumns:
    """Where the columns of a table are; what comes before it in a line is a column too, and has no name."""

    names: dict[str, int] = field(default_factory=dict)
    width: int = 0

    @classmethod
    def of_header(cls, line: str) -> "TableColumns":
        cells = [cell.strip().lower() for cell in line[:2000].split("|")]
        return cls({name: column for column, name in enumerate(cells) if name}, len(cells))

    def cell(self, cells: Sequence[str], *names: str) -> str:
        """What a row has under the first of these columns; "" if there is none."""
        column = next((self.names[name] for name in names if name in self.names), None)
        return cells[column].strip() if column is not None and column < len(cells) else ""


def starts_of_lines(lines: Sequence[str]) -> list[int]:
    """Where each line begins, and where the text ends."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts


_LINES_ABOVE = 120  # what Metal prints before a table
_STRANGE_LINES_ABOVE = 3


def first_line_above(lines: Sequence[str], number: int, floor: int, log: re.Pattern[str]) -> int:
    """The first of the lines above this one that belong to it: those of its log, and few others between them."""
    top, strange = number, 0
    for above in range(number - 1, max(floor, number - _LINES_ABOVE) - 1, -1):
        if log.search(lines[above][:300]):
            top, strange = above, 0
        elif lines[above].strip():
            strange += 1
        if strange > _STRANGE_LINES_ABOVE:
            break
    return top


# ---- JSON -----------------------------------------------------------------------------------------------------------

_OPENING = re.compile(r'^[ \t]{0,60}(?:\[\s{0,60})?(\{)(?=\s{0,60}")', re.MULTILINE)
_KEY = re.compile(r'"([\w.%-]{1,80})"\s{0,20}:')
_MOST_OBJECTS = 1_000
_MOST_BROKEN = 200  # each error counts the lines before it
_READ_TWICE = 4  # an object that is none of those wanted may hold one


def objects_in(text: str, keys: Set[str]) -> Iterator[tuple[Span, Mapping[str, object] | None, str]]:
    """JSON objects with all of these keys that begin a line: where, the object, and ""; or None, and what is wrong
    with one that has a key of them.

    The work is bounded: each character is read a few times at most.
    """
    at = spent = objects = broken = 0
    decoder = json.JSONDecoder()
    for match in _OPENING.finditer(text):
        start = match.start(1)
        if start < at:
            continue
        if spent > _READ_TWICE * len(text) or objects == _MOST_OBJECTS or broken == _MOST_BROKEN:
            return
        value: object = None
        problem = ""
        try:
            value, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            end = max(error.pos, start + 1)
            named = _KEY.findall(text, max(start, end - 400), end)
            problem = f"the JSON is broken or incomplete at {named[-1] if named else 'its begin'}"
        except (ValueError, RecursionError):  # a number of thousands of digits; thousands of brackets
            end, problem = len(text), "the JSON is too deep or its numbers too long"
        spent += end - start
        broken += bool(problem)
        is_torn = bool(problem) and not keys.isdisjoint(_KEY.findall(text, start, end))
        if is_torn or (isinstance(value, Mapping) and keys <= value.keys()):
            at, objects = end, objects + 1
            yield Span(start, end), value if isinstance(value, Mapping) else None, problem

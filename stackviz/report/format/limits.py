"""Limits of the report format: beyond one, a report is refused with the place named, never cut. Errors of reports."""

from dataclasses import dataclass

from stackviz.report.format.facts.fact import LONGEST_TEXT

__all__ = ["LIMITS", "Limits", "ReportError", "ReportTooLarge"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Counts, unless the name ends in its unit. Characters are Unicode code points."""

    body_bytes: int = 4 * 1024 * 1024  # after gzip is undone
    depth: int = 12  # of nested objects and lists, the report itself being the first
    facts: int = 1_000  # and as many absent ones; per machine and per card
    cards: int = 64
    software: int = 500
    results: int = 2_000
    samples: int = 1_000  # per result
    params: int = 50  # per result
    conditions: int = 200  # per result
    probes: int = 100
    names: int = 20  # of processes, beside a result
    string_chars: int = LONGEST_TEXT
    name_chars: int = 200  # names, versions, slugs, keys
    integer_max: int = 2**63 - 1  # what every database and language at either end can hold
    number_max: float = 1e300  # sums of squares of samples stay finite
    unknown_values: int = 10_000  # inside all unknown fields of a report together, objects and lists counted too
    unknown_listed: int = 100  # unknown fields listed by path; all of them are kept


LIMITS = Limits()


class ReportError(ValueError):
    """A report breaks the format: `path` says where, `problem` says what.

    `path` is written as an engineer would reach the value, `results[2].samples`; it is "body" when the
    bytes themselves are at fault (not UTF-8, not JSON, not an object, too deep).

    >>> str(ReportError("results[2].samples", "is empty"))
    'results[2].samples: is empty'
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem

    def __reduce__(self) -> tuple[type["ReportError"], tuple[str, str]]:
        return type(self), (self.path, self.problem)


class ReportTooLarge(ReportError):
    """The inflated body is longer than LIMITS.body_bytes: sending it again cannot help."""

"""What can be wrong with a report: one error, carrying the place and the problem."""

__all__ = ["ReportError", "ReportTooLarge"]


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

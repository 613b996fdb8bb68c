"""Curated files that are wrong. Pure."""

MOST_PROBLEMS_SHOWN = 20


class CuratedDataError(ValueError):
    """The curated files contradict themselves or the registry; `problems` are "file:line: what is wrong"."""

    def __init__(self, problems: list[str]) -> None:
        shown = problems[:MOST_PROBLEMS_SHOWN]
        more = [f"… and {len(problems) - len(shown)} more"] if len(problems) > len(shown) else []
        super().__init__("\n".join([*shown, *more]))
        self.problems = problems

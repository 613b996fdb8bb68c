"""What a trial found: figures for a table, and what is wrong."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Outcome:
    """Rows (what, measured) in the order of their addition; `wrong`: what the site promises and did not do."""

    name: str
    rows: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, what: str, measured: object) -> None:
        self.rows.append((what, str(measured)))

    def expect(self, holds: object, otherwise: str) -> None:
        if not holds:
            self.wrong.append(otherwise)

    def table(self) -> str:
        verdict = "; ".join(self.wrong) or "as promised"
        rows = [(self.name, "measured"), ("---", "---"), *self.rows, ("verdict", verdict)]
        return "\n".join(f"| {what} | {measured} |" for what, measured in rows)


def spread(seconds: Sequence[float]) -> str:
    """`p50 0.01 s, p95 0.20 s, worst 3.10 s`."""
    if not seconds:
        return "none"
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"p50 {statistics.median(ordered):.2f} s, p95 {p95:.2f} s, worst {ordered[-1]:.2f} s"

"""Machines that tests ask instead of this one: files under a folder, commands with recorded output."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from stackviz.report.format.facts.asking import MissingFact, Surroundings

FIXTURES = Path(__file__).parents[1] / "fixtures"


def machine(
    root: Path,
    files: Mapping[str, str] | None = None,
    says: Mapping[str, str | MissingFact] | None = None,
    system: str = "Linux",
    environ: Mapping[str, str] | None = None,
) -> Surroundings:
    """`says`: command line -> what it prints, or how it fails. Commands not named are not installed."""
    for name, content in (files or {}).items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def run(argv: Sequence[str], _timeout_s: float) -> str:
        said = (says or {}).get(" ".join(argv), MissingFact("not_installed", f"{argv[0]} is not installed"))
        if isinstance(said, MissingFact):
            raise said
        return said

    return Surroundings(root=root, system=system, environ=environ or {}, run_command=run)

"""Writes the tables of docs/ that are made from the code; `--check` says which are stale instead. `make docs` runs it.

A table stands between `<!-- made by make docs: NAME -->` and `<!-- end -->`, in whichever page; NAME is one of TABLES.
"""

import ast
import os
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_PART = re.compile(r"(<!-- made by make docs: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main(arguments: list[str]) -> int:
    stale = []
    for page in sorted(ROOT.glob("docs/**/*.md")):
        text = page.read_text(encoding="utf-8")
        current = _PART.sub(lambda part: f"{part[1]}{table(part[2])}{part[3]}", text)
        if current != text:
            stale.append(page.relative_to(ROOT).as_posix())
            if "--check" not in arguments:
                page.write_text(current, encoding="utf-8")
    if "--check" in arguments:
        print(f"stale, run `make docs`: {', '.join(stale)}" if stale else "the tables of docs/ are those of the code")
        return 1 if stale else 0
    print(f"written: {', '.join(stale)}" if stale else "nothing to write: the tables of docs/ are those of the code")
    return 0


def table(name: str) -> str:
    """The Markdown of one table. Raises KeyError for a name that a page asks for and nobody makes."""
    return "".join(f"{line}\n" for line in TABLES[name]())


def _rows(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """A Markdown table; a `|` inside a cell is escaped."""
    heads = list(heads)
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', '&#124;') for cell in row)} |"


def _rules() -> Iterator[str]:
    from stackviz.report.rules import RULES

    return _rows(
        ["rule", "component", "says whether", "worst"],
        ([f"`{rule.id}`", f"`{rule.component}`", rule.asks, rule.worst] for rule in RULES),
    )


def _importers() -> Iterator[str]:
    from stackviz.report.importers import IMPORTERS

    return _rows(
        ["tool", "kind", "what it tells", "trust"],
        ([importer.tool, f"`{importer.kind}`", importer.tells, importer.trust] for importer in IMPORTERS),
    )


def _limits() -> Iterator[str]:
    from stackviz.report.format import LIMITS

    return _rows(["limit", "most"], ([f"`{name}`", f"{most:,}"] for name, most in asdict(LIMITS).items()))


def _meanings(head: str, meaning: str, meanings: Mapping[str, str]) -> Iterator[str]:
    return _rows([head, meaning], ([f"`{name}`", text] for name, text in meanings.items()))


def _absent_reasons() -> Iterator[str]:
    from stackviz.report.format.facts import ABSENT_REASONS

    return _meanings("reason", "meaning", ABSENT_REASONS)


def _components() -> Iterator[str]:
    from stackviz.report.format import COMPONENTS

    return _meanings("component", "what it is", COMPONENTS)


def _facts(registry: str) -> Iterator[str]:
    from stackviz.report.format import facts

    return _rows(
        ["name", "type", "unit", "meaning"],
        ([f"`{fact.name}`", fact.kind, fact.unit, fact.meaning] for fact in getattr(facts, registry).values()),
    )


def _benchmarks() -> Iterator[str]:
    from stackviz.report.measuring import RUNNABLE

    return _rows(
        ["benchmark", "one run", "cases", "rate"],
        (
            [
                f"`{benchmark.key}` {benchmark.version}",
                benchmark.runs,
                benchmark.sizes,
                f"{benchmark.formula}, {benchmark.unit}",
            ]
            for benchmark in RUNNABLE.values()
        ),
    )


def _set_up_django() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "accelweb.settings")
    django.setup()


def _fields() -> Iterator[str]:
    _set_up_django()
    from stackviz.records.catalog.fields import FIELDS

    better = {True: "higher", False: "lower", None: ""}
    return _rows(
        ["field", "title", "unit", "better", "plausible", "formula"],
        (
            [
                f"`{field.name}`",
                field.title,
                field.unit,
                better[field.higher_is_better],
                " to ".join(f"{bound:,g}" for bound in field.plausible or ()),
                f"`{field.formula_name}`" if field.formula else "",
            ]
            for field in FIELDS.values()
        ),
    )


def _formulas() -> Iterator[str]:
    _set_up_django()
    from stackviz.records.catalog.fields import FORMULAS

    return _rows(
        ["formula", "what it expects", "source"],
        ([f"`{formula.name}`", formula.words, formula.source] for formula in FORMULAS.values()),
    )


def _checks() -> Iterator[str]:
    _set_up_django()
    from stackviz.records.catalog.checks import CHECKS

    return _rows(["check", "what it holds"], ([f"`{name}`", text] for name, (text, _check) in CHECKS.items()))


def _floor_texts() -> list[str]:
    """The floors of the house, from the top, as the import contract of pyproject.toml writes them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers: list[str] = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [re.sub(r"[()]|stackviz\.", "", layer) for layer in layers]


# What is on a floor, by one of its rooms.
_FLOORS = {
    "accelweb": "wiring",
    "search": "use all pages or tables",
    "accelerators": "pages, uploads, make run",
    "reports": "parts of one report, events",
    "benchmarks": "results, freshness",
    "labs": "tables",
    "catalog": "the catalogue's tables",
    "audit": "audit log",
    "agent": "runs on lab machines",
    "dumps": "dumps to findings",
    "web": "shared by pages; rules",
    "wire": "report format",
    "facts": "what a report can state",
    "units": "import at most backports",
    "backports": "for Python 3.10",
}


def _floors() -> Iterator[str]:
    """A drawing: a box a floor, what it is for at the left, its rooms at the right."""
    edge = f"+{'-' * 29}+{'-' * 80}+"
    yield from ["```", edge]
    for text in _floor_texts():
        rooms = text.split(" | ")
        purpose = next(_FLOORS[room] for room in rooms if room in _FLOORS)
        for number, line in enumerate(textwrap.wrap("  ".join(rooms), 78)):
            yield f"| {'' if number else purpose:<27} | {line:<78} |"
        yield edge
    yield "```"


def _rooms() -> Iterator[str]:
    rooms = [room for floor in _floor_texts() for room in floor.split(" | ") if room != "accelweb"]
    return _rows(["room", "what is in it"], ([f"`{room}`", _purpose_of(room)] for room in rooms))


def _purpose_of(room: str) -> str:
    """The first paragraph of the room's docstring."""
    folder = ROOT / "stackviz" / room.replace(".", "/")
    source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.partition("\n\n")[0].split())


TABLES: Mapping[str, Callable[[], Iterator[str]]] = {
    "absent-reasons": _absent_reasons,
    "benchmarks": _benchmarks,
    "catalogue-checks": _checks,
    "card-facts": partial(_facts, "CARD_FACTS"),
    "components": _components,
    "conditions": partial(_facts, "CONDITIONS"),
    "fields": _fields,
    "formulas": _formulas,
    "facts": partial(_facts, "FACTS"),
    "importers": _importers,
    "floors": _floors,
    "limits": _limits,
    "rooms": _rooms,
    "rules": _rules,
}


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))

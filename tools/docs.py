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


def _floor_names() -> list[str]:
    """The floors of `stackviz/` from the top, as the import contract of pyproject.toml has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers: list[str] = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [layer.removeprefix("stackviz.") for layer in layers if layer != "accelweb"]


def _rooms_on(floor: str) -> list[str]:
    """The rooms of a floor by name; web and agent are one room each."""
    folder = ROOT / "stackviz" / floor
    if floor in {"agent", "web"}:
        return []
    return sorted(path.stem for path in folder.iterdir() if not path.stem.startswith("__"))


def _floors() -> Iterator[str]:
    """A drawing: a box a floor, its name at the left, its rooms at the right."""
    edge = f"+{'-' * 11}+{'-' * 80}+"
    yield from ["```", edge]
    for floor in _floor_names():
        text = "  ".join(_rooms_on(floor)) or _purpose_of(floor)
        for number, line in enumerate(textwrap.wrap(text, 78)):
            yield f"| {'' if number else floor:<9} | {line:<78} |"
        yield edge
    yield "```"


def _rooms() -> Iterator[str]:
    """A row a floor, followed by its rooms."""
    rows: list[list[str]] = []
    for floor in _floor_names():
        rows.append([f"**`{floor}`**", f"**{_purpose_of(floor)}**"])
        rows += [[f"`{floor}/{room}`", _purpose_of(f"{floor}/{room}")] for room in _rooms_on(floor)]
    return _rows(["room", "what is in it"], rows)


def _purpose_of(room: str) -> str:
    """The first paragraph of the room's docstring."""
    folder = ROOT / "stackviz" / room
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

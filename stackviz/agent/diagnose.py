"""`diagnose` and `--attach`: read what other tools printed, without a server and without the network.

`diagnose` judges it; `--attach FILE` takes what another tool measured on this machine into the report.
"""

import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from stackviz.agent.benchmarks.cases import params_text
from stackviz.agent.progress import printable
from stackviz.base.backports import UTC
from stackviz.base.units import format_quantity, quantity_label
from stackviz.report.dumps import answer, machines
from stackviz.report.dumps.components import LAYER_TITLES, LAYERS
from stackviz.report.dumps.merge import on_cards
from stackviz.report.dumps.tool_results import MEASURING_TOOLS, tool_results
from stackviz.report.format import Result
from stackviz.report.importers import IMPORTERS, Paste, Reading, read_all
from stackviz.report.importers.paste import NoText, decode_text, join_texts
from stackviz.report.measuring import BENCHMARKS
from stackviz.report.measuring.stated_rate import stated_rate
from stackviz.report.rules import packaged_tables

__all__ = [
    "MOST_BYTES",
    "FileRefused",
    "attached_results",
    "describe_answer",
    "diagnosed",
    "read_attached_file",
    "read_files",
]

MOST_BYTES = 4 * 1024 * 1024
_WIDTH = 100
_MOST_ROWS = 60
_STATE_WORDS = {"reported": "", "unknown": "version not reported"}

Document = Mapping[str, Any]


class FileRefused(Exception):
    """A file that cannot be diagnosed. Says which and why."""


def read_files(names: Sequence[str]) -> Paste:
    """What the dumps in these files tell, "-" being standard input. Raises FileRefused."""
    return read_all(join_texts(_text_of(name) for name in names))


def diagnosed(paste: Paste) -> dict[str, Any]:
    """The answer, as the site's API gives it."""
    return answer(machines(paste), packaged_tables(), not_understood=paste.not_understood)


def _text_of(name: str) -> str:
    shown = "standard input" if name == "-" else name
    try:
        if name == "-":
            content = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise FileRefused(f"{shown}: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > MOST_BYTES:
        raise FileRefused(f"{shown} is larger than {MOST_BYTES // 2**20} MiB: pass the output of a single command")
    try:
        return decode_text(content)
    except NoText:
        raise FileRefused(f"{shown} is not text: it contains NUL bytes") from None


# ---- for people -----------------------------------------------------------------------------------------------------


def describe_answer(document: Document) -> str:
    """Findings first, then the stack layer by layer, cards, results, and what was not understood."""
    lines = _lines(document)
    return "\n".join(map(printable, lines))


def _lines(document: Document) -> Iterator[str]:
    if not document["kinds"] and not document["not_understood"]:
        yield "The input is empty: pass the output of one of the tools."
        return
    if not document["kinds"]:
        yield "This is not the output of a supported tool. Supported tools:"
        yield from (f"  {tool}" for tool in dict.fromkeys(importer.tool for importer in IMPORTERS))
        return
    yield f"Read: {', '.join(document['kinds'])}"
    others = document.get("machines", [])
    if others:
        yield f"These dumps are from {len(others) + 1} machines. First machine:"
    yield from _machine(document)
    for number, other in enumerate(others, 2):
        yield ""
        yield f"Machine {number} ({other['differs']}): {', '.join(other['kinds'])}"
        yield from _machine(other)
    yield from _listed("Not understood", document["not_understood"])


def _machine(document: Document) -> Iterator[str]:
    yield ""
    yield f"Findings: {document['verdict']}"
    yield from _findings(document["findings"])
    yield from _stack(document)
    yield from _cards(document)
    yield from _results(document["results"])
    yield from _listed("Odd", document["problems"])


def _findings(findings: Sequence[Document]) -> Iterator[str]:
    for finding in findings:
        yield ""
        yield from _wrapped(f"{_severity_text(finding['severity']).upper()}  {finding['title']}", "", "  ")
        for label, text in (
            ("why", finding["explanation"]),
            ("do", finding["advice"]),
            ("facts", "; ".join(f"{name}: {value}" for name, value in finding["evidence"].items())),
            ("source", f"{finding['source']['title']} {finding['source']['url']}"),
            ("rule", finding["rule"]),
        ):
            if text.strip():
                yield from _wrapped(f"{label}: {text}", "  ", "    ")


def _severity_text(severity: str) -> str:
    return severity.replace("-", " ")


def _stack(document: Document) -> Iterator[str]:
    yield ""
    yield "Stack"
    for layer in LAYERS:
        parts = [part for part in document["components"] if part["layer"] == layer]
        if layer == "hardware":
            rows = _alike((part["name"], part["state"]) for part in parts)
        else:
            rows = [(f"{part['component']} {part['version'] or ''}".strip(), part["state"]) for part in parts]
        yield f"  {LAYER_TITLES[layer]}" + ("" if rows else ": not reported")
        for name, state in rows:
            note = _STATE_WORDS.get(state, state)
            yield f"    {name}" + (f"  [{note}]" if note else "")


def _alike(rows: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    counted = Counter(rows).items()
    return [(f"{count} x {name}" if count > 1 else name, state) for (name, state), count in counted]


def _cards(document: Document) -> Iterator[str]:
    if document["cards"]:
        yield ""
        yield "Cards"
    for card in document["cards"]:
        memory = card["memory_bytes"]
        details = [
            card["reported_name"],
            format_quantity(memory, "B", binary=True).label if memory else "memory not reported",
            f"driver {card['driver_version']}" if card["driver_version"] else "",
            f"sheet {card['accelerator']}" if card["accelerator"] else "no spec sheet has this name, or several do",
        ]
        yield f"  {card['index']}  {', '.join(filter(None, details))}"


def _results(results: Sequence[Document]) -> Iterator[str]:
    if results:
        yield ""
        yield "Results"
    for result in results[:_MOST_ROWS]:
        yield f"  {_result_line(result)}"
    if len(results) > _MOST_ROWS:
        yield f"  and {len(results) - _MOST_ROWS} more (--json has all)"


def _result_line(result: Document) -> str:
    """`nccl-tests all-reduce fp32 cards 4 1 MiB on NVIDIA L4 x4: 54 GB/s, 29 µs`: the rate, and the time it follows
    from; a figure that no rate follows from as it was printed."""
    params, value, unit = result["params"], result["value"], result["unit"]
    rate = stated_rate(BENCHMARKS.get(result["benchmark"]), params, unit, value)
    setting = f"{result['benchmark']} {params_text(params)}"
    if value is None:
        shown = str(result.get("reason", ""))
    elif rate is None:
        shown = f"{value:g} {unit}" + (f" ± {result['stddev']:g}" if "stddev" in result else "")
    else:
        shown = quantity_label(rate.value, rate.unit)
        shown += f", {quantity_label(value, unit)}" if unit == "s" and rate.unit != "s" else ""
    if rate is None and {"model", "test"} <= params.keys():  # as llama-bench prints them, among twenty settings
        setting = f"{params['model']} {params['test']}"
    return f"{setting} on {result['device']}: {shown}"


def _listed(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield title
    yield from (f"  {line[:160]}" for line in lines[:_MOST_ROWS])


def _wrapped(text: str, first: str, then: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=then, break_long_words=False, break_on_hyphens=False
    )


def read_attached_file(name: str) -> list[Reading]:
    """The readings of a file that have results of MEASURING_TOOLS; "-" is standard input.

    Raises FileRefused where there are none, with what the tool's output lacks.
    """
    readings = [each for each in read_files([name]).readings if each.kind in MEASURING_TOOLS]
    with_results = [each for each in readings if each.results]
    if not with_results:
        tools = f"{', '.join(MEASURING_TOOLS[:-1])} or {MEASURING_TOOLS[-1]}"
        problems = "; ".join(dict.fromkeys(problem for each in readings for problem in each.problems))
        raise FileRefused(f"{name}: no results of {tools} could be read in it" + (f" ({problems})" if problems else ""))
    return with_results


def attached_results(readings: Sequence[Reading], cards: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The results as documents of a report. `cards`: those of this machine, of which each result names the ones it ran
    on where that is certain."""
    now = datetime.now(UTC)
    documents = []
    for reading in readings:
        known = _known_cards(reading, cards)
        documents += [
            _document(on_cards(result, known), now) for result in tool_results(reading.results, reading.software)
        ]
    return documents


def _known_cards(reading: Reading, cards: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Index in the output -> index in the report, of names that as many cards have here as there.

    Alike cards are in one order then; which two of four a tool saw nobody can tell.
    """
    known: dict[int, int] = {}
    for name in {card.reported_name for card in reading.cards}:
        printed = sorted(card.index for card in reading.cards if card.reported_name == name)
        alike = sorted(int(card["index"]) for card in cards if card.get("reported_name") == name)
        if len(printed) == len(alike):
            known |= dict(zip(printed, alike, strict=True))
    return known


def _document(result: Result, now: datetime) -> dict[str, Any]:
    """`now`: when it counts as measured where the output states no time, as tables do not."""
    started_at = result.started_at or (now if result.state == "ok" else None)
    return {
        "benchmark": result.benchmark,
        "version": result.version,
        "device": result.device,
        "card": result.card,
        "cards": list(result.cards),
        "params": dict(result.params),
        "state": result.state,
        "reason": result.reason,
        "unit": result.unit,
        "samples": list(result.samples),
        "started_at": started_at and started_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "duration_s": None,
        "conditions": dict(result.conditions),
        "framework": result.framework,
    }

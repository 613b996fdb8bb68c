"""LocalScore -> rates of each of its tests and their means, its accelerator and system: JSON, and what it prints.

Formats: Mozilla-Ocho/llamafile, localscore/printer.cpp, system.cpp and localscore.cpp; cjpais/LocalScore,
src/pages/api/results.ts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from stackviz.report.format import Scalar
from stackviz.report.importers.figures import (
    NO_DEVICE,
    CitedKind,
    Figure,
    TableColumns,
    add_figures,
    finite_number,
    first_line_above,
    objects_in,
    positive_count,
    starts_of_lines,
)
from stackviz.report.importers.importer import MOST_BLOCKS, Importer, Span, fields
from stackviz.report.importers.reading import CardReading, Reading, clean, vendor_of
from stackviz.report.measuring.llama_bench import compared_model

__all__ = ["IMPORTER", "KIND"]

KIND = "localscore"
LOCALSCORE = CitedKind("localscore", "token/s")
FIRST_TOKEN = CitedKind("llm-time-to-first-token", "ms")

MODELS = {
    "llama 3.2 1b instruct": "Llama-3.2-1B",
    "meta llama 3.1 8b instruct": "Llama-3.1-8B",
    "qwen2.5 14b instruct": "Qwen2.5-14B",
}
"""The models that LocalScore ships, as their files name themselves -> as its site does."""

_SUMMARY = (
    Figure("avg_prompt_tps", LOCALSCORE, {"test": "pp"}),
    Figure("avg_gen_tps", LOCALSCORE, {"test": "tg"}),
)
_SUMMARY_TIME = Figure("avg_ttft_ms", FIRST_TOKEN, {"statistic": "mean", "task": "LocalScore"})
_TEST_TIME = Figure("ttft_ms", FIRST_TOKEN, {"statistic": "mean", "task": "LocalScore"})
_KEYS = frozenset({"accelerator_info", "runtime_info"})
_MOST_TESTS = 100

_BOXED = re.compile(r"^\|\s{1,200}(\S[^|]{0,200}?)\s{1,200}\|$")
_TEST = re.compile(r"pp(\d{1,7})\+tg(\d{1,7})")
_TIME = re.compile(r"(\S{1,20}) (ms|s|sec)")
_MILLISECONDS = {"ms": 1.0, "s": 1e3, "sec": 1e3}
_MEMORY = re.compile(r"(.{2,150}) - (\d{1,5}\.\d) GiB")
_ABOVE = re.compile(
    r"LocalScore|System Information|GPU \d{1,3}|GPU information|^=+$|^\+-{20,200}\+$|^\|[ -]"
    r"|Loading model|Model loaded|Warmup"
    r"|^(?:llamafile version|llama\.cpp commit|Kernel Type|Kernel Release|Version|System Architecture|CPU|RAM"
    r"|GPU Name|VRAM|Streaming Multiprocessors|CUDA Capability|Core Count|Metal Version|GPU Family"
    r"|Common GPU Family): "
)
_MOST_LINES_BELOW = 60
_BELOW = ("Token Generation:", "Prompt Processing:", "Time to First Token:")
_COLUMNS = {
    "test": ("test", "test name"),
    "prompt": ("pp t/s", "prompt (tokens/s)", "prompt"),
    "generation": ("tg t/s", "generation (tokens/s)", "generation"),
    "ttft": ("ttft",),
}
"""What the tool, the site and who copies from it call the columns of a table of tests."""
_SUMMARY_ROW = re.compile(
    r"^\|\s{0,20}(?P<label>[A-Z][A-Za-z ]{4,30}?)\s{0,40}\|\s{0,20}(?P<value>[\d.,]{1,20} \S{1,8})\s{0,40}\|$"
)
_PRINTED = {
    "prompt processing": "avg_prompt_tps",
    "token generation": "avg_gen_tps",
    "time to first token": "avg_ttft_ms",
}
_UNITS = {"avg_prompt_tps": "tok/s", "avg_gen_tps": "tok/s", "avg_ttft_ms": "ms"}
_APPLE = re.compile(r"(Apple M\d[A-Za-z ]{0,8}?)(?: \d{1,3}P\+\d{1,3}E)?(?:\+(\d{1,3})GPU)?")
_MARCH = re.compile(r" \([a-z][\w-]{2,30}\)$")
_SYSTEMS = {"linux": "Linux", "darwin": "macOS", "xnu": "macOS", "windows": "Windows"}


def find_localscore(text: str) -> list[Span]:
    spans = [span for span, _object, _problem in objects_in(text, _KEYS)] if '"accelerator_info"' in text else []
    spans += _tables(text) if "+tg" in text else []
    return sorted(spans)[:MOST_BLOCKS]


def _tables(text: str) -> Iterator[Span]:
    lines = text.splitlines(keepends=True)
    starts = starts_of_lines(lines)
    floor = 0
    for number, line in enumerate(lines):
        if number >= floor and _is_header(line):
            top = first_line_above(lines, number, floor, _ABOVE)
            bottom = number + 1
            for below in range(number + 1, min(len(lines), number + _MOST_LINES_BELOW)):
                row = lines[below].strip()
                if _is_header(row):
                    break
                if row.startswith(("|", "+-", *_BELOW)):
                    bottom = below + 1
            if any(_TEST.search(row) for row in lines[number + 1 : bottom]):
                yield Span(starts[top], starts[bottom])
                floor = bottom


def _is_header(line: str) -> bool:
    if "TTFT" not in line and "ttft" not in line:
        return False
    names = TableColumns.of_header(line).names.keys()
    return all(not names.isdisjoint(_COLUMNS[name]) for name in ("test", "prompt", "generation", "ttft"))


def read_localscore(text: str) -> Reading:
    """Never raises. A figure that cannot be meant is named; its own tests are those of `pp1024+tg16`."""
    reading = Reading(kind=KIND)
    if not text.lstrip().startswith("{"):
        _read_printed(reading, text)
    for _span, document, problem in objects_in(text, _KEYS):
        if document is None:
            reading.problem(problem)
        else:
            _read_document(reading, document)
        break
    if not reading.results and not reading.problems:
        reading.problem("no test could be read")
    return reading


def _read_document(reading: Reading, document: Mapping[str, object]) -> None:
    parts = {name: part for name, part in document.items() if isinstance(part, Mapping)}
    system, accelerator = parts.get("system_info", {}), parts.get("accelerator_info", {})
    _state_system(
        reading, {str(name): str(value) for name, value in system.items()}, finite_number(system.get("ram_gb"))
    )
    is_gpu = str(accelerator.get("type", "GPU")).upper() != "CPU"
    _add_card(reading, str(accelerator.get("name") or ""), finite_number(accelerator.get("memory_gb")), is_gpu=is_gpu)
    tests = document.get("results")
    rows = [row for row in tests if isinstance(row, Mapping)] if isinstance(tests, list) else []
    if len(rows) > _MOST_TESTS:
        reading.problem(f"results: {len(rows)} tests; the first {_MOST_TESTS} were read")
    first = rows[0] if rows else {}
    model = _model(str(first.get("model_name") or ""), str(first.get("model_quant_str") or ""))
    runtime = clean(str(parts.get("runtime_info", {}).get("name") or ""), 60)
    _add(reading, rows[:_MOST_TESTS], parts.get("results_summary", {}), model, runtime)


def _read_printed(reading: Reading, text: str) -> None:
    lines = [line[:1000].strip() for line in text.splitlines()]
    values = fields(text) | {
        match["label"].lower(): match["value"] for line in lines if (match := _SUMMARY_ROW.match(line))
    }
    _state_system(reading, {name.replace(" ", "_"): value for name, value in values.items()}, _gib(values.get("ram")))
    boxed = [match[1] for line in lines if (match := _BOXED.match(line)) and " - " in match[1]]
    card = _MEMORY.fullmatch(boxed[0]) if boxed else None
    name = card[1] if card else values.get("gpu name", "")
    memory = _gib(values.get("vram")) or (finite_number(card[2]) if card else None)
    is_processor = bool(name) and "gpu name" not in values and name == values.get("cpu")
    _add_card(reading, name, memory, is_gpu=not is_processor)
    named, _dash, quant = boxed[1].rpartition(" - ") if len(boxed) > 1 else ("", "", "")
    if quant in ("Small", "Medium", "Large"):  # `Model - Q4_K - Medium`
        named, _dash, kind = named.rpartition(" - ")
        quant = f"{kind} - {quant}"
    header = next((number for number, line in enumerate(lines) if _is_header(line)), None)
    rows = list(_rows(TableColumns.of_header(lines[header]), lines[header + 1 :])) if header is not None else []
    summary: dict[str, object] = {}
    for label, key in _PRINTED.items():
        figure, _blank, unit = values.get(label, "").partition(" ")
        if unit.strip() == _UNITS[key]:
            summary[key] = figure
        elif figure:
            reading.problem(f"{label}: in {clean(unit, 20) or 'no unit'}, not in {_UNITS[key]}")
    _add(reading, rows, summary, _model(named, quant), "llamafile" if "llamafile version" in values else "")


def _rows(columns: TableColumns, lines: Sequence[str]) -> Iterator[Mapping[str, object]]:
    for line in lines:
        cells = line.split("|")
        match = _TEST.fullmatch(columns.cell(cells, *_COLUMNS["test"]))
        if match:
            time = _TIME.fullmatch(columns.cell(cells, "ttft"))
            factor = _MILLISECONDS[time[2]] if time else 1.0
            ttft = finite_number(time[1]) if time else None
            yield {
                "n_prompt": match[1],
                "n_gen": match[2],
                "prompt_tps": columns.cell(cells, *_COLUMNS["prompt"]),
                "gen_tps": columns.cell(cells, *_COLUMNS["generation"]),
                "ttft_ms": columns.cell(cells, "ttft") if ttft is None else round(ttft * factor, 4),
            }


def _gib(written: str | None) -> float | None:
    number, _blank, unit = (written or "").strip().partition(" ")
    return finite_number(number) if unit == "GiB" else None


def _model(name: str, quant: str) -> dict[str, Scalar | None]:
    """The model as LocalScore's site names it, and the quantisation as files are named."""
    name, quant = clean(name, 120), clean(quant, 40)
    printed = compared_model(f"{name} {quant}", "") if name and quant else {"model": name}
    model = printed.get("model", name)
    return {"model": MODELS.get(model.lower(), model), "quant": printed.get("quant") or quant}


def _add(
    reading: Reading,
    rows: Sequence[Mapping[str, object]],
    summary: Mapping[str, object],
    model: Mapping[str, Scalar | None],
    engine: str,
) -> None:
    card = reading.cards[0] if reading.cards else None
    device = card.reported_name if card else str(reading.facts.get("cpu.model") or NO_DEVICE)
    index = card.index if card else None
    timed = {"model": model["model"], "precision": model["quant"], "engine": engine}
    add_figures(reading, _SUMMARY, summary, model, device=device, card=index)
    add_figures(reading, (_SUMMARY_TIME,), summary, timed, device=device, card=index)
    for row in rows:
        prompt, generated = positive_count(row.get("n_prompt")), positive_count(row.get("n_gen"))
        if prompt is None or generated is None:
            name = "n_prompt" if prompt is None else "n_gen"
            reading.problem(f"{name}: {clean(str(row.get(name)), 40)} is no count above 0")
            continue
        test = f"pp{prompt}+tg{generated}"
        figures = (
            Figure("prompt_tps", LOCALSCORE, {"test": f"pp of {test}"}),
            Figure("gen_tps", LOCALSCORE, {"test": f"tg of {test}"}),
        )
        add_figures(reading, figures, row, model, device=device, card=index)
        lengths = {"input_tokens": prompt, "output_tokens": generated}
        add_figures(reading, (_TEST_TIME,), row, {**timed, **lengths}, device=device, card=index)


def _state_system(reading: Reading, values: Mapping[str, str], memory_gib: float | None) -> None:
    kind, kernel = values.get("kernel_type", ""), values.get("kernel_release", "")
    system = _SYSTEMS.get(kind.lower())
    reading.sheet.state("os.name", system)
    if system:
        reading.sheet.mark_missing("os.version", "not_reported", "LocalScore states the kernel only")
    if kernel and kind:
        reading.sheet.state("os.kernel", f"{kind} {kernel}")
    processor = _MARCH.sub("", values.get("cpu_name") or values.get("cpu") or "")
    apple = _APPLE.fullmatch(processor)
    reading.sheet.state("cpu.model", (apple[1] if apple else processor) or None)
    reading.sheet.state("apple.chip", apple[1] if apple else None)
    reading.sheet.state("memory.total_bytes", int(memory_gib * 2**30) if memory_gib and memory_gib > 0 else None)


def _add_card(reading: Reading, name: str, memory_gib: float | None, *, is_gpu: bool) -> None:
    """The accelerator that was chosen; a processor is none."""
    name = clean(name, 150)
    if not name or not is_gpu:
        return
    apple = _APPLE.fullmatch(name)
    card = CardReading(
        index=0, kind="gpu", vendor="apple" if apple else vendor_of(name), reported_name=apple[1] if apple else name
    )
    if apple:
        card.sheet.state("unified_memory", value=True)
        card.sheet.state("gpu_cores", int(apple[2]) if apple[2] else None)
        card.sheet.mark_missing("memory_bytes", "not_applicable", "it computes in main memory")
    elif memory_gib and 0 < memory_gib < 10_000:
        card.memory_bytes = int(memory_gib * 2**30)
    reading.cards.append(card.card())


IMPORTER = Importer(
    kind=KIND,
    tool="LocalScore",
    tells="benchmark results, the accelerator, system, processor, memory",
    trust=37,
    find=find_localscore,
    read=read_localscore,
    marks=("accelerator_info", "runtime_info", "pp1024+tg16"),
    command=r"(?:\./)?localscore\b",
    lists_all_cards=False,
)

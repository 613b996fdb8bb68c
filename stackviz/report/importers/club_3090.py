"""club-3090's `report.sh` -> the machine, its cards and limits, what its container runs; `bench.sh` -> rates.

Formats: noonghunna/club-3090, scripts/report.sh and scripts/bench.sh. A report is Markdown: sections of
`- **Label:** value`, logs of the engine between them, and what the benchmark printed.
"""

import re
from collections.abc import Iterator, Mapping

from stackviz.report.format import Scalar
from stackviz.report.importers.env_report import state_system
from stackviz.report.importers.figures import (
    CitedKind,
    Figure,
    add_figures,
    command_options,
    model_name,
    positive_count,
)
from stackviz.report.importers.importer import MOST_BLOCKS, Importer, Span, next_line
from stackviz.report.importers.nvidia_values import add_card, byte_count, new_card, number, state_driver
from stackviz.report.importers.reading import Reading
from stackviz.report.importers.torch_facts import state_cudnn_number, state_torch_version
from stackviz.report.importers.vllm_bench import parallelism

__all__ = ["IMPORTER", "KIND"]

KIND = "club-3090-report"
DECODE = CitedKind("llm-decode", "token/s")
PREFILL = CitedKind("llm-prefill", "token/s")
FIRST_TOKEN = CitedKind("llm-time-to-first-token", "ms")

_TITLE = re.compile(r"^# club-3090 rig report[ \t]*$", re.MULTILINE)
_BENCH = re.compile(r"^={4,20} [A-Z][\w -]{2,40} \((?:prompt=\d|(?:fallback )?target=\d)", re.MULTILINE)
_BENCH_LINE = re.compile(
    r"={3,20} |\s{1,4}(?:warm|run)-\d|\s{1,4}(?:wall_TPS|decode_TPS|TTFT|PP tok/s|prefill tok/s|n-usable|decode-window"
    r"|[⚠\[(])|\s{1,17}\S|\s*$|\[bench\]|\d, \d"
)
_RUN = re.compile(r"^[ \t]{1,4}(?:warm|run)-\d[^\n]{0,200}$", re.MULTILINE)
_SECTION = re.compile(r"^## [^\n]{1,60}$", re.MULTILINE)
_FIELD = re.compile(r"^ {0,3}- \*\*([^*\n:]{1,60}):\*\* `?([^`\n]{1,300})", re.MULTILINE)
_CARD = re.compile(
    r"^ {0,3}- \*\*GPU (?P<index>\d{1,3}):\*\* (?P<name>[^|\n]{2,120}?) \| (?P<memory>[^|\n]{1,30}?)"
    r" \| driver (?P<driver>\S{1,30})(?: \| VBIOS (?P<vbios>\S{1,30}))?(?: \| persistence=(?P<persistence>\w{1,20}))?"
    r"[^\n]{0,100}$(?P<more>(?:\n[ \t]{1,6}- \*\*(?:Power|PCIe):\*\*[^\n]{0,300}){0,2})",
    re.MULTILINE,
)
_POWER = re.compile(r"limit=([\d.]{1,12} W) \(default=([^,]{1,20}), max=([^)]{1,20})\) \| current_draw=([^\n⚠(]{1,20})")
_LANES = re.compile(r"x(\d{1,2}) lanes negotiated \(GPU max x(\d{1,2}), Gen up to (\d{1,2})\)")
_LIMITS = ("power_limit_w", "power_default_limit_w", "power_max_limit_w", "power_w")
_LINK = ("pcie_width", "pcie_width_max", "pcie_generation_max")
_MEMORY = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)(Mi|Gi|Ti) total")
_TORCH = re.compile(r"torch=(\S{1,60}) torch_cuda_build=(\S{1,20}) cudnn=(\d{4,6})")
_THREADS = re.compile(r" \((\d{1,4}) threads\)$")
_TOPOLOGY = re.compile(r"(\d{1,3}) socket\(s\).{0,40}? = (\d{1,4}) physical.{0,40}? (\d{1,5}) logical")
_SETTINGS = re.compile(r"non-default args: (\{[^\n]{2,20000})")
_MODEL_OF_BENCH = re.compile(r"^  model {2,20}: (\S{1,200})$", re.MULTILINE)
_SUMMARY = re.compile(r"^=== summary \[(?P<label>[\w. -]{1,40})\] \(n=\d{1,6}\) ===$", re.MULTILINE)
_MEAN = re.compile(
    r"^[ \t]{1,4}(wall_TPS|decode_TPS|TTFT|prefill tok/s|PP tok/s) {1,20}mean= {0,12}(\S{1,20})", re.MULTILINE
)
_NOT_MEASURED = re.compile(r"DERIVED, NOT MEASURED|CANVAS GRANULARITY|decode-window  unmeasurable")
_PROMPT_TOKENS = re.compile(r"prompt_toks= {0,8}(\d{1,9})")
NOT_DRAFTED = "none"
SUITE = {"suite": "club-3090 bench"}
_ENGINES = {"vllm": "vLLM", "llamacpp": "llama.cpp", "ik-llama": "ik_llama.cpp", "sglang": "SGLang"}
_SCALES = {"Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_LONGEST = 400_000
_LONGEST_BENCH = 400  # lines


def find_club_3090(text: str) -> list[Span]:
    """A whole report up to the next one; what `bench.sh` printed where no report is around it."""
    starts = [match.start() for match in _TITLE.finditer(text)][:MOST_BLOCKS]
    ends = [*starts[1:], len(text)] if starts else []
    spans = [Span(start, _end_of_report(text, start, end)) for start, end in zip(starts, ends, strict=True)]
    for match in _BENCH.finditer(text):
        if len(spans) < MOST_BLOCKS and not any(span.start <= match.start() < span.end for span in spans):
            spans.append(Span(match.start(), _end_of_bench(text, match.start())))
    return sorted(spans)


def _end_of_report(text: str, start: int, end: int) -> int:
    """The end of its last line that looks like one of a report: what a person wrote below is none of it."""
    end = min(end, start + _LONGEST)
    last = start
    for pattern in (_FIELD, _MEAN, _SUMMARY, _BENCH, _RUN, _SECTION):
        for match in pattern.finditer(text, start, end):
            last = max(last, match.end())
    return next_line(text, last)


def _end_of_bench(text: str, start: int) -> int:
    at = end = next_line(text, start)
    for _ in range(_LONGEST_BENCH):
        following = next_line(text, at)
        line = text[at:following][:300]
        if following == at or not _BENCH_LINE.match(line):
            break
        end = following if line.strip() else end
        at = following
    return end


def read_club_3090(text: str) -> Reading:
    """Never raises. A figure that cannot be meant is named; what the report does not say is in no parameter."""
    reading = Reading(kind=KIND)
    values: dict[str, str] = {}
    for label, value in _FIELD.findall(text):
        values.setdefault(label, value.strip())
    for match in _CARD.finditer(text):
        _add_card(reading, match)
    _state_machine(reading, values)
    _state_software(reading, values)
    settings = _SETTINGS.search(text)
    options = command_options(settings[1]) if settings else {}
    if settings and settings[1].rstrip().endswith("}"):  # all that is set: without a method nothing is drafted
        options.setdefault("method", NOT_DRAFTED)
    _add_results(reading, text, values, options)
    if not reading.results and _BENCH.search(text):
        reading.problem("the benchmark has no summary: none of its figures was read")
    elif not reading.results and not reading.facts:
        reading.problem("nothing could be read")
    return reading


def _state_machine(reading: Reading, values: Mapping[str, str]) -> None:
    if "OS" in values:
        state_system(reading, values["OS"], "report.sh")
    kernel = values.get("Kernel", "")
    reading.sheet.state("os.kernel", f"Linux {kernel}" if kernel[:1].isdigit() else None)
    kind = values.get("Environment", "")
    if kind.startswith("WSL2"):
        reading.sheet.state("os.wsl", "2")
    elif kind.endswith(" (virtualized)"):
        reading.sheet.state("machine.virtualization", kind.removesuffix(" (virtualized)"))
    elif kind.startswith("inside-container"):
        reading.sheet.state("machine.container", "container")
    processor = values.get("CPU", "")
    threads = _THREADS.search(processor)
    reading.sheet.state("cpu.model", _THREADS.sub("", processor) if processor != "lscpu not available" else None)
    topology = _TOPOLOGY.search(values.get("CPU topology", ""))
    if topology:
        names = ("cpu.sockets", "cpu.cores_physical", "cpu.cores_logical")
        for name, count in zip(names, topology.groups(), strict=True):
            reading.sheet.state(name, int(count))
    elif threads:
        reading.sheet.state("cpu.cores_logical", int(threads[1]))
    memory = _MEMORY.match(values.get("RAM", ""))
    reading.sheet.state("memory.total_bytes", int(float(memory[1]) * _SCALES[memory[2]]) if memory else None)


def _add_card(reading: Reading, match: re.Match[str]) -> None:
    card = new_card(int(match["index"]), match["name"].strip(), byte_count(match["memory"]))
    card.sheet.state("driver_version", match["driver"])
    card.sheet.state("vbios_version", match["vbios"])
    power, lanes = _POWER.search(match["more"]), _LANES.search(match["more"])
    for name, written in zip(_LIMITS, power.groups() if power else (), strict=False):
        card.sheet.state(name, number(written))
    for name, count in zip(_LINK, lanes.groups() if lanes else (), strict=False):
        card.sheet.state(name, int(count))
    if not add_card(reading, card):
        reading.problem("more cards than a report holds")


def _state_software(reading: Reading, values: Mapping[str, str]) -> None:
    drivers = [str(card.facts["driver_version"]) for card in reading.cards if "driver_version" in card.facts]
    cuda = values.get("CUDA Runtime (per driver)")
    if drivers:
        state_driver(reading, drivers[0], cuda if cuda and cuda[:1].isdigit() else None)
    torch = _TORCH.search(values.get("PyTorch", ""))
    if torch:
        state_torch_version(reading, torch[1], "report.sh")
        reading.sheet.state("torch.cuda_version", torch[2])
        state_cudnn_number(reading, int(torch[3]), "report.sh")
    version = values.get("vLLM", "")
    if version[:1].isdigit():
        reading.add_software("vllm", version, "report.sh")


def _add_results(reading: Reading, text: str, values: Mapping[str, str], settings: Mapping[str, str]) -> None:
    """The means of each summary. A decode rate that the benchmark says it did not measure is none."""
    stated_model = _MODEL_OF_BENCH.search(text)
    limits = {card.facts.get("power_limit_w") for card in reading.cards}
    capped = {card.facts.get("power_default_limit_w") for card in reading.cards} != limits and len(limits) == 1
    limit = next(iter(limits)) if capped else None
    params: dict[str, Scalar | None] = {
        "model": model_name(settings.get("model") or (stated_model[1] if stated_model else "")),
        "engine": _ENGINES.get(values.get("Engine", "").lower(), "vLLM" if settings else None),
        "precision": settings.get("quantization"),
        "kv": settings.get("kv_cache_dtype"),
        "context": positive_count(settings.get("max_model_len")),
        "parallel": parallelism(settings),
        "speculative": settings.get("method"),
        "power_limit_w": int(limit) if isinstance(limit, int | float) else None,
    }
    for label, block in _summaries(text):
        means = dict(_MEAN.findall(block))
        times = {"TTFT": means.pop("TTFT", "").removesuffix("ms")}
        if _NOT_MEASURED.search(block):
            means.pop("decode_TPS", None)
        is_prefill = label.startswith(("prefill", "prompt-processing"))
        counts = [int(count) for count in _PROMPT_TOKENS.findall(_before(text, block))] if is_prefill else []
        if is_prefill:
            figures = [Figure(name, PREFILL) for name in ("prefill tok/s", "PP tok/s")]
            specific: dict[str, Scalar | None] = {"input_tokens": round(sum(counts) / len(counts)) if counts else None}
        else:
            figures = [
                Figure("wall_TPS", DECODE, {"counted": "whole request"}),
                Figure("decode_TPS", DECODE, {"counted": "decode only"}),
            ]
            specific = {"task": label}
        add_figures(reading, figures, means, {**params, **specific}, conditions=SUITE)
        if times["TTFT"]:
            figure = Figure("TTFT", FIRST_TOKEN, {"statistic": "mean"})
            add_figures(reading, (figure,), times, {**params, **specific}, conditions=SUITE)


def _summaries(text: str) -> Iterator[tuple[str, str]]:
    """The label of each summary and the lines below it."""
    for match in _SUMMARY.finditer(text):
        end = text.find("\n=", match.end())
        yield match["label"].strip().lower(), text[match.end() : end if end >= 0 else len(text)][:4_000]


def _before(text: str, block: str) -> str:
    """The measured runs above a summary."""
    at = text.find(block)
    return text[max(0, text.rfind("=== measured", 0, at)) : at]


IMPORTER = Importer(
    kind=KIND,
    tool="club-3090's report.sh, bench.sh",
    tells="system, processor, memory, cards with their limits, driver, what the container runs, benchmark results",
    trust=68,
    find=find_club_3090,
    read=read_club_3090,
    marks=("# club-3090 rig report", "=== summary [", "========== "),
    command=r"(?:bash )?(?:\./)?scripts/(?:report|bench)\.sh",
)

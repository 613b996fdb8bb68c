"""`mlx_lm.generate`, `mlx_lm.benchmark` and mlx-vlm -> rates of prompt and generation.

Formats: ml-explore/mlx-lm, mlx_lm/generate.py and mlx_lm/benchmark.py; versions before 0.18 print no counts of tokens.
None of them says on which chip it ran.
"""

import re
from collections.abc import Mapping, Sequence
from statistics import fmean

from stackviz.report.format import Scalar
from stackviz.report.importers.figures import (
    CitedKind,
    Figure,
    add_figures,
    command_options,
    finite_number,
    first_line_above,
    model_name,
    positive_count,
    starts_of_lines,
)
from stackviz.report.importers.importer import MOST_BLOCKS, Importer, Span
from stackviz.report.importers.reading import Reading

__all__ = ["IMPORTER", "KIND", "split_quantisation"]

KIND = "mlx-lm"
MLX_LM = CitedKind("mlx-lm", "token/s")

_RATE = re.compile(
    r"(?:\[\w{1,20}\] )?(?P<label>Prompt|Generation): (?:(?P<tokens>\S{1,20}) tokens, )?"
    r"(?P<rate>\S{1,40}) tokens?[- ]per[- ]sec(?:ond)?\b"
)
_PEAK = re.compile(r"(?:\[\w{1,20}\] )?Peak memory: (\S{1,20}) GB\b|\bpeak_memory=([\d.]{1,20})")
_TIMING = re.compile(
    r"Timing with prompt_tokens=(?P<prompt>[^\s,]{1,20})(?:,| and) generation_tokens=(?P<generation>\d{1,20})"
    r"(?:, batch_size=(?P<batch>\d{1,9}))?"
)
_TRIAL = re.compile(r"(Trial \d{1,6}|Averages): {1,4}((?:\w{1,30}=[^\s,]{1,40}(?:, )?){2,8})")
_PAIR = re.compile(r"(\w{1,30})=([^\s,]{1,40})")
_LOG = re.compile(
    r"mlx|^=+$|Fetching \d|Running warmup|Timing with|^Trial |^Averages|^\s{0,20}--?\w|^Prompt: <|\d%\||it/s\]|Calling "
)
_MOST_TRIALS = 1_000
_LINES_OF_TEXT = 2_000  # that a model wrote, between two rules
_RULE = "=========="
_QUANT = re.compile(
    r"(?P<model>.{2,100}?)(?:[-_]mlx)?[-_](?P<quant>(?:\d(?:\.\d{1,2})?[-_]?bits?|bf16|fp16|fp32|mxfp[48]|nvfp4)"
    r"(?:[-_](?:DWQ|AWQ|GPTQ|mlx|g\d{1,3}|gs\d{1,3}))*)",
    re.IGNORECASE,
)


def split_quantisation(name: str) -> dict[str, Scalar | None]:
    """`Qwen3-8B-4bit` -> its model and its quantisation; a name that does not end so has none."""
    match = _QUANT.fullmatch(re.sub(r"[-_]mlx$", "", name, flags=re.IGNORECASE))
    return {"model": match["model"], "quant": match["quant"]} if match else {"model": name or None}


def find_mlx(text: str) -> list[Span]:
    """From the command, where it is above, to the last line of a run."""
    lines = text.splitlines(keepends=True)
    starts = starts_of_lines(lines)
    spans: list[Span] = []
    floor = number = 0
    while number < len(lines) and len(spans) < MOST_BLOCKS:
        if number >= floor and _is_begin(lines[number]):
            end = _end(lines, number)
            top = first_line_above(lines, _above_text(lines, number, floor), floor, _LOG)
            spans.append(Span(starts[top], starts[end]))
            floor = end
        number = max(number + 1, floor)
    return spans


def _is_begin(line: str) -> bool:
    rate = _RATE.search(line[:300]) if "tokens" in line else None
    return bool(rate and rate["label"] == "Prompt") or _is_of_benchmark(line)


def _is_of_benchmark(line: str) -> bool:
    return line.startswith(("Timing with prompt_tokens=", "Trial ", "Averages:")) and "prompt_t" in line


def _end(lines: list[str], begin: int) -> int:
    """One past the last line of the run that begins in this line."""
    end = begin + 1
    is_benchmark = _is_of_benchmark(lines[begin])
    for number in range(begin + 1, min(len(lines), begin + (_MOST_TRIALS if is_benchmark else 8))):
        line = lines[number][:300]
        if is_benchmark and line.strip():
            if not _TRIAL.match(line) or lines[end - 1].startswith("Averages:"):
                break
            end = number + 1
        elif _is_begin(line):
            break
        elif _RATE.search(line) or _PEAK.match(line):
            end = number + 1
    return end


def _above_text(lines: list[str], number: int, floor: int) -> int:
    """Above what the model wrote, which stands between two rules; this line where there are no rules."""
    rules = []
    for above in range(number - 1, max(floor, number - _LINES_OF_TEXT) - 1, -1):
        if lines[above].strip() == _RULE:
            rules.append(above)
        if len(rules) == 2:
            return rules[1]
        if not rules and number - above > 3:
            break
    return rules[0] if rules else number


def read_mlx(text: str) -> Reading:
    """Never raises. A figure that cannot be meant is named; what the text does not say is in no parameter."""
    reading = Reading(kind=KIND)
    options = command_options(_command(text))
    params: dict[str, Scalar | None] = split_quantisation(model_name(options.get("model") or options.get("model_path")))
    if options.get("draft_model"):
        params["speculative"] = model_name(options["draft_model"])
    peak = _PEAK.search(text)
    peak_gb = finite_number(peak[1] or peak[2]) if peak else None
    conditions: dict[str, Scalar] = {"peak_memory_gb": peak_gb} if peak_gb else {}
    runs = [(match[1], dict(_PAIR.findall(match[2]))) for match in _TRIAL.finditer(text)]
    if runs:
        _add_benchmark(reading, runs, _counts(text, options), params, conditions)
    else:
        _add_generation(reading, text, params, conditions)
    if not reading.results and not reading.problems:
        reading.problem("no rate could be read")
    return reading


def _command(text: str) -> str:
    """What is above the first rule: the model may have written options too."""
    head = text.partition(f"{_RULE}\n")[0]
    return "\n".join(head.splitlines()[-40:])


def _counts(text: str, options: Mapping[str, str]) -> dict[str, str]:
    """Tokens of the prompt and of the answer, and the batch: as the run states them, or else its command."""
    timing = _TIMING.search(text)
    stated = {name: value for name, value in timing.groupdict().items() if value} if timing else {}
    names = {"prompt": ("p", "prompt_tokens"), "generation": ("g", "generation_tokens"), "batch": ("b", "batch_size")}
    of_command = {name: options[option] for name, both in names.items() for option in both if option in options}
    return of_command | stated


def _add_benchmark(
    reading: Reading,
    runs: Sequence[tuple[str, Mapping[str, object]]],
    counts: Mapping[str, str],
    params: Mapping[str, Scalar | None],
    conditions: Mapping[str, Scalar],
) -> None:
    """Of `mlx_lm.benchmark`: its averages, or the mean of the trials where the text ends before them."""
    averages = next((pairs for label, pairs in runs if label == "Averages"), {})
    batch = positive_count(counts.get("batch"))
    of_all = {**params, "batch": batch if batch and batch > 1 else None}
    for label, test, name in (("prompt_tps", "pp", "prompt"), ("generation_tps", "tg", "generation")):
        tokens = positive_count(counts.get(name))
        if name in counts and tokens is None:
            reading.problem(f"{name}_tokens: {counts[name]} is no count above 0")
            continue
        trials = [number for _label, pairs in runs if (number := finite_number(pairs.get(label))) is not None]
        values = averages if label in averages else {label: round(fmean(trials), 3)} if trials else {}
        figure = Figure(label, MLX_LM, {"test": f"{test}{tokens or ''}"})
        add_figures(reading, (figure,), values, of_all, conditions=conditions)


def _add_generation(
    reading: Reading, text: str, params: Mapping[str, Scalar | None], conditions: Mapping[str, Scalar]
) -> None:
    for match in _RATE.finditer(text.rpartition(f"{_RULE}\n")[2]):
        test = "pp" if match["label"] == "Prompt" else "tg"
        tokens = positive_count(match["tokens"])
        if match["tokens"] and tokens is None:
            reading.problem(f"{match['label']}: {match['tokens']} is no count of tokens above 0")
            continue
        figure = Figure(match["label"], MLX_LM, {"test": f"{test}{tokens or ''}"})
        add_figures(reading, (figure,), {match["label"]: match["rate"]}, params, conditions=conditions)


IMPORTER = Importer(
    kind=KIND,
    tool="mlx_lm.generate, mlx_lm.benchmark",
    tells="benchmark results of MLX, without the chip",
    trust=29,
    find=find_mlx,
    read=read_mlx,
    marks=("tokens-per-sec", "tokens per sec", "tokens-per-second", "prompt_tps="),
    command=r"(?:python\S{0,6} -m )?mlx_(?:lm|vlm)[. ](?:generate|benchmark)",
    lists_all_cards=False,
)

"""One result as pages show it: its benchmark, rate, spread and share of the published peak.

Needs no database, so that it is easy to test.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from itertools import accumulate, pairwise
from statistics import median
from typing import Any
from uuid import UUID

from django.utils.translation import get_language, gettext
from django.utils.translation import gettext as _

from stackviz.base.light import light_dataclass
from stackviz.base.stats import Summary
from stackviz.base.units import format_number, quantity_label
from stackviz.records.series.standing import Flag, Standing, flag_words, is_mean_of_runs
from stackviz.report.measuring import VERSIONS, Benchmark
from stackviz.report.measuring.in_mlx import MLX
from stackviz.report.measuring.stated_rate import PREFIX, disturbances, stated_rate

# What a card says when nothing holds its clock back in a way that matters: idle before the first block is no brake.
HARMLESS_THROTTLE_REASONS = frozenset({"none", "idle", "gpu_idle"})
# Benchmark that another tool runs -> what computed there, and the condition with its version.
_SOFTWARE_OF_TOOLS = {"llama-bench": ("llama.cpp", "llama_cpp_version"), "nccl-tests": ("NCCL", "nccl_version")}
POWER_CAP_RATIO = 0.98  # a limit this near the factory's is the factory's: drivers round


@light_dataclass(slots=True)
class Rate:
    """What samples come to, in the benchmark's unit. `low` .. `high`: interval of the median, None: too few samples."""

    value: float
    low: float | None
    high: float | None
    unit: str

    @property
    def label(self) -> str:
        """`781 TFLOP/s`"""
        return quantity_label(self.value, self.unit, digits=3)

    @property
    def is_time(self) -> bool:
        return self.unit == "s"

    @property
    def speed(self) -> float:
        """What results are ranked by, the highest first: of a time how often it fits into a second."""
        return 1 / self.value if self.is_time else self.value

    @property
    def spread_label(self) -> str:
        """`±0.4 %`: half the interval, as a share of the rate; "" where there are too few samples."""
        if self.low is None or self.high is None:
            return ""
        return f"±{format_number((self.high - self.low) / 2 / self.value * 100, 2)} %"


@light_dataclass(slots=True)
class PeakShare:
    """A rate against the published figure that bounds it. Values above 1 are shown and marked as odd, never hidden."""

    field: str
    condition: str
    peak: float
    share: float

    @property
    def is_above_peak(self) -> bool:
        return self.share > 1.0

    @property
    def label(self) -> str:
        """`79 %`"""
        return f"{format_number(self.share * 100, 2 if self.share < 1 else 3)} %"


@dataclass(frozen=True)
class CardUsed:
    """The card a result ran on, as its report described it; `accelerator_id` None: its name is in no sheet.

    All results of a report share one.
    """

    index: int
    reported_name: str
    accelerator_id: int | None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def is_slice(self) -> bool:
        """Whether only a part of the card (a MIG instance) did the work: the whole card's peak bounds nothing then."""
        return self.facts.get("mig_mode") == "enabled" or "mig_profile" in self.facts

    @cached_property
    def power_cap(self) -> tuple[float, float] | None:
        """(limit in force, factory's limit) in watts, where the first is lower; None: not capped, or not reported."""
        limit, default = self.facts.get("power_limit_w"), self.facts.get("power_default_limit_w")
        if not isinstance(limit, int | float) or not isinstance(default, int | float):
            return None
        return (limit, default) if limit < default * POWER_CAP_RATIO else None

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What a reader must know beside every figure of this card."""
        remarks = []
        if self.power_cap:
            limit, default = map(format_number, self.power_cap)
            remarks.append(_("power limit %(limit)s W of %(default)s W") % {"limit": limit, "default": default})
        if self.is_slice:
            remarks.append(_("on a slice of the card (MIG): its published peak does not apply"))
        return tuple(remarks)


@light_dataclass(kw_only=True)
class Measurement:
    """One result with what is needed to read it. `summary`: of its samples, in `unit`; None if failed or skipped.

    `pair` is equal for results of the same benchmark, version and parameters, on whatever machine, device and card.
    Values that a page uses several times per result are computed once. `flags`, `standing`: as in `Result`.
    """

    machine_id: int
    series_id: int
    report_id: UUID
    benchmark_key: str
    version: int
    device: str
    card_index: int | None
    params: Mapping[str, Any]
    params_key: str
    measured_at: datetime
    state: str
    reason: str
    unit: str
    summary: Summary | None
    conditions: Mapping[str, Any] = field(default_factory=dict)
    torch_version: str | None = None
    card: CardUsed | None = None
    peak: PeakShare | None = None
    position: int = 0
    flags: tuple[str, ...] = ()
    standing: str | None = None

    @property
    def accelerator_id(self) -> int | None:
        """Of the sheet of its card; None where it ran on no card or the card's name is in no sheet."""
        return self.card.accelerator_id if self.card else None

    @property
    def pair(self) -> tuple[str, int, str]:
        return self.benchmark_key, self.version, self.params_key

    @cached_property
    def benchmark(self) -> Benchmark | None:
        return benchmark(self.benchmark_key, self.version)

    @property
    def is_ok(self) -> bool:
        return self.state == "ok" and self.summary is not None

    @cached_property
    def why_set_aside(self) -> tuple[str, ...]:
        """Why this result counts in no chart, ranking or comparison, in words; empty for one that counts.

        The published peak is looked at anew: it may have been corrected since the report was read.
        """
        if self.standing == Standing.ACCEPTED:
            return ()
        if self.standing in (Standing.WITHDRAWN, Standing.SUPERSEDED):
            return (str(Standing(self.standing).label),)
        flags = [code for code in self.flags if code != Flag.ABOVE_BOUND]
        if self.peak is not None and self.peak.is_above_peak:
            flags.insert(0, Flag.ABOVE_BOUND)
        return flag_words(flags)

    @cached_property
    def title(self) -> str:
        """`Matrix product`; the bare key of a benchmark this site does not know."""
        return benchmark_titles().get((self.benchmark_key, self.version), self.benchmark_key)

    @cached_property
    def setting(self) -> str:
        """The parameters in short: `bf16 8192³`, `4.29 GB`, `dtype=bf16 rows=7`."""
        return setting_label(self.params)

    @cached_property
    def rate(self) -> Rate | None:
        return rate_of(self.benchmark, self.params, self.summary, self.unit)

    @property
    def is_disturbed(self) -> bool:
        """Whether something else was at work, so that nobody can tell whether another result differs."""
        return self.summary is not None and self.summary.is_disturbed

    @property
    def software(self) -> tuple[str, str] | None:
        """What computed, and its version: torch, MLX, or what another tool measured with; None: not reported."""
        if self.benchmark is not None and not self.benchmark.is_run_by_agent:
            name, condition = _SOFTWARE_OF_TOOLS.get(self.benchmark_key, ("", ""))
            version = self.conditions.get(condition)
            return (name, version) if isinstance(version, str) else None
        if self.is_by_mlx:
            version = self.conditions.get("mlx_version")
            return ("mlx", version) if isinstance(version, str) else None
        return ("torch", self.torch_version) if self.torch_version else None

    @property
    def is_by_mlx(self) -> bool:
        """Whether MLX computed, and torch at most stood beside it."""
        return self.conditions.get("framework") == MLX

    @cached_property
    def throttle_reasons(self) -> tuple[str, ...] | None:
        """Why the clock was throttled, without harmless reasons; None: not reported."""
        stated = self.conditions.get("throttle_reasons")
        if not isinstance(stated, str):
            return None
        return tuple(reason for reason in stated.split() if reason not in HARMLESS_THROTTLE_REASONS)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What a reader must know beside this figure, most telling first; empty for a clean run."""
        return tuple(_remarks(self))


def rate_of(known: Benchmark | None, params: Mapping[str, Any], summary: Summary | None, unit: str) -> Rate | None:
    """The rate for a summary of samples at these parameters; None where the benchmark or the parameters do not define
    it, or the samples are in another unit than the benchmark's.
    """
    if summary is None:
        return None
    rate = stated_rate(known, params, unit, summary.median, summary.low, summary.high)
    return None if rate is None else Rate(*rate)


# Their values say what they are.
_NAMED_BY_VALUE = ("op", "place", "direction", "memory", "dtype", "test", "model", "quant", "backend", "mask")


def setting_label(params: Mapping[str, Any]) -> str:
    """Parameters for people: `bf16 8192³`, `fp32 4096×1024×512`, `4.29 GB`, `tg128 Llama 2 7B Q4_0`; others as
    name=value.
    """
    others = dict(params)
    parts = [str(others.pop(name)) for name in _NAMED_BY_VALUE if name in others]
    m, n, k = others.get("m"), others.get("n"), others.get("k")
    if isinstance(m, int) and isinstance(n, int) and isinstance(k, int):
        parts.append(f"{m}³" if m == n == k else f"{m}×{n}×{k}")
        del others["m"], others["n"], others["k"]
    size = others.get("bytes")
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        parts.append(quantity_label(size, "B", digits=3))
        del others["bytes"]
    if others:
        parts += [f"{name}={value}" for name, value in others.items()]
    return " ".join(parts)


def _remarks(result: Measurement) -> Iterator[str]:
    if result.why_set_aside:
        yield _("set aside: %(reasons)s") % {"reasons": ", ".join(result.why_set_aside)}
    elif result.peak and result.peak.is_above_peak:
        yield _("above the published peak, and accepted by a person")
    if result.conditions.get("fallback") is True:
        yield _("an operator ran on the CPU instead")
    if is_elsewhere(result):
        yield _("requested %(asked)s, ran on %(used)s") % {
            "asked": result.device,
            "used": result.conditions.get("device_used"),
        }
    if result.throttle_reasons:
        yield _("clock throttled: %(reasons)s") % {"reasons": ", ".join(result.throttle_reasons)}
    yield from _disturbances(result)
    if result.card:
        yield from result.card.remarks
    yield from _remarks_on_samples(result)


def _disturbances(result: Measurement) -> Iterator[str]:
    """What else was at work, with the names of programs where the agent saw them."""
    for name, share in disturbances(result.conditions, result.device).items():
        of = "card_processes" if name == "card_ratio" else "processes"
        programs = result.conditions.get(PREFIX + of)
        words = {"share": format_number(share * 100, 2)}
        if name == "steal_ratio":
            yield _("disturbed: the hypervisor gave %(share)s %% of the processors to others") % words
        elif name == "card_ratio":
            yield _("disturbed: other processes used %(share)s %% of the card") % words + _named(programs)
        else:
            yield _("disturbed: other programs used %(share)s %% of the processors") % words + _named(programs)


def _named(programs: object) -> str:
    """` (stress-ng, python)`; "" where the agent could not see them."""
    return f" ({programs[:200]})" if isinstance(programs, str) and programs else ""


def _remarks_on_samples(result: Measurement) -> Iterator[str]:
    if result.summary and result.summary.is_noisy:
        yield _("noisy: the interquartile range is %(share)s %% of the median") % {
            "share": format_number((result.summary.iqr_ratio or 0) * 100, 2)
        }
    if is_mean_of_runs(result.conditions):
        yield _("the mean of several runs, as the tool printed it%(deviation)s") % {"deviation": _deviation(result)}
    if result.conditions.get("quick") is True:
        yield _("a short run: fewer samples than usual")


def _deviation(result: Measurement) -> str:
    """` ± 0.4 %`: the deviation printed beside a mean, as a share of it; "" where none is."""
    deviation = result.conditions.get("mean_stddev")
    if isinstance(deviation, bool) or not isinstance(deviation, int | float) or not result.summary:
        return ""
    return f" ± {format_number(deviation / result.summary.median * 100, 2)} %" if result.summary.median > 0 else ""


def is_elsewhere(result: Measurement) -> bool:
    """Whether the output was on another kind of device than requested; the index may differ (`cuda`, `cuda:0`)."""
    used = result.conditions.get("device_used")
    return isinstance(used, str) and used.partition(":")[0] != result.device.partition(":")[0]


def benchmark(key: str, version: int) -> Benchmark | None:
    """The benchmark of this key and version; None if this site does not know it (its results are stored anyway)."""
    return VERSIONS.get((key, version))


def benchmark_titles() -> Mapping[tuple[str, int], str]:
    """(key, version) -> the benchmark's title in the reader's language."""
    return _titles(get_language())


@cache
def _titles(_language: str | None) -> dict[tuple[str, int], str]:
    return {key: gettext(known.title) for key, known in VERSIONS.items()}


# --- rounds ---


def round_count(conditions: Mapping[str, Any]) -> int | None:
    """How many rounds; None where the agent did not say which sample is of which."""
    return len(_sizes(conditions)) or None


def round_medians(conditions: Mapping[str, Any], samples: Sequence[float]) -> list[float]:
    """The median of each round, in the unit of the samples; [] where the rounds are not known."""
    ends = [0, *accumulate(_sizes(conditions))]
    if len(ends) == 1 or ends[-1] != len(samples):
        return []
    return [median(samples[start:end]) for start, end in pairwise(ends)]


def _sizes(conditions: Mapping[str, Any]) -> list[int]:
    """Whatever a sender put there: [] for anything but numbers above 0."""
    stated = conditions.get("round_sizes")
    words = stated.split() if isinstance(stated, str) else []
    sizes = [int(size) for size in words if size.isascii() and size.isdigit() and len(size) < 6]
    return sizes if len(sizes) == len(words) and all(sizes) else []

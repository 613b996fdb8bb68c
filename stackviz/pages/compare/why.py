"""The explained difference in words: a bar for each share of the factor, what it rests on, and what would tell more."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import UNITS, format_factor, quantity_label
from stackviz.pages.compare.explained import (
    ControlledPair,
    Explained,
    Peak,
    Run,
    SettingChange,
    Share,
    ShareCause,
    cause_of,
    explain,
)
from stackviz.pages.compare.host_rows import HostResults, HostTestRow, change_text, setting_title
from stackviz.pages.compare.host_runs import run_of, runs_like
from stackviz.pages.compare.pairs import named_pair
from stackviz.pages.compare.tiles import is_level
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.cited.host_bounds import peaks_of_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS

MOST_EXPLAINED = 3  # of a page: one of each kind of work
SLIGHT = math.log(1.01)  # a rest below this is nothing

_TITLES: Mapping[ShareCause, str | Promise] = {
    ShareCause.CHIPS: gettext_lazy("What bounds the chips"),
    ShareCause.MACHINE: gettext_lazy("The rest of the machine"),
    ShareCause.FRAMEWORK: gettext_lazy("Driver and framework"),
    ShareCause.BUILD: gettext_lazy("Build"),
    ShareCause.SETTINGS: gettext_lazy("Settings"),
    ShareCause.POWER: gettext_lazy("Power and heat"),
    ShareCause.WORK: gettext_lazy("Other work"),
}
_LLAMA_TESTS = {"tg": "-p 0 -n {}", "pp": "-p {} -n 0"}


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One controlled pair, or a published figure: what it shows, and its two results."""

    text: str
    urls: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareLine:
    """One share. `length`: per cent of half the bar; `is_faster`: whether it is in favour of the first.

    `interval`: the extremes of its pairs, "" where they agree or it has one.
    """

    title: str
    changes: str
    factor: str
    interval: str
    length: str
    is_faster: bool
    evidence: tuple[EvidenceLine, ...] = ()
    is_rest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why one result is so many times another. `first`, `second`: names of the two; `command`: what would tell more."""

    title: str
    first: str
    second: str
    factor: str
    lines: tuple[ShareLine, ...]
    differs: tuple[str, ...]
    advice: str
    command: str


def explanations(results: HostResults | None) -> tuple[Explanation, ...]:
    """Of two hosts the largest difference in each kind of work; of one host that between its runs of one test.

    Of subjects that are a pair of `/compare/`, the difference that the pair is about comes first. Results that are
    about equal have none.
    """
    if results is None or len(results.heads) > 2:
        return ()
    chosen: dict[str, tuple[float, HostTestRow, CitedResult, CitedResult]] = {}
    if named := _runs_of_named_pair(results):
        chosen[named[0].work] = (math.inf, *named)
    for row in results.rows:
        pair = _pair_of(row, results)
        if pair is None or not CITED_BENCHMARKS[row.key[0]].has_first:
            continue
        size = _times(*pair)
        if row.work not in chosen or size > chosen[row.work][0]:
            chosen[row.work] = (size, row, *pair)
    names = {head.slot: head.title for head in results.heads}
    unequal = [
        (row, first, second) for _size, row, first, second in chosen.values() if not is_level(_times(first, second))
    ]
    largest = unequal[:MOST_EXPLAINED]
    runs = runs_like([result for _row, *pair in largest for result in pair]) if largest else []
    return tuple(_explanation(row, first, second, names, runs) for row, first, second in largest)


def _times(first: CitedResult, second: CitedResult) -> float:
    """Return the larger amount over the smaller."""
    return max(first.amount, second.amount) / min(first.amount, second.amount)


def _runs_of_named_pair(results: HostResults) -> tuple[HostTestRow, CitedResult, CitedResult] | None:
    """The two runs of one test that the reviewed file names for these subjects; None where it names none."""
    pair = named_pair(head.name for head in results.heads)
    if pair is None or pair.first is None or pair.second is None:
        return None
    for row in results.rows:
        runs = [row.results.get(head.slot, ()) for head in results.heads]
        first = next((run for run in runs[0] if pair.first.fits(run)), None)
        second = next((run for run in runs[-1] if pair.second.fits(run)), None)
        if first is not None and second is not None and first != second:
            return row, first, second
    return None


def _pair_of(row: HostTestRow, results: HostResults) -> tuple[CitedResult, CitedResult] | None:
    """The results of the two subjects that state most alike; of one subject its best and its worst. None without."""
    if len(results.heads) == 1:
        (of_host,) = row.results.values()
        is_pair = len(of_host) > 1 and of_host[0].amount != of_host[-1].amount
        return (of_host[0], of_host[-1]) if is_pair else None
    if not row.is_shared:
        return None
    slots = [head.slot for head in results.heads]
    return row.best[slots[0]], row.best[slots[1]]


def _explanation(
    row: HostTestRow, first: CitedResult, second: CitedResult, names: Mapping[int, str], like: Sequence[Run]
) -> Explanation:
    published = peaks_of_results((first, second))
    runs = [run_of(result, published) for result in (first, second)]
    faster, slower = sorted(runs, key=lambda run: run.speed, reverse=True)
    explained = explain(faster, slower, like)
    titles = [*names.values()] if len(names) > 1 else [_("Its fastest run"), _("its slowest run")]
    titles = titles[::-1] if faster is runs[1] and len(names) > 1 else titles
    lines = list(_lines(explained))
    advice, command = _next_run(row, explained)
    return Explanation(
        title=f"{row.title}: {row.setting}",
        first=titles[0],
        second=titles[1],
        factor=format_factor(explained.factor),
        lines=tuple(lines),
        differs=tuple(map(change_text, explained.open_changes)),
        advice=advice,
        command=command,
    )


def _lines(explained: Explained) -> Iterator[ShareLine]:
    logs = [*(abs(share.log) for share in explained.shares), abs(explained.rest)]
    longest = max([*logs, abs(explained.log)]) or 1.0
    for share in explained.shares:
        low, high = format_factor(math.exp(share.low)), format_factor(math.exp(share.high))
        yield ShareLine(
            title=str(_TITLES[share.cause]),
            changes=", ".join(setting_title(change.name) for change in share.changes),
            factor=format_factor(share.factor),
            interval=_("%(low)s to %(high)s") % {"low": low, "high": high} if low != high else "",
            length=_length(share.log, longest),
            is_faster=share.log >= 0,
            evidence=tuple(_evidence(share)),
        )
    if abs(explained.rest) >= SLIGHT or not explained.shares:
        yield ShareLine(
            title=_("Cannot tell"),
            changes="",
            factor=format_factor(math.exp(explained.rest)),
            interval="",
            length=_length(explained.rest, longest),
            is_faster=explained.rest >= 0,
            is_rest=True,
        )


def _length(log: float, longest: float) -> str:
    return f"{abs(log) / longest * 100:.1f}".removesuffix(".0")


def _evidence(share: Share) -> Iterator[EvidenceLine]:
    if share.peaks:
        yield EvidenceLine(_peaks_text(share.peaks), ())
    for pair in share.pairs:
        yield EvidenceLine(_pair_text(pair), tuple((run.label, run.key) for run in (pair.first, pair.second)))


def _peaks_text(peaks: Sequence[Peak]) -> str:
    """`Memory bandwidth, published: 1.79 TB/s and 936 GB/s`"""
    unit = UNITS[FIELDS[peaks[0].field].unit].si
    first, second = (quantity_label(peak.amount, unit, digits=4) for peak in peaks)
    words = {"field": FIELDS[peaks[0].field].words[0], "first": first, "second": second}
    return _("%(field)s, published: %(first)s and %(second)s") % words


def _pair_text(pair: ControlledPair) -> str:
    """`FlashAttention: on and off; two runs on one host that state no other difference`"""
    changes = "; ".join(change_text(change) for change in sorted(pair.changes))
    if pair.is_one_host:
        return _("%(changes)s; two runs on one host that state no other difference:") % {"changes": changes}
    return _("%(changes)s; two hosts with the same chip that state no other difference:") % {"changes": changes}


def _next_run(row: HostTestRow, explained: Explained) -> tuple[str, str]:
    """(what would tell the rest, the command of it); "" where nothing is open."""
    if abs(explained.rest) < SLIGHT:
        return "", ""
    change, command = _main_change(explained.open_changes), _command(row)
    if change is None or explained.has_unknown_chips:
        advice = _("The same test on both with equal builds, settings and power limits would tell.")
    else:
        words = {"title": setting_title(change.name), "first": change.first, "second": change.second}
        advice = _("The same test on one of them, with %(title)s %(first)s and with %(second)s, would tell.") % words
    return advice, command


def _main_change(changes: Sequence[SettingChange]) -> SettingChange | None:
    """Of what both state, that which is easiest to switch on one machine."""
    order = (ShareCause.SETTINGS, ShareCause.POWER, ShareCause.BUILD, ShareCause.FRAMEWORK)
    stated = [
        change
        for change in changes
        if change.is_stated and cause_of(change.name) in order and change.name not in ("system", "virtualisation")
    ]
    return min(stated, key=lambda change: order.index(cause_of(change.name)), default=None)


def _command(row: HostTestRow) -> str:
    """The command of the test; "" where it is not one that anybody can run."""
    params = next(iter(row.best.values())).params
    test, model, quant = (str(params.get(name, "")) for name in ("test", "model", "quant"))
    if row.key[0] == "llama-bench" and test[:2] in _LLAMA_TESTS and test[2:].isdigit():
        depth = f" -d {params['depth']}" if "depth" in params else ""
        file = "-".join(filter(None, (model, quant))).replace(" ", "-")
        return f"llama-bench -m {file}.gguf {_LLAMA_TESTS[test[:2]].format(test[2:])}{depth} -r 5"
    if row.key[0] == "mlx-lm" and test[2:].isdigit():
        return f"mlx_lm.benchmark --model {model} -p {test[2:] if test.startswith('pp') else 512} -g 128 -n 5"
    if row.key[0] == "gemm":
        return "accelweb-agent bench"
    return ""

"""How far subjects are apart over everything they share: by cited results, and by what two machines measured.

The two are never mixed: others ran the cited ones, on other hosts and with other software. Both are one mean: every
benchmark counts once, in however many settings it was run (`stats.mean_of_groups`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.base.stats import mean_of_groups
from stackviz.base.units import format_factor
from stackviz.pages.compare.measured_rows import rate_factor, says_how_fast, worst_outcome
from stackviz.pages.compare.subjects import Loaded
from stackviz.pages.compare.tiles import Tile, TileLine, is_level
from stackviz.records.cited.best import BenchmarkRatio, LikeForLike, like_for_like
from stackviz.records.series.comparability import Comparability, is_accelerated, rate_of_ranked, work_of
from stackviz.records.series.measurement import Measurement

MOST_BENCHMARKS = 5  # named in a tile
Pair = tuple[Measurement, Measurement]
_MAY_BE_COMPARED = (Comparability.COMPARABLE, Comparability.WITH_REMARKS)


def coverage(settings: int, benchmarks: int, only: object = "") -> str:
    """`over 14 settings of 3 benchmarks`; `only`: the name of a single one."""
    of = (
        str(only)
        if benchmarks == 1 and only
        else ngettext("%(n)d benchmark", "%(n)d benchmarks", benchmarks) % {"n": benchmarks}
    )
    text = ngettext("over %(n)d setting of %(benchmarks)s", "over %(n)d settings of %(benchmarks)s", settings)
    return text % {"n": settings, "benchmarks": of}


def _mean_over(settings: int, benchmarks: int, only: object = "") -> str:
    """`geometric mean over 14 settings of 3 benchmarks, each benchmark counted once`"""
    values = {"coverage": coverage(settings, benchmarks, only)}
    if benchmarks > 1:
        return _("geometric mean %(coverage)s, each benchmark counted once") % values
    return _("geometric mean %(coverage)s") % values


# --- cited ---


def cited_tile(chosen: Sequence[Loaded], base: int) -> Tile | None:
    """Every accelerator against that of the subject in slot `base`; None without two accelerators."""
    first_of: dict[int, tuple[int, Loaded]] = {}
    for slot, loaded in enumerate(chosen):
        if loaded.accelerator is not None:
            first_of.setdefault(loaded.accelerator.pk, (slot, loaded))
    if len(first_of) < 2:
        return None
    sheet = chosen[base].accelerator
    against = sheet.pk if sheet is not None else next(iter(first_of))
    others = {pk: like_for_like(pk, against) for pk in first_of if pk != against}
    name = first_of[against][1].title
    if len(others) == 1:
        ((pk, shared),) = others.items()
        return _cited_of_two(first_of[pk], first_of[against], shared)
    if not any(others.values()):
        return _without_shared()
    longest = max([1.0, *(shared.ratio for shared in others.values() if shared)])
    lines = [_cited_line(first_of[pk], shared, longest) for pk, shared in others.items()]
    slot = first_of[against][0]
    base_line = TileLine(slot=slot, name=name, figure=format_factor(1.0), share=round(100 / longest, 1))
    return Tile(title=_title(), rest=_mean_of(), lines=(base_line, *lines))


def _title() -> str:
    return _("Cited results, like for like")


def _mean_of() -> str:
    return _(
        "geometric mean of the settings each shares with the first, each benchmark counted once; "
        "hosts and software differ"
    )


def _without_shared() -> Tile:
    why = _("no cited result has equal parameters on both")
    return Tile(title=_title(), lead=_("cannot tell"), rest=why, is_known=False)


def _cited_line(subject: tuple[int, Loaded], shared: LikeForLike | None, longest: float) -> TileLine:
    slot, loaded = subject
    if shared is None:
        return TileLine(slot=slot, name=loaded.title, note=_("no shared setting"))
    return TileLine(
        slot=slot,
        name=loaded.title,
        figure=format_factor(shared.ratio),
        note=coverage(shared.settings, len(shared.benchmarks), shared.benchmarks[0].title),
        share=round(shared.ratio / longest * 100, 1),
    )


def _cited_of_two(other: tuple[int, Loaded], base: tuple[int, Loaded], shared: LikeForLike | None) -> Tile:
    if shared is None:
        return _without_shared()
    is_faster = shared.ratio >= 1
    (fast_slot, fast), (slow_slot, slow) = (other, base) if is_faster else (base, other)

    def of_faster(ratio: float) -> float:
        return ratio if is_faster else 1 / ratio

    lead = _("about equal")
    if not is_level(of_faster(shared.ratio)):
        lead = _("%(best)s is %(factor)s as fast as %(last)s") % {
            "best": fast.title, "factor": format_factor(of_faster(shared.ratio)), "last": slow.title,
        }  # fmt: skip
    lines = [
        TileLine(
            slot=fast_slot if of_faster(each.ratio) >= 1 else slow_slot,
            name=str(each.title),
            figure=format_factor(max(each.ratio, 1 / each.ratio)),
            note=_settings_note(each, "" if of_faster(each.ratio) >= 1 else slow.title),
        )
        for each in sorted(shared.benchmarks, key=lambda each: -each.settings)[:MOST_BENCHMARKS]
    ]
    low, high = sorted(map(of_faster, (shared.lowest, shared.highest)))
    rest = _("%(mean)s; hosts and software differ") % {
        "mean": _mean_over(shared.settings, len(shared.benchmarks), shared.benchmarks[0].title)
    }
    if shared.settings > 1:
        rest += _("; single settings %(low)s to %(high)s") % {"low": format_factor(low), "high": format_factor(high)}
    return Tile(title=_title(), lead=lead, rest=rest, lines=tuple(lines) if len(lines) > 1 else ())


def _settings_note(each: BenchmarkRatio, ahead: str) -> str:
    """`3 settings`; `ahead`: who leads there, where that is not who leads in all."""
    settings = ngettext("%(n)d setting", "%(n)d settings", each.settings) % {"n": each.settings}
    return _("%(settings)s; %(name)s is ahead") % {"settings": settings, "name": ahead} if ahead else settings


# --- measured ---


@dataclass(frozen=True, slots=True)
class SharedResults:
    """What two machines measured on their accelerators in equal settings. `pairs`: (of the first, of the second)."""

    slots: tuple[int, int]
    pairs: tuple[Pair, ...]


def shared_results(measured: Mapping[int, Sequence[Measurement]]) -> SharedResults | None:
    """`measured`: slot of a machine -> its newest results. None for any other number of machines than two."""
    if len(measured) != 2:
        return None
    first, second = measured
    bests = [_best_by_setting(measured[slot]) for slot in (first, second)]
    pairs = tuple((bests[0][key], bests[1][key]) for key in bests[0] if key in bests[1])
    return SharedResults((first, second), pairs)


def _best_by_setting(results: Sequence[Measurement]) -> dict[tuple[str, int, str], Measurement]:
    bests: dict[tuple[str, int, str], Measurement] = {}
    for result in results:
        if says_how_fast(result) and is_accelerated(result):
            known = bests.get(result.pair)
            if known is None or rate_of_ranked(result).speed > rate_of_ranked(known).speed:
                bests[result.pair] = result
    return bests


def measured_tile(names: Mapping[int, str], shared: SharedResults | None) -> Tile | None:
    """Two machines over all settings they share, with an interval for each benchmark and data type."""
    if shared is None or not shared.pairs:
        return None
    title = _("Measured, like for like")
    comparable = [pair for pair in shared.pairs if _answer(pair) in _MAY_BE_COMPARED]
    lines = _interval_lines(shared)
    if not comparable:
        why = _reasons(shared.pairs)
        return Tile(title=title, lead=_("cannot tell"), rest=why, is_known=False, lines=lines)
    ratios: dict[str, list[float]] = {}
    for first, second in comparable:
        ratio = rate_of_ranked(first).speed / rate_of_ranked(second).speed
        ratios.setdefault(first.benchmark_key, []).append(ratio)
    ratio = mean_of_groups(ratios.values())
    fast, slow = (names[slot] for slot in (shared.slots if ratio >= 1 else shared.slots[::-1]))
    factor = max(ratio, 1 / ratio)
    lead = _("about equal")
    if not is_level(factor):
        lead = _("%(best)s is %(factor)s as fast as %(last)s") % {
            "best": fast, "factor": format_factor(factor), "last": slow,
        }  # fmt: skip
    rest = _mean_over(len(comparable), len(ratios), comparable[0][0].title)
    left_out = len(shared.pairs) - len(comparable)
    if left_out:
        text = ngettext("; %(n)d more cannot be compared", "; %(n)d more cannot be compared", left_out)
        rest += text % {"n": left_out}
    return Tile(title=title, lead=lead, rest=rest, lines=lines)


def _answer(pair: Pair) -> Comparability:
    outcome = worst_outcome(pair)
    return outcome.answer if outcome else Comparability.CANNOT_TELL


def _reasons(pairs: Sequence[Pair]) -> str:
    outcomes = (worst_outcome(pair) for pair in pairs)
    return "; ".join(dict.fromkeys(reason for outcome in outcomes if outcome for reason in outcome.reasons))


def _interval_lines(shared: SharedResults) -> tuple[TileLine, ...]:
    """Of each benchmark and data type the largest setting both have."""
    largest: dict[tuple[str, object], Pair] = {}
    for pair in shared.pairs:
        key = pair[0].benchmark_key, pair[0].params.get("dtype")
        if key not in largest or work_of(pair[0]) > work_of(largest[key][0]):
            largest[key] = pair
    return tuple(_interval_line(shared.slots, pair) for pair in largest.values())


def _interval_line(slots: tuple[int, int], pair: Pair) -> TileLine:
    first_is_faster = rate_of_ranked(pair[0]).speed >= rate_of_ranked(pair[1]).speed
    fastest, slowest = pair if first_is_faster else pair[::-1]
    slot = slots[0 if first_is_faster else 1]
    name = f"{fastest.title} {fastest.setting}"
    outcome = worst_outcome(pair)
    between = rate_factor(fastest, slowest)
    if outcome and outcome.answer not in _MAY_BE_COMPARED:
        return TileLine(slot=slot, name=name, note="; ".join((outcome.label, *outcome.reasons)))
    if is_level(between.factor) and between.is_certain:
        return TileLine(slot=slot, name=name, note=_("about equal"))
    if not between.is_certain or not math.isfinite(between.factor):
        why = _("the intervals overlap") if between.low is not None else _("without an interval")
        return TileLine(slot=slot, name=name, note=_("cannot tell: %(why)s") % {"why": why})
    note = "; ".join(outcome.reasons) if outcome else ""
    if between.interval is None:
        return TileLine(slot=slot, name=name, figure=format_factor(between.factor), note=note)
    low, high = between.interval
    return TileLine(slot=slot, name=name, figure=_("%(low)s to %(high)s") % {"low": low, "high": high}, note=note)

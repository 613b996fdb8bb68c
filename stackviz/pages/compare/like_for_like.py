"""How far subjects are apart over everything they share: by cited results, and by what two machines measured.

The two are never mixed: others ran the cited ones, on other hosts and with other software. Nor are kinds of work: each
is bounded by something else, so that one mean over several would be true of none.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.base.units import format_factor
from stackviz.pages.compare.measured_rows import rate_factor, says_how_fast, worst_outcome
from stackviz.pages.compare.subjects import Loaded
from stackviz.pages.compare.tiles import Tile, TileLine, is_level
from stackviz.records.cited.best import LikeForLike, like_for_like
from stackviz.records.series.comparability import Comparability, is_accelerated, rate_of_ranked, work_of
from stackviz.records.series.measurement import Measurement

Pair = tuple[Measurement, Measurement]
WIDE = 1.5  # single settings further apart than this are given: the decode tile may show one of them
_MAY_BE_COMPARED = (Comparability.COMPARABLE, Comparability.WITH_REMARKS)


# --- cited ---


def cited_tile(chosen: Sequence[Loaded], base: int) -> Tile | None:
    """Every accelerator against that of the subject in slot `base`, by kind of work; None without two accelerators.

    The leading sentence gives only factors that two benchmarks or more support; a single benchmark is named with its
    factor.
    """
    first_of: dict[int, tuple[int, Loaded]] = {}
    for slot, loaded in enumerate(chosen):
        if loaded.accelerator is not None:
            first_of.setdefault(loaded.accelerator.pk, (slot, loaded))
    if len(first_of) < 2:
        return None
    sheet = chosen[base].accelerator
    against = sheet.pk if sheet is not None else next(iter(first_of))
    others = {pk: like_for_like(pk, against) for pk in first_of if pk != against}
    if not any(others.values()):
        why = _("no cited result has equal parameters on both")
        return Tile(title=_title(), lead=_("cannot tell"), rest=why, is_known=False)
    if len(others) == 1:
        ((pk, shared),) = others.items()
        return _cited_of_two(first_of[pk], first_of[against], shared)
    slot, loaded = first_of[against]
    lines = [_cited_line(first_of[pk], shared) for pk, shared in others.items()]
    base_line = TileLine(slot=slot, name=loaded.title, note=_("what the others are compared with"))
    return Tile(title=_title(), rest=_mean_of(), lines=(base_line, *lines))


def _title() -> str:
    return _("Cited results, like for like")


def _mean_of() -> str:
    return _("geometric means of the settings both have, each benchmark counted once; hosts and software differ")


def _cited_line(subject: tuple[int, Loaded], shared: Sequence[LikeForLike]) -> TileLine:
    slot, loaded = subject
    if not shared:
        return TileLine(slot=slot, name=loaded.title, note=_("no shared setting"))
    factors = ", ".join(_times(item.label, item.ratio) for item in shared if len(item.benchmarks) > 1)
    alone = ", ".join(
        f"{_times(item.label, item.ratio)} ({item.benchmarks[0].title})" for item in shared if len(item.benchmarks) == 1
    )
    return TileLine(slot=slot, name=loaded.title, figure=factors, note=alone)


def _times(what: str, ratio: float) -> str:
    """`generates tokens 2.8×`"""
    return f"{what} {format_factor(ratio)}"


def _faster(sentence: str, first: str, second: str, ratios: Mapping[str, float]) -> str:
    """`M4 Max generates tokens 2×, trains 3× as fast as M2`, for each of the two that is faster at something.

    `ratios`: how many times the first is as fast, by what; what is about equal is left out, "" where all is.
    """
    ahead = {what: ratio for what, ratio in ratios.items() if ratio >= 1}
    behind = {what: 1 / ratio for what, ratio in ratios.items() if ratio < 1}
    parts = []
    for best, last, factors in ((first, second, ahead), (second, first, behind)):
        clear = [_times(what, factor) for what, factor in factors.items() if not is_level(factor)]
        if clear:
            parts.append(sentence % {"best": best, "factors": ", ".join(clear), "last": last})
    return "; ".join(parts)


def _cited_of_two(other: tuple[int, Loaded], base: tuple[int, Loaded], shared: Sequence[LikeForLike]) -> Tile:
    ahead = sum(item.ratio >= 1 for item in shared) * 2 >= len(shared)
    (fast_slot, fast), (slow_slot, slow) = (other, base) if ahead else (base, other)
    ratios = {item.label: item.ratio if ahead else 1 / item.ratio for item in shared}
    supported = {item.label: ratios[item.label] for item in shared if len(item.benchmarks) > 1}
    lead = _faster(_("%(best)s %(factors)s as fast as %(last)s"), fast.title, slow.title, supported)
    lines = [
        TileLine(
            slot=fast_slot if ratios[item.label] >= 1 else slow_slot,
            name=item.label,
            figure=format_factor(max(item.ratio, 1 / item.ratio)),
            note=_support(item, slow.title if ratios[item.label] < 1 else "" if lead else fast.title),
        )
        for item in shared
    ]
    url = f"{reverse('benchmarks:like_for_like')}?{urlencode([('accelerator', slug) for slug in _slugs(fast, slow)])}"
    return Tile(title=_title(), lead=lead, rest=_mean_of(), lines=tuple(lines), setting=_("all settings"), url=url)


def _slugs(*subjects: Loaded) -> list[str]:
    return [loaded.accelerator.slug for loaded in subjects if loaded.accelerator is not None]


def _support(item: LikeForLike, ahead: str) -> str:
    """`9 settings: llama-bench 2.7×, LocalScore 2.8×`; `ahead`: who leads, where no sentence says so."""
    settings = ngettext("%(n)d setting", "%(n)d settings", item.settings) % {"n": item.settings}
    factors = [_times(str(each.title), each.ratio if item.ratio >= 1 else 1 / each.ratio) for each in item.benchmarks]
    if len(factors) == 1:
        text = _("%(settings)s of %(benchmark)s alone") % {"settings": settings, "benchmark": item.benchmarks[0].title}
    else:
        text = f"{settings}: {', '.join(factors)}"
    low, high = sorted(ratio if item.ratio >= 1 else 1 / ratio for ratio in item.extremes)
    if high > WIDE * low:
        text += _("; single settings %(low)s to %(high)s") % {"low": format_factor(low), "high": format_factor(high)}
    return _("%(support)s; %(name)s is ahead") % {"support": text, "name": ahead} if ahead else text


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
        name = " ".join(filter(None, (first.title, str(first.params.get("dtype") or ""))))
        ratios.setdefault(name, []).append(rate_of_ranked(first).speed / rate_of_ranked(second).speed)
    means = {title: geometric_mean(group) for title, group in ratios.items()}
    first_name, second_name = (names[slot] for slot in shared.slots)
    lead = _faster(_("%(best)s is faster than %(last)s: %(factors)s"), first_name, second_name, means)
    rest = ngettext("mean of %(n)d setting", "means of %(n)d settings, by benchmark and data type", len(comparable)) % {
        "n": len(comparable)
    }
    left_out = len(shared.pairs) - len(comparable)
    if left_out:
        text = ngettext("; %(n)d more cannot be compared", "; %(n)d more cannot be compared", left_out)
        rest += text % {"n": left_out}
    return Tile(title=title, lead=lead or _("about equal"), rest=rest, lines=lines)


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

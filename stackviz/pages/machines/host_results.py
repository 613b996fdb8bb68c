"""The cited results of a public host: in groups of one scale with their bounds, pairs of one setting, and its peers."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from stackviz.base.units import format_factor, quantity_label
from stackviz.draw.charts.bars import meter
from stackviz.records.cited.best import PHASES, phase_of
from stackviz.records.cited.cases import case_counts, public_results
from stackviz.records.cited.host_bounds import host_bound, host_share_text
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import SHOWN_OF_HOSTS, Published, results_of_hosts
from stackviz.records.cited.ranking import is_better, times_as_fast
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import (
    benchmark_address,
    facet_title,
    parameter_text,
    result_address,
    setting_text,
    software_text,
)
from stackviz.records.hosts.models import Host
from stackviz.web.i18n.words import joined

MOST_ROWS = 6  # of a group before the rest is folded
MOST_PAIRS = 4
MOST_PEERS = 8
_UNSHOWN = frozenset({"weights_bytes"})  # in the share of the bound
_NAMED = frozenset({"backend", "engine", "model", "precision", "quant", "test"})  # with a figure in a sentence
_SETTINGS = frozenset(
    {
        "attention", "backend", "compile", "compute_units", "engine", "flags", "flash_attention", "framework", "kv",
        "link", "parallel", "power_limit_w", "speculative",
    }
)  # fmt: skip
_SLIGHT = 1.02  # factor below which a changed setting made no difference that one run can show


@dataclass(frozen=True, slots=True, kw_only=True)
class HostResult:
    """One row. `at`, `bound_at`: per cent of the scale, "" where no bar or no bound is drawn; `share`: of the bound."""

    setting: str
    value: str
    url: str
    at: str
    bound_at: str
    share: str
    is_unmatched: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HostResultGroup:
    """Results of one benchmark and kind of work on one scale. `common`: what all rows share; `folded`: the rest."""

    title: str
    url: str
    common: str
    lower_is_better: bool
    rows: tuple[HostResult, ...]
    folded: tuple[HostResult, ...]

    @property
    def has_bounds(self) -> bool:
        return any(row.bound_at for row in (*self.rows, *self.folded))


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulResult:
    """A result that counts nowhere, and why."""

    title: str
    setting: str
    value: str
    url: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingPair:
    """Two results that differ in one setting. `factor`: how much faster the better one is."""

    title: str
    setting: str
    before: str
    before_value: str
    before_url: str
    after: str
    after_value: str
    after_url: str
    factor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerResult:
    """A result of the same accelerator and setting elsewhere. `host`: where it is of a public host.

    `mine_with`, `made_with`: parameters and software that differ, here and elsewhere.
    """

    setting: str
    mine: str
    mine_url: str
    mine_with: str
    value: str
    url: str
    made_with: str
    factor: str
    host: Host | None
    source: str
    source_url: str


def results_of(host: Host) -> tuple[list[CitedResult], list[CitedResult]]:
    """(the results that are shown of a host: public, and those without a sheet; the doubtful ones). One query."""
    known = [row for row in results_of_hosts([host.pk]) if row.benchmark in CITED_BENCHMARKS]
    shown = [row for row in known if row.state in SHOWN_OF_HOSTS]
    return shown, [row for row in known if row.state == CitedResult.State.DOUBTFUL]


def doubtful_rows(results: Iterable[CitedResult]) -> list[DoubtfulResult]:
    """Return what the page lists of doubtful results, which are in no group, no pair and no count."""
    return [
        DoubtfulResult(
            title=str(CITED_BENCHMARKS[row.benchmark].title),
            setting=_setting(row, frozenset()),
            value=quantity_label(row.amount, row.si, digits=4),
            url=result_address(row),
            reason=row.reason,
        )
        for row in results
    ]


def best_known(results: Sequence[CitedResult]) -> CitedResult | None:
    """Return the result that most others can be compared with, decode before the rest; None without any."""
    counts = case_counts()

    def rank(result: CitedResult) -> tuple[bool, bool, bool, int, float]:
        known = CITED_BENCHMARKS[result.benchmark]
        others = counts[result.benchmark, result.params_key].accelerators
        amount = result.amount if known.higher_is_better else -result.amount
        leads = all(result.params.get(name) == value for name, value in known.leads_with.items())
        is_rate = known.higher_is_better and known.has_first
        return phase_of(result.benchmark, result.params) == "decode", is_rate, leads, others, amount

    return max(results, key=rank, default=None)


def host_result_groups(results: Sequence[CitedResult], published: Mapping[int, Published]) -> list[HostResultGroup]:
    """Return the results in groups, decode first; the best of each first."""
    groups: dict[tuple[str, str, str, str], list[CitedResult]] = defaultdict(list)
    for result in results:
        phase = phase_of(result.benchmark, result.params)
        groups[phase, result.benchmark, result.si, str(result.params.get("per", ""))].append(result)
    keys = sorted(groups, key=lambda key: (PHASES.index(key[0]), CITED_BENCHMARKS[key[1]].order, *key[2:]))
    return [_group(key[0], groups[key], published) for key in keys]


def _group(work: str, results: Sequence[CitedResult], published: Mapping[int, Published]) -> HostResultGroup:
    benchmark = CITED_BENCHMARKS[results[0].benchmark]
    ordered = sorted(results, key=lambda result: result.amount, reverse=benchmark.higher_is_better)
    bounds = {result.pk: _bound_amount(result, published) for result in ordered}
    ends = [bound for bound in bounds.values() if bound and bound <= 4 * ordered[0].amount]
    scale = max([result.amount for result in ordered] + ends)
    common = _common(ordered)
    is_drawn = len(ordered) > 1 or bool(ends)  # a bar alone says nothing
    rows = [
        HostResult(
            setting=_setting(result, common),
            value=quantity_label(result.amount, result.si, digits=4),
            url=result_address(result),
            at=meter(result.amount, scale).p if is_drawn else "",
            bound_at=meter(bound, scale).p if bound and bound <= scale else "",
            share=host_share_text(result, published),
            is_unmatched=result.state == CitedResult.State.UNMATCHED,
        )
        for result in ordered
        for bound in [bounds[result.pk]]
    ]
    kinds = {"decode": _("decode"), "prefill": _("prefill")}
    return HostResultGroup(
        title=joined([benchmark.title, kinds.get(work, "") if "test" in benchmark.compared else ""]),
        url=benchmark_address(benchmark.key),
        common=" · ".join(_texts(ordered[0], common)) if len(ordered) > 1 else "",
        lower_is_better=benchmark.has_first and not benchmark.higher_is_better,
        rows=tuple(rows[:MOST_ROWS]),
        folded=tuple(rows[MOST_ROWS:]),
    )


def _bound_amount(result: CitedResult, published: Mapping[int, Published]) -> float | None:
    """The most that the result's bound allows, in its base unit; None where that is not known."""
    bound = host_bound(result, published)
    return result.amount / bound.share if bound and bound.share else None


def _common(results: Sequence[CitedResult]) -> frozenset[str]:
    """Names of parameters and software that all of several results share."""
    if len(results) < 2:
        return frozenset()
    described = [described_settings(result) for result in results]
    return frozenset(name for name, value in described[0].items() if all(each.get(name) == value for each in described))


def described_settings(result: CitedResult) -> dict[str, str]:
    """Parameters and software by name; software as `software name`."""
    params = {name: str(value) for name, value in result.params.items() if name not in _UNSHOWN}
    return params | {f"software {name}": str(version) for name, version in result.software.items()}


def _texts(result: CitedResult, names: Iterable[str]) -> list[str]:
    """The named settings in words, parameters first."""
    names = set(names)
    params = {name: value for name, value in result.params.items() if name in names}
    software = {name: version for name, version in result.software.items() if f"software {name}" in names}
    if result.count > 1 and "count" in names:
        params["count"] = result.count
    words = [setting_text(CITED_BENCHMARKS[result.benchmark], params)] if params else []
    return words + ([software_text(software)] if software else [])


def _setting(result: CitedResult, common: frozenset[str]) -> str:
    """What the result states beyond what all of its group state."""
    names = [name for name in described_settings(result) if name not in common]
    return " · ".join(_texts(result, names)) or _("the same setting")


# --- two results of the host that differ in one setting ---


def setting_pairs(results: Sequence[CitedResult]) -> list[SettingPair]:
    """Return pairs that differ in one setting of the stack, of each setting the largest effect; largest first."""
    best: dict[str, tuple[float, CitedResult, CitedResult]] = {}
    for first, second in combinations(results, 2):
        name = _changed_setting(first, second)
        if not name:
            continue
        factor = max(first.amount, second.amount) / min(first.amount, second.amount)
        if factor >= _SLIGHT and (name not in best or factor > best[name][0]):
            better = max if CITED_BENCHMARKS[first.benchmark].higher_is_better else min
            after = better((first, second), key=lambda result: result.amount)
            best[name] = (factor, second if after is first else first, after)
    ranked = sorted(best.items(), key=lambda item: item[1][0], reverse=True)
    return [_pair(name, *changed) for name, changed in ranked[:MOST_PAIRS]]


def _changed_setting(first: CitedResult, second: CitedResult) -> str:
    """The name of the one setting that differs; "" where the work differs, or more than one setting."""
    if (first.benchmark, first.count, first.si) != (second.benchmark, second.count, second.si):
        return ""
    settings, others = described_settings(first), described_settings(second)
    changed = [name for name in {*settings, *others} if settings.get(name) != others.get(name)]
    is_setting = len(changed) == 1 and (changed[0] in _SETTINGS or changed[0].startswith("software "))
    return changed[0] if is_setting and first.amount > 0 and second.amount > 0 else ""


def _pair(name: str, factor: float, before: CitedResult, after: CitedResult) -> SettingPair:
    shared = [key for key in described_settings(before) if key != name]
    return SettingPair(
        title=facet_title(name.removeprefix("software ")),
        setting=" · ".join(_texts(before, shared)),
        before=described_settings(before).get(name) or _("without"),
        before_value=quantity_label(before.amount, before.si),
        before_url=result_address(before),
        after=described_settings(after).get(name) or _("without"),
        after_value=quantity_label(after.amount, after.si),
        after_url=result_address(after),
        factor=format_factor(factor),
    )


# --- the same setting on the same accelerator elsewhere ---


def peer_results(host: Host, results: Sequence[CitedResult]) -> list[PeerResult]:
    """Return results of the same accelerator, setting and number of devices elsewhere. One query, none without results.

    Beside the best of each setting here, two from elsewhere, the newest first.
    """
    mine: dict[_Case, CitedResult] = {}
    for row in results:
        key = _case_of(row)
        if row.accelerator_id and (key not in mine or is_better(CITED_BENCHMARKS[row.benchmark], row, mine[key])):
            mine[key] = row
    if not mine:
        return []
    elsewhere: dict[_Case, list[CitedResult]] = defaultdict(list)
    for row in _same_settings(host, mine.values()):
        if _case_of(row) in mine:
            elsewhere[_case_of(row)].append(row)
    peers = [_peer(mine[key], row) for key in mine for row in elsewhere[key][:2]]
    return peers[:MOST_PEERS]


_Case = tuple[str, str, int | None, int]


def _case_of(result: CitedResult) -> _Case:
    return result.benchmark, result.params_key, result.accelerator_id, result.count


def _same_settings(host: Host, mine: Iterable[CitedResult]) -> "QuerySet[CitedResult]":
    mine = list(mine)
    rows = public_results().filter(
        params_key__in={row.params_key for row in mine}, accelerator__in={row.accelerator_id for row in mine}
    )
    return rows.exclude(host=host).select_related("source", "host").order_by("-date", "pk")


def _peer(mine: CitedResult, other: CitedResult) -> PeerResult:
    benchmark = CITED_BENCHMARKS[mine.benchmark]
    host = other.host if other.host is not None and other.host.state == Host.State.PUBLIC else None
    return PeerResult(
        setting=joined([benchmark.title, setting_text(benchmark, benchmark.compared_params(mine.params))]),
        mine=quantity_label(mine.amount, mine.si),
        mine_url=result_address(mine),
        mine_with=_made_with(mine, other),
        value=quantity_label(other.amount, other.si),
        url=result_address(other),
        made_with=_made_with(other, mine),
        factor=format_factor(times_as_fast(benchmark, other, mine)),
        host=host,
        source=other.source.title,
        source_url=other.source.url,
    )


def _made_with(result: CitedResult, other: CitedResult) -> str:
    """What need not agree between results of one setting, and does not in `other`."""
    theirs = described_settings(other)
    differs = [name for name, value in described_settings(result).items() if theirs.get(name) != value]
    return " · ".join(_texts(result, differs))


def headline_words(result: CitedResult) -> tuple[str, str]:
    """(the rate, what it is of): `63.2 token/s`, `tg128 · Bonsai-8B · Q1_0, llama-bench`."""
    benchmark = CITED_BENCHMARKS[result.benchmark]
    params = {name: value for name, value in result.params.items() if name in _NAMED}
    params = params or benchmark.compared_params(result.params)
    named = " · ".join(parameter_text(name, value) for name, value in params.items())
    return quantity_label(result.amount, result.si), joined([named, benchmark.title])

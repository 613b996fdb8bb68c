"""Outliers among equal machines: what one reaches against the others with the same accelerator, like for like.

Compared are baselines (the median of a series' newest runs that count), of machines that the visitor may see only, and
no figure is made of fewer than MIN_PEERS of them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import NamedTuple
from uuid import UUID

from django.db.models.fields.json import KeyTextTransform

from stackviz.records.labs.models import Card, Machine
from stackviz.records.labs.queries import Visitor, visible_machines
from stackviz.records.series.comparability import CONFIRMED_WITHIN, is_of_whole_card
from stackviz.records.series.history import WATCHED_CARD_FACTS, WATCHED_FACTS, watched_stacks
from stackviz.records.series.measurement import CardUsed, Measurement
from stackviz.records.series.models import Series

MIN_PEERS = 3  # other machines: of fewer, a median is somebody's figure
MOST_SETTINGS = 60  # of the machine; those measured last
MOST_PEER_SERIES = 2000  # of all these settings together; those measured last
MOST_PEERS_EXPLAINED = 200  # machines whose stack is read to say what differs

MIN_SHARE = 0.03  # smaller differences are within what one machine varies by
DEVIATIONS = 3.0
ENOUGH_FOR_SPREAD = 6  # fewer peers do not tell how far equal machines spread: CONFIRMED_WITHIN decides
LEAST_DEVIATION = 0.01  # peers that agree by chance make no outlier of the next one
_TO_DEVIATION = 1.4826  # of a normal distribution: standard deviation over median absolute deviation

Setting = tuple[tuple[str, int, str], int]  # (`Measurement.pair`, accelerator)


@dataclass(frozen=True, slots=True)
class PeerDifference:
    """A fact in which a machine differs from `share` of `peers` peers. `fact` "throttle": what throttled its clock."""

    fact: str
    stated: str
    common: str = ""
    share: int = 0
    peers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerComparison:
    """One setting against its peers. `factor`: own rate over the median of the peers' rates.

    Seconds are baselines (rates, where samples are rates);
    `peer_least`, `peer_most`: of the fastest and the slowest peer. `differences`: of outliers.
    """

    measured: Measurement
    seconds: float
    peer_seconds: float
    peer_least: float
    peer_most: float
    peers: int
    factor: float
    is_outlier: bool
    differences: tuple[PeerDifference, ...] = ()


class PeerSeries(NamedTuple):
    """`report`: the newest one of the machine. `watts`: the power limit of the card, "" if not reported."""

    machine: int
    report: UUID
    seconds: float
    watts: str


def compare_with_peers(machine: Machine, measurements: Iterable[Measurement], visitor: Visitor) -> list[PeerComparison]:
    """Settings of a machine that MIN_PEERS others have too, the furthest below its peers first. Four queries at most.

    `measurements`: its newest results. Peers ran the same benchmark, version and parameters on a whole card of the same
    accelerator; of a machine with several such cards the median counts once.
    """
    results = {result.series_id: result for result in _comparable(measurements)}
    if not results:
        return []
    baselines = dict(Series.objects.filter(pk__in=results, baseline__gt=0).values_list("pk", "baseline"))
    groups = peer_series(machine, [results[pk] for pk in baselines], visitor)
    compared = {
        pk: comparison
        for pk, seconds in baselines.items()
        if (comparison := compared_with(results[pk], seconds or 0.0, groups.get(_setting(results[pk]), ()))) is not None
    }
    outliers = {pk: groups[_setting(results[pk])] for pk, comparison in compared.items() if comparison.is_outlier}
    if outliers:
        reports = {peer.report for peers in outliers.values() for peer in peers[:MOST_PEERS_EXPLAINED]}
        stacks = watched_stacks(reports | {results[pk].report_id for pk in outliers})
        for pk, peers in outliers.items():
            compared[pk] = replace(compared[pk], differences=peer_differences(results[pk], peers, stacks))
    return sorted(compared.values(), key=lambda comparison: comparison.factor)


def _comparable(measurements: Iterable[Measurement]) -> list[Measurement]:
    whole = [result for result in measurements if is_of_whole_card(result)]
    return sorted(whole, key=lambda result: result.measured_at, reverse=True)[:MOST_SETTINGS]


def _setting(result: Measurement) -> Setting:
    accelerator = result.accelerator_id
    return result.pair, accelerator or 0


def peer_series(machine: Machine, results: Sequence[Measurement], visitor: Visitor) -> dict[Setting, list[PeerSeries]]:
    """The series of other machines in these settings, by setting, measured last first. Two queries."""
    settings = {_setting(result) for result in results}
    keys = {pair[2] for pair, _accelerator in settings}
    fields = (
        "benchmark", "version", "params_key", "machine_id", "card_index", "baseline",
        "machine__latest_snapshot", "machine__latest_snapshot__report_id",
    )  # fmt: skip
    series = Series.objects.filter(params_key__in=keys, card_index__isnull=False, baseline__gt=0)
    visible = visible_machines(visitor).filter(latest_snapshot__isnull=False).exclude(pk=machine.pk).values("pk")
    rows = list(series.filter(machine__in=visible).order_by("-latest_at").values_list(*fields)[:MOST_PEER_SERIES])
    cards = _cards_of({row[6] for row in rows})
    groups: dict[Setting, list[PeerSeries]] = defaultdict(list)
    for benchmark, version, params_key, owner, index, seconds, snapshot, report in rows:
        accelerator, watts = cards.get((snapshot, index), (0, ""))
        setting = (benchmark, version, params_key), accelerator
        if setting in settings:
            groups[setting].append(PeerSeries(owner, report, seconds, watts))
    return groups


def _cards_of(snapshots: Iterable[int]) -> dict[tuple[int, int], tuple[int, str]]:
    """(snapshot, index) -> (accelerator, power limit) of whole cards. One query."""
    names = ("mig_mode", "mig_profile", "power_limit_w")
    facts = {f"fact_{name}": KeyTextTransform(name, "facts") for name in names}
    cards = Card.objects.filter(snapshot__in=snapshots, accelerator__isnull=False).order_by().annotate(**facts)
    rows = cards.values_list("snapshot_id", "index", "reported_name", "accelerator_id", *facts)
    used = {
        (snapshot, index): (
            CardUsed(index, name, accelerator, {key: value for key, value in zip(names, values, strict=True) if value}),
            str(values[2] or "").removesuffix(".0"),
        )
        for snapshot, index, name, accelerator, *values in rows
    }
    return {at: (card.accelerator_id or 0, watts) for at, (card, watts) in used.items() if not card.is_slice}


def compared_with(result: Measurement, seconds: float, peers: Sequence[PeerSeries]) -> PeerComparison | None:
    """None where there are fewer than MIN_PEERS machines."""
    by_machine: dict[int, list[float]] = defaultdict(list)
    for peer in peers:
        by_machine[peer.machine].append(peer.seconds)
    theirs = [median(values) for values in by_machine.values()]
    if len(theirs) < MIN_PEERS or seconds <= 0:
        return None
    middle = median(theirs)
    deviation = max(_TO_DEVIATION * median(abs(value / middle - 1) for value in theirs), LEAST_DEVIATION)
    limit = max(MIN_SHARE, DEVIATIONS * deviation)
    if len(theirs) < ENOUGH_FOR_SPREAD:
        limit = max(limit, CONFIRMED_WITHIN)
    has_rates = result.benchmark is not None and result.benchmark.has_rates
    factor = seconds / middle if has_rates else middle / seconds
    return PeerComparison(
        measured=result,
        seconds=seconds,
        peer_seconds=middle,
        peer_least=max(theirs) if has_rates else min(theirs),
        peer_most=min(theirs) if has_rates else max(theirs),
        peers=len(theirs),
        factor=factor,
        is_outlier=abs(factor - 1) > limit,
    )


def peer_differences(
    result: Measurement, peers: Sequence[PeerSeries], stacks: Mapping[UUID, Mapping[str, str]]
) -> tuple[PeerDifference, ...]:
    """What throttled the machine, and each watched fact in which it differs from most of its peers."""
    stated = dict(stacks.get(result.report_id, {}))
    watts = result.card.facts.get("power_limit_w") if result.card else None
    if watts is not None:
        stated["power_limit_w"] = str(watts).removesuffix(".0")
    of_peers = {peer.machine: {**stacks.get(peer.report, {}), "power_limit_w": peer.watts} for peer in peers}
    differences = [PeerDifference("throttle", ", ".join(result.throttle_reasons))] if result.throttle_reasons else []
    for fact in (*WATCHED_CARD_FACTS, *WATCHED_FACTS):
        values = Counter(stack[fact] for stack in of_peers.values() if stack.get(fact))
        if fact not in stated or not values:
            continue
        common, share = values.most_common(1)[0]
        if common != stated[fact] and share * 2 > values.total():
            differences.append(PeerDifference(fact, stated[fact], common, share, values.total()))
    return tuple(differences)

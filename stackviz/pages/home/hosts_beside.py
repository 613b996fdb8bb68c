"""Public hosts on the front page: a card of NVIDIA, a Mac and a third vendor, each the best of its own in one test."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from stackviz.base.units import quantity_label
from stackviz.draw.charts.vendors import css, vendor_slot
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import setting_text
from stackviz.records.hosts.models import Host, HostEdition
from stackviz.records.hosts.queries import public_hosts

BENCHMARK, DECODES = "llama-bench", "tg"  # how its tests of generation begin
SIDE_BY_SIDE = ("nvidia", "apple")
OTHERS = ("amd", "intel")


@dataclass(frozen=True, slots=True)
class HostBeside:
    """`percent`: of the fastest of those shown."""

    host: Host
    css: str
    amount: float
    si: str
    percent: int

    @property
    def rate(self) -> str:
        return quantity_label(self.amount, self.si, digits=3)

    @property
    def name(self) -> str:
        return self.host.title.partition(", ")[0]


@dataclass(frozen=True, slots=True)
class HostsBeside:
    """`hosts`: fastest first; `counted`: all public hosts."""

    hosts: tuple[HostBeside, ...]
    params: Mapping[str, str | int]
    counted: int

    @property
    def test(self) -> str:
        """In the reader's language."""
        benchmark = CITED_BENCHMARKS[BENCHMARK]
        return f"{benchmark.title}: {setting_text(benchmark, self.params)}" if self.hosts else ""


def hosts_beside() -> HostsBeside:
    """Return the hosts of the test that most have run, on both of SIDE_BY_SIDE; no host where there is no such test.

    One query; five more in a process that has not read this edition yet.
    """
    return _hosts_beside(HostEdition.current(), edition_of_cases())


@lru_cache(maxsize=2)
def _hosts_beside(_hosts: str, _cited: str) -> HostsBeside:
    counted = Host.objects.filter(state=Host.State.PUBLIC).count()
    chosen = _chosen_results() if counted else []
    if not chosen:
        return HostsBeside((), {}, counted)
    hosts = {host.pk: host for host in public_hosts().filter(pk__in=[result.host_id for result in chosen])}
    most = max(result.amount for result in chosen)
    shown = [
        HostBeside(
            host=host,
            css=css(vendor_slot(host.vendor.slug)),
            amount=result.amount,
            si=result.si,
            percent=max(1, round(result.amount / most * 100)),
        )
        for result in chosen
        for host in (hosts[result.host_id or 0],)
    ]
    shown.sort(key=lambda beside: -beside.amount)
    return HostsBeside(tuple(shown), CITED_BENCHMARKS[BENCHMARK].compared_params(chosen[0].params), counted)


def _chosen_results() -> list[CitedResult]:
    """Of one test the best result of each of SIDE_BY_SIDE, and one more: of another vendor, else of another card.

    Of machines with one card: a rate of one of several would stand under the name of all.
    """
    by_test: dict[str, list[CitedResult]] = defaultdict(list)
    public = CitedResult.objects.filter(
        host__state=Host.State.PUBLIC, state=CitedResult.State.PUBLIC, benchmark=BENCHMARK, count=1
    ).exclude(host__cards__index__gt=0)
    for result in public.select_related("host__vendor").order_by("-amount", "pk"):
        if str(result.params.get("test", "")).startswith(DECODES):
            by_test[result.params_key].append(result)
    tests = [results for results in by_test.values() if set(SIDE_BY_SIDE) <= {_vendor(result) for result in results}]
    if not tests:
        return []
    best_first = max(tests, key=lambda results: (len({result.host_id for result in results}), results[0].params_key))
    pair = [next(result for result in best_first if _vendor(result) == vendor) for vendor in SIDE_BY_SIDE]
    shown = {result.accelerator_id for result in pair}
    others = [result for result in best_first if result.accelerator_id not in shown]
    third = [result for result in others if _vendor(result) in OTHERS] or others
    return [*pair, *third[:1]]


def _vendor(result: CitedResult) -> str:
    return result.host.vendor.slug if result.host else ""

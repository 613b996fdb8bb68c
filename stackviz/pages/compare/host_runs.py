"""Cited results of public hosts, read once for each edition: which may share a row, and what else each states.

Four queries in a process that has not read these editions yet, none after that.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from stackviz.base.units import quantity_label
from stackviz.pages.compare.explained import ControlledPair, Peak, Run, Work, controlled_pairs
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.cited.best import kind_of_work
from stackviz.records.cited.host_bounds import host_bound
from stackviz.records.cited.models import CitedEdition, CitedResult
from stackviz.records.cited.queries import SHOWN_OF_HOSTS, Published, peaks_by_accelerator
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import result_address
from stackviz.records.hosts.models import Host, HostEdition
from stackviz.records.hosts.queries import public_hosts

__all__ = ["HostRuns", "host_runs", "host_runs_state", "run_of", "run_settings", "test_key"]

_ENGINES = ("engine", "framework", "library")
_NEVER_MIXED = ("speculative", "concurrency")  # drafting and users at once, also where a benchmark ranks them together
_NOT_SETTINGS = frozenset({"weights_bytes", "system", *_ENGINES, *_NEVER_MIXED})
_NAMES = {"vLLM": "vllm", "PyTorch": "torch", "llama-cpp": "llama.cpp"}
_OF_TORCH = ("operator-time", "gemm", "model-time")


@dataclass(frozen=True, slots=True)
class HostRuns:
    """All results that are shown of public hosts. `by_host`: primary key of a host -> its results."""

    hosts: Mapping[int, Host]
    by_host: Mapping[int, Sequence[CitedResult]]
    published: Mapping[int, Published]
    runs: Mapping[int, Run]
    pairs: Sequence[ControlledPair]

    @property
    def results(self) -> list[CitedResult]:
        return [result for results in self.by_host.values() for result in results]


def host_runs() -> HostRuns:
    """What is cited of public hosts, with everything that rows, charts and explanations need of it."""
    return _read(*host_runs_state())


def host_runs_state() -> tuple[str, str, str]:
    """What `host_runs` depends on."""
    return CitedEdition.current(), HostEdition.current(), CatalogueEdition.current()


@lru_cache(maxsize=2)
def _read(_cited: str, _hosts: str, _catalogue: str) -> HostRuns:
    hosts = {host.pk: host for host in public_hosts()}
    rows = CitedResult.objects.filter(host__in=list(hosts), state__in=SHOWN_OF_HOSTS, amount__gt=0)
    by_host: dict[int, list[CitedResult]] = defaultdict(list)
    for row in rows.select_related("accelerator__vendor", "source").order_by("benchmark", "pk"):
        if row.benchmark in CITED_BENCHMARKS and row.host_id is not None:
            row.host = hosts[row.host_id]
            by_host[row.host_id].append(row)
    published = peaks_by_accelerator()
    runs = {row.pk: run_of(row, published) for results in by_host.values() for row in results}
    return HostRuns(hosts, by_host, published, runs, controlled_pairs(runs.values()))


def engine_of(result: CitedResult) -> str:
    """What ran it, without a version: `vLLM`. "" where its benchmark is of one engine, or it is not stated."""
    named = next((str(result.params[name]) for name in _ENGINES if name in result.params), "")
    return named.partition(" ")[0] if named.partition(" ")[2][:1].isdigit() else named


def test_key(result: CitedResult) -> Work:
    """Equal for results that may share a row and have a factor: one test, engine, drafting, users and devices."""
    devices = 0 if CITED_BENCHMARKS[result.benchmark].adds_up else result.count
    further = (str(result.params.get(name, "")) for name in _NEVER_MIXED)
    return (result.benchmark, result.params_key, engine_of(result), *further, str(devices))


def work_kind(result: CitedResult) -> str:
    """The kind of work, as a verb; the benchmark's name for what is no kind."""
    kind = kind_of_work(result.benchmark, str(result.params.get("test", "")))
    return kind.value if kind else result.benchmark


def run_settings(result: CitedResult) -> dict[str, str]:
    """What the result and its host state beyond the test: settings, versions, driver, system, limit of power."""
    benchmark, host = CITED_BENCHMARKS[result.benchmark], result.host
    params = {name: str(value) for name, value in result.params.items()}
    settings = {
        name: value
        for name, value in params.items()
        if name not in benchmark.compared and name not in _NOT_SETTINGS and value
    }
    settings |= {_NAMES.get(name, name): value for name, value in result.software.items() if name != "suite"}
    if host is not None:
        settings |= {name: value for name, value in _host_settings(host, result).items() if name not in settings}
    return settings


def _host_settings(host: Host, result: CitedResult) -> dict[str, str]:
    cards = host.cards.all()
    versions = {component.name: component.value for component in host.components.all()}
    limits = sorted({card.power_limit_w for card in cards if card.power_limit_w})
    stated = {
        "system": host.system,
        "driver": "; ".join(dict.fromkeys(card.driver_version for card in cards if card.driver_version)),
        "power_limit_w": "; ".join(f"{limit:g}" for limit in limits),
        "pcie_lanes": "; ".join(str(card.pcie_lanes) for card in cards if card.pcie_lanes),
        "cpu": "" if host.cpu.startswith("Apple ") else host.cpu,
        "macos-sdk": versions.get("macos-sdk", ""),
    }
    if result.benchmark in _OF_TORCH:
        stated |= {"torch": versions.get("pytorch", ""), "cuda": versions.get("torch.cuda_version", "")}
    return {name: value for name, value in stated.items() if value}


def run_of(result: CitedResult, published: Mapping[int, Published]) -> Run:
    """The result as explanations read it."""
    bound = host_bound(result, published)
    higher = CITED_BENCHMARKS[result.benchmark].higher_is_better
    return Run(
        key=result_address(result),
        label=quantity_label(result.amount, result.si, digits=3),
        host=result.host.slug if result.host else "",
        accelerator=result.accelerator.slug if result.accelerator else "",
        devices=result.count,
        work=test_key(result),
        kind=work_kind(result),
        speed=result.amount if higher else 1 / result.amount,
        peak=Peak(bound.field, bound.condition, bound.peak) if bound and bound.peak > 0 else None,
        settings=run_settings(result),
    )

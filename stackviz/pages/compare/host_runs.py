"""Cited results of public hosts: which may share a row, what else each states, and which are evidence for others."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Case, Prefetch, QuerySet, When

from stackviz.base.units import quantity_label
from stackviz.pages.compare.explained import Peak, Run, Work
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.cited.benchmark import Params
from stackviz.records.cited.best import DECODE_TEST, PREFILL_TEST, kind_of_work
from stackviz.records.cited.host_bounds import host_bound, peaks_of_results
from stackviz.records.cited.models import CitedEdition, CitedResult
from stackviz.records.cited.queries import SHOWN_OF_HOSTS, Published
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import result_address
from stackviz.records.hosts.models import Host, HostEdition
from stackviz.records.hosts.queries import public_hosts

MOST_READ = 500  # runs that may be evidence
_TESTS = (DECODE_TEST, PREFILL_TEST, "")
ENGINES = ("engine", "framework", "library")  # parameters that name what ran a test
_NEVER_MIXED = ("speculative", "concurrency")  # drafting and users at once, also where a benchmark ranks them together
_NOT_SETTINGS = frozenset({"weights_bytes", "system", *ENGINES, *_NEVER_MIXED})
_NAMES = {"vLLM": "vllm", "PyTorch": "torch", "llama-cpp": "llama.cpp"}
_OF_TORCH = ("operator-time", "gemm", "model-time")


def host_runs_state() -> tuple[str, str, str]:
    """What results of hosts, and what is said of them, depend on."""
    return CitedEdition.current(), HostEdition.current(), CatalogueEdition.current()


def shown_results() -> QuerySet[CitedResult]:
    """Return all results that are shown of public hosts."""
    public = CitedResult.objects.filter(host__state=Host.State.PUBLIC, state__in=SHOWN_OF_HOSTS, amount__gt=0)
    return public.filter(benchmark__in=CITED_BENCHMARKS).select_related("accelerator__vendor", "source")


def results_by_host(hosts: Iterable[Host]) -> dict[int, list[CitedResult]]:
    """Primary key of a host -> its results, by benchmark. One query."""
    by_pk = {host.pk: host for host in hosts}
    by_host: dict[int, list[CitedResult]] = defaultdict(list)
    for row in shown_results().filter(host__in=by_pk).order_by("benchmark", "pk"):
        row.host = by_pk[row.host_id or 0]
        by_host[row.host_id or 0].append(row)
    return by_host


def runs_like(results: Sequence[CitedResult]) -> list[Run]:
    """Return runs on the accelerators of these, of the same kinds of work: of their tests first, then the newest hosts.

    Four queries, and MOST_READ runs at most.
    """
    kinds = {work_kind(result.benchmark, result.params) for result in results}
    benchmarks = [
        key for key in CITED_BENCHMARKS if not kinds.isdisjoint(work_kind(key, {"test": test}) for test in _TESTS)
    ]
    is_same_test = Case(When(params_key__in={result.params_key for result in results}, then=0), default=1)
    accelerators = {row.accelerator_id for row in results if row.accelerator_id}
    rows = shown_results().filter(accelerator__in=accelerators, benchmark__in=benchmarks)
    rows = rows.prefetch_related(Prefetch("host", public_hosts()))
    like = list(rows.order_by(is_same_test, "-host__seen_on", "pk")[:MOST_READ])
    published = peaks_of_results(like)
    return [run_of(row, published) for row in like]


def engine_of(result: CitedResult) -> str:
    """What ran it, without a version: `vLLM`. "" where its benchmark is of one engine, or it is not stated."""
    named = next((str(result.params[name]) for name in ENGINES if name in result.params), "")
    return named.partition(" ")[0] if named.partition(" ")[2][:1].isdigit() else named


def test_key(result: CitedResult) -> Work:
    """Equal for results that may share a row and have a factor: one test, engine, drafting, users and devices."""
    devices = 0 if CITED_BENCHMARKS[result.benchmark].adds_up else result.count
    further = (str(result.params.get(name, "")) for name in _NEVER_MIXED)
    return (result.benchmark, result.params_key, engine_of(result), *further, str(devices))


def work_kind(benchmark: str, params: Params) -> str:
    """The kind of work, as a verb; the benchmark's name for what is no kind."""
    kind = kind_of_work(benchmark, str(params.get("test", "")))
    return kind.value if kind else benchmark


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
        kind=work_kind(result.benchmark, result.params),
        speed=result.amount if higher else 1 / result.amount,
        peak=Peak(bound.field, bound.condition, bound.peak) if bound and bound.peak > 0 else None,
        settings=run_settings(result),
    )

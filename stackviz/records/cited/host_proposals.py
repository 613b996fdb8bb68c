"""Public hosts that visitors propose, with their results: made of a report, and stored for a curator."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from django.db import IntegrityError, transaction
from django.db.models import Q

from stackviz.records.cited.files import HEADER, LineError, LineReader
from stackviz.records.cited.models import HostProposal
from stackviz.records.cited.parameters import pairs_text
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.curated.rows import CONTROLS
from stackviz.records.hosts.describe import DescribedHost
from stackviz.records.hosts.models import Host, HostCard, HostComponent
from stackviz.records.hosts.privacy import private_part_of
from stackviz.report.dumps.tool_results import tool_results
from stackviz.report.format import Report, Result

MOST_WAITING = 500
MOST_RESULTS = 40
_SOURCE = "host-source"  # stands for the source, which is made when the host is published


class NoRoomForHosts(Exception):
    """MOST_WAITING hosts wait for a curator already."""


def llama_bench_lines(report: Report, described: DescribedHost) -> Iterator[dict[str, str]]:
    """Results of llama-bench in the report as cells of a file of cited results, with their benchmark.

    None for a host of several cards: llama-bench does not say which of them took part.
    """
    if len(described.cards) != 1:
        return
    [card] = described.cards
    benchmark = CITED_BENCHMARKS["llama-bench"]
    for result in tool_results(report.results, report.software)[:MOST_RESULTS]:
        figure = _figure(result)
        if result.benchmark != benchmark.key or figure is None:
            continue
        params = {name: str(value) for name, value in result.params.items() if name in benchmark.parameters and value}
        cells = {
            "accelerator": card.accelerator.slug if card.accelerator else "-",
            "reported_name": card.reported_name,
            "count": "1",
            "params": pairs_text(params),
            "value": f"{figure:.2f}",
            "unit": "token/s",
            "software": _software(described),
            "date": str(described.host.seen_on),
            "source": _SOURCE,
            "doubt": "",
            "note": "",
        }
        if _is_readable(cells):
            yield {"benchmark": benchmark.key, **cells}


def _figure(result: Result) -> float | None:
    """The mean of its samples, the only one where a table prints the mean; None for a run that failed."""
    return fmean(result.samples) if result.samples else None


def _software(described: DescribedHost) -> str:
    version = next((item.value for item in described.components if item.name == "llama-cpp"), "")
    return pairs_text({"llama.cpp": version}) if version else ""


def _is_readable(cells: dict[str, str]) -> bool:
    """Whether a row can be made of the cells, and they identify nobody."""
    texts = (cells["params"], cells["software"])
    if any(CONTROLS.search(text) or private_part_of(text, is_version=True) for text in texts):
        return False
    try:
        line_reader("llama-bench", cells["accelerator"]).line([cells[name] for name in HEADER])
    except LineError:
        return False
    return True


def line_reader(benchmark: str, *accelerators: str) -> LineReader:
    """Return what reads lines of a proposal, which may name these accelerators."""
    return LineReader(CITED_BENCHMARKS[benchmark], {_SOURCE}, accelerators)


def propose_host(described: DescribedHost, results: Sequence[dict[str, str]], token_digest: str) -> HostProposal:
    """Store the host for a curator; sent twice, also at once, it is stored once. Raises NoRoomForHosts."""
    base = described.host.slug
    while (known := proposal_of(token_digest)) is None:
        if HostProposal.objects.filter(decided_at=None, host__state=Host.State.PROPOSED).count() >= MOST_WAITING:
            raise NoRoomForHosts
        slug = _free_slug(base)
        try:
            with transaction.atomic():
                return _store(described, slug, results, token_digest)
        except IntegrityError:  # the same form, or a host of the same name, at the same moment
            if proposal_of(token_digest) is None and not Host.objects.filter(slug=slug).exists():
                raise
    return known


def _store(described: DescribedHost, slug: str, results: Sequence[dict[str, str]], token_digest: str) -> HostProposal:
    host = described.host
    host.state = Host.State.PROPOSED
    host.slug = slug
    host.set_change_reason("Proposed by a visitor")
    host.pk = None
    host.save()
    rows: list[HostCard | HostComponent] = [*described.cards, *described.components]
    for row in rows:
        row.pk, row.host = None, host
        row.set_change_reason("Proposed by a visitor")
        row.save()
    return HostProposal.objects.create(host=host, token_digest=token_digest, results=list(results))


def _free_slug(slug: str) -> str:
    """`slug`, or the first of `slug-2`, `slug-3` that no host has. One query."""
    taken = set(Host.objects.filter(Q(slug=slug) | Q(slug__startswith=f"{slug}-")).values_list("slug", flat=True))
    return next(name for n in range(1, len(taken) + 2) if (name := f"{slug}-{n}" if n > 1 else slug) not in taken)


def proposal_of(token_digest: str) -> HostProposal | None:
    """Return the proposal that this token opens; None if there is none. One query."""
    return HostProposal.objects.filter(token_digest=token_digest).select_related("host").first()

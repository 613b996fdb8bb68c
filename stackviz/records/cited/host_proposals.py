"""Public hosts that visitors propose, with their results: made of a report, and stored for a curator."""

import re
from collections.abc import Iterator, Sequence
from math import prod
from statistics import fmean
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from stackviz.base.units import UNITS
from stackviz.records.cited.benchmark import Params
from stackviz.records.cited.files import HEADER, LineError, LineReader
from stackviz.records.cited.models import HostProposal
from stackviz.records.cited.parameters import pairs_text
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.curated.rows import CONTROLS
from stackviz.records.hosts.describe import DescribedHost
from stackviz.records.hosts.models import Host, HostCard, HostComponent
from stackviz.records.hosts.privacy import private_part_of_value
from stackviz.report.dumps.tool_results import tool_results
from stackviz.report.format import Report, Result

MOST_WAITING = 500
MOST_RESULTS = 40
_LLAMA_BENCH, _MLX_LM, _LOCALSCORE = "llama-bench", "mlx-lm", "localscore"
_SOURCE = "host-source"  # stands for the source, which is made when the host is published


class NoRoomForHosts(Exception):
    """MOST_WAITING hosts wait for a curator already."""


class ProposedResults(NamedTuple):
    """Results as cells of files of cited results, with their benchmark; and how many were left out, and why."""

    lines: list[dict[str, str]]
    left_out: dict[str, int]


def proposed_results(report: Report, described: DescribedHost) -> ProposedResults:
    """Return what tools measured on the machine of a report, as far as cited results can hold it."""
    lines: list[dict[str, str]] = []
    left_out: dict[str, int] = {}
    for result in _of_language_models(report):
        problem, cells = "", {}
        used = _cards_used(result, report, described)
        if CITED_BENCHMARKS.get(result.benchmark) is None:
            problem = _("this site has no benchmark of it")
        elif not result.samples:
            problem = _("the run failed")
        elif not used:
            problem = _("the text does not say which of the accelerators took part")
        elif len(lines) == MOST_RESULTS:
            problem = _("only the first %(n)d are published") % {"n": MOST_RESULTS}
        else:
            cells = _cells(result, used, described)
            problem = "" if _is_readable(cells) else _("its parameters cannot be read, or identify somebody")
        if problem:
            left_out[problem] = left_out.get(problem, 0) + 1
        else:
            lines.append(cells)
    return ProposedResults(lines, left_out)


def _of_language_models(report: Report) -> Iterator[Result]:
    """Results that other tools print of language models; those of the agent are in other units."""
    yield from (each for each in tool_results(report.results, report.software) if each.benchmark == _LLAMA_BENCH)
    for result in report.results:
        is_of_model = result.benchmark in (_MLX_LM, _LOCALSCORE) or result.benchmark.startswith("llm-")
        benchmark = CITED_BENCHMARKS.get(result.benchmark)
        has_unit = benchmark is None or (result.unit in UNITS and UNITS[result.unit].si in benchmark.units)
        if is_of_model and result.framework == "other" and has_unit:
            yield result


def _cards_used(result: Result, report: Report, described: DescribedHost) -> tuple[HostCard, ...]:
    """The cards that a result is of; none where the text does not say which."""
    of_index = {card.index: mine for card, mine in zip(report.cards, described.cards, strict=True)}
    named = result.cards or (() if result.card is None else (result.card,))
    if named:
        return tuple(of_index[index] for index in named if index in of_index)
    cards = described.cards
    parallel = str(result.params.get("parallel") or "")
    count = prod(map(int, re.findall(r"[1-9]\d{0,3}", parallel))) if parallel else 0
    if len(cards) == 1:
        return cards if count in (0, 1) else ()
    are_alike = len({(card.reported_name, card.accelerator) for card in cards}) == 1
    return cards[:count] if count == len(cards) or (are_alike and 0 < count < len(cards)) else ()


def _cells(result: Result, used: Sequence[HostCard], described: DescribedHost) -> dict[str, str]:
    benchmark = CITED_BENCHMARKS[result.benchmark]
    sheets = {card.accelerator for card in used}
    sheet = next(iter(sheets)) if len(sheets) == 1 else None
    names = dict.fromkeys(card.reported_name for card in used)
    params = {name: str(value) for name, value in result.params.items() if name in benchmark.parameters and value}
    peak = result.conditions.get("peak_memory_gb")
    return {
        "benchmark": benchmark.key,
        "accelerator": sheet.slug if sheet else "-",
        "reported_name": " + ".join(names),
        "count": str(len(used)),
        "params": pairs_text(params),
        "value": _figure(fmean(result.samples)),
        "unit": result.unit,
        "software": _software(result, described),
        "date": str(described.host.seen_on),
        "source": _SOURCE,
        "doubt": _doubt(benchmark.key, params),
        "note": f"peak memory {peak:g} GB" if isinstance(peak, int | float) else "",
    }


def _figure(number: float) -> str:
    """As tools print it: two decimals, the third where there is one, four digits below 1."""
    return f"{number:.3f}".removesuffix("0") if number >= 1 else f"{number:.4g}"


def _doubt(benchmark: str, params: Params) -> str:
    """Why a result is comparable with none: what was measured is not in the text."""
    if not params.get("model"):
        return "the text does not say which model"
    is_of_any_length = benchmark == _MLX_LM and params.get("test") in ("pp", "tg")
    return "the text does not say how many tokens" if is_of_any_length else ""


_RUNTIMES = {_MLX_LM: "mlx-lm", _LOCALSCORE: "llamafile (LocalScore)"}
_COMPONENTS = {_LLAMA_BENCH: {"llama.cpp": "llama-cpp"}, _MLX_LM: {"mlx": "mlx"}}


def _software(result: Result, described: DescribedHost) -> str:
    versions = {item.name: item.value for item in described.components if item.value}
    wanted = {"vllm": "vllm"} if result.params.get("engine") == "vLLM" else _COMPONENTS.get(result.benchmark, {})
    pairs = {name: versions[component] for name, component in wanted.items() if component in versions}
    pairs |= {name: str(value) for name, value in result.conditions.items() if name == "suite"}
    runtime = _RUNTIMES.get(result.benchmark)
    return pairs_text(pairs | ({"runtime": runtime} if runtime else {}))


def _is_readable(cells: dict[str, str]) -> bool:
    """Whether a row can be made of the cells, and they identify nobody."""
    texts = (cells["params"], cells["software"])
    if any(CONTROLS.search(text) or private_part_of_value(text, is_version=True) for text in texts):
        return False
    try:
        line_reader(cells["benchmark"], cells["accelerator"]).line([cells[name] for name in HEADER])
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

"""Comparisons of public hosts worth a first look: a reviewed file of who and which results, answered from the rows.

The file has no figure. What a pair shows is computed, or it says what differs.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from stackviz.base.units import format_factor, quantity_label
from stackviz.intake.report_parts.hosts import judged_host
from stackviz.intake.report_parts.present import sort_findings
from stackviz.pages.compare.host_runs import engine_of, host_runs_state, results_by_host, test_key
from stackviz.records.cited.best import is_like_for_like
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import setting_text
from stackviz.records.hosts.models import Host
from stackviz.records.hosts.queries import public_hosts
from stackviz.web.http.address import comparison_query
from stackviz.web.i18n.curated_text import curated_words
from stackviz.web.i18n.finding_text import finding_words
from stackviz.web.i18n.words import joined

DATA = Path(__file__).parent / "data" / "pairs.csv"
COLUMNS = ("subjects", "title", "first", "second")
_PREFIX = "host:"

ResultsByHost = Mapping[int, Sequence[CitedResult]]


@dataclass(frozen=True, slots=True)
class NamedResult:
    """Which result a line of the file means: its benchmark, and parameters that it has; "" for one it must lack."""

    benchmark: str
    params: Mapping[str, str]

    def fits(self, result: CitedResult) -> bool:
        return result.benchmark == self.benchmark and all(
            str(result.params.get(name, "")) == value for name, value in self.params.items()
        )


@dataclass(frozen=True, slots=True)
class NamedPair:
    """A comparison of the file. `first`, `second`: the results it is about, None where it is about the stacks."""

    subjects: tuple[str, ...]
    title: str
    first: NamedResult | None
    second: NamedResult | None

    @property
    def slugs(self) -> tuple[str, ...]:
        return tuple(subject.removeprefix(_PREFIX) for subject in self.subjects)


@dataclass(frozen=True, slots=True)
class AnsweredPair:
    """A pair with its address and what it shows in a line."""

    title: str
    url: str
    line: str


@cache
def read_named_pairs(file: Path = DATA) -> tuple[NamedPair, ...]:
    """The pairs in their order. Raises ValueError for a line that cannot be read."""
    with file.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{file.name}: the columns are {', '.join(COLUMNS)}")
        return tuple(_pair_of(row) for row in reader)


def named_pair(subjects: Iterable[str]) -> NamedPair | None:
    """Return the pair of these subjects in this order; None where the file has none."""
    chosen = tuple(subjects)
    return next((pair for pair in read_named_pairs() if pair.subjects == chosen), None)


def _pair_of(row: Mapping[str, str]) -> NamedPair:
    subjects = tuple(row["subjects"].split())
    return NamedPair(subjects, row["title"], _named_result(row["first"]), _named_result(row["second"]))


def _named_result(text: str) -> NamedResult | None:
    """`llama-bench; model=Bonsai-8B; test=tg128`; None for an empty text."""
    if not text:
        return None
    benchmark, *params = text.split("; ")
    if benchmark not in CITED_BENCHMARKS:
        raise ValueError(f"{benchmark!r} is not a cited benchmark")
    return NamedResult(benchmark, dict(param.split("=", 1) for param in params))


def answered_pairs() -> list[AnsweredPair]:
    """The pairs whose hosts are all public and whose results are there, each with its answer. In the page's language.

    Once for each edition and language in a process.
    """
    return list(_answered(host_runs_state(), get_language() or "en"))


@lru_cache(maxsize=4)
def _answered(_state: tuple[str, ...], _language: str) -> tuple[AnsweredPair, ...]:
    answered = []
    for pair, hosts, results in pairs_with_hosts():
        if line := pair_line(pair, hosts, results):
            url = f"?{comparison_query(pair.subjects)}"
            answered.append(AnsweredPair(curated_words(pair.title), url, line))
    return tuple(answered)


def pairs_with_hosts() -> list[tuple[NamedPair, list[Host], ResultsByHost]]:
    """The pairs whose hosts are all public, with these and with what hosts of pairs ran. Four queries."""
    slugs = {slug for pair in read_named_pairs() for slug in pair.slugs}
    by_slug = {host.slug: host for host in public_hosts().filter(slug__in=slugs)}
    results = results_by_host(by_slug.values())
    public = [pair for pair in read_named_pairs() if by_slug.keys() >= {*pair.slugs}]
    return [(pair, [by_slug[slug] for slug in pair.slugs], results) for pair in public]


def results_of_pair(pair: NamedPair, hosts: Sequence[Host], by_host: ResultsByHost) -> list[CitedResult]:
    """The results that the pair names, those of one host the first and the second; empty where one is missing."""
    if pair.first is None or pair.second is None:
        return []
    if len(hosts) == 1:
        results = [_best(by_host.get(hosts[0].pk, ()), named) for named in (pair.first, pair.second)]
    else:
        named = [pair.first, *[pair.second] * (len(hosts) - 1)]
        results = [_best(by_host.get(host.pk, ()), each) for host, each in zip(hosts, named, strict=True)]
    return [result for result in results if result is not None] if all(results) else []


def _best(results: Sequence[CitedResult], named: NamedResult) -> CitedResult | None:
    fitting = [result for result in results if named.fits(result)]
    better = max if CITED_BENCHMARKS[named.benchmark].higher_is_better else min
    return better(fitting, key=lambda result: result.amount, default=None)


def pair_line(pair: NamedPair, hosts: Sequence[Host], by_host: ResultsByHost) -> str:
    """What the pair shows, in a line; "" where its results are not there."""
    if pair.first is None:
        return _stacks_line(hosts)
    results = results_of_pair(pair, hosts, by_host)
    if not results:
        return ""
    figures = [quantity_label(result.amount, result.si, digits=3) for result in results]
    if len({test_key(result) for result in results}) > 1:
        named = [f"{_short_setting(result)} {figure}" for result, figure in zip(results, figures, strict=True)]
        return _("%(figures)s; two tests, so there is no factor") % {"figures": _(", ").join(named)}
    words = {"setting": _short_setting(results[0]), "figures": _(", ").join(figures)}
    factor = _largest_factor(results)
    if not factor:
        return _("%(setting)s: %(figures)s") % words
    return _("%(setting)s: %(figures)s; %(factor)s") % {**words, "factor": factor}


def _short_setting(result: CitedResult) -> str:
    """`tg128 · Bonsai-8B · Q1_0`; with the engine where a benchmark is of several."""
    benchmark = CITED_BENCHMARKS[result.benchmark]
    short = {
        name: value
        for name, value in benchmark.compared_params(result.params).items()
        if name in {"test", "model", "quant", "precision", "dtype", "depth", "input_tokens", "per", "op"}
    }
    engine = engine_of(result) if result.benchmark.startswith("llm-") else str(benchmark.title)
    return joined([setting_text(benchmark, short), engine])


def _largest_factor(results: Sequence[CitedResult]) -> str:
    """How far the first and the last are apart; "" where they are not like for like."""
    benchmark = CITED_BENCHMARKS[results[0].benchmark]
    if not all(is_like_for_like(benchmark, results[0].params, other.params) for other in results):
        return ""
    amounts = [result.amount for result in results]
    return format_factor(max(amounts) / min(amounts))


def _stacks_line(hosts: Sequence[Host]) -> str:
    """The worst finding on the first of them, or else what each has of the driver and PyTorch."""
    judged = [judged_host(host) for host in hosts]
    broken = [fault for fault in sort_findings(judged[0].findings).faults if fault.severity == "broken"]
    if broken:
        return finding_words(broken[0].title)
    versions = [
        joined([each.report.facts.get(name) for name in ("nvidia.driver_version", "torch.version")]) for each in judged
    ]
    return _("driver · PyTorch: %(versions)s") % {"versions": _("; ").join(filter(None, versions))}

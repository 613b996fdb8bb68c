"""Entries of texts: stacks, components, operators, glossary, chapters, claims, benchmarks, models, checks."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from stackviz.base.units import format_number
from stackviz.draw.diagrams.layers import Layer, role_title
from stackviz.pages.accelerators.claims import read_claims
from stackviz.pages.fit.language_models import language_models
from stackviz.pages.learn.chapters import read_chapters
from stackviz.pages.learn.glossary import read_glossary
from stackviz.pages.learn.trying import all_tries
from stackviz.pages.search.catalogue_entries import CHINESE, ENGLISH
from stackviz.pages.search.entries import SearchEntry, SearchKind
from stackviz.pages.search.proper_names import chinese_names
from stackviz.records.cited.queries import benchmark_summaries
from stackviz.records.cited.words import benchmark_address
from stackviz.records.series.measurement import benchmark_titles
from stackviz.records.stacks.models import Component
from stackviz.records.stacks.operators import operators
from stackviz.records.stacks.queries import public_stacks
from stackviz.report.measuring import BENCHMARKS
from stackviz.report.rules.registry import RULES
from stackviz.report.rules.rule import Check
from stackviz.web.curated_text import curated_words


def _other_names(title: str, *names: str) -> tuple[str, ...]:
    """The names without the title, each once."""
    return tuple(dict.fromkeys(name for name in names if name != title))


def stack_entries() -> Iterator[SearchEntry]:
    for stack in public_stacks():
        yield SearchEntry(
            kind=SearchKind.STACK,
            title=stack.local_name,
            url=stack.get_absolute_url(),
            line=curated_words(stack.summary),
            names=_other_names(stack.local_name, stack.name),
            keywords=(stack.slug, stack.vendor, stack.system, *chinese_names((stack.name, stack.vendor))),
        )


def component_entries() -> Iterator[SearchEntry]:
    """One query."""
    for row in sorted(Component.objects.all(), key=lambda row: (row.name.casefold(), row.slug)):
        keywords = (row.maker, role_title(row.role), str(Layer(row.layer).label))
        yield SearchEntry(
            kind=SearchKind.COMPONENT,
            title=row.local_name,
            url=row.get_absolute_url(),
            line=curated_words(row.what_it_is),
            names=_other_names(row.local_name, row.slug, row.name),
            keywords=(*keywords, *chinese_names((row.name, row.maker))),
            text=row.what_it_does,
        )


def operator_entries() -> Iterator[SearchEntry]:
    for operator in operators().values():
        yield SearchEntry(
            kind=SearchKind.OPERATOR,
            title=operator.local_name,
            url=reverse("stacks:operator", args=[operator.slug]),
            line=curated_words(operator.what_it_is),
            names=_other_names(
                operator.local_name,
                operator.slug,
                operator.name,
                *operator.call.split(", "),
                *operator.aten,
                *chinese_names((operator.name, operator.slug)),
            ),
        )


def term_entries() -> Iterator[SearchEntry]:
    """The glossary, found by its English and its Chinese titles in either language."""
    address = reverse("learn:index")
    others = [_terms(language) for language in (ENGLISH, CHINESE)]
    for anchor, (title, text) in _terms(get_language() or ENGLISH).items():
        titles = dict.fromkeys(other[anchor][0] for other in others if anchor in other)
        yield SearchEntry(
            kind=SearchKind.TERM,
            title=title,
            url=f"{address}#{anchor}",
            line=text,
            names=tuple(name for name in titles if name != title),
            keywords=(anchor,),
        )


def chapter_entries() -> Iterator[SearchEntry]:
    """Chapters and their sections, and the calculations to try."""
    for chapter in read_chapters(get_language() or ENGLISH):
        address = reverse("learn:chapter", args=[chapter.slug])
        yield SearchEntry(kind=SearchKind.PAGE, title=chapter.title, url=address, line=chapter.lead)
        for section in chapter.sections:
            url = f"{address}#{section.anchor}"
            yield SearchEntry(kind=SearchKind.PAGE, title=section.title, url=url, line=chapter.title)
    for attempt in all_tries().values():
        yield SearchEntry(
            kind=SearchKind.PAGE,
            title=str(attempt.title),
            url=reverse("learn:try", args=[attempt.key]),
            line=str(attempt.question),
            names=(attempt.key,),
        )


def _terms(language: str) -> dict[str, tuple[str, str]]:
    """Anchor -> title, text."""
    return {term.anchor: (term.title, term.text) for chapter in read_glossary(language) for term in chapter.terms}


def claim_entries() -> Iterator[SearchEntry]:
    address = reverse("accelerators:claims")
    for claim in read_claims():
        yield SearchEntry(
            kind=SearchKind.CLAIM,
            title=f"{curated_words(claim.subject)}: {curated_words(claim.text)}",
            url=f"{address}#{claim.key}",
            line=f"{claim.verdict.label}: {curated_words(claim.answer)}",
        )


def benchmark_entries() -> Iterator[SearchEntry]:
    """Benchmarks that others published results of, then those that machines alone measure. One query after a change."""
    summaries = benchmark_summaries()
    for summary in summaries:
        benchmark = summary.benchmark
        with override(ENGLISH):
            english = str(benchmark.title)
        yield SearchEntry(
            kind=SearchKind.BENCHMARK,
            title=str(benchmark.title),
            url=benchmark_address(benchmark.key),
            line=str(benchmark.measures),
            names=tuple({english} - {str(benchmark.title)}),
            keywords=(benchmark.key,),
        )
    cited = {summary.benchmark.key for summary in summaries}
    for known in BENCHMARKS.values():
        if known.key not in cited:
            title = benchmark_titles()[known.key, known.version]
            yield SearchEntry(
                kind=SearchKind.BENCHMARK,
                title=title,
                url=benchmark_address(known.key),
                line=_(known.measures) if known.measures else "",
                names=_other_names(title, known.title),
                keywords=(known.key, known.key.replace("-", " ")),
            )


def model_entries() -> Iterator[SearchEntry]:
    address = reverse("fit:page")
    for model in language_models().values():
        size = format_number(model.parameters / 1e9, digits=3)
        yield SearchEntry(
            kind=SearchKind.MODEL,
            title=model.name,
            url=f"{address}?model={model.slug}",
            line=_("%(size)s billion parameters: does it fit, and how fast will it be?") % {"size": size},
            names=model.names,
            keywords=(model.slug, f"{size}B", *chinese_names((model.name,))),
        )


def rule_entries() -> Iterator[SearchEntry]:
    """What the diagnosis checks, by the texts of its rules; each leads to the component it is about."""
    names = dict(Component.objects.values_list("slug", "name"))
    for rule in RULES:
        if rule.component not in names:
            continue
        yield SearchEntry(
            kind=SearchKind.RULE,
            title=_("Whether %(statement)s") % {"statement": rule.asks},
            url=reverse("stacks:component", args=[rule.component]),
            line=_("Checked by the diagnosis; part of %(component)s.") % {"component": names[rule.component]},
            names=(rule.id,),
            text=" ".join(_texts_of(rule.check)),
        )


def _texts_of(check: Check) -> Iterator[str]:
    """The constant parts of what a check may answer: its titles, explanations and advice."""
    constants = getattr(check, "__code__", None)
    for constant in constants.co_consts if constants else ():
        if isinstance(constant, str):
            yield constant

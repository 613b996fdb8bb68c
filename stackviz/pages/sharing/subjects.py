"""What pictures, embeds and oEmbed answers show of a page: its address, and its picture as data. For strangers.

Pictures are in English: they are made within `override("en")`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict

from stackviz.draw.colours import hue_of
from stackviz.draw.diagrams.boxes import copy_with
from stackviz.draw.diagrams.drawing import StackDrawing
from stackviz.draw.diagrams.stack_slide import stack_finding
from stackviz.pages.accelerators.introduction import headlines_of, introduce_sheet, marks_of
from stackviz.pages.benchmarks.ranking import CitedLadder, DrawnLadder, draw_ladder, ladder_of, place_text
from stackviz.pages.benchmarks.ranking_words import overtaken_text, ranking_setting
from stackviz.pages.benchmarks.selection import read_choice
from stackviz.pages.compare.answers import SubjectFigure
from stackviz.pages.compare.comparison import measured_of, stacks_of
from stackviz.pages.compare.host_charts import short_titles
from stackviz.pages.compare.host_rows import HostResults, host_results, verdict_of_hosts
from stackviz.pages.compare.query import Address, Selection, parse_selection
from stackviz.pages.compare.spec_table import spec_rows
from stackviz.pages.compare.subjects import Head, Loaded, describe, heading, heads_of, load
from stackviz.pages.compare.tiles import Answered, sentence_of, sheet_figures, verdict_of
from stackviz.pages.diagnose.diagnosis import Diagnosis, introduce_diagnosis
from stackviz.pages.fit.evidence import fit_evidence
from stackviz.pages.fit.query import FitQuery
from stackviz.pages.fit.summary import fit_summary
from stackviz.pages.plan.answer import introduce_plan
from stackviz.pages.plan.builds import PlanOutcome
from stackviz.pages.plan.page import Plan
from stackviz.pages.sharing.canvas import readable
from stackviz.pages.sharing.drawing import (
    MOST_BARS,
    MOST_LINES,
    MOST_TILES,
    Picture,
    PictureBar,
    PictureLine,
    PictureTile,
    of_largest,
)
from stackviz.records.catalog.models import Accelerator, CatalogueEdition
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.best import PHASES
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.cited.models import CitedEdition
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import no_first_text, setting_text
from stackviz.records.hosts.models import HostEdition
from stackviz.records.series.comparability import rate_of_ranked
from stackviz.records.series.models import ResultDecision
from stackviz.records.stacks.models import Edition
from stackviz.web.http.addresses import address_by_name
from stackviz.web.i18n.words import joined

MOST_QUESTIONS = 4
QUESTIONS_SHOWN = ("memory", "bandwidth", "bf16", "power")


def sheet_picture(accelerator: Accelerator) -> Picture:
    """A tile for each headline figure."""
    catalogue = public_catalogue()
    tiles = [
        PictureTile(figure.title, figure.text, note=marks_of(figure)) for figure in headlines_of(accelerator, catalogue)
    ]
    count = len(catalogue.values(accelerator.pk))
    lead = (
        f"{accelerator.vendor.name} {accelerator.get_kind_display()}. {count} published values, each with its source."
    )
    if not tiles:
        lead = introduce_sheet(accelerator, catalogue).answer
    return Picture(kind="Spec sheet", title=accelerator.name, lead=lead, tiles=tuple(tiles))


# --- comparisons ---


def comparison_picture(chosen: Sequence[Loaded]) -> Picture:
    """A tile for each question with a bar for each subject; of machines first what they measured.

    Where no question has an answer, the stacks; a line for each subject where none is described either.
    """
    address = Address(tuple(loaded.subject for loaded in chosen))
    heads = heads_of(chosen, address)
    rows, sheet_heads = spec_rows(chosen, heads, address)
    answered = sheet_figures(chosen, sheet_heads, rows)
    short = short_titles([loaded.host for loaded in chosen if loaded.host is not None])
    names = {
        loaded.title: readable(short[loaded.host.pk] if loaded.host else loaded.title, loaded.subject.slug)
        for loaded in chosen
    }
    hosts = host_results(chosen, heads, heads[0])
    tiles = [*_host_tiles(hosts, names), *_measured_tile(chosen, heads, names)]
    for question, figures in answered:
        if question.key in QUESTIONS_SHOWN and any(figure.amount for figure in figures):
            shares = of_largest([figure.amount if figure.is_compared else None for figure in figures])
            bars = tuple(
                PictureBar(
                    names.get(figure.subject, figure.subject),
                    ", ".join(filter(None, (figure.text, figure.kind))) if share is not None else _beside(figure),
                    share,
                    heads[figure.slot].hue,
                )
                for figure, share in zip(figures, shares, strict=True)
            )
            tiles.append(PictureTile(str(question.title), bars=bars))
    title = readable(heading([loaded.title for loaded in chosen]), heading(list(names.values())))
    if not tiles and (of_stacks := stacks_picture(chosen)).has_stacks:
        return replace(of_stacks, lead=readable(verdict_of_hosts(hosts)) or of_stacks.lead)
    return Picture(
        kind="Comparison",
        title=title,
        lead=readable(verdict_of_hosts(hosts) or _verdict(chosen, answered)),
        tiles=tuple(tiles[:MOST_QUESTIONS]),
        lines=tuple(
            PictureLine("", f"{names[each.title]}: {readable(describe(each), each.subject.name)}") for each in chosen
        ),
    )


def _readable_stacks(drawing: StackDrawing, names: Mapping[str, str]) -> StackDrawing:
    columns = (copy_with(column, title=names.get(column.title, column.title)) for column in drawing.columns)
    return replace(drawing, columns=tuple(columns))


def _verdict(chosen: Sequence[Loaded], answered: Sequence[Answered]) -> str:
    """The sentence without the subjects, which stand above it."""
    sentence = sentence_of(answered) or verdict_of(chosen, answered).rpartition(": ")[2].rstrip(".")
    return f"{sentence[0].upper()}{sentence[1:]}."


def _beside(figure: SubjectFigure) -> str:
    """What is not compared, with what it is, or why there is nothing."""
    return f"{figure.text}, {figure.marks}" if figure.text else figure.why or "not published"


def _host_tiles(results: HostResults | None, names: Mapping[str, str]) -> list[PictureTile]:
    """What is cited of hosts in the tests that several have: the first of each kind of work."""
    if results is None:
        return []
    rows = {row.work: row for row in reversed(results.shared)}
    tiles = []
    for work in PHASES:
        if work not in rows:
            continue
        row = rows[work]
        shares = of_largest([row.best[head.slot].amount if head.slot in row.best else None for head in results.heads])
        bars = tuple(
            PictureBar(
                names[head.title],
                cell.best.text if cell.best else "no result",
                share,
                head.hue,
            )
            for head, cell, share in zip(results.heads, row.cells, shares, strict=True)
        )
        tiles.append(PictureTile(readable(row.setting), bars=bars))
    return tiles[:2]


def _measured_tile(chosen: Sequence[Loaded], heads: Sequence[Head], names: dict[str, str]) -> list[PictureTile]:
    leading = measured_of(chosen, heads).leading if any(loaded.machine for loaded in chosen) else None
    if leading is None:
        return []
    titles = {head.slot: head.title for head in heads}
    rates = [rate_of_ranked(result) for _slot, result in leading.results]
    shares = of_largest([rate.value for rate in rates])
    bars = tuple(
        PictureBar(names[titles[slot]], rate.label, share, heads[slot].hue)
        for (slot, _result), rate, share in zip(leading.results, rates, shares, strict=True)
    )
    first = leading.results[0][1]
    return [PictureTile(f"Measured: {first.title} {first.setting}", bars=bars)]


# --- rankings, plans, diagnoses ---


def ranking_picture(ladder: CitedLadder) -> Picture:
    """The first of a ranking. Where less is better a shorter bar is better, as the lead says."""
    drawn = draw_ladder(ladder)
    setting = setting_text(ladder.benchmark, ladder.case.params) if ladder.case else ""
    overtaken = overtaken_text(ladder)
    return Picture(
        kind="Benchmark, cited results",
        title=str(ladder.benchmark.title),
        lead=joined([ranking_setting(ladder.benchmark, drawn, setting), no_first_text(ladder.lead), overtaken])
        if setting
        else str(ladder.benchmark.measures),
        bars=_ranked_bars(ladder, drawn),
        lines=(PictureLine("", "No result of this setting."),),
    )


def _ranked_bars(ladder: CitedLadder, drawn: DrawnLadder) -> tuple[PictureBar, ...]:
    first = list(zip(ladder.rows, drawn.rows, strict=True))[:MOST_BARS]
    shares = of_largest([row.best.amount_per_device for row, _drawn in first])
    return tuple(
        PictureBar(place_text(shown), f"{shown.text} {drawn.unit}", share, hue_of(row.accelerator.vendor.slug))
        for (row, shown), share in zip(first, shares, strict=True)
    )


def picture_of_plan(plan: Plan) -> Picture:
    """What to install, a tile each; what does not fit as lines where nothing can be installed."""
    introduction = introduce_plan(plan)
    tiles = [PictureTile("PyTorch", plan.query.machine.torch)]
    if plan.build is not None:
        tiles.append(PictureTile("Build", plan.build.name))
    if plan.driver_low:
        tiles.append(PictureTile("NVIDIA driver", plan.query.driver or f"≥ {plan.driver_low}"))
    if plan.macos_low:
        tiles.append(PictureTile("macOS", f"≥ {plan.macos_low}"))
    if plan.pythons:
        span = [plan.pythons[0], plan.pythons[-1]]
        tiles.append(PictureTile("Python", " – ".join(dict.fromkeys(span))))
    faults = plan.findings.faults[:MOST_LINES]
    return Picture(
        kind="Planned stack",
        title=introduction.title,
        lead=introduction.answer,
        tiles=() if plan.outcome == PlanOutcome.FAILS and faults else tuple(tiles),
        lines=tuple(PictureLine(str(finding.severity), finding.title) for finding in faults),
    )


def picture_of_fit(query: FitQuery) -> Picture:
    """A tile for each chosen accelerator; without any, what the model needs and how many run it."""
    catalogue = public_catalogue()
    summary = fit_summary(query, catalogue, fit_evidence(catalogue))
    tiles = [
        PictureTile(
            f"{answer.title}, {answer.memory}",
            answer.verdict,
            note=f"needs {answer.needed} of {answer.usable} usable",
        )
        for sizes in summary.chosen
        for answer in sizes
    ]
    if not tiles and summary.first:
        tiles = [PictureTile("Needs", summary.needed), PictureTile("Of all accelerators", summary.counts)]
    return Picture(
        kind="Fit",
        title=f"{query.model.name} in {query.precision.name}: does it fit?",
        lead=summary.sentence if not summary.chosen or len(tiles) > MOST_TILES else "",
        tiles=tuple(tiles),
        lines=tuple(PictureLine("", f"{name}: no memory size is published.") for name in summary.unknown),
    )


def picture_of_diagnosis(diagnosis: Diagnosis) -> Picture:
    """The worst findings, one a line."""
    introduction = introduce_diagnosis(diagnosis)
    findings = [finding for machine in diagnosis.machines for finding in machine.findings]
    order = ("broken", "warning", "note")
    findings.sort(key=lambda finding: order.index(finding.severity) if finding.severity in order else len(order))
    lines = [PictureLine(str(finding.severity), finding.title) for finding in findings[:MOST_LINES]]
    return Picture(
        kind="Diagnosis",
        title=introduction.title,
        lead=introduction.answer,
        lines=tuple(lines),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """`path`: of the page; `query`: what of its address counts; `picture`: its PNG below /picture/, without query.

    `state`: moves with whatever `make` shows, which is called within `override("en")`. `has_machines`: of public labs.
    """

    path: str
    query: str = ""
    picture: str
    state: tuple[object, ...]
    has_machines: bool = False
    make: Callable[[], Picture]

    @property
    def address(self) -> str:
        """Of the page, within the site."""
        return self.path + (f"?{self.query}" if self.query else "")


def shared_sheet(slug: str) -> Shared | None:
    catalogue = public_catalogue()
    accelerator = catalogue.by_slug.get(slug)
    if accelerator is None:
        return None
    return Shared(
        path=address_by_name("accelerators:sheet", slug),
        picture=f"sheet/{slug}.png",
        state=("sheet", slug, catalogue.edition),
        make=lambda: sheet_picture(accelerator),
    )


def public_subjects(parameters: QueryDict) -> tuple[Loaded, ...]:
    """The subjects of a comparison if a stranger may see all of them; else none."""
    selection = parse_selection(parameters.getlist("a")[:12])
    chosen, _refused = load(Selection(selection.subjects), AnonymousUser())
    return chosen if not selection.refused and len(chosen) == len(selection.subjects) else ()


def shared_comparison(parameters: QueryDict) -> Shared | None:
    chosen = public_subjects(parameters)
    return shared_subjects(chosen) if chosen else None


def shared_subjects(chosen: tuple[Loaded, ...]) -> Shared:
    """A comparison of these, which a stranger may see. One query for its state where machines are among them."""
    of_hosts = (HostEdition.current(), CitedEdition.current()) if any(loaded.host for loaded in chosen) else ()
    editions = (CatalogueEdition.current(), Edition.current(), *of_hosts)
    return Shared(
        path=address_by_name("compare:page"),
        query=Address(tuple(loaded.subject for loaded in chosen)).query().removeprefix("?"),
        picture="compare.png",
        state=("compare", *map(_state_of, chosen), *_decided(chosen), *editions),
        has_machines=any(loaded.machine for loaded in chosen),
        make=lambda: comparison_picture(chosen),
    )


def _state_of(loaded: Loaded) -> tuple[object, ...]:
    """A machine's results change with what is read, withdrawn or deleted, its newest snapshot or not."""
    machine = loaded.machine
    return loaded.subject.name, loaded.title, *((machine.latest_snapshot_id, machine.times_read) if machine else ())


def _decided(chosen: tuple[Loaded, ...]) -> tuple[object, ...]:
    """The last decision about any result, where results are shown."""
    if not any(loaded.machine for loaded in chosen):
        return ()
    return (ResultDecision.objects.order_by("-pk").values_list("pk", flat=True).first(),)


def shared_ranking(key: str, parameters: QueryDict) -> Shared | None:
    benchmark = CITED_BENCHMARKS.get(key)
    if benchmark is None:
        return None
    choice = read_choice(parameters, benchmark)
    return Shared(
        path=address_by_name("benchmarks:benchmark", key),
        query=choice.query_string,
        picture=f"benchmark/{key}.png",
        state=("ranking", key, choice.query_string, edition_of_cases()),
        make=lambda: ranking_picture(ladder_of(benchmark, choice)),
    )


def stacks_picture(chosen: Sequence[Loaded]) -> Picture:
    """The stacks of the subjects, whatever else there is to say of them."""
    names = {loaded.title: readable(loaded.title, loaded.subject.slug) for loaded in chosen}
    drawing = _readable_stacks(stacks_of(chosen).drawing, names)
    title = readable(heading([loaded.title for loaded in chosen]), heading(list(names.values())))
    return Picture(kind="Stacks", title=title, lead=stack_finding(drawing), stacks=drawing)

"""The front page: counts, suggested comparisons, the machines that reported last."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from stackviz.base.units import format_number
from stackviz.draw.charts.vendors import css, vendor_slot
from stackviz.draw.diagrams.boxes import StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.intake.report_parts.cards import card_kinds
from stackviz.intake.report_parts.facts import headline_fact
from stackviz.intake.report_parts.present import JudgedReport, stored_report
from stackviz.pages.home.hosts_beside import hosts_beside
from stackviz.records.catalog.models import SpecValue
from stackviz.records.catalog.queries import accelerators_by_slug, public_accelerators
from stackviz.records.cited.queries import cited_counts
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import Visitor, latest_snapshots, visible_machines
from stackviz.records.stacks.models import Stack
from stackviz.records.stacks.queries import described_columns, public_stacks
from stackviz.report import format as wire
from stackviz.web.http.address import comparison_query

NEWEST_MACHINES = 5
NAMES_PER_LAYER = 3
DRAWN_STACKS = ("nvidia-cuda", "apple-metal")

# Suggested comparisons: (title, subjects). One with a subject that is not in the catalogue is left out.
STARTING_POINTS: Sequence[tuple[str | Promise, tuple[str, ...]]] = (
    (_("A data centre card and a laptop chip"), ("nvidia-h100-sxm5-80gb", "apple-m3-max-40")),
    (_("The two stacks, layer by layer"), ("stack:nvidia-cuda", "stack:apple-metal")),
    (_("Three generations of NVIDIA"), ("nvidia-a100-sxm4-80gb", "nvidia-h100-sxm5-80gb", "nvidia-b200-hgx")),
    (_("NVIDIA, AMD and Intel"), ("nvidia-h100-sxm5-80gb", "amd-mi300x", "intel-gaudi3")),
    (_("The largest Macs and a desktop card"), ("apple-m3-ultra-80", "apple-m4-max-40", "nvidia-geforce-rtx-4090")),
)


VendorName: TypeAlias = tuple[str, str]  # and the class of `charts.vendors` with the vendor's colour


def front_page(visitor: Visitor) -> dict[str, object]:
    """Return what the front page shows this visitor. At most thirteen queries, five more once an edition of hosts."""
    machines = visible_machines(visitor)
    newest = list(machines.filter(latest_snapshot__isnull=False).order_by("-latest_taken_at")[:NEWEST_MACHINES])
    snapshots = latest_snapshots(newest)
    reports = [(machine, stored_report(snapshots[machine.pk])) for machine in newest if machine.pk in snapshots]
    stacks = {stack.slug: stack for stack in public_stacks()}
    hosts = hosts_beside()
    values = SpecValue.objects.filter(status=SpecValue.Status.PUBLIC, accelerator__is_public=True)
    return {
        "accelerators": format_number(public_accelerators().count()),
        "values": format_number(values.count()),
        "stacks": format_number(len(stacks)),
        "machines": format_number(machines.count()),
        "hosts": hosts,
        "counted_hosts": format_number(hosts.counted),
        "cited": format_number(cited_counts().results),
        "drawing": small_drawing(stacks),
        "starting_points": [*_against_its_sheet(reports), *starting_points(stacks)],
        "newest": [
            (machine, ", ".join(kind.label for kind in card_kinds(judged.cards)), _system(judged.report))
            for machine, judged in reports
        ],
    }


def starting_points(stacks: Mapping[str, Stack]) -> list[dict[str, Any]]:
    """Return STARTING_POINTS with names, without those of missing subjects. `stacks`: by slug. One query."""
    wanted = {subject for _question, subjects in STARTING_POINTS for subject in subjects}
    names = {f"stack:{slug}": _of_vendor(stack.local_name, stack.vendor) for slug, stack in stacks.items()}
    names |= {
        slug: _of_vendor(accelerator.name, accelerator.vendor.slug)
        for slug, accelerator in accelerators_by_slug(wanted).items()
    }
    return [
        _starting_point(str(question), [names[subject] for subject in subjects], subjects)
        for question, subjects in STARTING_POINTS
        if all(subject in names for subject in subjects)
    ]


def _starting_point(question: str, names: Sequence[VendorName], subjects: Sequence[str]) -> dict[str, Any]:
    return {"question": question, "subjects": names, "query": comparison_query(subjects)}


def _of_vendor(name: str, vendor: str) -> VendorName:
    return name, css(vendor_slot(vendor))


def _against_its_sheet(reports: Sequence[tuple[Machine, JudgedReport]]) -> list[dict[str, Any]]:
    """Return the last machine with a matched card, compared with its spec sheet; [] if there is none."""
    for machine, judged in reports:
        for card in judged.cards:
            if sheet := card.sheet:
                names = [_of_vendor(name, sheet.vendor.slug) for name in (machine.name, sheet.name)]
                question = gettext("A real machine and its data sheet")
                return [_starting_point(question, names, (machine.subject, sheet.slug))]
    return []


def small_drawing(stacks: Mapping[str, Stack]) -> dict[str, object] | None:
    """Return DRAWN_STACKS with the first components of each layer; None unless both are described. One query."""
    described = described_columns(DRAWN_STACKS)
    if not all(slug in described and slug in stacks for slug in DRAWN_STACKS):
        return None
    columns = [described[slug] for slug in DRAWN_STACKS]
    return {
        "columns": [
            (*_of_vendor(described[slug].title, stacks[slug].vendor), described[slug].url) for slug in DRAWN_STACKS
        ],
        "layers": [(layer, [_names(column, layer) for column in columns]) for layer in Layer],
    }


def _names(column: StackColumn, layer: Layer) -> str:
    names = [box.name for box in column.boxes if box.layer == layer and box.state != State.ABSENT]
    return " · ".join(names[:NAMES_PER_LAYER])


def _system(report: wire.Report) -> str:
    system = headline_fact("os.name", report.facts, {}).text
    torch = f"torch {report.facts['torch.version']}" if report.facts.get("torch.version") else ""
    return " · ".join(filter(None, (system, torch)))

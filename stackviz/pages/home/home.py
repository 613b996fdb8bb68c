"""The front page: three answers, the machines that reported last, and what is behind each door."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.base.units import format_number
from stackviz.intake.report_parts.cards import card_kinds
from stackviz.intake.report_parts.facts import headline_fact
from stackviz.intake.report_parts.present import stored_report
from stackviz.pages.home.two_machines import two_stacks
from stackviz.pages.learn.chapters import read_chapters
from stackviz.records.catalog.models import SpecValue
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.queries import cited_counts
from stackviz.records.hosts.models import Host
from stackviz.records.labs.queries import Visitor, latest_snapshots, visible_machines
from stackviz.records.stacks.models import Component
from stackviz.records.stacks.queries import public_stacks
from stackviz.report import format as wire
from stackviz.report.messages import BY_KEY
from stackviz.web.doors import TOOLS, door_links
from stackviz.web.i18n.finding_text import finding_words

NEWEST_MACHINES = 5
MESSAGES = ("no-kernel-image", "nvml-version-mismatch")  # examples of what people paste


@dataclass(frozen=True, slots=True)
class CountedDoor:
    """A part of the site. `count`: how much of it there is; `what`: of what."""

    title: str
    url: str
    count: str
    what: str


def front_page(visitor: Visitor) -> dict[str, object]:
    """Return what the front page shows this visitor. At most thirteen queries, more once an edition of hosts."""
    machines = visible_machines(visitor)
    newest = list(machines.filter(latest_snapshot__isnull=False).order_by("-latest_taken_at")[:NEWEST_MACHINES])
    snapshots = latest_snapshots(newest)
    reports = [(machine, stored_report(snapshots[machine.pk])) for machine in newest if machine.pk in snapshots]
    return {
        "stacks": two_stacks(),
        "doors": _doors(machines.count()),
        "examples": [(BY_KEY[key].key, BY_KEY[key].message, finding_words(BY_KEY[key].meaning)) for key in MESSAGES],
        "newest": [
            (machine, ", ".join(kind.label for kind in card_kinds(judged.cards)), _system(judged.report))
            for machine, judged in reports
        ],
    }


def _doors(machines: int) -> list[CountedDoor]:
    """The doors of the navigation with what is behind each. `machines`: of labs, those that this visitor may see."""
    values = SpecValue.objects.filter(status=SpecValue.Status.PUBLIC, accelerator__is_public=True).count()
    hosts = Host.objects.filter(state=Host.State.PUBLIC).count()
    of_labs = _("real hosts, and %(n)s of labs") % {"n": format_number(machines)}
    behind = [
        (
            len(public_catalogue().accelerators),
            _("accelerators, %(n)s values with a source") % {"n": format_number(values)},
        ),
        (len(public_stacks()), _("stacks of %(n)s components") % {"n": format_number(Component.objects.count())}),
        (cited_counts().results, _("results that others measured")),
        (len(TOOLS.pages), _("Compare, Fit, Plan, Diagnose")),
        (hosts, of_labs if machines else _("real hosts, layer by layer")),
        (len(read_chapters("en")), _("chapters, from silicon to PyTorch")),
    ]
    return [
        CountedDoor(link.title, link.url, format_number(count), what)
        for link, (count, what) in zip(door_links(None), behind, strict=True)
    ]


def _system(report: wire.Report) -> str:
    system = headline_fact("os.name", report.facts, {}).text
    torch = f"torch {report.facts['torch.version']}" if report.facts.get("torch.version") else ""
    return " · ".join(filter(None, (system, torch)))

"""This very machine, measured by the real agent and sent through the real API, until its page is there."""

import sys
from dataclasses import dataclass
from pathlib import Path

from django.urls import reverse

from stackviz.benchmarks.models import Result
from stackviz.catalog.models import Accelerator
from stackviz.labs.models import Report
from stackviz.up.accounts import key_row
from stackviz.up.children import Children, inherited_environment
from stackviz.up.errors import CannotStart
from stackviz.up.web import page_answers
from stackviz.web.subjects import comparison_query

MACHINE_NAME = "this-machine"
AGENT_PATIENCE_S = 240.0  # the quick benchmark takes under 60 s; a cold torch import on a slow disk, a minute more
READ_WITHIN_S = 60.0
COMPARED_WITH = ("nvidia-h100-sxm5-80gb", "apple-m3-max-40")  # what a newcomer is offered beside the own machine


@dataclass(frozen=True)
class OnSite:
    """Where the machine is shown, and whether the site has measurements of it."""

    url: str
    subject: str
    has_results: bool


def report_this_machine(server: str, key: str, var: Path, children: Children) -> OnSite:
    """Runs the agent, waits until its report is read and the page answers. Raises CannotStart with what went wrong."""
    command = [sys.executable, "-m", "stackviz.agent", "run", "--server", server, "--name", MACHINE_NAME]
    command += ["--key-file", str(var / "lab_key"), "--spool", str(var / "spool"), "--yes"]
    command += ["--no-bench"] if has_results(key) else ["--quick"]
    status = children.run(command, inherited_environment(), AGENT_PATIENCE_S)
    if status is None:
        raise CannotStart(f"the agent took longer than {AGENT_PATIENCE_S:.0f} s and was stopped")
    if status != 0:
        raise CannotStart(f"the agent ended with status {status}; what it said stands above")
    return wait_for_page(server, key, children)


def wait_for_page(server: str, key: str, children: Children) -> OnSite:
    """The newest report of the key, read, and its machine's page, answering."""
    reports = Report.objects.filter(key=key_row(key)).select_related("machine__lab").order_by("-received_at")
    children.wait_until(
        lambda: reports.values_list("status", flat=True).first() != Report.Status.RECEIVED,
        "the worker has read the report",
        READ_WITHIN_S,
    )
    report = reports.first()
    if report is None:
        raise CannotStart("the agent ended well, yet no report arrived")
    if report.status == Report.Status.FAILED:
        raise CannotStart(
            f"the report could not be read: {report.error}\nIts receipt: {server}{report.get_absolute_url()}"
        )
    machine = report.machine
    url = server + reverse("machines:machine", args=[machine.lab.slug, machine.slug])
    children.wait_until(lambda: page_answers(url), f"{url} answers", READ_WITHIN_S)
    return OnSite(url, machine.subject, has_results(key))


def comparison_url(server: str, subject: str) -> str:
    """This machine beside two well-known parts, those of them that the catalogue has."""
    known = set(Accelerator.objects.filter(slug__in=COMPARED_WITH, is_public=True).values_list("slug", flat=True))
    chosen = [*(slug for slug in COMPARED_WITH if slug in known), subject]
    return f"{server}{reverse('compare:page')}?{comparison_query(chosen)}"


def has_results(key: str) -> bool:
    """True when this machine was measured before: the next start then only looks again, which takes a second."""
    return Result.objects.filter(report__key=key_row(key), state="ok").exists()

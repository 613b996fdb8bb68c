"""Measure this machine with the agent, upload the report through the API and wait for the page."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from django.urls import reverse

from stackviz.records.catalog.models import Accelerator
from stackviz.records.labs.models import Report
from stackviz.records.series.models import Result
from stackviz.site.up.accounts import key_row
from stackviz.site.up.children import inherited_environment
from stackviz.site.up.errors import CannotStart
from stackviz.site.up.web import page_answers
from stackviz.web.address import comparison_query

MACHINE_NAME = "this-machine"
AGENT_PATIENCE_S = 240.0  # the quick benchmark takes under 60 s; a cold torch import on a slow disk, a minute more
READ_WITHIN_S = 60.0
COMPARED_WITH = ("nvidia-h100-sxm5-80gb", "apple-m3-max-40")  # suggested beside this machine


@dataclass(frozen=True)
class ListedMachine:
    """Address of the machine's page, its subject in comparisons, and whether the site has results of it."""

    url: str
    subject: str
    has_results: bool
    is_public: bool


def report_this_machine(server: str, key: str, var: Path) -> ListedMachine:
    """Run the agent, wait until its report is read and the page answers. Raises CannotStart."""
    command = [sys.executable, "-m", "stackviz.agent", "run", "--server", server, "--name", MACHINE_NAME]
    command += ["--key-file", str(var / "lab_key"), "--spool", str(var / "spool"), "--yes"]
    can_measure = find_spec("torch") is not None and not has_results(key)
    command += ["--quick"] if can_measure else ["--no-bench", "--quiet"]
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            command, env=inherited_environment(), stdin=subprocess.DEVNULL, timeout=AGENT_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise CannotStart(f"the agent took longer than {AGENT_PATIENCE_S:.0f} s and was stopped") from None
    if done.returncode != 0:
        raise CannotStart(f"the agent exited with status {done.returncode}; see its output above")
    return wait_for_page(server, key)


def wait_for_page(server: str, key: str) -> ListedMachine:
    """Wait until the newest report of the key is read and the page of its machine answers."""
    reports = Report.objects.filter(key=key_row(key)).select_related("machine__lab").order_by("-received_at")
    wait_until(
        lambda: reports.values_list("status", flat=True).first() != Report.Status.RECEIVED,
        "the worker to read the report",
    )
    report = reports.first()
    if report is None:
        raise CannotStart("the agent succeeded, but no report arrived")
    if report.status == Report.Status.FAILED:
        raise CannotStart(
            f"the report could not be read: {report.error}\nIts receipt: {server}{report.get_absolute_url()}"
        )
    machine = report.machine
    url = server + reverse("machines:machine", args=[machine.lab.slug, machine.slug])
    wait_until(lambda: page_answers(url), url)
    return ListedMachine(url, machine.subject, has_results(key), machine.lab.is_public)


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    """Wait for READ_WITHIN_S at most. Raises CannotStart; `what` names what was waited for."""
    deadline = time.monotonic() + READ_WITHIN_S
    while not is_so():
        if time.monotonic() > deadline:
            raise CannotStart(f"timed out after {READ_WITHIN_S:.0f} s waiting for {what}")
        time.sleep(0.05)


def comparison_url(server: str, subject: str) -> str:
    """A comparison of this machine with those of COMPARED_WITH that are in the catalogue."""
    known = set(Accelerator.objects.filter(slug__in=COMPARED_WITH, is_public=True).values_list("slug", flat=True))
    chosen = [*(slug for slug in COMPARED_WITH if slug in known), subject]
    return f"{server}{reverse('compare:page')}?{comparison_query(chosen)}"


def has_results(key: str) -> bool:
    """Whether this machine was measured before; if so, the next start skips the benchmarks."""
    return Result.objects.filter(report__key=key_row(key), state="ok").exists()

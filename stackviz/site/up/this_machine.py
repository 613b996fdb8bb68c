"""The admin, lab and key of a fresh installation, and the first machine on it: the one that runs the site."""

import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from stackviz.records.catalog.models import Accelerator
from stackviz.records.labs.keys import KeyRefused, authenticate, create_key
from stackviz.records.labs.models import AgentKey, Lab, Membership, Report
from stackviz.records.series.models import Result
from stackviz.site.up.children import inherited_environment
from stackviz.site.up.var_folder import CannotStart, read_secret, write_secret
from stackviz.site.up.web import page_answers
from stackviz.web.http.address import comparison_query

ADMIN = "admin"
LAB = "local"
KEY_NAME = "this machine, created by make run"
KEY_LASTS = timedelta(days=365)
RENEWED_BEFORE = timedelta(days=30)  # by the next start


@dataclass(frozen=True)
class Login:
    """An admin's name; `password` only if it was created now, None otherwise: only its hash is stored."""

    name: str
    password: str | None


@dataclass(frozen=True)
class LabKey:
    """The key of this machine's agent, stored in `var/lab_key`.

    `expires_at` None: one that an earlier release made, which never expires.
    """

    text: str
    is_new: bool
    expires_at: datetime | None


def ensure_admin() -> Login:
    """The first active superuser, or a new one with a random password."""
    admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if admin is not None:
        return Login(admin.get_username(), None)
    password = secrets.token_urlsafe(12)
    name = ADMIN if not User.objects.filter(username=ADMIN).exists() else f"{ADMIN}-{secrets.token_hex(2)}"
    User.objects.create_superuser(name, password=password)
    return Login(name, password)


def ensure_lab(owner_name: str, *, is_public: bool) -> Lab:
    """The lab of this installation. One that exists stays as public or private as it is."""
    with transaction.atomic():
        lab, is_new = Lab.objects.get_or_create(slug=LAB, defaults={"name": "Local lab", "is_public": is_public})
        if is_new:
            Membership.objects.create(lab=lab, user=User.objects.get(username=owner_name), role=Membership.Role.OWNER)
    return lab


def ensure_lab_key(lab: Lab, file: Path) -> LabKey:
    """The stored key if it is valid for the lab and for RENEWED_BEFORE to come, else a new one for KEY_LASTS.

    One that is replaced ends at its own date: it may be in use on other machines.
    """
    stored = read_secret(file)
    now = timezone.now()
    if stored and _is_valid(stored, lab):
        expires_at = key_row(stored).expires_at
        if expires_at is None or expires_at - now > RENEWED_BEFORE:
            return LabKey(stored, is_new=False, expires_at=expires_at)
    with transaction.atomic():
        key, text = create_key(lab=lab, name=KEY_NAME, expires_at=now + KEY_LASTS)
        write_secret(file, text)
    return LabKey(text, is_new=True, expires_at=key.expires_at)


def _is_valid(text: str, lab: Lab) -> bool:
    try:
        return authenticate(f"Bearer {text}").lab_id == lab.pk
    except KeyRefused:
        return False


def key_row(text: str) -> AgentKey:
    return AgentKey.objects.get(prefix=text.split("_")[1])


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

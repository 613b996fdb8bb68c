"""The steps of a start that need the site's code: tables, curated data, static files, accounts, this machine.

They run in a separate process (`manage.py up_steps`), whose memory is given back when it ends. All are repeatable.
"""

import subprocess
import sys
from collections.abc import Callable
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from django.conf import settings

from stackviz.records.cited.queries import cited_counts
from stackviz.site.up import database, this_machine, web
from stackviz.site.up.start import StartProgress, approvals_needed, is_for_this_machine_alone
from stackviz.site.up.this_machine import LabKey, ListedMachine
from stackviz.site.up.var_folder import CannotStart

LOADERS = (
    ("accelerators", "load_catalogue"),
    ("stacks", "load_stacks"),
    ("public hosts", "load_hosts"),
    ("cited results", "load_cited"),
)


def run_steps(
    out: TextIO, tell: Callable[[str], None], wait_for_site: Callable[[], str], *, with_agent: bool, with_lab: bool
) -> None:
    """Prepare the site, wait until it answers, print its links, and add this machine. Raises CannotStart.

    `tell("tables")`: a worker may start; `tell("ready")`: pages may be served. `wait_for_site` returns the address, ""
    if the supervisor ended.
    """
    progress = StartProgress(out)
    var = Path(settings.VAR_DIR)
    collecting = database.Collecting()
    with progress.step("database") as step:
        step.outcome = f"{database.migrate()} ({database.describe_location()})"
    tell("tables")
    for name, command in LOADERS:
        with progress.step(name) as step:
            step.outcome = database.run_loader(command)
    with progress.step("static files") as step:
        step.outcome = collecting.outcome()
    with progress.step("accounts") as step:
        login = this_machine.ensure_admin()
        lab = this_machine.ensure_lab(login.name, is_public=is_for_this_machine_alone())
        key = this_machine.ensure_lab_key(lab, var / "lab_key")
        step.outcome = "created" if login.password else "unchanged"
    tell("ready")
    if url := wait_for_site():
        print_site(progress, var, url, login, key)
        if with_lab:
            install_lab(progress)
        if with_agent:
            add_this_machine(progress, url, key, var)
        print_hints(progress)


def print_site(progress: StartProgress, var: Path, url: str, login: this_machine.Login, key: LabKey) -> None:
    """Links and logins, as soon as the site answers."""
    progress.say()
    progress.say(f"  site          {url}/")
    if web.is_everywhere(settings.UP_HOST):
        progress.say(f"  for others    {web.url_for_others(url)}/")
    progress.say(f"  results       {cited_text()}")
    if login.password:
        progress.say(f"  admin         {url}/admin/   name {login.name}, password {login.password}   (shown only once)")
    else:
        progress.say(
            f"  admin         {url}/admin/   name {login.name}"
            f"   (new password: .venv/bin/python manage.py changepassword {login.name})"
        )
    if approvals_needed() == 1:
        progress.say("  curation      one person is enough to publish a value; for two: CURATION_APPROVALS=2 make run")
    lasts = f"valid until {key.expires_at:%Y-%m-%d}" if key.expires_at else "never expires: revoke it in the admin"
    if key.is_new:
        progress.say(f"  lab key       {key.text}   (also in {var / 'lab_key'}; {lasts})")
    else:
        progress.say(f"  lab key       in {var / 'lab_key'} ({lasts})")
    progress.say(f"  logs          {var / 'log'}")
    progress.say()


def cited_text() -> str:
    """Return how many cited results the site shows, as text."""
    counts = cited_counts()
    return (
        f"{counts.results:,} cited, public, of {counts.accelerators:,} accelerators from {counts.sources:,} sources"
        f"   ({counts.unmatched + counts.doubtful + counts.withdrawn:,} more are listed, not charted)"
    )


def install_lab(progress: StartProgress) -> None:
    """PyTorch, which may be several GB, while the site answers. A failure is printed and not fatal."""
    with progress.step("PyTorch", "is installed beside the site, which answers meanwhile") as step:
        command = [sys.executable, str(settings.BASE_DIR / "tools" / "install.py"), "lab"]
        status = subprocess.run(command, check=False).returncode  # noqa: S603 - our own program
        invalidate_caches()
        step.outcome = "not installed; see above" if status else "ready"


def add_this_machine(progress: StartProgress, url: str, key: LabKey, var: Path) -> None:
    """Add this machine to the site and print its links. A failure is printed and not fatal."""
    try:
        with progress.step("this machine", "the agent reads it and uploads a report") as step:
            machine = this_machine.report_this_machine(url, key.text, var)
            step.outcome = "on the site"
    except CannotStart as problem:
        progress.say(f"  this machine was not added: {problem}")
        return
    print_machine(progress, url, machine)


def print_machine(progress: StartProgress, url: str, machine: ListedMachine) -> None:
    private = "" if machine.is_public else "   (log in first: its lab is private)"
    progress.say(f"  this machine  {machine.url}{private}")
    progress.say(f"  compare       '{this_machine.comparison_url(url, machine.subject)}'")
    if machine.is_public and not is_for_this_machine_alone():
        progress.say(
            "                public: whoever reaches this site sees it and its reports; "
            f"{url}/labs/{this_machine.LAB}/settings/ makes the lab private"
        )
    if not machine.has_results and find_spec("torch") is None:
        progress.say("  PyTorch is not installed, so nothing is measured: make run LAB=1   (several GB with CUDA)")


def print_hints(progress: StartProgress) -> None:
    progress.say(
        "  This is for one machine and those who know it; for a public site: docker-compose.yml, docs/deployment.md"
    )
    progress.say("  Press Ctrl-C to stop.")

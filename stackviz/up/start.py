"""Start the site on one machine: the order of steps, all repeatable, and the summary that is printed."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TextIO

from django.conf import settings
from django.urls import reverse

from stackviz.cited.queries import cited_counts
from stackviz.up import accounts, broker, database, lock, static_files, this_machine, var_folder, web
from stackviz.up.children import Children, ended_with_us, inherited_environment
from stackviz.up.errors import CannotStart, Stopped
from stackviz.up.progress import StartProgress

LOADERS = (("accelerators", "load_catalogue"), ("stacks", "load_stacks"), ("cited results", "load_cited"))


def up(out: TextIO, *, with_agent: bool = True) -> None:
    """Start the site and supervise it until Ctrl-C or SIGTERM. Raises CannotStart."""
    progress = StartProgress(out)
    var = Path(settings.VAR_DIR)
    with stopped_by_signals(), message_on_stop(progress):
        var_folder.open_folder(var)
        with lock.held(var / "up.lock") as site_lock:
            prepare(progress, var)
            with ended_with_us(settings.BASE_DIR, var / "log", progress.say) as children:
                serve(progress, var, children, site_lock, with_agent=with_agent)


def prepare(progress: StartProgress, var: Path) -> None:
    """The steps before any other process runs: secret key, tables, curated data, static files."""
    progress.say(f"accelweb, data in {var}")
    with progress.step("secret key") as step:
        settings.SECRET_KEY, is_new = var_folder.secret_key(var / "secret_key")  # the children read the file
        step.outcome = "created" if is_new else "unchanged"
    with progress.step("database") as step:
        step.outcome = f"{database.migrate()} ({database.describe_location()})"
    for name, command in LOADERS:
        with progress.step(name) as step:
            step.outcome = database.run_loader(command)
    with progress.step("static files") as step:
        step.outcome = static_files.collect()


def serve(progress: StartProgress, var: Path, children: Children, site_lock: lock.Lock, *, with_agent: bool) -> None:
    """Start broker, worker and web, add this machine to the site, then supervise."""
    with progress.step("broker") as step:
        broker_env, step.outcome = broker.start_broker(var, settings.REDIS_URL, children)
    with progress.step("site and worker") as step:
        url = start_site(var, children, broker_env)
        step.outcome = f"ready at {url}/"
    site_lock.note(url)
    with progress.step("accounts") as step:
        login = accounts.ensure_admin()
        lab = accounts.ensure_lab(login.name, is_public=is_for_this_machine_alone())
        key = accounts.ensure_lab_key(lab, var / "lab_key")
        step.outcome = "created" if login.password else "unchanged"
    machine = report(progress, url, key, var, children) if with_agent else None
    print_summary(progress, var, url=url, login=login, key=key, machine=machine)
    children.watch()


def start_site(var: Path, children: Children, broker_env: dict[str, str]) -> str:
    """Start web and worker and wait until both are ready. Returns the address of the site."""
    listener = web.listen(settings.UP_HOST, settings.UP_PORT)
    url = web.local_url(listener)
    changes = {"VAR_DIR": str(var), **broker_env}
    if not web.is_loopback(settings.UP_HOST) and "ALLOWED_HOSTS" not in inherited_environment():
        changes["ALLOWED_HOSTS"] = web.allowed_hosts(settings.UP_HOST)
    changes["SITE_URL"] = address_for_mails(url)
    changes["CURATION_APPROVALS"] = str(approvals_needed())
    env = inherited_environment(**changes)
    worker = web.start_worker(children, env, var)
    web.start_web(children, listener, env)
    children.wait_until(lambda: web.page_answers(f"{url}{reverse('pages:health')}"), f"{url}/", web.UP_WITHIN_S)
    children.wait_until(lambda: web.is_ready(worker), "the worker", web.UP_WITHIN_S)
    return url


def address_for_mails(url: str) -> str:
    """SITE_URL, or else the printed address; "" where settings say that people open another one.

    `url`: the site's own.
    """
    if settings.SITE_URL or settings.HTTPS or "ALLOWED_HOSTS" in inherited_environment():
        return settings.SITE_URL
    return web.url_for_others(url) if web.is_everywhere(settings.UP_HOST) else url


def approvals_needed() -> int:
    """People needed to change a public value: one where only this machine reaches the site, unless it is set."""
    if "CURATION_APPROVALS" in inherited_environment() or not web.is_loopback(settings.UP_HOST):
        return settings.CURATION_APPROVALS
    return 1


def is_for_this_machine_alone() -> bool:
    """Whether no other machine reaches the site, directly or through a proxy, as far as its settings tell."""
    names = set(settings.ALLOWED_HOSTS) - set(settings.THIS_MACHINE.split(","))
    return web.is_loopback(settings.UP_HOST) and not settings.HTTPS and not names


def report(
    progress: StartProgress, url: str, key: accounts.LabKey, var: Path, children: Children
) -> this_machine.ListedMachine | None:
    """Add this machine to the site. A failure is printed and not fatal; then the result is None."""
    try:
        with progress.step("this machine", "the agent reads it and uploads a report") as step:
            shown = this_machine.report_this_machine(url, key.text, var, children)
            step.outcome = "on the site"
    except CannotStart as problem:
        progress.say(f"  this machine was not added: {problem}")
        return None
    else:
        return shown


def print_summary(
    progress: StartProgress,
    var: Path,
    url: str,
    login: accounts.Login,
    key: accounts.LabKey,
    machine: this_machine.ListedMachine | None,
) -> None:
    """Print links and logins, at the end, where they stay visible."""
    progress.say()
    progress.say(f"  site          {url}/")
    if web.is_everywhere(settings.UP_HOST):
        progress.say(f"  for others    {web.url_for_others(url)}/")
    progress.say(f"  results       {cited_text()}")
    if machine:
        progress.say(
            f"  this machine  {machine.url}{'' if machine.is_public else '   (log in first: its lab is private)'}"
        )
        progress.say(f"  compare       '{this_machine.comparison_url(url, machine.subject)}'")
        if machine.is_public and not is_for_this_machine_alone():
            progress.say(
                "                public: whoever reaches this site sees it and its reports; "
                f"{url}/labs/{accounts.LAB}/settings/ makes the lab private"
            )
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
    if machine and not machine.has_results and find_spec("torch") is None:
        progress.say("  To measure this machine too: make run LAB=1   (installs PyTorch; several GB with CUDA)")
    progress.say(
        "  This is for one machine and those who know it; for a public site: docker-compose.yml, docs/deployment.md"
    )
    progress.say("  Press Ctrl-C to stop.")


def cited_text() -> str:
    """How much of what others measured the site shows."""
    counts = cited_counts()
    return (
        f"{counts.results:,} cited, public, of {counts.accelerators:,} accelerators from {counts.sources:,} sources"
        f"   ({counts.unmatched + counts.doubtful + counts.withdrawn:,} more are listed, not charted)"
    )


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Raise Stopped in the block on SIGINT, SIGTERM and SIGHUP, each time."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, stop) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def message_on_stop(progress: StartProgress) -> Iterator[None]:
    """Turn Stopped into a final message."""
    try:
        yield
    except Stopped:
        progress.say("\n  stopped; all data is preserved")

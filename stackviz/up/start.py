"""The order in which a site comes up on one machine, and what its owner is told. Every step can be run again."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TextIO

from django.conf import settings
from django.urls import reverse

from stackviz.up import accounts, broker, database, lock, static_files, this_machine, var_folder, web
from stackviz.up.children import Children, ended_with_us, inherited_environment
from stackviz.up.errors import CannotStart, Stopped
from stackviz.up.progress import Progress


def up(out: TextIO, *, with_agent: bool = True) -> None:
    """Brings the site up and keeps it up until Ctrl-C or SIGTERM. Raises CannotStart with a text for a person."""
    progress = Progress(out)
    var = Path(settings.VAR_DIR)
    with stopped_by_signals(), said_goodbye(progress):
        var_folder.open_folder(var)
        with lock.held(var / "up.lock") as mine:
            prepare(progress, var)
            with ended_with_us(settings.BASE_DIR, var / "log", progress.say) as children:
                serve(progress, var, children, mine, with_agent=with_agent)


def prepare(progress: Progress, var: Path) -> None:
    """Everything that needs no other process: secret, tables, curated data, static files."""
    progress.say(f"accelweb, kept in {var}")
    with progress.step("secret key") as step:
        settings.SECRET_KEY, is_new = var_folder.secret_key(var / "secret_key")  # the children read the file
        step.outcome = "made" if is_new else "kept"
    with progress.step("database") as step:
        step.outcome = f"{database.migrate()} ({database.place()})"
    for name, command in (("accelerators", "load_catalogue"), ("stacks", "load_stacks")):
        with progress.step(name) as step:
            step.outcome = database.load(command)
    with progress.step("static files") as step:
        step.outcome = static_files.collect()


def serve(progress: Progress, var: Path, children: Children, mine: lock.Lock, *, with_agent: bool) -> None:
    """Starts broker, worker and web, puts this machine on the site, then watches."""
    with progress.step("broker") as step:
        found, step.outcome = broker.start_broker(var, settings.REDIS_URL, children)
    with progress.step("site and worker") as step:
        url = start_site(var, children, found)
        step.outcome = f"answering at {url}/"
    mine.note(url)
    with progress.step("accounts") as step:
        login = accounts.ensure_admin()
        key = accounts.ensure_lab_key(accounts.ensure_lab(login.name), var / "lab_key")
        step.outcome = "made" if login.password else "kept"
    machine = report(progress, url, key, var, children) if with_agent else None
    tell(progress, var, url, login, key, machine)
    children.watch()


def start_site(var: Path, children: Children, found: dict[str, str]) -> str:
    """Web and worker, both ready -> the address."""
    listener = web.listen(settings.UP_HOST, settings.UP_PORT)
    url = web.own_url(listener)
    changes = {"VAR_DIR": str(var), **found}
    if not web.is_loopback(settings.UP_HOST) and "ALLOWED_HOSTS" not in inherited_environment():
        changes["ALLOWED_HOSTS"] = web.allowed_hosts(settings.UP_HOST)
    env = inherited_environment(**changes)
    worker = web.start_worker(children, env, var)
    web.start_web(children, listener, env)
    children.wait_until(lambda: web.page_answers(f"{url}{reverse('pages:health')}"), f"{url}/ answers", web.UP_WITHIN_S)
    children.wait_until(lambda: web.is_ready(worker), "the worker is ready", web.UP_WITHIN_S)
    return url


def report(
    progress: Progress, url: str, key: accounts.LabKey, var: Path, children: Children
) -> this_machine.OnSite | None:
    """This machine on the site. The site is worth having without it, so a failure is told and no more."""
    try:
        with progress.step("this machine", "the agent looks at it and sends what it found") as step:
            shown = this_machine.report_this_machine(url, key.text, var, children)
            step.outcome = "on the site"
    except CannotStart as problem:
        progress.say(f"  this machine is not on the site: {problem}")
        return None
    else:
        return shown


def tell(
    progress: Progress,
    var: Path,
    url: str,
    login: accounts.Login,
    key: accounts.LabKey,
    machine: this_machine.OnSite | None,
) -> None:
    """The links and the logins, at the end where they stay in sight."""
    progress.say()
    progress.say(f"  site          {url}/")
    if web.is_everywhere(settings.UP_HOST):
        progress.say(f"  for others    {web.url_for_others(url)}/")
    if machine:
        progress.say(f"  this machine  {machine.url}")
        progress.say(f"  compare       '{this_machine.comparison_url(url, machine.subject)}'")
    if login.password:
        progress.say(f"  admin         {url}/admin/   name {login.name}, password {login.password}   (shown only now)")
    else:
        progress.say(
            f"  admin         {url}/admin/   name {login.name}"
            f"   (new password: .venv/bin/python manage.py changepassword {login.name})"
        )
    if key.is_new:
        progress.say(f"  lab key       {key.text}   (also in {var / 'lab_key'})")
    else:
        progress.say(f"  lab key       in {var / 'lab_key'}")
    progress.say(f"  logs          {var / 'log'}")
    if machine and not machine.has_results and find_spec("torch") is None:
        progress.say("  To measure this machine too: make run LAB=1   (adds PyTorch: with its CUDA libraries a few GB)")
    progress.say("  Ctrl-C ends everything.")


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Ctrl-C, SIGTERM and a closed terminal raise Stopped in the block; a second one does so again."""

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
def said_goodbye(progress: Progress) -> Iterator[None]:
    """Turns Stopped into a last line."""
    try:
        yield
    except Stopped:
        progress.say("\n  ended; everything that was stored stays in place")

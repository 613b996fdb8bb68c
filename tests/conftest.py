"""Fixtures every room may use: databases, real servers, the live site, a browser; and the list of skipped tests.

curated             the curated accelerators and stacks in the test's database, once for a file of tests
small_catalogue     the same with a dozen accelerators: for pages and files whose test does not look at the data
stacks              the curated stacks and sources alone
cited               the curated cited results as well
postgres_url        a fresh, empty, real PostgreSQL database        redis_url   a real Redis on a unix socket
migrated_postgres   the same with the site's tables in it           redis_server   one that a test may kill
on_postgres         this test's Django talks to a migrated PostgreSQL, its threads too
new_site(...)       a `tests.live.Site` with tables; start_web(), start_worker(), stop() is done for you
browser_page        a Chromium page; browser_context for a second one
"""

import atexit
import gc
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.cache import cache
from django.db import connections, transaction
from django.test.signals import template_rendered
from django.utils import translation
from hypothesis import settings as hypothesis_settings

from stackviz.web import parts
from stackviz.web.http import rate_limit
from tests import servers, tiers
from tests.curated import copy_curated, copy_few, curated_file, migrated_file
from tests.live import ROOT, Site
from tools import translations

PATIENCE_MS = 40_000  # for a page to show something; a machine busy with other tests needs several seconds


# Agents that tests start keep what they store out of the home of whoever runs them.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="accelweb-state-")
os.environ["ACCELWEB_LOCK_FOLDER"] = os.environ["XDG_STATE_HOME"]  # agents of other processes measure meanwhile
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

# How long one example takes says more of a machine's other work than of the code.
hypothesis_settings.register_profile("patient", deadline=None)
hypothesis_settings.load_profile("patient")


# --- which tests run, and where ---


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.register(tiers, "tiers")


# --- every test ---


def pytest_configure(config: pytest.Config) -> None:
    """Compile translations that changed, so that tests read what the .po files say; once, before workers start."""
    if not hasattr(config, "workerinput"):
        translations.compile_changed(ROOT)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Search for no garbage while tests are collected, nor later among them: they live as long as the process."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _start_in_english() -> Iterator[None]:
    """Each test starts in English, whatever the one before activated."""
    translation.activate("en")
    yield
    translation.deactivate()


@pytest.fixture(autouse=True)
def _stay_in_one_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rate limits see one moment: a test that runs from one minute into the next would begin to count again."""
    now = rate_limit.clock()
    monkeypatch.setattr(rate_limit, "clock", lambda: now)


@pytest.fixture
def django_assert_num_queries(django_assert_num_queries: Callable) -> Callable:
    """Counts the queries of a process that has read the public catalogue, as every process but a new one has."""
    from stackviz.records.catalog.queries import public_catalogue

    def assert_num_queries(count: int, **options):
        public_catalogue()
        return django_assert_num_queries(count, **options)

    return assert_num_queries


@pytest.fixture
def empty_cache() -> None:
    """Nothing that another test rendered is in the cache, perhaps with a part of it replaced."""
    cache.clear()


# --- the test's database ---


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> Iterator[None]:
    """The SQLite in memory that pytest-django makes has its tables already: its `migrate` finds nothing to do."""
    with (
        closing(sqlite3.connect(migrated_file())) as tables,
        closing(sqlite3.connect("file:memorydb_default?mode=memory&cache=shared", uri=True)) as memory,
    ):
        tables.backup(memory)
        yield


@pytest.fixture(scope="module")
def curated(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    """All spec sheets and stacks are in the test's database, for this file of tests. Tests ask for `db` as well."""
    with django_db_blocker.unblock(), transaction.atomic():
        copy_curated()
        yield
        transaction.set_rollback(True)


@pytest.fixture
def stacks(db: None) -> None:
    """The curated stacks and every curated source, without accelerators."""
    from stackviz.records.catalog.models import CatalogueEdition

    copy_curated("stacks_", "catalog_source")
    CatalogueEdition.renew()  # that of the files names a catalogue with accelerators


@pytest.fixture(scope="module")
def small_catalogue(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    """As `curated`, with a dozen sheets: for tests of pages and files, which do not look at the data."""
    from stackviz.records.catalog.models import CatalogueEdition

    with django_db_blocker.unblock(), transaction.atomic():
        copy_few()
        CatalogueEdition.renew()  # that of the files names a catalogue with all sheets
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def cited(curated: None, django_db_blocker) -> None:
    """What others measured is in the test's database too, for this file of tests. Tests ask for `db` as well."""
    with django_db_blocker.unblock():
        copy_curated("cited_")


# --- servers ---


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Address of a PostgreSQL server that lives as long as the test run."""
    with contextmanager_or_skip(servers.postgres()) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    return servers.new_database(postgres_server)


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Name of a migrated database; copying it costs 50 ms where migrating costs seconds."""
    url = servers.new_database(postgres_server)
    Site(tmp_path_factory.mktemp("template"), database_url=url).manage("migrate", "-v", "0")
    return servers.database_name(url)


@pytest.fixture
def migrated_postgres(request: pytest.FixtureRequest, postgres_server: str, postgres_template: str) -> str:
    assert tiers.POSTGRES in request.node.nodeid, (
        "a test of another name may run in another process: that makes all tables again"
    )
    return servers.new_database(postgres_server, postgres_template)


@pytest.fixture
def on_postgres(migrated_postgres: str, django_db_blocker) -> Iterator[str]:
    """`connections["default"]` is a real PostgreSQL for this test, in every thread; nothing is rolled back."""
    from accelweb.settings import database

    with django_db_blocker.unblock():
        before = connections.settings["default"]
        swap_default(connections.configure_settings({"default": database(migrated_postgres)})["default"])
        try:
            yield migrated_postgres
        finally:
            swap_default(before)


def swap_default(config: dict) -> None:
    """Lets `connections["default"]` be another database, whose content types have keys of their own."""
    ContentType.objects.clear_cache()
    if hasattr(connections._connections, "default"):
        connections["default"].close()
        del connections["default"]
    connections.settings["default"] = config


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    if url := os.environ.get("TEST_REDIS_URL"):
        yield url
        return
    with contextmanager_or_skip(servers.own_redis()) as server:
        yield server.url


@pytest.fixture
def redis_server() -> Iterator[servers.RedisServer]:
    """A Redis of this test's own, with `kill()` and `start()`."""
    with contextmanager_or_skip(servers.own_redis()) as server:
        yield server


class contextmanager_or_skip:  # noqa: N801
    """Enters a server's context; where it cannot be had the test is skipped, and named at the end of the run."""

    def __init__(self, context) -> None:
        self.context = context

    def __enter__(self):
        try:
            return self.context.__enter__()
        except servers.NotHere as problem:
            pytest.skip(str(problem))

    def __exit__(self, *raised) -> None:
        self.context.__exit__(*raised)


# --- the live site ---


@pytest.fixture
def new_site(tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Makes sites with tables: `new_site()`, `new_site(loaded=True)`, `new_site(database_url=..., redis_url=...)`."""
    made: list[Site] = []

    def make(*, loaded: bool = False, database_url: str = "", redis_url: str = "", **variables: str) -> Site:
        folder = tmp_path / f"site{len(made)}"
        folder.mkdir()
        site = Site(folder, database_url=database_url, redis_url=redis_url, **variables)
        if not database_url:
            shutil.copy(curated_file() if loaded else migrated_file(), folder / "accelweb.sqlite3")
        elif loaded:
            site.manage("load_catalogue")
            site.manage("load_stacks")
            site.manage("load_hosts")
            site.manage("load_cited")
        made.append(site)
        return site

    yield make
    for site in made:
        site.stop()


# --- the browser ---


@pytest.fixture(scope="session")
def browser():
    executable = servers.chromium()
    if not executable:
        pytest.skip(f"no browser: none of {', '.join(servers.CHROMIUM_NAMES)} on PATH, and CHROMIUM is not set")
    from playwright.sync_api import expect, sync_playwright

    # Playwright's loop runs in this thread as long as the browser does; to Django every later test would look asynchronous.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    expect.set_options(timeout=PATIENCE_MS)
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=executable, args=["--no-first-run", "--disable-gpu", *quiet], chromium_sandbox=False
        )
        yield started
        started.close()


@pytest.fixture
def browser_context(browser):
    """A visitor with no history; every console error and policy violation it meets is kept in `context.troubles`."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    context.troubles = []
    context.on("console", lambda line: line.type == "error" and context.troubles.append(line.text))
    context.on("weberror", lambda error: context.troubles.append(str(error.error)))
    yield context
    context.close()


@pytest.fixture
def browser_page(browser_context):
    return browser_context.new_page()


# --- what was skipped is listed ---


def pytest_terminal_summary(terminalreporter) -> None:
    """List each test that was skipped, with the reason."""
    skipped = [
        (
            report.nodeid,
            report.longrepr[2].removeprefix("Skipped: ")
            if isinstance(report.longrepr, tuple)
            else str(report.longrepr),
        )
        for report in terminalreporter.stats.get("skipped", [])
    ]
    terminalreporter.section("what could not run here")
    for nodeid, reason in sorted(skipped):
        terminalreporter.line(f"NOT RUN {nodeid}: {reason}")
    terminalreporter.line(f"{len(skipped)} tests could not run here." if skipped else "Everything ran.")


@pytest.fixture(scope="session")
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run_python("-I", "-S", "-c", "...")` in the repository root."""

    def run(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, text=True, capture_output=True, timeout=120, check=False, **options
        )

    return run


@pytest.fixture(autouse=True)
def parts_in_the_context(monkeypatch):
    """What a part is drawn from is in `response.context`, as that of a Django template is."""

    def macro(name):
        def draw(**values):
            template_rendered.send(sender=None, template=SimpleNamespace(name=name), context=values)
            return found(**values)

        found = real(name)
        return draw

    real = parts.macro
    monkeypatch.setattr(parts, "macro", macro)

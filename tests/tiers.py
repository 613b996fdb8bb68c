"""Which tests run, and in which process: the fast tier, the slow one, its slices, and the units of work of `pytest -n`.

Slow is what starts a site, a browser or PostgreSQL, what lies in SLOW_PARTS or is marked `slow`, and what `tests/slow.txt`
lists. A test marked `fast` is in the fast tier wherever it lies. Without `--tier` all of it runs, and so does a file or a
test that is named on the command line. `make test-all` writes the list anew (`--record`): it has what took over SLOW_S
seconds of processor or WAITED_S by the clock, fixtures left out; what is in it stays until it takes less than half.
"""

import os
import subprocess
import time
from argparse import ArgumentTypeError
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import pytest

from tests.live import ROOT

LIST = ROOT / "tests/slow.txt"
SLOW_S = 2.0  # of processor, with the processes that a test starts and waits for
WAITED_S = 6.0  # by the clock: waiting costs no processor, but holds one of the processes of tests
SLOW_FIXTURES = {"browser", "new_site", "postgres_server"}
SLOW_PARTS = (
    "tests/api/", "tests/site/backups/", "tests/browser/", "tests/deploy/", "tests/postgres/", "tests/recipes/",
    "tests/redis/", "tests/trials/", "tests/site/up/",
    "tests/architecture/test_mutants.py",
    "tests/report/importers/test_linear.py",  # megabytes that are meant to take long
)  # fmt: skip
# What has this in its name needs tables in PostgreSQL, ten seconds of work: one process has them all.
POSTGRES = "postgres"
# Parts of the slow tier, minutes each; the last one has all that no other names. `.ci/run` takes the one the commit chooses.
SLICES: tuple[tuple[str, ...], ...] = (
    ("tests/browser/", "tests/web/test_in_browser.py"),
    (
        "tests/api/", "tests/site/backups/", "tests/deploy/", "tests/postgres/", "tests/recipes/", "tests/redis/",
        "tests/trials/", "tests/site/up/",
    ),
    (),
)  # fmt: skip

# --- the tier ---


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiers")
    group.addoption("--tier", choices=["fast", "slow", "all"], default="all", help="which tests run; default: all")
    group.addoption(
        "--slice", type=slice_number, help="only this part of the slow tier; `commit`: the one HEAD chooses"
    )
    group.addoption("--record", action="store_true", help="write tests/slow.txt anew, after a run of everything")


def pytest_report_header(config: pytest.Config) -> str:
    part = config.getoption("slice")
    if part:
        return f"tier: slow, slice {part} of {len(SLICES)}; again: make test-slice SLICE={part}"
    return f"tier: {config.getoption('tier')}"


def slice_number(text: str) -> int:
    if text == "commit":
        head = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
        return 1 + int(subprocess.run(head, capture_output=True, text=True, check=True).stdout, 16) % len(SLICES)
    if text not in map(str, range(1, len(SLICES) + 1)):
        raise ArgumentTypeError(f"{text} is no slice: choose 1 to {len(SLICES)}, or `commit`")
    return int(text)


def listed() -> list[str]:
    return LIST.read_text(encoding="utf-8").splitlines()


def is_slow_by_rule(item: pytest.Item) -> bool:
    return (
        item.nodeid.startswith(SLOW_PARTS)
        or POSTGRES in item.nodeid
        or not SLOW_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
        or item.get_closest_marker("slow") is not None
    )


def slice_of(nodeid: str) -> int:
    """Number of the slice a slow test is in, from one."""
    found = (number for number, parts in enumerate(SLICES, 1) if nodeid.startswith(parts))
    return next(found, len(SLICES))


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow, and leave out what is not in the tier or the slice that was asked for."""
    names = set(listed())
    items += list(stale(config, items, names)) if items else []
    for item in items:
        if item.get_closest_marker("fast") or isinstance(item, StaleLine):
            continue
        if is_slow_by_rule(item):
            item.user_properties.append(("slow", "by rule"))
            item.add_marker("slow")
        elif item.nodeid in names:
            item.add_marker("slow")
    tier, part = config.getoption("tier"), config.getoption("slice")
    if tier == "all" and not part:
        return
    named = tuple(argument for argument in _arguments(config) if not (ROOT / argument).is_dir())

    def is_chosen(item: pytest.Item) -> bool:
        slow = item.get_closest_marker("slow") is not None
        if part:
            return slow and slice_of(item.nodeid) == part
        return slow == (tier == "slow") or item.nodeid.startswith(named)

    chosen = [item for item in items if is_chosen(item)]
    if left_out := [item for item in items if not is_chosen(item)]:
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen


def _arguments(config: pytest.Config) -> list[str]:
    """What the command line names, as the beginning of node ids."""
    at = config.invocation_params.dir
    split = (argument.partition("::") for argument in config.args)
    return [os.path.relpath(at / file, ROOT) + colons + test for file, colons, test in split]


class StaleLine(pytest.Item):
    """Fails for a line of the list whose test is gone or has another name."""

    def runtest(self) -> None:
        pytest.fail(f"tests/slow.txt lists {self.name}, which does not exist: remove or rename the line", pytrace=False)


def stale(config: pytest.Config, items: list[pytest.Item], names: Iterable[str]) -> Iterator[StaleLine]:
    """A failure for each listed test that was not found, where its whole file was collected or is gone."""
    collected = {item.nodeid for item in items}
    in_part = {argument.partition("::")[0] for argument in _arguments(config) if "::" in argument}
    whole = {nodeid.partition("::")[0] for nodeid in collected} - in_part
    for name in sorted(set(names) - collected):
        file = name.partition("::")[0]
        if file in whole or not (ROOT / file).exists():
            yield StaleLine.from_parent(items[0].session, name=name)


# --- who runs what, with pytest -n ---

# Tests of these share an expensive fixture, a running site or a first start: one process has them all. The longest first.
SHARED_FIXTURE_SUITES = (
    "tests/site/up/test_up.py", "tests/deploy/", "tests/redis/test_delivery.py", "tests/web/test_in_browser.py",
)  # fmt: skip
# Each process has a site of its own for these, and takes one file after another.
BROWSER = "tests/browser/"
# Each test of these starts a site of its own: they go one by one to whichever process is free.
SINGLE_TESTS = ("tests/redis/test_survival.py", "tests/recipes/")


def work_unit(nodeid: str) -> str:
    """Name of the tests that one process runs in a row: a suite, a single test, else a file with its fixtures."""
    if suite := next((suite for suite in SHARED_FIXTURE_SUITES if nodeid.startswith(suite)), ""):
        return suite
    if POSTGRES in nodeid:
        return POSTGRES
    return nodeid if nodeid.startswith(SINGLE_TESTS) else nodeid.partition("::")[0]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The tests of the tier; with several processes, what takes long begins first, so that none is left with it at the end."""
    select(config, items)
    if not hasattr(config, "workerinput"):
        return
    first = (BROWSER, *SHARED_FIXTURE_SUITES[:2], POSTGRES, *SHARED_FIXTURE_SUITES[2:], *SINGLE_TESTS)
    units = Counter(work_unit(item.nodeid) for item in items)

    def place(item: pytest.Item) -> tuple[int, int]:
        unit = work_unit(item.nodeid)
        return next((rank for rank, start in enumerate(first) if unit.startswith(start)), len(first)), -units[unit]

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """Units of work in the order of the collection."""
    from xdist.scheduler.loadscope import LoadScopeScheduling

    class ExpensiveFirstScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return work_unit(nodeid)

    config.option.loadscopereorder = False  # xdist's own order is by number of tests
    return ExpensiveFirstScheduling(config, log)


# --- what a test takes ---


def _spent() -> tuple[float, float]:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system, time.monotonic()


def _measured(item: pytest.Item, phase: str) -> Iterator[None]:
    before = _spent()
    try:
        return (yield)
    finally:
        processor, clock = (now - then for now, then in zip(_spent(), before, strict=True))
        item.user_properties.append((phase, (processor, clock)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    return (yield from _measured(item, "setup"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    return (yield from _measured(item, "call"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    return (yield from _measured(item, "teardown"))


class Record:
    """Seconds of each test of a run, from all processes."""

    def __init__(self) -> None:
        self.calls: dict[str, tuple[float, float]] = {}
        self.folders: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "teardown":
            return
        folder = self.folders["/".join(report.nodeid.split("/")[:2])]
        folder[0] += 1
        properties = dict(report.user_properties)
        for phase in ("setup", "call", "teardown"):
            processor, clock = properties.get(phase, (0.0, 0.0))
            folder[1] += processor
            folder[2] += clock
        is_listed = properties.get("slow") != "by rule"
        self.calls[report.nodeid] = properties.get("call", (0.0, 0.0)) if is_listed else (0.0, 0.0)

    def pytest_terminal_summary(self, terminalreporter) -> None:
        terminalreporter.section("seconds")
        terminalreporter.line(f"{'folder':24} {'tests':>6} {'processor':>10} {'clock':>8}")
        for folder, (tests, processor, clock) in sorted(self.folders.items(), key=lambda entry: -entry[1][1]):
            terminalreporter.line(f"{folder:24} {tests:6} {processor:10.1f} {clock:8.1f}")

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            write(self.calls)


def write(calls: dict[str, tuple[float, float]]) -> None:
    """The list anew: those that took long and are not slow by rule. What did not run keeps its line."""
    before = set(listed())

    def is_long(nodeid: str) -> bool:
        processor, clock = calls[nodeid]
        share = 0.5 if nodeid in before else 1.0
        waited = clock if processor < clock / 10 else 0.0  # else it is the machine that is busy
        return processor > share * SLOW_S or waited > share * WAITED_S

    slow = {nodeid for nodeid in calls if is_long(nodeid)} | (before - calls.keys())
    LIST.write_text("".join(f"{nodeid}\n" for nodeid in sorted(slow)), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("record") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Record())

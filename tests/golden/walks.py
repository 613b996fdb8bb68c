"""The ways through the house, measured: which files of ours are entered between a request and its answer.

A file is entered when a function of it runs. What runs while a module is imported does not count, nor do the files
that any page enters (ANY_PAGE: middleware, template tags, the template loader).
"""

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from django.core.management import call_command
from django.test import Client

from tests.golden import pinned
from tests.golden.reports import report
from tests.golden.seed import KEYS
from tests.golden.visits import DUMPS, H100, M3_MAX, compare

OURS = "/stackviz/"
ANY_PAGE = "/learn/"
TEMPLATES = frozenset({"web/template_loader.py", "web/whitespace.py"})  # compile a template when it is first loaded
REGISTRIES = ("importers/", "rules/checks/")


@dataclass
class Walk:
    """`files`: in the order they were entered. `calls`: pairs of files, the one calling a function of the other.

    `returns`: calls into a file that was itself waiting for this call's end: the way goes back up. `common`: files that
    are passed through unseen, so that what they call counts as called by who called them.
    """

    files: list[str] = field(default_factory=list)
    calls: set[tuple[str, str]] = field(default_factory=set)
    returns: set[tuple[str, str]] = field(default_factory=set)
    stack: list[str] = field(default_factory=list)
    common: frozenset[str] = frozenset()
    importing: int = 0

    def see(self, frame: FrameType, event: str, _argument: object) -> None:
        if event not in ("call", "return"):
            return
        name = frame.f_code.co_filename
        if OURS not in name:
            return
        if frame.f_code.co_name == "<module>":
            self.importing += 1 if event == "call" else -1
        if self.importing or frame.f_code.co_name == "<module>":
            return
        short = name.partition(OURS)[2]
        if event == "call":
            self.enter(short)
        elif self.stack:
            self.stack.pop()

    def enter(self, name: str) -> None:
        if name in self.common:
            name = self.stack[-1] if self.stack else ""
        elif name not in self.files:
            self.files.append(name)
        caller = self.stack[-1] if self.stack else ""
        if caller not in ("", name):
            self.calls.add((caller, name))
            if name in self.stack:
                self.returns.add((caller, name))
        self.stack.append(name)


@contextmanager
def followed(walk: Walk) -> Iterator[None]:
    if not walk.common:
        common = Walk(common=frozenset({""}))
        expect(Client().get(ANY_PAGE), 200)  # what the first request of a process does belongs to no way
        with followed(common):
            Client().get(ANY_PAGE)
        walk.common = frozenset(common.files) | TEMPLATES
    walk.stack = []
    sys.setprofile(walk.see)
    try:
        yield
    finally:
        sys.setprofile(None)


def upload_to_page(walk: Walk) -> None:
    """A report is taken in and read; then the machine's page shows it."""
    body = json.dumps(report("h100-linux", "walker", "2026-11-22T11:00:00Z"))
    headers = {"Authorization": f"Bearer {KEYS['goldnort']}"}
    with followed(walk):
        answer = Client().post("/api/v1/reports/", body, content_type="application/json", headers=headers)
    expect(answer, 202)
    with followed(walk):
        answer = Client().get("/machines/north/walker/")
    expect(answer, 200)


def dump_to_finding(walk: Walk) -> None:
    """A dump is pasted; the page names what does not fit."""
    text = (DUMPS / "collect_env_old_driver.txt").read_text(encoding="utf-8")
    with followed(walk):
        answer = Client().post("/diagnose/", {"text": text})
    expect(answer, 200)


def dump_to_answer(walk: Walk) -> None:
    """The same by the API."""
    text = (DUMPS / "collect_env_old_driver.txt").read_bytes()
    with followed(walk):
        answer = Client().post("/api/v1/diagnose/", text, content_type="text/plain")
    expect(answer, 200)


def line_to_cell(walk: Walk) -> None:
    """The curated files are loaded into an empty site; a comparison shows their values."""
    call_command("migrate", verbosity=0)
    with followed(walk):
        call_command("load_catalogue", stdout=io.StringIO())
    call_command("load_stacks", stdout=io.StringIO())
    with followed(walk):
        answer = Client().get(compare(H100, M3_MAX))
    expect(answer, 200)


def expect(answer: Any, status: int) -> None:
    if answer.status_code != status:
        raise RuntimeError(f"{answer.status_code} instead of {status}: {answer.content[:300]!r}")


WALKS: dict[str, tuple[str, Callable[[Walk], None]]] = {
    "upload": ("an upload to a machine's page", upload_to_page),
    "dump": ("a dump to a finding on the page", dump_to_finding),
    "dump-api": ("a dump to a finding in the API", dump_to_answer),
    "value": ("a line of CSV to a cell of a comparison", line_to_cell),
}


def follow(name: str, *, with_files: bool) -> None:
    """Prints one way: its length, and with `with_files` each file in order."""
    title, way = WALKS[name]
    pinned.set_clock(pinned.NOW)
    walk = Walk()
    way(walk)
    rooms = {path.partition("/")[0].removesuffix(".py") for path in walk.files}
    listed = sum(path.startswith(REGISTRIES) for path in walk.files)
    again = len(walk.calls) - len(walk.files) + 1
    print(
        f"{title}: {len(walk.files)} files in {len(rooms)} rooms ({listed} of them rules and importers, which all run);"
        f" {again} ways into a file that was entered already, {len(walk.returns)} returns upwards",
        flush=True,
    )
    if with_files:
        print("  " + "\n  ".join(walk.files))
        print("\n".join(f"  returns: {low} -> {high}" for low, high in sorted(walk.returns)))

"""Five ways through the code, for `tools/house.py`: which files of stackviz run between a request and its answer.

What runs at import does not count, nor do files that any page enters: middleware, template tags, templates' compilers.
A call goes up when it enters a file that is itself waiting for this call to end.
"""

import atexit
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

STACKVIZ = f"{Path(__file__).resolve().parents[1] / 'stackviz'}/"
FIXTURES = Path(__file__).resolve().parents[1] / "tests/fixtures"
COMPILERS = {"web/jinja2.py"}  # runs when a template is first loaded
ANY_PAGE = "/learn/"
COMPARE = "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40"
FIT = "/fit/?model=llama-3-70b&accelerator=apple-m4-max-40&accelerator=nvidia-geforce-rtx-5090"


class Way:
    """The files that calls enter, in order, and the pairs of files that call up."""

    def __init__(self, common: frozenset[str] = frozenset()) -> None:
        self.common = common
        self.files: dict[str, None] = {}
        self.calls_up: set[tuple[str, str]] = set()
        self.stack: list[str] = []
        self.importing = 0

    def profile(self, frame: FrameType, event: str, _argument: object) -> None:
        path, is_module = frame.f_code.co_filename, frame.f_code.co_name == "<module>"
        if event not in {"call", "return"} or not path.startswith(STACKVIZ):
            return
        if is_module:
            self.importing += 1 if event == "call" else -1
        elif not self.importing and event == "call":
            self.enter(path.removeprefix(STACKVIZ))
        elif not self.importing:
            self.stack.pop()

    def enter(self, file: str) -> None:
        caller = self.stack[-1] if self.stack else ""
        if file in self.common:
            file = caller
        elif file != caller and file in self.stack:
            self.calls_up.add((caller, file))
        if file:
            self.files[file] = None
        self.stack.append(file)

    @contextmanager
    def followed(self) -> Iterator[None]:
        sys.setprofile(self.profile)
        try:
            yield
        finally:
            sys.setprofile(None)


def upload(way: Way) -> None:
    from stackviz.records.labs.keys import create_key
    from stackviz.records.labs.models import Lab

    lab = Lab.objects.create(slug="house", name="House", is_public=True)
    _row, key = create_key(lab=lab, name="house")
    body = (FIXTURES / "reports/h100-linux.json").read_bytes()
    ask(way, "/api/v1/reports/", body, 202, content_type="application/json", HTTP_AUTHORIZATION=f"Bearer {key}")
    ask(way, f"/machines/house/{json.loads(body)['machine']['name']}/")


def dump_to_page(way: Way) -> None:
    ask(way, "/diagnose/", {"text": old_driver()})


def dump_to_api(way: Way) -> None:
    ask(way, "/api/v1/diagnose/", old_driver(), content_type="text/plain")


def csv_to_cell(way: Way) -> None:
    from django.core.management import call_command

    with way.followed():
        call_command("load_catalogue", stdout=io.StringIO())
    call_command("load_stacks", stdout=io.StringIO())
    ask(way, COMPARE)


def fit(way: Way) -> None:
    ask(way, FIT)


WAYS: dict[str, Callable[[Way], None]] = {
    "upload to machine page": upload,
    "dump to finding on the page": dump_to_page,
    "dump to API": dump_to_api,
    "CSV line to compare cell": csv_to_cell,
    "fit question to answer": fit,
}


def old_driver() -> str:
    """Return a dump of a machine whose driver is too old for its torch."""
    return (FIXTURES / "dumps/collect_env_cuda.txt").read_text(encoding="utf-8").replace("580.65.06", "535.183.01")


def ask(way: Way, address: str, body: dict[str, str] | str | bytes = "", expect: int = 200, **headers: str) -> None:
    """Send a request, follow it, and raise RuntimeError if its answer has another status."""
    from django.test import Client

    client = Client(SERVER_NAME="localhost")
    with way.followed():
        answer = client.post(address, body, **headers) if body else client.get(address)
    if answer.status_code != expect:
        raise RuntimeError(f"{address}: {answer.status_code} {answer.content[:300]!r}")


def walk(title: str) -> Way:
    """Go one way on a new SQLite database. In a process of its own: caches are empty at the start."""
    folder = tempfile.mkdtemp(prefix="accelweb-house-")
    atexit.register(shutil.rmtree, folder)
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "VAR_DIR": folder,
        "DATABASE_URL": f"sqlite:///{folder}/site.sqlite3",
    }
    import django

    django.setup()
    from celery import current_app

    from tests.curated import curated_file, migrated_file

    is_empty = WAYS[title] is csv_to_cell
    shutil.copy(migrated_file() if is_empty else curated_file(), f"{folder}/site.sqlite3")
    current_app.conf.task_always_eager = True
    common = Way()
    ask(Way(), ANY_PAGE)  # what the first request of a process does belongs to no way
    ask(common, ANY_PAGE)
    way = Way(COMPILERS.union(common.files))
    WAYS[title](way)
    return way


def print_ways(titles: list[str], *, with_files: bool) -> None:
    print("| way | files | rooms | calls up |\n|---|---|---|---|")
    with ProcessPoolExecutor(max_workers=1, max_tasks_per_child=1) as processes:
        for title, way in zip(titles, processes.map(walk, titles), strict=True):
            rooms = {file.rpartition("/")[0] for file in way.files}
            print(f"| {title} | {len(way.files)} | {len(rooms)} | {len(way.calls_up)} |", flush=True)
            if with_files:
                print(*way.files, sep="\n", end="\n\n")

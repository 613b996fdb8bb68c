"""A site behind the front, and an innocent visitor of it."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.curated import curated_file
from tests.deploy.compose import path_with_venv
from tests.deploy.front import Front, visit
from tests.deploy.test_behind_front import SHEET, web
from tests.live import Site
from tests.trials.outcome import Outcome
from tests.trials.visitors import Visitor

EVERY_S = 0.2
PATIENCE_S = 1.0  # of an innocent visitor


def note(outcome: Outcome, beside: str, visitor: Visitor) -> None:
    outcome.add(f"beside {beside}", visitor.summary())
    outcome.expect({status for status, _took_s in visitor.seen} == {200}, f"beside {beside} not every answer was 200")
    outcome.expect(visitor.worst_s < PATIENCE_S, f"beside {beside} the page took {visitor.worst_s:.1f} s")


def innocent(front: Front) -> Visitor:
    return Visitor(lambda: visit(front.url + SHEET), EVERY_S)


@contextmanager
def fronted_site() -> Iterator[Front]:
    """The front, and behind it `web` as composed, with the catalogue in SQLite."""
    folder = Path(tempfile.mkdtemp(prefix="accelweb-flood-"))
    shutil.copy(curated_file(), folder / "accelweb.sqlite3")
    site = Site(folder, PROXIES="1", ALLOWED_HOSTS="127.0.0.1", LOG_LEVEL="WARNING", READS_PER_MINUTE="600")
    site.env["PATH"] = path_with_venv()
    front = Front(folder / "front", f"127.0.0.1:{site.port}")
    with ExitStack() as ending:
        ending.callback(shutil.rmtree, folder, ignore_errors=True)
        ending.callback(site.stop)
        ending.callback(front.stop)
        web(site, "web", site.port)
        site.wait_until(site.answers, "web answers")
        front.start()
        for _ in range(12):  # the catalogue and what can be searched are read once by each process
            for page in (SHEET, "/search/?q=h100", "/explore/", "/compare/?a=nvidia-t4&a=nvidia-l4"):
                visit(front.url + page)
        yield front

"""What a visit costs: bytes over the wire as deployed, and no shift: on a slow line, and while it is read to the end."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from tests.browser.weight import measure_visit
from tests.live import Site

TWO = "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40"
SIX = TWO + "&a=nvidia-geforce-rtx-4090&a=amd-mi300x&a=google-tpu-v5p&a=nvidia-a100-sxm4-80gb"
SHEET, MACHINE = "/accelerators/nvidia-h100-sxm5-80gb/", "/machines/lab/rack-7/"
# A wide window fetches the suggestions of a comparison, too. The indentation of templates is a thirteenth of a page.
MOST_BYTES = {"/": 60_000, "/accelerators/": 60_000, SHEET: 61_000, TWO: 62_000, MACHINE: 60_000, SIX: 66_000}
SIZES = ((360, 780), (1440, 900))
SLOW_LINE = 20_000  # bytes a second: a page of 10 kB takes half a second, and is drawn several times
MOST_SHIFT_SLOWLY = {"/accelerators/": 0.05}  # its columns are as wide as the rows that are there
MOST_SHIFT = 0.01  # a tenth of what browsers call good; letters that settle move by less


@pytest.fixture(scope="module")
def shipped(site, tmp_path_factory):
    """The site's data behind the settings of a server: files collected, named by content and compressed."""
    folder = tmp_path_factory.mktemp("shipped")
    with (
        closing(sqlite3.connect(site.folder / "accelweb.sqlite3")) as source,
        closing(sqlite3.connect(folder / "accelweb.sqlite3")) as target,
    ):
        source.backup(target)
    made = Site(folder, settings="accelweb.settings")
    try:
        made.manage("collectstatic", "--noinput", "-v", "0")
        made.start_web(workers=1)
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def visitor(browser):
    """Makes a visitor with an empty cache, and a window of this size."""
    contexts = []

    def make(width: int, height: int):
        contexts.append(browser.new_context(viewport={"width": width, "height": height}))
        return contexts[-1]

    yield make
    for context in contexts:
        context.close()


@pytest.mark.parametrize("path", MOST_BYTES)
def test_a_page_is_light_and_its_files_are_sent_once(shipped, visitor, path):
    for size in SIZES:
        context = visitor(*size)
        first, again = (measure_visit(context.new_page(), shipped.url + path) for _ in range(2))
        assert first.sizes["Stylesheet"] > 5_000, "style sheets did not arrive"
        assert first.sizes["Script"] > 15_000, "scripts did not arrive"
        assert first.total <= MOST_BYTES[path], (size, first.sizes)
        assert again.sizes.get("Stylesheet", 0) + again.sizes.get("Script", 0) == 0, (size, again.sizes)


@pytest.mark.parametrize("path", MOST_BYTES)
def test_nothing_moves_while_a_page_arrives_part_by_part(shipped, visitor, path):
    for size in SIZES:
        context = visitor(*size)
        measure_visit(context.new_page(), shipped.url + path)
        visit = measure_visit(context.new_page(), shipped.url + path, bytes_per_s=SLOW_LINE)
        assert visit.shift <= MOST_SHIFT_SLOWLY.get(path, MOST_SHIFT), (size, visit.shifted)


@pytest.mark.parametrize("path", [SHEET, TWO, SIX, MACHINE])
def test_nothing_moves_while_a_page_is_read_to_its_end(shipped, visitor, path):
    for size in SIZES:
        context = visitor(*size)
        measure_visit(context.new_page(), shipped.url + path)  # drawn once, as for a visitor before
        visit = measure_visit(context.new_page(), shipped.url + path, is_read=True)
        assert visit.shift <= MOST_SHIFT, (size, visit.shifted)


def test_a_part_asked_for_in_sight_is_seen_to_move_what_is_below(visitor, shipped):
    """However long it is waited for at each step."""
    page = visitor(360, 780).new_page()
    body = """<body><main><p style="height: 1300px">First</p><p class="late">Second</p><p style="height: 900px">Third</p></main>
      <script>const late = document.querySelector(".late");
        new IntersectionObserver(([entry], observer) => {
          if (!entry.isIntersecting) return;
          observer.disconnect();
          late.classList.add("htmx-request");
          setTimeout(() => { late.style.height = "300px"; late.classList.remove("htmx-request"); }, 700);
        }).observe(late);</script>"""
    page.route("**/late", lambda route: route.fulfill(body=body, content_type="text/html"))
    visit = measure_visit(page, shipped.url + "/late", is_read=True)
    assert visit.shift > MOST_SHIFT
    assert any("Third" in what for what in visit.shifted)


def test_a_shift_is_seen(visitor, shipped):
    page = visitor(360, 780).new_page()
    late = "<body><main><p>First</p><p>Second</p></main><script>setTimeout(() => document.querySelector('p').style.height = '300px', 300)</script>"
    page.route("**/late", lambda route: route.fulfill(body=late, content_type="text/html"))
    visit = measure_visit(page, shipped.url + "/late", is_read=True)
    assert visit.shift > MOST_SHIFT
    assert any("Second" in what for what in visit.shifted)

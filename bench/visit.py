"""`python -m bench.visit [--database FILE] [--path /x/]`: what a visit of a page costs, by the browser's own measure.

Bytes over the wire with their heads, the largest contentful paint and the sum of layout shifts: of a first visit
(cold), of another with the cache it left (warm), and of one that reads to the end (read). The site runs as deployed:
files named by content and compressed, over HTTP, which is to say with gzip; browsers take Brotli over HTTPS only. The
first visit of a page is the first of its process, too. Tests hold bytes and shifts (`tests/browser/test_weight.py`);
times are printed for people.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.weight import Visit, measure_visit
from tests.live import Site
from tests.servers import chromium

TWO = "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40"
PATHS = (
    "/",
    "/accelerators/",
    "/accelerators/nvidia-h100-sxm5-80gb/",
    TWO,
    f"{TWO}&a=nvidia-geforce-rtx-4090&a=amd-mi300x&a=google-tpu-v5p&a=nvidia-a100-sxm4-80gb",
)
SIZES = ((360, 780), (1440, 900))


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.visit", description=__doc__)
    parser.add_argument("--database", type=Path, help="a SQLite file of a site; else the curated catalogue alone")
    parser.add_argument("--path", action="append", default=[], help="a page; may be repeated; else five")
    options = parser.parse_args()
    executable = chromium()
    if not executable:
        sys.exit("No browser: no Chromium on PATH, and CHROMIUM is not set.")
    with _site(options.database) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, chromium_sandbox=False)
        print("width visit   bytes requests  LCP ms  shift  page")
        for path in options.path or PATHS:
            for size in SIZES:
                for kind, visit in _visits(browser, site.url + path, size):
                    figures = f"{visit.total:7,} {visit.requests:8} {visit.paint_ms:7.0f} {visit.shift:6.4f}"
                    print(f"{size[0]:5} {kind:5} {figures}  {path}", flush=True)
        browser.close()
    return 0


@contextmanager
def _site(database: Path | None) -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="accelweb-visit-") as folder:
        site = Site(Path(folder), settings="accelweb.settings")
        if database:
            shutil.copy(database, Path(folder) / "accelweb.sqlite3")
        try:
            for command in ("migrate", "load_catalogue", "load_stacks", "load_cited"):
                site.manage(command)
            site.manage("collectstatic", "--noinput", "-v", "0")
            site.start_web(workers=1)
            yield site
        finally:
            site.stop()


def _visits(browser: Browser, address: str, size: tuple[int, int]) -> Iterator[tuple[str, Visit]]:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    for kind in ("cold", "warm", "read"):
        page = context.new_page()
        yield kind, measure_visit(page, address, is_read=kind == "read")
        page.close()
    context.close()


if __name__ == "__main__":
    sys.exit(main())

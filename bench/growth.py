"""`python -m bench.growth --rows 10000 100000 1000000 [--database postgresql]`: what pages cost as results pile up.

For each number of rows: benchmark, machine, series, sheet and compare page as the site answers them (no server, no
cached page), p50 and p99 in milliseconds, queries, bytes. Each view is followed by a bare template page of as many
bytes, and the growth is that of their ratio against the smallest number: the machine may have slowed in between. A
series shows up to 500 results; the one that is measured has as many from the first size on.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests import servers
from tests.live import ROOT, Site

GOAL = 1.3


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.growth", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000], help="results stored, ascending")
    parser.add_argument("--database", choices=["postgresql", "sqlite"], action="append")
    parser.add_argument("--views", type=int, default=100, help="requests of each page")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    options = parser.parse_args()
    names = options.database or ["postgresql", "sqlite"]
    figures = {name: database(name, sorted(options.rows), options.views) for name in names}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    return 0


def database(name: str, sizes: list[int], views: int) -> dict[str, dict[str, dict[str, float]]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="accelweb-growth-")))
        url = f"sqlite:///{folder / 'accelweb.sqlite3'}"
        if name == "postgresql":
            url = servers.new_database(stack.enter_context(servers.postgres()))
        site = Site(folder, settings="accelweb.settings", database_url=url, LOG_LEVEL="ERROR")
        for command in ("migrate", "load_catalogue", "load_stacks", "load_hosts", "load_cited"):
            site.manage(command)
        site.manage("collectstatic", "--noinput", "-v", "0")
        measured = {}
        for size in sizes:
            measured[str(size)] = ask(site, size, views)
            show(name, size, measured[str(size)], measured[str(sizes[0])])
        return measured


def ask(site: Site, size: int, views: int) -> dict[str, dict[str, float]]:
    """Fill up to so many rows, then measure, in a process of the site's own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.growth_inside", str(size), str(views)],
        cwd=ROOT, env=os.environ | site.env, text=True, capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def show(name: str, size: int, pages: dict[str, dict[str, float]], smallest: dict[str, dict[str, float]]) -> None:
    print(f"\n{name}, {size:,} results (filled in {pages['fill']['seconds']:.0f} s)", flush=True)
    for page, cost in pages.items():
        if page == "fill":
            continue
        growth = cost["ratio"] / smallest[page]["ratio"]
        outcome = "ok" if growth <= GOAL else "MISSED"
        text = f"p50 {cost['p50']:7.1f} ms   p99 {cost['p99']:7.1f} ms   {cost['queries']:3.0f} queries"
        text += f"   {cost['ratio']:5.2f} of a bare page"
        print(f"  {page:<10} {text}   {cost['bytes'] / 1000:7.1f} kB   growth {growth:5.2f} (goal <= {GOAL}) {outcome}")


if __name__ == "__main__":
    sys.exit(main())

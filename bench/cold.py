"""`python -m bench.cold [--page compare] [--database postgresql] [--reports 100]`: processor time of cold pages.

What `make bench` measures by the clock, for a machine on which others work: one process, no server, every address
asked for once with an empty cache, each followed by a bare template page of as many bytes. `calls`: function calls of
a page in the middle, which do not depend on the machine at all.
"""

import argparse
import cProfile
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import django

from tests import servers
from tests.live import ROOT, Site

GOAL = 2.0
BARE_TIMES = 3  # a bare page, for each page of the site


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.cold", description=__doc__)
    parser.add_argument("--page", action="append", default=[], help="this page alone; may be repeated")
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="sqlite")
    parser.add_argument("--reports", default="100", help="how many are stored")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="accelweb-cold-")))
        url = f"sqlite:///{folder / 'accelweb.sqlite3'}"
        if options.database == "postgresql":
            url = servers.new_database(stack.enter_context(servers.postgres()))
        site = Site(folder, settings="accelweb.settings", database_url=url, LOG_LEVEL="ERROR")
        for command in ("migrate", "load_catalogue", "load_stacks", "load_cited"):
            site.manage(command)
        site.manage("collectstatic", "--noinput", "-v", "0")
        for arguments in (("bench.inside", "seed", options.reports), ("bench.inside", "analyze")):
            subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, env=site.env, check=True, capture_output=True)
        inside = [sys.executable, "-m", "bench.cold", "--inside", json.dumps(options.page)]
        return subprocess.run(inside, cwd=ROOT, env=os.environ | site.env, check=False).returncode


def measure(names: list[str]) -> None:
    """Inside the site's process."""
    from bench import pages

    for name, requests in pages.pages().items():
        if not names or name in names:
            print(line(name, requests), flush=True)


def line(name: str, requests: list[dict[str, Any]]) -> str:
    from django.core.cache import cache

    from bench.inside import WARM_UP, response

    for request in requests[:WARM_UP]:
        response(request)
    ours, bare, sizes = [], [], []
    for request in requests[WARM_UP:]:
        cache.clear()
        took, answer = milliseconds(response, request)
        ours.append(took)
        sizes.append(len(answer.content))
        bare.append(bare_milliseconds(sizes[-1]))
    ratio = statistics.median(one / other for one, other in zip(ours, bare, strict=True))
    warm = statistics.median(milliseconds(response, requests[0])[0] for _ in range(len(ours))) / bare[0]
    text = f"{name:<10} {statistics.median(ours):6.1f} ms   bare {statistics.median(bare):6.1f} ms"
    text += f"   cold {ratio:5.2f}   warm {warm:5.2f}   {sizes[0] / 1000:6.1f} kB"
    return f"{text}   {calls(requests[len(requests) // 2]):7,d} calls   {'ok' if ratio <= GOAL else 'MISSED'}"


def milliseconds(work: Callable[..., Any], *arguments: object) -> tuple[float, Any]:
    """Of the processor, and what came of it."""
    started = time.process_time()
    done = work(*arguments)
    return (time.process_time() - started) * 1000, done


def bare_milliseconds(size: int) -> float:
    """What a bare template page of so many bytes takes in this process."""
    from django.template import Context, Engine

    from bench.bare.urls import rows_for

    template = Engine(dirs=["bench/bare"]).get_template("page.html")
    rows = rows_for(size)
    return statistics.median(milliseconds(template.render, Context({"rows": rows}))[0] for _ in range(BARE_TIMES))


def calls(request: dict[str, Any]) -> int:
    from django.core.cache import cache

    from bench.inside import response

    cache.clear()
    profiler = cProfile.Profile()
    profiler.runcall(response, request)
    return sum(entry.callcount for entry in profiler.getstats())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        django.setup()
        measure(json.loads(sys.argv[2]))
    else:
        sys.exit(main())

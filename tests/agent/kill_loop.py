"""Agents killed at random while they probe, measure, store and send, to a site that fails at random. Nothing may be
lost, nothing twice, no process and no folder left.

    python -m tests.agent.kill_loop --kills 1000      takes about a second of a processor for each
"""

import argparse
import gzip
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from stackviz.agent import guard_process
from tests.agent.processes import TOY_TORCH, children_of, end, is_running, start_agent, wait_for

KEY = "aw_abcdefgh_not-a-real-key-only-for-tests"
_LONGEST_S = 3.0  # of an agent's life, or of its life since it measures: it needs some seconds to end by itself
_FAILS = {"reset": 0.12, "error": 0.1, "busy": 0.06, "cut": 0.08}


class FailingSite:
    """Stores a report by its id. `stored`: the contents; `conflicts`: ids that came with two different ones.

    As the site has it: `sent_at` is of an attempt, and no part of the content.
    """

    def __init__(self, rng):
        self.stored, self.conflicts, self.answers = {}, [], Counter()
        self.fails = True
        self._rng, self._lock = rng, threading.Lock()

    def take(self, body):
        """-> (how the connection goes wrong or None, status)."""
        with self._lock:
            way = "none"
            if self.fails:
                way = self._rng.choices([*_FAILS, "none"], [*_FAILS.values(), 1 - sum(_FAILS.values())])[0]
            self.answers[way] += 1
            if way in {"reset", "error", "busy"}:
                return way, 0
            content = json.loads(body)
            content.pop("sent_at", None)
            report_id = content["id"]
            is_new = report_id not in self.stored
            if self.stored.setdefault(report_id, content) != content:
                self.conflicts.append(report_id)
            return way, 202 if is_new else 200


@contextmanager
def serving(failing):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            way, status = failing.take(body)
            answer = json.dumps({"id": json.loads(body)["id"]}).encode()
            if way == "reset":
                self.close_connection = True
                return
            self.send_response({"error": 503, "busy": 429}.get(way, status))
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer[: 5 if way == "cut" else None])

        def log_message(self, *_arguments):
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def kill_loop(folder, kills, seed=1, say=lambda _text: None):
    """-> what happened, by name; `lost`, `conflicts`, `processes` and `folders` must all be empty."""
    rng = random.Random(seed)
    failing = FailingSite(rng)
    owed, killed, ended = set(), 0, Counter()
    with serving(failing) as url:
        while killed < kills:
            agent = start(folder, url, "run", "--quick", "--device", "cpu", "--benchmark", "gemm")
            if killed % 2:  # on a busy machine most would end before they have measured anything
                until = time.monotonic() + 20
                while agent.poll() is None and time.monotonic() < until and not is_measuring(folder):
                    time.sleep(0.02)
            time.sleep(rng.uniform(0.0, _LONGEST_S))
            children = children_of(agent.pid)
            agent.kill()
            killed += agent.wait() == -9
            ended[agent.returncode] += 1
            agent.communicate()
            wait_for(lambda pids=children: not [pid for pid in pids if is_running(pid)], 20)
            owed |= owed_now(folder)
            if killed % 50 == 0:
                say(f"{killed} killed, {len(owed)} reports, {len(failing.stored)} on the site")
        failing.fails = False
        for _ in range(3):
            ended["upload", end(start(folder, url, "upload"))[0]] += 1
    wait_for(lambda: not list((folder / "tmp").iterdir()), 20)
    # What a killed agent was writing has a name of its own, and goes after a day.
    left = [path.name for path in (folder / "spool").rglob("[0-9]*.json*") if path.is_file()]
    return {
        "killed": killed,
        "owed": len(owed),
        "stored": len(failing.stored),
        "lost": sorted(owed - failing.stored.keys()),
        "conflicts": failing.conflicts,
        "processes": [pid for pid in guard_process._own_processes() if _is_of(pid, folder)],
        "folders": [path.name for path in (folder / "tmp").iterdir()],
        "left in the spool": left,
        "answers": dict(failing.answers),
        "ended": {str(how): count for how, count in ended.items()},
    }


def start(folder, url, *argv):
    return start_agent(
        *argv, "--server", url, "--yes", "--timeout", "3", "-q", folder=folder, path=[TOY_TORCH], ACCELWEB_KEY=KEY,
        ACCELWEB_SPOOL=str(folder / "spool"), TOY_TORCH='{"seconds": 0.002}',
    )  # fmt: skip


def is_measuring(folder):
    for path in (folder / "spool").glob("running/*.jsonl"):
        with suppress(FileNotFoundError):  # it has just ended
            if b'"is": "samples"' in path.read_bytes():
                return True
    return False


def owed_now(folder):
    """Ids of the reports that must arrive: in the spool, or measured in part."""
    spool = folder / "spool"
    waiting = {json.loads(path.read_bytes())["id"] for path in spool.glob("2*.json")}
    running = {path.stem for path in spool.glob("running/*.jsonl") if b'"is": "samples"' in path.read_bytes()}
    return waiting | running


def _is_of(pid, folder):
    try:
        return str(folder).encode() in Path(f"/proc/{pid}/environ").read_bytes() and is_running(pid)
    except OSError:
        return False


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        outcome = kill_loop(Path(made), chosen.kills, chosen.seed, print)
    print(json.dumps(outcome, indent=2))
    sys.exit(bool(outcome["lost"] or outcome["conflicts"] or outcome["processes"] or outcome["folders"]))

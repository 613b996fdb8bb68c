"""Posts reports to a live site as an agent does: again and again until each is accepted."""

import http.client
import json
import queue
import threading
import time
import urllib.error
import urllib.request
from typing import Any

from stackviz.records.labs.models import Card, Machine, Report, Snapshot
from stackviz.records.series.models import Result, Series
from tests.live import Site
from tests.report.format.reports import gemm_result, memory_copy_result, report_body, sha256

COUNTED = {"machines": Machine, "snapshots": Snapshot, "cards": Card, "series": Series, "results": Result}

Box = queue.SimpleQueue[bytes]


def counts(site: Site) -> dict[str, Any]:
    """What the database holds: reports by status, and how often each thing a report becomes is there."""
    statuses = dict(site.rows(f"SELECT status, COUNT(*) FROM {Report._meta.db_table} GROUP BY status"))
    selects = [f"(SELECT COUNT(*) FROM {model._meta.db_table})" for model in COUNTED.values()]
    (numbers,) = site.rows(f"SELECT {', '.join(selects)}")
    return {"status": statuses, **dict(zip(COUNTED, numbers, strict=True))}


def box_of(reports: int, machines: int = 1) -> Box:
    """Bodies of that many reports, of machines in turn, two results each."""
    box: Box = queue.SimpleQueue()
    for number in range(reports):
        name = f"node-{number % machines}"
        results = [gemm_result(), memory_copy_result()]
        box.put(json.dumps(report_body(machine={"identity": sha256(name), "name": name}, results=results)).encode())
    return box


class Sender(threading.Thread):
    """Posts what is in the box until it is empty; `pause_s` after each.

    `answers`: every status, 0 for none; `took_s`: of each report, from the first attempt until it was accepted.
    """

    def __init__(self, site: Site, key: str, box: Box, pause_s: float = 0.0) -> None:
        super().__init__(daemon=True)
        self.site, self.key, self.box, self.pause_s = site, key, box, pause_s
        self.answers: list[int] = []
        self.took_s: list[float] = []

    def run(self) -> None:
        while True:
            try:
                body = self.box.get_nowait()
            except queue.Empty:
                return
            started = time.monotonic()
            while not self.is_delivered(body):
                time.sleep(0.1)
            self.took_s.append(time.monotonic() - started)
            time.sleep(self.pause_s)

    def is_delivered(self, body: bytes) -> bool:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.site.url}/api/v1/reports/", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                self.answers.append(answer.status)
                return True
        except urllib.error.HTTPError as error:
            self.answers.append(error.code)
        except (OSError, http.client.HTTPException):  # the second: killed amid its answer
            self.answers.append(0)
        return False

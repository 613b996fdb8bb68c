"""A site of web, worker and beat: what it answers while they come and go, what it counts, what its logs say."""

import json
import re
import urllib.request

import yaml

from tests.live import ROOT
from tests.report.format.reports import report_body


def checks(site) -> tuple[int, dict[str, str]]:
    status, text = site.get("/readyz")
    return status, json.loads(text)["checks"]


def send(site, key: str, request_id: str) -> dict:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", "X-Request-ID": request_id}
    request = urllib.request.Request(f"{site.url}/api/v1/reports/", json.dumps(report_body()).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.headers["X-Request-ID"] == request_id
        return json.load(answer)


def figures(site) -> dict[str, float]:
    status, text = site.get("/metrics")
    assert status == 200, text
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _space, value in lines}


def test_site_is_ready_when_all_of_it_runs(new_site, redis_server):
    site = new_site(redis_url=redis_server.url, METRICS="1", LOG_FORMAT="json", REQUEUE_EVERY_S="1")
    key = site.new_key()
    site.start_web()
    status, found = checks(site)
    assert status == 503
    assert found["worker"] == "no worker was seen in the last day; start one"
    assert (found["database"], found["broker"]) == ("ok", "ok")

    site.start_worker(beat=True)
    site.wait_until(lambda: checks(site)[0] == 200, "the site is ready")
    stored = send(site, key, "from-the-proxy-1")
    path = "/" + stored["status_url"].split("/", 3)[3]
    site.wait_until(lambda: json.loads(site.get(path)[1])["status"] == "read", "the report is read")

    # The worker counts a report after it is read, and its task when that ends.
    task = 'accelweb_task_seconds_count{state="SUCCESS",task="stackviz.intake.ingest.tasks.read_report"}'
    site.wait_until(lambda: figures(site).get(task, 0) >= 1, "the task is counted")
    counted = figures(site)
    assert counted["accelweb_reports_accepted_total"] == 1
    assert counted['accelweb_reports_interpreted_total{status="read"}'] == 1
    assert counted['accelweb_request_seconds_count{method="POST",route="api:reports",status="202"}'] == 1
    assert counted["accelweb_reports_waiting"] == 0
    # Each of the two web processes looks once in five seconds.
    site.wait_until(lambda: figures(site)['accelweb_ready{check="worker"}'] == 1, "the worker is seen")
    assert not any("/" in name for name in counted), "an address stands in a label"

    site.wait_until(lambda: "from-the-proxy-1" in site.log("worker"), "the worker's log names the request")
    for line in site.log("worker").splitlines():
        if "from-the-proxy-1" in line:
            assert json.loads(line)["request"] == "from-the-proxy-1"
    assert key not in site.log("web") + site.log("worker")

    site.kill("worker")  # kombu ends some workers whose Redis goes; whoever supervises them starts them again
    redis_server.kill()

    def broker_is_missed() -> bool:
        status, by_name = checks(site)
        return status == 503 and by_name["broker"].startswith("the broker does not answer")

    site.wait_until(broker_is_missed, "the broker is missed")


def test_alerts_and_documentation_name_figures_there_are(new_site):
    site = new_site(METRICS="1")
    site.start_web()
    text = (ROOT / "docs/alerts.yml").read_text()
    rules = yaml.safe_load(text)["groups"][0]["rules"]
    page = (ROOT / "docs/operations.md").read_text()
    for rule in rules:
        assert f"| `{rule['alert']}` |" in page
    code = "".join(
        (ROOT / name).read_text() for name in ("stackviz/web/metrics.py", "stackviz/site/monitoring/figures.py")
    )
    defined = {f"accelweb_{name}" for name in re.findall(r'(?:counter|_gauge)\(\s*"(\w+)"', code)}
    defined |= set(re.findall(r'"(accelweb_\w+_seconds)"', code))
    used = set(re.findall(r"accelweb_[a-z_]+", text + page))
    plain = {re.sub(r"_(total|count|bucket|sum)$", "", name) for name in used}
    assert plain - {"accelweb_name"} == defined

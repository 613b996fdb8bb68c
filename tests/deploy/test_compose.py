"""docker-compose.yml without a container engine: each service's own command runs natively, against real PostgreSQL and
real Redis, and a report goes through all of it."""

import json
import re
import shlex
import subprocess
import urllib.request
from pathlib import Path

import pytest
import yaml

from tests import servers
from tests.deploy.compose import Unset, healthcheck, interpolate, native, path_with_venv, services
from tests.live import ROOT, Site, free_port
from tests.report.format.reports import report_body

CHOSEN = {"SECRET_KEY": "for-one-test-" + "k" * 50, "ALLOWED_HOSTS": "127.0.0.1", "POSTGRES_PASSWORD": "opensesame"}
PROGRAMS = ("worker", "beat", "web")


@pytest.fixture
def deployed(tmp_path: Path, postgres_url: str):
    """The services of the compose file, running: a `Site` whose `children` are they."""
    redis_port, beat_file = free_port(), str(tmp_path / "beat-schedule")
    site = Site(tmp_path, settings="accelweb.settings")
    site.places = {"0.0.0.0:8000": f"127.0.0.1:{site.port}", "127.0.0.1:8000": f"127.0.0.1:{site.port}", "/tmp/celerybeat-schedule": beat_file}  # fmt: skip
    site.services = services(CHOSEN)
    site.env = {
        **{name: str(value) for name, value in site.services["web"]["environment"].items()},
        "DATABASE_URL": postgres_url,
        "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
        "VAR_DIR": str(tmp_path),
        "PATH": path_with_venv(),
        "HOME": str(tmp_path),
    }
    try:
        # In the image this is a build step; without compression here, which alone takes longer than the rest.
        site.manage("collectstatic", "--noinput", "-v", "0")
        run_to_its_end(site, "migrate")
        redis = [servers.redis_binary(), *site.services["redis"]["command"][1:], "--port", str(redis_port)]
        launch(site, "redis", [*redis, "--bind", "127.0.0.1", "--dir", str(tmp_path)])
        for name in PROGRAMS:
            launch(site, name, native(site.services[name]["command"], site.places))
        site.wait_until(site.answers, "web answers")
        site.wait_until(lambda: "ready." in site.log("worker"), "the worker is ready")
        yield site
    finally:
        site.stop()


def launch(site: Site, name: str, command: list[str]) -> None:
    with (site.folder / f"{name}.log").open("wb") as log:
        site.children[name] = subprocess.Popen(
            command, cwd=ROOT, env=site.env, stdout=log, stderr=log, start_new_session=True
        )


def run_to_its_end(site: Site, name: str) -> None:
    command = native(site.services[name]["command"], site.places)
    done = subprocess.run(command, cwd=ROOT, env=site.env, text=True, capture_output=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def upload(site: Site, key: str, body: dict) -> dict:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{site.url}/api/v1/reports/", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 202
        return json.load(answer)


def test_report_passes_every_compose_service(deployed):
    key = deployed.new_key()
    answer = upload(deployed, key, report_body())
    path = "/" + answer["status_url"].split("/", 3)[3] if "://" in answer["status_url"] else answer["status_url"]
    deployed.wait_until(lambda: json.loads(deployed.get(path)[1])["status"] == "read", "the report is read")
    assert deployed.get("/machines/lab/")[0] == 200
    assert deployed.get("/accelerators/")[0] == 200
    for name in PROGRAMS:
        check = native(healthcheck(deployed.services[name]), deployed.places)
        done = subprocess.run(
            check, cwd=ROOT, env=deployed.env, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, f"{name} is not healthy: {shlex.join(check)}\n{done.stdout}{done.stderr}"
    deployed.kill("web")
    check = native(healthcheck(deployed.services["web"]), deployed.places)
    assert subprocess.run(check, env=deployed.env, capture_output=True, timeout=60, check=False).returncode != 0


def test_nothing_starts_without_its_secrets():
    for missing in CHOSEN:
        with pytest.raises(Unset, match=missing):
            services({name: value for name, value in CHOSEN.items() if name != missing})


def test_the_file_holds_no_secret():
    text = (ROOT / "docker-compose.yml").read_text()
    assert re.findall(r"(?i)^\s*\w*(?:password|secret|key)\w*: (?!\$\{)(.+)$", text, re.MULTILINE) == []
    assert re.findall(r"://\w+:(?!\$\{)[^@/\s]+@", text) == []


def test_services_have_health_checks_and_order():
    found = services(CHOSEN)
    assert set(found) == {"front", "postgres", "redis", "migrate", *PROGRAMS}
    for name in ("front", "postgres", "redis", *PROGRAMS):
        assert healthcheck(found[name])
    for name in PROGRAMS:
        needs = {on: how["condition"] for on, how in found[name]["depends_on"].items()}
        assert needs == {"migrate": "service_completed_successfully", "redis": "service_healthy"}
    assert found["postgres"]["image"] == "postgres:16"
    assert found["redis"]["image"] == "redis:7"
    assert found["front"]["depends_on"] == {"web": {"condition": "service_healthy"}}
    volumes = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["volumes"]
    assert volumes.keys() == {"front", "postgres", "redis", "data", "metrics", "backups"}


def test_the_addresses_inside_name_services_of_the_file():
    found = services(CHOSEN)
    for name in PROGRAMS:
        for variable in ("DATABASE_URL", "REDIS_URL"):
            host = re.search(r"(?:@|//)([a-z]+):\d+/", found[name]["environment"][variable])[1]
            assert host in found


def test_health_checks_ask_under_a_name_of_the_site():
    """A site under its public name alone refused its own health check."""
    found = services({**CHOSEN, "ALLOWED_HOSTS": "accel.example"})
    for name in ("front", "web"):
        assert "http://127.0.0.1:80" in " ".join(healthcheck(found[name]))
    assert found["web"]["environment"]["ALLOWED_HOSTS"] == "accel.example,127.0.0.1"


@pytest.mark.parametrize(
    ("text", "expected"), [("$$(hostname)", "$(hostname)"), ("${A:-3}", "3"), ("${B:-3}", "b"), ("${A}", "")]
)
def test_compose_text_is_filled_in_as_compose_does(text, expected):
    assert interpolate(text, {"B": "b"}) == expected

"""What the image and its services may not do, read from Dockerfile and compose file: no engine is needed to see it."""

import json
import re

import pytest
import yaml

from tests.deploy.compose import services
from tests.deploy.test_compose import CHOSEN
from tests.live import ROOT

SITE = ("migrate", "web", "worker", "beat")
FOUND = services(CHOSEN)
EACH = pytest.mark.parametrize("name", sorted(FOUND))
# Where Python programs of the site write; everything else of the image is read-only.
WRITTEN = {"web": {"/tmp", "/app/var/data", "/app/var/metrics", "/app/var/pictures"}, "worker": {"/tmp", "/app/var/data", "/app/var/metrics"}, "beat": {"/tmp"}, "migrate": {"/tmp", "/app/var/backups"}}  # fmt: skip


def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile, as (INSTRUCTION, its words); continued lines joined, comments left out."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in whole.splitlines() if line.strip()]


def words_of(name: str) -> list[str]:
    return [words for instruction, words in instructions() if instruction == name]


def mounted(service: dict, kind: str) -> set[str]:
    """Folders of a service that are a `tmpfs` or a named volume."""
    if kind == "tmpfs":
        return {entry.partition(":")[0] for entry in service.get("tmpfs", [])}
    return {entry.split(":")[1] for entry in service.get("volumes", []) if not entry.startswith(".")}


# --- the services ---


@EACH
def test_service_has_no_rights_it_does_not_need(name):
    service = FOUND[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "devices", "pid", "ipc", "network_mode", "userns_mode"} & set(service)
    assert "docker.sock" not in str(service)


@EACH
def test_service_is_not_root(name):
    user = words_of("USER")[-1] if name in SITE else FOUND[name]["user"]
    assert user not in ("", "root", "0")
    assert not user.startswith("0:")


@EACH
def test_service_cannot_take_the_machine(name):
    service = FOUND[name]
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
    assert service["pids_limit"] == 256
    assert service["logging"]["options"]["max-size"]
    for entry in service.get("tmpfs", []):
        assert "size=" in entry or entry.startswith("/var/run/postgresql")


@pytest.mark.parametrize("name", SITE)
def test_what_the_site_writes_can_be_written(name):
    service = FOUND[name]
    assert mounted(service, "tmpfs") | mounted(service, "volumes") == WRITTEN[name]


def test_files_of_the_host_are_mounted_read_only():
    binds = [entry for service in FOUND.values() for entry in service.get("volumes", []) if entry.startswith(".")]
    assert binds
    for entry in binds:
        source, _target, mode = entry.split(":")
        assert mode == "ro"
        assert (ROOT / source).exists()


def test_only_the_front_is_reached_from_outside():
    assert [name for name, service in FOUND.items() if "ports" in service] == ["front"]
    networks = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["networks"]
    assert networks["stores"] == {"internal": True}
    for name in ("postgres", "redis"):
        assert FOUND[name]["networks"] == ["stores"]
    assert FOUND["front"]["networks"] == ["site"]


def test_migrations_run_once_before_the_others():
    assert FOUND["migrate"]["restart"] == "no"
    assert [name for name, service in FOUND.items() if "manage.py migrate" in str(service.get("command"))] == [
        "migrate"
    ]


def test_web_has_the_time_to_finish_requests_when_it_stops():
    """gunicorn's graceful timeout is 30 s: compose would kill after ten."""
    assert FOUND["web"]["stop_grace_period"] == "40s"


# --- the image ---


def test_base_can_be_pinned_by_digest():
    assert instructions()[0] == ("ARG", "PYTHON_IMAGE=python:3.12-slim")
    assert words_of("FROM") == ["${PYTHON_IMAGE}"]
    assert FOUND["web"]["build"]["args"] == {"PYTHON_IMAGE": "python:3.12-slim", "POSTGRES_MAJOR": "16"}


def test_no_dependency_runs_code_while_it_is_installed():
    [install] = [words for words in words_of("RUN") if "pip install" in words]
    assert "--only-binary :all:" in install


def test_image_has_the_clients_of_the_servers_version():
    assert f"postgres:{FOUND['web']['build']['args']['POSTGRES_MAJOR']}" == FOUND["postgres"]["image"]
    assert any("postgresql-client-${POSTGRES_MAJOR}" in words for words in words_of("RUN"))


def test_image_has_no_shell_tricks():
    text = " ".join(words for _instruction, words in instructions())
    assert words_of("ADD") == []
    assert not re.search(r"curl|wget|sudo|chmod|:latest", text)
    assert not re.search(r"(?i)(password|token|secret\w*)=(?!only-while-building)\S", text)
    assert words_of("WORKDIR") == ["/app"]
    assert json.loads(words_of("CMD")[0])[0] == "gunicorn"


def test_image_runs_unprivileged():
    order = [instruction for instruction, _words in instructions()]
    assert words_of("USER") == ["10001:10001"]
    assert order.index("USER") > max(number for number, name in enumerate(order) if name in ("RUN", "COPY"))
    copied = [name for words in words_of("COPY") for name in words.split()[:-1]]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert kept == set(copied)
    packages = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert packages - kept <= {"tests", "bench", "tools"}

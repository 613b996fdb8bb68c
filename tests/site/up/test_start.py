"""The parts `make run` is made of, each alone: lock, folder, secrets, progress lines, addresses, the file broker."""

import io
import os
import socket
import subprocess
import sys

import pytest

from stackviz.site.up import start, steps, var_folder, web
from stackviz.site.up.children import ended_with_us
from stackviz.site.up.start import StartProgress
from stackviz.site.up.this_machine import ListedMachine
from stackviz.site.up.var_folder import AlreadyRunning, CannotStart
from tests.live import ROOT

HOLDER = """
import sys, time
from pathlib import Path
from stackviz.site.up import var_folder
with var_folder.held(Path(sys.argv[1])) as mine:
    mine.note("http://127.0.0.1:8000")
    print("held", flush=True)
    time.sleep(60)
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_second_start_names_the_running_site(tmp_path):
    path = tmp_path / "up.lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(AlreadyRunning, match=f"process {other.pid}, at http://127.0.0.1:8000"),
            var_folder.held(path),
        ):
            pass
        other.kill()
    with var_folder.held(path):
        assert str(other.pid) not in path.read_text()


def test_broken_lock_or_var_is_mended_or_named(tmp_path):
    (tmp_path / "up.lock").write_text('{"pid": 12')
    with var_folder.held(tmp_path / "up.lock"):
        pass
    (tmp_path / "var").write_text("not a folder")
    with pytest.raises(CannotStart, match="VAR_DIR"):
        var_folder.open_folder(tmp_path / "var")


@pytest.mark.parametrize("left", [None, "", "too-short"])
def test_broken_secret_is_recreated_for_owner(tmp_path, left):
    path = tmp_path / "secret_key"
    if left is not None:
        path.write_text(left)
    text, is_new = var_folder.secret_key(path)
    assert is_new
    assert len(text) > 50
    assert path.stat().st_mode & 0o777 == 0o600
    assert var_folder.secret_key(path) == (text, False)


def test_a_step_is_one_line_that_says_how_it_ended(monkeypatch):
    plain, terminal, failing = io.StringIO(), Terminal(), io.StringIO()
    with StartProgress(plain).step("database") as step:
        step.outcome = "up to date"
    assert plain.getvalue().startswith("  database             up to date (0.0 s)\n")
    monkeypatch.setenv("TERM", "xterm")
    with StartProgress(terminal).step("database"):
        assert terminal.getvalue() == "  database             ..."  # at once
    assert terminal.getvalue().endswith("\r\033[K  database             done (0.0 s)\n")
    with pytest.raises(CannotStart), StartProgress(failing).step("database"):
        raise CannotStart("no")
    assert "failed" in failing.getvalue()


def test_a_taken_port_is_passed_over_and_no_other_host_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with web.listen("127.0.0.1", port) as listener:
            assert port < listener.getsockname()[1] < port + web.PORTS_TRIED
    with pytest.raises(CannotStart, match=r"192\.0\.2\.7"):
        web.listen("192.0.2.7", 8000)
    assert socket.gethostname() in web.allowed_hosts("0.0.0.0").split(",")
    assert web.url_for_others("http://127.0.0.1:8000").endswith(":8000")
    assert [web.is_loopback(host) for host in ("0.0.0.0", "127.0.0.2")] == [False, True]


def test_file_broker_starts_empty_after_a_crash(tmp_path):
    (tmp_path / "broker" / "control").mkdir(parents=True)
    (tmp_path / "broker" / "control" / "celery.exchange").write_text("")
    assert web.prepare_broker(tmp_path, "") == "files"
    assert sorted(path.name for path in (tmp_path / "broker").rglob("*")) == ["control", "queue"]
    with pytest.raises(CannotStart, match="REDIS_URL does not answer"):
        web.prepare_broker(tmp_path, "redis://127.0.0.1:1/0")


def test_children_are_stopped_at_once(tmp_path):
    """Each ends when it sees that the other was told to end as well."""
    waits_for = """
import pathlib, signal, sys, time
folder, name, awaited = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
def end(*_signal):
    (folder / f"{name}.told").touch()
    while not (folder / f"{awaited}.told").exists():
        time.sleep(0.01)
    (folder / f"{name}.ended").touch()
    sys.exit()
signal.signal(signal.SIGTERM, end)
(folder / f"{name}.ready").touch()
time.sleep(600)
"""
    with ended_with_us(ROOT, tmp_path / "log", print) as children:
        for name, awaited in (("web", "worker"), ("worker", "web")):
            children.start(name, [sys.executable, "-c", waits_for, str(tmp_path), name, awaited], os.environ)
        children.wait_until(lambda: len(list(tmp_path.glob("*.ready"))) == 2, "two children", 60)
    assert len(list(tmp_path.glob("*.ended"))) == 2


@pytest.mark.parametrize(
    ("host", "environment", "needed"),
    [
        ("127.0.0.1", None, 1),
        ("localhost", None, 1),
        ("0.0.0.0", None, 2),
        ("192.0.2.7", None, 2),
        ("127.0.0.1", "2", 2),
    ],
)
def test_one_person_is_enough_on_a_site_of_this_machine_alone(monkeypatch, settings, host, environment, needed):
    settings.UP_HOST, settings.CURATION_APPROVALS = host, 2
    monkeypatch.delenv("CURATION_APPROVALS", raising=False)
    if environment:
        monkeypatch.setenv("CURATION_APPROVALS", environment)
    assert start.approvals_needed() == needed


@pytest.mark.parametrize(
    ("host", "names", "https", "is_alone"),
    [
        ("127.0.0.1", ["localhost", "127.0.0.1", "[::1]"], False, True),
        ("::1", ["localhost"], False, True),
        ("0.0.0.0", ["localhost"], False, False),
        ("192.0.2.7", ["localhost"], False, False),
        ("127.0.0.1", ["localhost", "site.example"], False, False),
        ("127.0.0.1", ["*"], False, False),
        ("127.0.0.1", ["localhost"], True, False),
    ],
)
def test_local_lab_is_public_only_on_an_unreachable_site(settings, host, names, https, is_alone):
    settings.UP_HOST, settings.ALLOWED_HOSTS, settings.HTTPS = host, names, https
    assert start.is_for_this_machine_alone() is is_alone


@pytest.mark.parametrize(
    ("host", "is_public", "words"),
    [("127.0.0.1", True, []), ("0.0.0.0", True, ["makes the lab private"]), ("0.0.0.0", False, ["its lab is private"])],
)
def test_a_start_says_who_sees_this_machine(db, settings, host, is_public, words):
    settings.UP_HOST, settings.ALLOWED_HOSTS = host, ["localhost"]
    out = io.StringIO()
    machine = ListedMachine("http://127.0.0.1:8000/machines/local/x/", "x", has_results=True, is_public=is_public)
    steps.print_machine(StartProgress(out), "http://127.0.0.1:8000", machine)
    said = [text for text in ("makes the lab private", "its lab is private") if text in out.getvalue()]
    assert said == words


@pytest.mark.parametrize(
    ("host", "names", "site", "https", "address"),
    [
        ("127.0.0.1", None, "", False, "http://127.0.0.1:8003"),
        ("0.0.0.0", None, "", False, "http://192.0.2.7:8003"),
        ("127.0.0.1", "site.example", "", False, ""),
        ("127.0.0.1", None, "", True, ""),
        ("0.0.0.0", "site.example", "https://site.example", True, "https://site.example"),
    ],
)
def test_mails_lead_to_the_printed_address(monkeypatch, settings, host, names, site, https, address):
    settings.UP_HOST, settings.SITE_URL, settings.HTTPS = host, site, https
    monkeypatch.setattr(web, "_address_towards_the_network", lambda: "192.0.2.7")
    monkeypatch.delenv("ALLOWED_HOSTS", raising=False)
    if names:
        monkeypatch.setenv("ALLOWED_HOSTS", names)
    assert start.address_for_mails("http://127.0.0.1:8003") == address

"""The front door: `make` finds a Python, and the environment is mended rather than trusted."""

import subprocess

import pytest

from tests.live import ROOT
from tools import install


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=ROOT, text=True, capture_output=True, timeout=60, check=False)


def test_a_python_that_will_not_do_is_named_with_the_way_out():
    done = make("run", "PYTHON=/no/such/python")
    assert done.returncode != 0
    for words in ("needs Python 3.11 or newer", "tried: /no/such/python", "make run PYTHON="):
        assert words in done.stderr
    assert "make run " in make().stdout


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with requirement files and no environment."""
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-parquet.txt", "requirements-lab.txt"):
        (tmp_path / name).write_text("six==1.17.0\n")
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(install, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(install, "PYTHON", tmp_path / ".venv/bin/python")
    return tmp_path


def test_a_half_made_environment_is_not_whole(project):
    assert not install.is_whole()
    (project / ".venv/bin").mkdir(parents=True)
    (project / ".venv/bin/python").write_text("#!/bin/sh\nexit 1\n")
    (project / ".venv/bin/python").chmod(0o755)
    assert not install.is_whole()


def test_only_a_changed_group_is_installed_again(project, monkeypatch):
    (project / ".venv").mkdir()
    (project / ".venv/installed-dev").write_text(install.wanted("dev"))
    monkeypatch.setattr(install.subprocess, "Popen", lambda *_args, **_kwargs: pytest.fail("it was installed again"))
    install.install("dev")
    for number, changed in enumerate(("requirements-dev.txt", "requirements.txt", "requirements-parquet.txt")):
        before = install.wanted("dev")
        (project / changed).write_text(f"six==1.18.{number}\n")
        assert install.wanted("dev") != before, changed


def write_program(path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


def test_pip_failure_shows_last_lines(project, capsys):
    write_program(install.PYTHON, "echo 'Collecting six==1.17.0'", "echo 'ERROR: no room on the disk'", "exit 1")
    with pytest.raises(SystemExit, match=r"could not install requirements.txt"):
        install.install("server")
    assert "no room on the disk" in capsys.readouterr().err
    assert not (project / ".venv/installed-server").exists()


def test_pip_installs_what_uv_cannot(project, capsys):
    write_program(project / ".venv/bin/uv", "exit 1")
    write_program(install.PYTHON, f"echo $@ >> {project}/asked")
    install.install("server")
    assert "pip tries" in capsys.readouterr().out
    assert "-m pip install" in (project / "asked").read_text()
    assert (project / ".venv/installed-server").exists()


def test_uv_looks_where_pip_does(project, monkeypatch):
    """The environment before pip's files; lists are separated as uv separates them."""
    lines = (
        ":env:.find-links='/wheels /more'",
        "global.find-links='/elsewhere'",
        r"global.extra-index-url='https://one.example/simple\nhttps://two.example/simple'",
        "install.no-binary=':all:'",
        "user.cert='/ca.pem'",
    )
    write_program(install.PYTHON, "cat <<'END'", *lines, "END")
    assert install.like_pip() == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/wheels,/more",
        "UV_INDEX": "https://one.example/simple https://two.example/simple",
        "SSL_CERT_FILE": "/ca.pem",
    }

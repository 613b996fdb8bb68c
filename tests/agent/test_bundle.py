"""The agent as one file."""

import io
import os
import subprocess
import sys
import zipfile

import pytest

from stackviz.agent.bundle import build_zipapp
from stackviz.wire import parse_report


@pytest.fixture(scope="module")
def bundle():
    return build_zipapp()


def test_the_same_sources_give_the_same_bytes(bundle):
    assert build_zipapp() == bundle


def test_it_holds_the_agent_and_what_it_needs_and_no_more(bundle):
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
    rooms = {name.split("/")[1] for name in names if name.count("/") >= 2}
    assert rooms == {"agent", "dumps", "facts", "importers", "measuring", "rules", "symptoms", "wire"}
    assert {
        "__main__.py",
        "stackviz/__init__.py",
        "stackviz/discovery.py",
        "stackviz/private.py",
        "stackviz/units.py",
    } <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_it_can_be_started_as_a_program(bundle):
    assert bundle.startswith(b"#!/usr/bin/env python3\n")


def test_it_reads_this_machine_without_site_packages(bundle, tmp_path):
    path = tmp_path / "accelweb-agent.pyz"
    path.write_bytes(bundle)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(path), "probe", "--json", "-q"],
        capture_output=True,
        timeout=120,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [probe.state for probe in parse_report(done.stdout).probes] == ["ok"] * 7


def test_an_older_python_is_told_which_one_is_needed(bundle):
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        start = archive.read("__main__.py").decode()
    check, _, rest = start.partition("from stackviz")
    assert "needs Python 3.10" in check
    assert "import stackviz" not in check
    assert rest

"""The single file on other releases of Python that are found here, and what keeps it from needing a newer one."""

import ast
import io
import json
import os
import re
import shutil
import subprocess
import zipfile
from functools import cache
from pathlib import Path

import pytest

from stackviz.agent.bundle import build_zipapp
from stackviz.base import backports
from stackviz.report.format import parse_report
from tests.agent.processes import TOY_TORCH

_SINCE_3_11 = {
    "datetime": {"UTC"},
    "enum": {"StrEnum", "ReprEnum", "verify", "member", "nonmember"},
    "typing": {"Self", "Never", "LiteralString", "NotRequired", "Required", "assert_never", "assert_type", "override"},
    "contextlib": {"chdir"},
    "asyncio": {"TaskGroup", "timeout"},
    "tomllib": {"*"},
}


@cache
def python(version):
    """A Python of this release: on the path, or installed beside others. It is skipped, and said, where there is none."""
    places = [shutil.which(f"python{version}"), *sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))]
    for place in filter(None, places):
        told = subprocess.run(
            [place, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, check=False
        )
        if told.stdout.decode().strip() == str(tuple(map(int, version.split(".")))):
            return str(place)
    return pytest.skip(f"no Python {version} is installed here")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    path = tmp_path_factory.mktemp("bundle") / "accelweb-agent.pyz"
    path.write_bytes(build_zipapp())
    return path


def run(version, bundle, folder, *argv, **environ):
    return subprocess.run(
        [python(version), str(bundle), *argv],
        capture_output=True, timeout=120, cwd=folder, check=False, input=b"",
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "ACCELWEB_LOCK_FOLDER": str(folder), **environ},
    )  # fmt: skip


@pytest.mark.parametrize("version", ["3.10", "3.13"])
def test_it_reads_measures_and_diagnoses(version, bundle, tmp_path):
    done = run(
        version, bundle, tmp_path, "bench", "--quick", "--device", "cpu", "--benchmark", "gemm", "--json", "-q",
        PYTHONPATH=str(TOY_TORCH),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    report = parse_report(done.stdout)
    assert report.facts["python.version"].startswith(f"{version}.")
    assert {result.state for result in report.results} == {"ok"}
    assert {probe.state for probe in report.probes if probe.probe != "torch"} == {"ok"}
    (tmp_path / "dump.txt").write_text("GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\nCUDA error: out of memory\n")
    answer = json.loads(run(version, bundle, tmp_path, "diagnose", "--json", "dump.txt").stdout)
    assert "NVIDIA H100 80GB HBM3" in json.dumps(answer)


@pytest.mark.parametrize("version", ["3.9", "2.7"])
def test_an_older_one_is_told_what_to_take(version, bundle, tmp_path):
    done = run(version, bundle, tmp_path, "probe")
    assert done.returncode == 1
    (line,) = done.stderr.decode().splitlines()
    assert re.match(r"accelweb-agent needs Python 3\.10 or newer; this is \d\.\d+\.\d+\. Run it with \S+", line)
    assert str(bundle) in line


def shipped():
    with zipfile.ZipFile(io.BytesIO(build_zipapp())) as archive:
        for name in archive.namelist():
            if name.endswith(".py") and name != "stackviz/base/backports.py":
                yield name, archive.read(name).decode()


def test_nothing_that_came_with_3_11_is_in_the_file():
    """Where no Python 3.10 is at hand: what the runs above would trip over."""
    faults = []
    for name, source in shipped():
        for node in ast.walk(ast.parse(source, feature_version=(3, 10))):
            if isinstance(node, ast.ImportFrom) and node.module in _SINCE_3_11:
                newer = {alias.name for alias in node.names} & _SINCE_3_11[node.module]
                faults += [f"{name}: {node.module}.{newest}" for newest in newer]
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                is_possessive = re.search(r"\\[sdwSDW][*+?]\+|\}\+|\]\+\+|\(\?>", node.value)
                faults += [f"{name}: {node.value[:40]}"] if is_possessive or node.value == "-P" else []
            if isinstance(node, ast.Attribute) and node.attr == "fromisoformat":
                is_date = isinstance(node.value, ast.Name) and node.value.id == "date"
                faults += [] if is_date else [f"{name}: fromisoformat, see backports.time_of_iso"]
    assert faults == []


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-11-20T12:59:00Z", "2026-11-20T12:59:00+00:00"),
        ("2026-11-20T12:59:00.5+02:00", "2026-11-20T12:59:00.500000+02:00"),
        ("2026-11-20T12:59:00.123456Z", "2026-11-20T12:59:00.123456+00:00"),
    ],
)
def test_times_are_read_as_newer_releases_read_them(text, written):
    assert backports.time_of_iso(text).isoformat() == written

"""The agent as one file."""

import io
import os
import subprocess
import sys
import zipfile

import pytest

from stackviz.agent.bundle import build_zipapp
from stackviz.report.format import Report, parse_report
from tests.agent.nvml_library import library_folder, needs_library


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
    assert rooms == {"agent", "base", "report"}
    assert {
        "__main__.py",
        "stackviz/__init__.py",
        "stackviz/base/discovery.py",
        "stackviz/base/private.py",
        "stackviz/base/units.py",
    } <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_it_can_be_started_as_a_program(bundle):
    assert bundle.startswith(b"#!/usr/bin/env python3\n")


def report_of(bundle: bytes, folder, **variables: str) -> Report:
    """What the file reports of this machine, run by a Python without packages."""
    path = folder / "accelweb-agent.pyz"
    path.write_bytes(bundle)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(path), "probe", "--json", "-q"],
        capture_output=True,
        timeout=120,
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return parse_report(done.stdout)


def test_it_reads_this_machine_without_site_packages(bundle, tmp_path):
    assert [probe.state for probe in report_of(bundle, tmp_path).probes] == ["ok"] * 7


@needs_library
def test_it_reads_cards_by_nvml_without_site_packages(bundle, tmp_path):
    report = report_of(bundle, tmp_path, LD_LIBRARY_PATH=library_folder(), FAKE_NVML="h100")
    assert (report.facts["nvidia.card_count"], report.facts["nvidia.cards_lost"]) == (8, 1)
    assert {card.index: card.facts["nvlink_links"] for card in report.cards}[7] == 17  # nvidia-smi -q tells no links


def test_nvidias_binding_comes_with_its_licence(bundle):
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        binding = archive.read("pynvml.py").decode()
    assert "NVIDIA Corporation.  All rights reserved." in binding
    assert "Redistributions of source code must retain the above copyright notice" in binding


def test_an_older_python_is_told_which_one_is_needed(bundle):
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        start = archive.read("__main__.py").decode()
    check, _, rest = start.partition("from stackviz")
    assert "needs Python 3.10" in check
    assert "import stackviz" not in check
    assert rest


def test_the_file_prints_a_service_that_starts_it_again(bundle, tmp_path):
    path = tmp_path / "accelweb-agent.pyz"
    path.write_bytes(bundle)
    options = ["--every", "6h", "--server", "https://lab.example", "--key-file", "key", "--print-service", "systemd"]
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(path), "run", *options],
        capture_output=True,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        text=True,
        check=True,
    )
    assert f"ExecStart={sys.executable} {path} run --every 6h" in done.stdout

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


def test_it_holds_the_agent_and_what_it_needs_and_no_more(bundle):
    assert build_zipapp() == bundle  # of the same sources
    assert bundle.startswith(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
        binding, start = (archive.read(name).decode() for name in ("pynvml.py", "__main__.py"))
    assert {name.split("/")[1] for name in names if name.count("/") >= 2} == {"agent", "base", "report"}
    modules = {f"stackviz/base/{name}.py" for name in ("discovery", "private", "units")}
    assert {"__main__.py", "stackviz/__init__.py"} | modules <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
    assert "Redistributions of source code must retain the above copyright notice" in binding
    check, _, rest = start.partition("from stackviz")
    assert ("needs Python 3.10" in check, "import stackviz" in check, bool(rest)) == (True, False, True)


def run(bundle: bytes, folder, *arguments: str, **variables: str) -> str:
    """What the file prints, run by a Python without packages."""
    path = folder / "accelweb-agent.pyz"
    path.write_bytes(bundle)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(path), *arguments], capture_output=True, timeout=120, cwd=folder, text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def report_of(bundle: bytes, folder, **variables: str) -> Report:
    """What the file reports of this machine."""
    return parse_report(run(bundle, folder, "probe", "--json", "-q", **variables))


def test_it_reads_this_machine_without_site_packages(bundle, tmp_path):
    assert [probe.state for probe in report_of(bundle, tmp_path).probes] == ["ok"] * 7


@needs_library
def test_it_reads_cards_by_nvml_without_site_packages(bundle, tmp_path):
    report = report_of(bundle, tmp_path, LD_LIBRARY_PATH=library_folder(), FAKE_NVML="h100")
    assert (report.facts["nvidia.card_count"], report.facts["nvidia.cards_lost"]) == (8, 1)
    assert {card.index: card.facts["nvlink_links"] for card in report.cards}[7] == 17  # nvidia-smi -q tells no links


def test_the_file_prints_a_service_that_starts_it_again(bundle, tmp_path):
    options = ["--every", "6h", "--server", "https://lab.example", "--key-file", "key", "--print-service", "systemd"]
    printed = run(bundle, tmp_path, "run", *options)
    assert f"ExecStart={sys.executable} {tmp_path / 'accelweb-agent.pyz'} run --every 6h" in printed

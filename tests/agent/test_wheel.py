"""The agent as a wheel: installed by pip without any index, and run as a lab runs it."""

import base64
import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import PathDistribution

import pytest

from stackviz.agent import __version__
from stackviz.agent.bundle import WHEEL_NAME, build_wheel, build_zipapp
from stackviz.report.format import parse_report
from tests.agent.nvml_library import library_folder, needs_library
from tests.agent.processes import TOY_TORCH

ABOUT = f"accelweb_agent-{__version__}.dist-info"


@pytest.fixture(scope="module")
def wheel():
    return build_wheel()


@pytest.fixture(scope="module")
def folder(wheel, tmp_path_factory):
    """Of the wheel, and of an environment with pip alone."""
    made = tmp_path_factory.mktemp("wheel")
    (made / WHEEL_NAME).write_bytes(wheel)
    subprocess.run([sys.executable, "-m", "venv", str(made / "env")], check=True)
    return made


def install(folder, digest):
    """By the line of the page that adds a machine, from a file."""
    address = f"file://{folder / WHEEL_NAME}#sha256={digest}"
    options = ["--no-index", "--no-compile", "--disable-pip-version-check"]
    return subprocess.run(
        [folder / "env" / "bin" / "pip", "install", *options, address], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def agent(wheel, folder):
    """Runs the installed command; its output."""
    done = install(folder, hashlib.sha256(wheel).hexdigest())
    assert done.returncode == 0, done.stderr

    def run(*argv, **variables):
        done = subprocess.run(
            [folder / "env" / "bin" / "accelweb-agent", *argv],
            capture_output=True, timeout=120, cwd=folder, text=True, check=False, stdin=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "ACCELWEB_LOCK_FOLDER": str(folder), **variables},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def files_in(archive):
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name) for name in opened.namelist()}


def test_the_same_sources_give_the_same_bytes(wheel):
    assert build_wheel() == wheel


def test_wheel_holds_the_single_file_in_one_folder(wheel):
    single = files_in(build_zipapp())
    del single["__main__.py"]
    start = "accelweb_agent/on_path/"
    assert {name.removeprefix(start): text for name, text in files_in(wheel).items() if start in name} == single
    assert {name.partition("/")[0] for name in files_in(wheel)} == {"accelweb_agent", ABOUT}


def test_its_record_names_each_file_with_size_and_hash(wheel):
    files = files_in(wheel)
    rows = list(csv.reader(files[f"{ABOUT}/RECORD"].decode().splitlines()))
    assert [name for name, _, _ in rows] == list(files)
    assert rows.pop() == [f"{ABOUT}/RECORD", "", ""]
    for name, digest, size in rows:
        hashed = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).decode().rstrip("=")
        assert (digest, int(size)) == (f"sha256={hashed}", len(files[name])), name


def test_pip_refuses_another_file_than_the_page_named(folder):
    done = install(folder, hashlib.sha256(b"another").hexdigest())
    assert done.returncode == 1
    assert "DO NOT MATCH THE HASHES" in done.stderr


def test_it_is_installed_without_any_other_package(agent, folder):
    assert agent("--version") == f"accelweb-agent {__version__}\n"
    assert "--markdown" in agent("doctor", "--help")
    (place,) = (folder / "env").glob(f"lib/python*/site-packages/{ABOUT}")
    about = PathDistribution(place)
    assert (about.name, about.version, about.requires) == ("accelweb-agent", __version__, None)
    assert about.metadata["Requires-Python"] == ">=3.10"
    assert not list(place.parent.glob("stackviz*")) + list(place.parent.glob("pynvml*"))


def test_its_probes_read_this_machine(agent):
    report = parse_report(agent("probe", "--json", "-q").encode())
    assert [probe.state for probe in report.probes] == ["ok"] * 7
    assert (report.agent.name, report.agent.version) == ("accelweb-agent", __version__)


def test_it_measures_with_the_torch_of_its_environment(agent):
    options = ["--quick", "--device", "cpu", "--benchmark", "gemm", "--json", "-q"]
    report = parse_report(agent("bench", *options, PYTHONPATH=str(TOY_TORCH)).encode())
    assert {result.state for result in report.results} == {"ok"}


@needs_library
def test_it_reads_cards_by_nvml_without_another_package(agent):
    report = parse_report(agent("probe", "--json", "-q", LD_LIBRARY_PATH=library_folder(), FAKE_NVML="h100").encode())
    assert {card.index: card.facts["nvlink_links"] for card in report.cards}[7] == 17


def test_the_service_that_it_prints_starts_it_again(agent, folder):
    options = ["--every", "6h", "--server", "https://lab.example", "--key-file", "key", "--print-service", "systemd"]
    python = folder / "env" / "bin" / "python"
    assert re.search(f"ExecStart={python}[0-9.]* -m accelweb_agent run --every 6h", agent("run", *options))
    done = subprocess.run([python, "-m", "accelweb_agent", "--version"], cwd=folder, capture_output=True, check=True)
    assert done.stdout.decode() == f"accelweb-agent {__version__}\n"

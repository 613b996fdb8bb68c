"""`diagnose` judges what other tools printed: alone, without packages, without the network."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stackviz.agent.bundle import build_zipapp
from stackviz.agent.cli import main
from stackviz.agent.diagnose import MOST_BYTES, describe_answer, diagnosed
from stackviz.report.dumps import answer, machines
from stackviz.report.importers import read_all
from stackviz.report.importers.paste import join_texts
from stackviz.report.rules import packaged_tables

ROOT = Path(__file__).parents[2]
DUMPS = ROOT / "tests" / "fixtures" / "dumps"
COLLECT_ENV = DUMPS / "collect_env_cuda.txt"
SMI = DUMPS / "nvidia_smi_a100_mig.xml"

ALONE = """
import sys

def refuse(event, arguments):
    if event.startswith("socket."):
        raise RuntimeError("the network was asked for: " + event)

sys.path.insert(0, sys.argv.pop(1))
sys.addaudithook(refuse)
from stackviz.agent.cli import main
sys.exit(main(sys.argv[1:]))
"""


def alone(where: Path, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run with nothing but the standard library, and with an end to whatever opens a socket."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", ALONE, str(where), "diagnose", *arguments],
        input=given, capture_output=True, timeout=60, check=False,
    )  # fmt: skip


def test_it_runs_without_packages_and_without_the_network():
    ended = alone(ROOT, "--json", str(COLLECT_ENV))
    assert (ended.returncode, ended.stderr) == (0, b"")
    paste = read_all(COLLECT_ENV.read_text(encoding="utf-8"))
    expected = answer(machines(paste), packaged_tables(), not_understood=paste.not_understood)
    assert json.loads(ended.stdout) == json.loads(json.dumps(expected))


def test_the_single_file_agent_diagnoses_standard_input(tmp_path):
    agent = tmp_path / "agent.pyz"
    agent.write_bytes(build_zipapp())
    ended = alone(agent, "-", given=COLLECT_ENV.read_bytes())
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.startswith(b"Read: collect-env")


def test_findings_come_first_then_the_stack_and_the_cards(capsys):
    assert main(["diagnose", str(COLLECT_ENV), str(SMI)]) == 0
    said = capsys.readouterr().out
    titles = ["Findings: ", "\nStack\n", "  Framework\n", "  Driver\n", "  Hardware\n", "\nCards\n"]
    places = [said.find(title) for title in titles]
    assert -1 not in places
    assert places == sorted(places)


def test_several_machines_come_apart(capsys):
    assert main(["diagnose", str(SMI), str(ROOT / "tests/fixtures/mac/m3_max_system_profiler.json")]) == 0
    said = capsys.readouterr().out
    assert "These dumps are from 2 machines." in said
    assert "\nMachine 2 (" in said


def test_a_text_of_no_known_tool_is_said_to_be_one(tmp_path, capsys):
    path = tmp_path / "letter.txt"
    path.write_text("Dear all", encoding="utf-8")
    assert main(["diagnose", str(path)]) == 0
    assert capsys.readouterr().out.startswith("This is not the output of a supported tool.")
    assert describe_answer(diagnosed(read_all(""))).startswith("The input is empty")
    path.write_bytes(COLLECT_ENV.read_text(encoding="utf-8").encode("utf-16"))  # as PowerShell writes
    assert main(["diagnose", "--json", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["kinds"] == ["collect-env"]
    path.write_text(COLLECT_ENV.read_text(encoding="utf-8") + "\n\n\x9b31m \u202e evil\n", encoding="utf-8")
    assert main(["diagnose", str(path)]) == 0
    assert not {"\x9b", "\u202e", "\x1b"} & set(capsys.readouterr().out)


def test_files_are_read_as_on_the_site(tmp_path, capsys):
    """A dump torn in two files is one dump, as it is where both are dropped on the page."""
    lines = COLLECT_ENV.read_text(encoding="utf-8").replace("Ubuntu", "Système").splitlines(keepends=True)
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for path, part in zip(paths, (lines[:20], lines[20:]), strict=True):
        path.write_bytes("".join(part).encode("cp1252"))
    assert main(["diagnose", "--json", *map(str, paths)]) == 0
    told = json.loads(capsys.readouterr().out)
    whole = join_texts(["".join(lines[:20]), "".join(lines[20:])])
    assert told == json.loads(json.dumps(diagnosed(read_all(whole))))
    assert told["facts"]["os.name"] == "Système"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "No such file"),
        (b"\x7fELF\x00\x00\x01", "is not text"),
        (b"a" * (MOST_BYTES + 1), "is larger than 4 MiB"),
        ("a folder", ""),
    ],
    ids=["missing", "binary", "huge", "folder"],
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path, capsys, content, why):
    path = tmp_path / "dump"
    if content == "a folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        main(["diagnose", str(COLLECT_ENV), str(path)])
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert str(path) in said.err
    assert why in said.err


def test_a_failed_run_is_shown_with_its_reason():
    document = answer(
        machines(read_all("| model | test | t/s |\n|---|---|---|\n| llama 7B | pp512 | nan |\n")), packaged_tables()
    )
    assert "llama 7B pp512 on not in the text: it states nan" in describe_answer(document)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "nccl-tests all-reduce fp32 cards 4 1 MiB on x: 52.43 GB/s, 30 µs"),
        ({"params": {"op": "dance"}}, "nccl-tests dance on x: 3e-05 s"),
        ({"value": None, "reason": "17 values were wrong"}, "nccl-tests all-reduce fp32 cards 4 1 MiB on x: 17 values"),
        ({"benchmark": "launch", "params": {"op": "queued"}}, "launch queued on x: 30 µs"),
        ({"benchmark": "nvbandwidth", "params": {"test": "copy"}, "value": 2e10, "unit": "B/s"},
         "nvbandwidth copy on x: 20 GB/s"),
        ({"benchmark": "nvbandwidth", "params": {"test": "copy"}, "value": 2e40, "unit": "B/s"},
         "nvbandwidth copy on x: 2e+40 B/s"),
        ({"benchmark": "llama-bench", "params": {"model": "llama 7B", "test": "tg128", "ngl": 99}, "value": 189.5,
          "unit": "t/s", "stddev": 0.4}, "llama 7B tg128 on x: 189.5 t/s ± 0.4"),
    ],
)  # fmt: skip
def test_result_is_a_rate_where_unit_and_parameters_allow(changes, line):
    params = {"op": "all-reduce", "dtype": "fp32", "cards": 4, "bytes": 2**20}
    result = {"benchmark": "nccl-tests", "device": "x", "params": params, "value": 3e-5, "unit": "s"}
    document = diagnosed(read_all("nvidia-smi: command not found")) | {"kinds": ["nccl-tests"]}
    assert f"  {line}" in describe_answer(document | {"results": [result | changes]})

"""`doctor`: machines made of fake tools on PATH and a fake driver library, asked for real in processes of their own."""

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from stackviz.agent import cli
from stackviz.agent.bundle import build_zipapp
from stackviz.agent.doctor import diagnosed_here, doctor_exit
from stackviz.agent.doctor_questions import MOST_BYTES, QUESTIONS, CommandRun, DoctorQuestion, ask_all, questions_on
from stackviz.agent.probing.gather import Gathered, gather

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
CARD_XML = (FIXTURES / "dumps/nvidia_smi_a100_mig.xml").read_text(encoding="utf-8")
CPU_WHEEL = (ROOT / "tests/pages/diagnose/collect_env_cpu_wheel.txt").read_text(encoding="utf-8")
SMI_FAILED = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA "
    "driver is installed and running.\n"
)
NVML_MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.86\n"
CHANGES_SOMETHING = {
    "sudo", "rm", "rmmod", "modprobe", "insmod", "install", "uninstall", "kill", "reboot", "systemctl", "apt", "config",
    "--gpu-reset", "-pl", "-pm", "-r",
}  # fmt: skip


@pytest.fixture
def bench(tmp_path):
    """A machine of its own: only its tools are on PATH. -> run(tools, *options) -> the process that ended."""

    def run(tools, *options, agent=(sys.executable, "-m", "stackviz.agent")):
        environ = environment_of(tmp_path, tools)
        command = [*agent, "doctor", "-q", *options]
        return subprocess.run(command, env=environ, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)

    return run


@pytest.fixture
def doctor(tmp_path, monkeypatch, capsys):
    """The same without a process for the agent, and with the probes that are named only: the tools are asked for real."""

    def run(tools, *options, libcuda=None, torch=None, probes=()):
        environ = environment_of(tmp_path, tools, torch)
        if libcuda is not None:
            environ["LD_LIBRARY_PATH"] = str(fake_libcuda(tmp_path, libcuda))
        for name in set(os.environ) - environ.keys():
            monkeypatch.delenv(name)
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(cli, "gather", partial(gather, probes=probes))
        code = cli.main(["doctor", "-q", *options])
        return SimpleNamespace(returncode=int(code), stdout=capsys.readouterr().out)

    return run


def environment_of(folder, tools, torch=None):
    """What a machine of these tools gives a process."""
    (folder / "bin").mkdir(exist_ok=True)
    for name, script in tools.items():
        path = folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
    return {"PATH": f"{folder / 'bin'}", "HOME": str(folder), "PYTHONPATH": f"{packages(folder, torch)}:{ROOT}"}


def prints(text, code=0):
    return f"/bin/cat <<'END'\n{text}\nEND\nexit {code}"


def smi(card_xml):
    """nvidia-smi of one card: the XML for -x, which is all that is asked of it here."""
    return f'case "$*" in *-x*) {prints(card_xml)};; esac\nexit 0'


def fake_libcuda(folder, code):
    """A driver library whose cuInit answers with this number."""
    place = folder / f"cuda-{code}"
    place.mkdir()
    source = place / "cuda.c"
    source.write_text(f"int cuInit(unsigned flags) {{ return flags ? 1 : {code}; }}\n", encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(place / "libcuda.so.1"), str(source)], check=True)
    return place


def packages(folder, output):
    """A pip that lists nothing, at once; and, where its output is given, a torch that has nothing but collect_env."""
    site = folder / "site"
    (site / "pip").mkdir(parents=True, exist_ok=True)
    (site / "pip" / "__init__.py").write_text("", encoding="utf-8")
    (site / "pip" / "__main__.py").write_text("", encoding="utf-8")
    if output is None:
        return site
    utils = site / "torch" / "utils"
    utils.mkdir(parents=True)
    (utils.parent / "__init__.py").write_text('__version__ = "2.12.0+cpu"\n', encoding="utf-8")
    (utils / "__init__.py").write_text("", encoding="utf-8")
    (utils / "collect_env.py").write_text(f"print({output!r})\n", encoding="utf-8")
    return site


def rules_of(done):
    return {finding["rule"]: finding["severity"] for finding in json.loads(done.stdout)["findings"]}


# --- five broken machines, by their tools ---


@pytest.mark.parametrize(
    ("tools", "rule"),
    [
        ({"nvidia-smi": prints(SMI_FAILED, 9), "lsmod": prints("Module Size Used by")}, "smi-no-driver"),
        ({"nvidia-smi": prints(NVML_MISMATCH, 18)}, "nvml-mismatch"),
        ({"nvidia-smi": smi(CARD_XML.replace("<pending>No</pending>", "<pending>Yes</pending>"))}, "row-remap-pending"),
        ({"nvidia-smi": prints("Failed to initialize NVML: Unknown Error", 255)}, "nvml-unknown-container"),
        ({"nvidia-smi": prints("No devices were found", 6)}, "smi-no-driver"),
    ],
    ids=["not loaded", "mismatch", "row remap", "container", "no devices"],
)
def test_a_broken_machine_is_named_and_ends_with_2(doctor, tools, rule):
    done = doctor(tools, "--json", probes=["torch"])
    severities = rules_of(done)
    if rule == "nvml-unknown-container" and rule not in severities:
        rule = "smi-no-driver"  # outside a container the same words mean that the driver does not answer
    assert rule in severities, severities
    assert severities[rule] in ("broken", "cannot-tell")
    assert done.returncode == (2 if "broken" in severities.values() else 1)


# --- five broken machines, by the driver's library ---


@pytest.mark.parametrize(
    ("code", "rule"), [(802, "err802-fabric"), (803, "err803"), (804, "err804"), (999, "uvm-device-missing"), (0, None)]
)
def test_what_cuinit_answers_is_a_fault(doctor, code, rule):
    """999: this machine has no such device. 0: it starts, and that is no fault."""
    done = doctor({"nvidia-smi": smi(CARD_XML)}, "--json", libcuda=code, probes=["nvidia"])
    answer = json.loads(done.stdout)
    assert answer["facts"]["cuda.init_code"] == code
    broken = {finding["rule"] for finding in answer["findings"] if finding["severity"] == "broken"}
    assert rule in broken if rule else not broken
    assert (done.returncode == 2) == bool(rule)


# --- torch, none, and tools that misbehave ---


def test_a_cpu_build_beside_cards_is_named(doctor):
    done = doctor({"nvidia-smi": smi(CARD_XML)}, torch=CPU_WHEEL)
    assert done.returncode == 2
    assert "is built without CUDA" in done.stdout


def test_a_machine_without_any_tool_has_a_warning_for_torch_only(doctor):
    done = doctor({}, "--json", probes=["torch"])
    answer = json.loads(done.stdout)
    assert rules_of(done) == {"torch-not-installed": "warning"}
    assert done.returncode == 1
    assert {outcome["state"] for outcome in answer["asked"]} <= {"missing", "ran", "failed"}


def test_hanging_or_endless_tool_costs_only_its_answer(bench):
    started = time.monotonic()
    tools = {"nvidia-smi": "exec /bin/sleep 60", "rocminfo": "exec /usr/bin/yes"}
    done = bench(tools, "--json", "--timeout", "1", "--probe-timeout", "4")
    assert time.monotonic() - started < 60
    states = {outcome["command"]: outcome for outcome in json.loads(done.stdout)["asked"]}
    assert (states["nvidia-smi"]["state"], bool(states["rocminfo"]["is_cut"])) == ("timeout", True)
    assert done.returncode in (0, 1)


@pytest.mark.parametrize("options", [("--markdown",), ("--json",)])
def test_what_is_made_for_an_issue_tells_no_secret(doctor, options):
    card = "GPU 0: NVIDIA H100 (UUID: GPU-11111111-2222-3333-4444-555555555555)"
    lines = f"{SMI_FAILED}\nHF_TOKEN=hf_abcdefghijklmnopqrstuvwx1234 at /home/alice/x of 192.0.2.23\n{card}"
    hostile = f"\x1b[31m{lines}\x1b]0;owned\x07<script>`@octocat`"
    done = doctor({"nvidia-smi": prints(hostile, 9)}, *options, torch=f"{lines}\n{CPU_WHEEL}\n{lines}")
    assert done.returncode == 2
    for text in ("hf_abc", "alice", "192.0.2.23", "11111111-2222", "\x1b", "\x07"):
        assert text not in done.stdout


@pytest.mark.parametrize("options", [(), ("--markdown",)])
def test_what_was_asked_is_said(doctor, options):
    done = doctor({"nvidia-smi": prints(SMI_FAILED, 9)}, *options)
    assert "ended with an error: nvidia-smi" in done.stdout
    with pytest.raises(SystemExit) as refused:
        doctor({}, "--json", "--markdown")
    assert refused.value.code == 2


def test_the_single_file_has_the_doctor(bench, tmp_path):
    path = tmp_path / "agent.pyz"
    path.write_bytes(build_zipapp())
    done = bench({"nvidia-smi": prints(NVML_MISMATCH, 18)}, "--json", agent=(sys.executable, "-P", str(path)))
    assert rules_of(done)["nvml-mismatch"] == "broken"
    assert done.returncode == 2


# --- this machine, and the questions ---


def test_this_machine_is_diagnosed_and_nothing_is_written(tmp_path):
    environ = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "stackviz.agent", "doctor", "-q", "--json"],
        env=environ, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert done.returncode == doctor_exit(answer)
    assert answer["facts"]["python.version"] == ".".join(map(str, sys.version_info[:3]))
    assert list(tmp_path.iterdir()) == []


def test_no_question_changes_anything_or_reaches_the_network():
    for question in QUESTIONS:
        assert not CHANGES_SOMETHING & set(question.argv), question
        assert not any("http" in part for part in question.argv)
    for system in ("Linux", "Darwin", "Windows"):
        questions = questions_on(system)
        assert len(questions) >= 3
        assert all(0 < question.timeout_s <= 120 for question in questions)


def test_output_and_time_of_commands_are_bounded(tmp_path):
    [run] = ask_all([DoctorQuestion(("yes",), "nothing")], longest_s=20)
    assert (run.is_cut, len(run.text)) == (True, MOST_BYTES)
    script = tmp_path / "forks"
    script.write_text("#!/bin/sh\nsleep 300 &\nsleep 300\n", encoding="utf-8")
    script.chmod(0o755)
    started = time.monotonic()
    [run] = ask_all([DoctorQuestion((str(script),), "nothing")], longest_s=0.5)
    assert run.state == "timeout"
    assert time.monotonic() - started < 100


@pytest.mark.parametrize(
    ("severities", "code"), [([], 0), (["note", "cannot-tell"], 0), (["warning"], 1), (["note", "broken"], 2)]
)
def test_the_exit_code_is_the_worst_finding(severities, code):
    assert doctor_exit({"findings": [{"severity": severity} for severity in severities]}) == code


def test_output_that_says_another_system_is_still_this_machine():
    question = DoctorQuestion(("nvidia-smi", "-q", "-x"), "cards")
    runs = [CommandRun(question=question, state="ran", text=text) for text in (CARD_XML, CPU_WHEEL)]
    assert "machines" not in diagnosed_here(runs, Gathered())

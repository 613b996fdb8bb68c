"""The system and Python probes, on a Linux made of files."""

import os
import sys

import pytest

from stackviz.agent.probing.system import probe_python, probe_system
from stackviz.report.format import FACTS
from stackviz.report.format.facts.asking import MissingFact, Questions
from stackviz.report.importers import FactSheet
from tests.agent.machines_to_ask import machine

INFO = "docker --host unix:///var/run/docker.sock info --format {{json .Runtimes}}"
LINUX = {
    "/etc/os-release": 'NAME="Ubuntu"\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n',
    "/proc/version": "Linux version 6.8.0-45-generic (buildd@lcy02-amd64-115)",
    "/proc/cpuinfo": "processor : 0\nmodel name\t: AMD Ryzen 9 7950X\nflags\t\t: fpu avx avx2 avx512f avx512_bf16 sse4_2\n",
    "/proc/meminfo": "MemTotal:       65536000 kB\nMemFree: 1 kB\n",
    "/sys/class/dmi/id/product_name": "To Be Filled By O.E.M.",
    "/sys/class/dmi/id/sys_vendor": "ASRock",
}  # fmt: skip


def cpu(number: int, package: int, core: int) -> dict[str, str]:
    where = f"/sys/devices/system/cpu/cpu{number}"
    return {f"{where}/topology/physical_package_id": f"{package}\n", f"{where}/topology/core_id": f"{core}\n"}


def facts_of(root, files=None, **named):
    return probe_system(machine(root, LINUX | (files or {}), **named)).sheet


def told(reading, name):
    """The fact, or why it is absent."""
    return reading.facts[name] if name in reading.facts else reading.absent[name].reason


def test_a_linux_machine_tells_system_processor_and_memory(tmp_path):
    cores = cpu(0, 0, 0) | cpu(1, 0, 1) | cpu(2, 0, 0) | cpu(3, 0, 1)  # two cores, two threads each
    clock = {"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "5881000\n"}
    sheet = facts_of(tmp_path, cores | clock)
    expected = {
        "os.name": "Ubuntu", "os.version": "24.04", "cpu.model": "AMD Ryzen 9 7950X", "cpu.cores_physical": 2,
        "cpu.features": "avx avx2 avx512_bf16 avx512f sse4_2", "cpu.sockets": 1, "cpu.clock_max_hz": 5_881_000_000,
        "memory.total_bytes": 65536000 * 1024, "machine.vendor": "ASRock",
        "machine.model": "not_reported",  # what board makers leave blank
    }  # fmt: skip
    assert {name: told(sheet, name) for name in expected} == expected


def test_a_machine_without_any_of_the_files_still_answers(tmp_path):
    reading = probe_system(machine(tmp_path, says={INFO: '{"runc":{}}'}))
    assert "os.kernel" in reading.facts
    assert told(reading, "os.name") == told(reading, "memory.total_bytes") == "not_reported"
    assert told(reading, "memory.shared_bytes") == "not_applicable"
    assert told(reading, "machine.docker_runtimes") == "not_applicable"  # without a daemon it is not asked
    assert "memory.numa_nodes" not in reading.facts


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("Linux version 5.15.153.1-microsoft-standard-WSL2 (root@x)", "2"),
        ("Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)", "1"),
    ],
)
def test_wsl_is_told_with_its_version(tmp_path, version, expected):
    reading = probe_system(machine(tmp_path, LINUX | {"/proc/version": version}))
    assert reading.facts["os.wsl"] == expected
    assert "wsl" in [software.component for software in reading.software]


def test_a_container_and_its_limits_are_told(tmp_path):
    files = {"/.dockerenv": "", "/sys/fs/cgroup/cpu.max": "150000 100000", "/sys/fs/cgroup/memory.max": "8589934592"}
    sheet = facts_of(tmp_path, files)
    assert sheet.facts["machine.container"] == "docker"
    assert sheet.facts["cpu.cores_usable"] <= 2
    assert sheet.facts["memory.limit_bytes"] == 8 * 2**30
    for word in ("max", "9223372036854771712"):  # no limit is not a very large one
        assert told(facts_of(tmp_path, {"/sys/fs/cgroup/memory.max": word}), "memory.limit_bytes") == "not_applicable"


def test_the_largest_cache_is_not_an_instruction_cache(tmp_path):
    where = "/sys/devices/system/cpu/cpu0/cache"
    files = {
        f"{where}/index0/level": "1", f"{where}/index0/type": "Data", f"{where}/index0/size": "32K",
        f"{where}/index1/level": "1", f"{where}/index1/type": "Instruction", f"{where}/index1/size": "64K",
        f"{where}/index3/level": "3", f"{where}/index3/type": "Unified", f"{where}/index3/size": "33M",
    }  # fmt: skip
    assert facts_of(tmp_path, files).facts["cpu.cache_last_level_bytes"] == 33 * 2**20


def test_an_arm_processor_without_a_name_is_asked_of_lscpu(tmp_path):
    sheet = facts_of(
        tmp_path,
        {"/proc/cpuinfo": "processor : 0\nFeatures : asimd sve bf16\nCPU part : 0xd40\n"},
        says={"lscpu": "Architecture: aarch64\nModel name:           Neoverse-V1\n"},
    )
    assert sheet.facts["cpu.model"] == "Neoverse-V1"
    assert sheet.facts["cpu.features"] == "asimd bf16 sve"


@pytest.mark.parametrize(
    ("files", "expected"),
    [({"type": "Mains", "online": "1"}, "ac"), ({"type": "Battery", "status": "Discharging"}, "battery")],
)
def test_the_power_source_is_told(tmp_path, files, expected):
    supply = {f"/sys/class/power_supply/X/{name}": value for name, value in files.items()}
    assert facts_of(tmp_path, supply).facts["machine.power_source"] == expected


def test_one_question_that_breaks_leaves_the_others(tmp_path):
    questions = Questions()
    questions.about("os.name")(lambda _: 1 / 0)
    questions.about("os.version")(lambda _: "1")
    questions.about("os.build")(lambda _: None)
    questions.about("os.arch")(lambda around: around.run("no-such-command"))
    questions.about("memory.total_bytes")(lambda _: 0)
    sheet = FactSheet(FACTS)
    questions.ask(machine(tmp_path), sheet)
    assert sheet.facts == {"os.version": "1"}
    assert {name: why.reason for name, why in sheet.absent.items()} == {
        "os.name": "failed",
        "os.build": "not_reported",
        "os.arch": "not_installed",
        "memory.total_bytes": "not_reported",
    }
    assert sheet.absent["os.name"].detail == "ZeroDivisionError: division by zero"


def test_a_command_runs_once_and_its_failure_is_remembered(tmp_path):
    ran = []

    def run(argv, _timeout_s):
        ran.append(argv)
        if argv[0] == "late":
            raise MissingFact("timeout", "did not end")
        return "said"

    around = machine(tmp_path)
    around.run_command = run
    assert around.run("tool", "-x") == around.run("tool", "-x") == "said"
    for _ in range(2):
        with pytest.raises(MissingFact) as caught:
            around.run("late")
        assert caught.value.reason == "timeout"
    assert len(ran) == 2


def test_this_python_is_told_without_importing_packages(tmp_path):
    reading = probe_python(machine(tmp_path))
    assert reading.facts["python.version"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert reading.absent["python.rosetta"].reason == "not_applicable"
    assert ("python", reading.facts["python.version"]) in [(s.component, s.version) for s in reading.software]


@pytest.mark.parametrize(
    ("said", "expected"), [("1\n", True), ("0\n", False), (MissingFact("failed", "sysctl: unknown oid"), False)]
)
def test_translated_python_is_told_on_macs(tmp_path, said, expected):
    mac = machine(tmp_path, says={"sysctl -n sysctl.proc_translated": said}, system="Darwin")
    assert probe_python(mac).facts["python.rosetta"] is expected


def test_shared_memory_and_numa_nodes_are_counted(tmp_path):
    (tmp_path / "dev" / "shm").mkdir(parents=True)
    files = {f"/sys/devices/system/node/{name}": "x" for name in ("node0/cpulist", "node1/cpulist", "online")}
    reading = probe_system(machine(tmp_path, files=files))
    size = os.statvfs(tmp_path)
    assert told(reading, "memory.shared_bytes") == size.f_blocks * size.f_frsize
    assert told(reading, "memory.numa_nodes") == 2


MODULES = "Memory Device\n\tSpeed: 5600 MT/s\n\tConfigured Memory Speed: {} MT/s\n"


def test_the_slowest_module_tells_the_speed_of_memory(tmp_path):
    says = {"dmidecode -t 17": MODULES.format(4800) + MODULES.format(4400) + "\tConfigured Memory Speed: Unknown\n"}
    around = machine(tmp_path, files={"/sys/firmware/dmi/tables/DMI": "table"}, says=says)
    assert probe_system(around).facts["memory.transfer_rate_hz"] == 4_400_000_000
    hidden = probe_system(machine(tmp_path / "other", says=says)).absent["memory.transfer_rate_hz"]
    assert hidden.reason == "not_supported"


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ({INFO: '{"runc":{"path":"runc"},"nvidia":{"path":"nvidia-container-runtime"}}'}, "nvidia runc"),
        ({INFO: "permission denied"}, "failed"),
        ({INFO: "[]"}, "not_reported"),
        ({}, "not_installed"),
    ],
)
def test_dockers_daemon_here_tells_its_runtimes(tmp_path, says, expected):
    reading = probe_system(machine(tmp_path, files={"/var/run/docker.sock": ""}, says=says))
    assert told(reading, "machine.docker_runtimes") == expected

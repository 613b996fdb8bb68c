"""The system and Python probes, on a Linux made of files."""

import os
import sys

import pytest

from stackviz.agent.probing.system import probe_python, probe_system
from stackviz.report.format import FACTS
from stackviz.report.format.facts.asking import MissingFact, Questions
from stackviz.report.importers import FactSheet
from tests.agent.machines_to_ask import machine

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


def test_a_linux_machine_tells_system_processor_and_memory(tmp_path):
    cores = cpu(0, 0, 0) | cpu(1, 0, 1) | cpu(2, 0, 0) | cpu(3, 0, 1)  # two cores, two threads each
    sheet = facts_of(tmp_path, cores)
    assert (sheet.facts["os.name"], sheet.facts["os.version"]) == ("Ubuntu", "24.04")
    assert sheet.facts["cpu.model"] == "AMD Ryzen 9 7950X"
    assert sheet.facts["cpu.features"] == "avx avx2 avx512_bf16 avx512f sse4_2"
    assert sheet.facts["cpu.cores_physical"] == 2
    assert sheet.facts["cpu.sockets"] == 1
    assert sheet.facts["memory.total_bytes"] == 65536000 * 1024
    assert sheet.facts["machine.vendor"] == "ASRock"


def test_what_board_makers_leave_blank_is_no_model(tmp_path):
    assert facts_of(tmp_path).absent["machine.model"].reason == "not_reported"


def test_a_machine_without_any_of_the_files_still_answers(tmp_path):
    reading = probe_system(machine(tmp_path))
    assert "os.kernel" in reading.facts
    assert reading.absent["os.name"].reason == "not_reported"
    assert reading.absent["memory.total_bytes"].reason == "not_reported"


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


def test_no_limit_is_not_a_very_large_one(tmp_path):
    for word in ("max", "9223372036854771712"):
        assert (
            facts_of(tmp_path, {"/sys/fs/cgroup/memory.max": word}).absent["memory.limit_bytes"].reason
            == "not_applicable"
        )


def test_the_largest_cache_is_not_an_instruction_cache(tmp_path):
    where = "/sys/devices/system/cpu/cpu0/cache"
    files = {
        f"{where}/index0/level": "1", f"{where}/index0/type": "Data", f"{where}/index0/size": "32K",
        f"{where}/index1/level": "1", f"{where}/index1/type": "Instruction", f"{where}/index1/size": "64K",
        f"{where}/index3/level": "3", f"{where}/index3/type": "Unified", f"{where}/index3/size": "33M",
    }  # fmt: skip
    assert facts_of(tmp_path, files).facts["cpu.cache_last_level_bytes"] == 33 * 2**20


def test_the_highest_clock_is_told_in_hertz(tmp_path):
    files = {"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "5881000\n"}
    assert facts_of(tmp_path, files).facts["cpu.clock_max_hz"] == 5_881_000_000


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
    [
        ({"type": "Mains", "online": "1"}, "ac"),
        ({"type": "Battery", "status": "Discharging"}, "battery"),
    ],
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


def test_a_command_runs_once_however_many_facts_need_it(tmp_path):
    ran = []
    around = machine(tmp_path)
    around.run_command = lambda argv, _timeout_s: ran.append(argv) or "said"
    assert around.run("tool", "-x") == around.run("tool", "-x") == "said"
    assert len(ran) == 1


def test_a_failure_is_remembered_too(tmp_path):
    around = machine(tmp_path, says={"tool": MissingFact("timeout", "did not end")})
    for _ in range(2):
        with pytest.raises(MissingFact) as caught:
            around.run("tool")
        assert caught.value.reason == "timeout"


def test_this_python_is_told_without_importing_packages(tmp_path):
    reading = probe_python(machine(tmp_path))
    assert reading.facts["python.version"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert reading.absent["python.rosetta"].reason == "not_applicable"
    assert ("python", reading.facts["python.version"]) in [(s.component, s.version) for s in reading.software]


@pytest.mark.parametrize(
    ("said", "expected"),
    [("1\n", True), ("0\n", False), (MissingFact("failed", "sysctl: unknown oid"), False)],
)
def test_translated_python_is_told_on_macs(tmp_path, said, expected):
    mac = machine(tmp_path, says={"sysctl -n sysctl.proc_translated": said}, system="Darwin")
    assert probe_python(mac).facts["python.rosetta"] is expected


def test_the_size_of_shared_memory_is_that_of_its_file_system(tmp_path):
    (tmp_path / "dev" / "shm").mkdir(parents=True)
    size = os.statvfs(tmp_path)
    assert probe_system(machine(tmp_path)).facts["memory.shared_bytes"] == size.f_blocks * size.f_frsize


def test_without_a_shared_memory_there_is_no_size_of_it(tmp_path):
    assert probe_system(machine(tmp_path)).absent["memory.shared_bytes"].reason == "not_applicable"


def test_numa_nodes_are_counted(tmp_path):
    files = {f"/sys/devices/system/node/{name}": "x" for name in ("node0/cpulist", "node1/cpulist", "online")}
    assert probe_system(machine(tmp_path, files=files)).facts["memory.numa_nodes"] == 2
    assert "memory.numa_nodes" not in probe_system(machine(tmp_path / "other")).facts


MODULES = "Memory Device\n\tSpeed: 5600 MT/s\n\tConfigured Memory Speed: {} MT/s\n"


def test_the_slowest_module_tells_the_speed_of_memory(tmp_path):
    says = {"dmidecode -t 17": MODULES.format(4800) + MODULES.format(4400) + "\tConfigured Memory Speed: Unknown\n"}
    around = machine(tmp_path, files={"/sys/firmware/dmi/tables/DMI": "table"}, says=says)
    assert probe_system(around).facts["memory.transfer_rate_hz"] == 4_400_000_000
    hidden = probe_system(machine(tmp_path / "other", says=says)).absent["memory.transfer_rate_hz"]
    assert hidden.reason == "not_supported"


INFO = "docker --host unix:///var/run/docker.sock info --format {{json .Runtimes}}"


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
    name = "machine.docker_runtimes"
    reading = probe_system(machine(tmp_path, files={"/var/run/docker.sock": ""}, says=says))
    assert (reading.facts[name] if name in reading.facts else reading.absent[name].reason) == expected


def test_without_a_daemon_docker_is_not_asked(tmp_path):
    reading = probe_system(machine(tmp_path, says={INFO: '{"runc":{}}'}))
    assert reading.absent["machine.docker_runtimes"].reason == "not_applicable"

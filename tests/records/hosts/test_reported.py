"""Hosts as reports: one of each kind, by facts, cards, software and absences."""

from datetime import UTC, datetime

from stackviz.records.hosts.reported import host_report
from stackviz.report.format import Absent, parse_report, to_json
from stackviz.report.rules import judge, packaged_tables
from tests.records.hosts.factories import new_host


def _versions(report):
    return {software.component: software.version for software in report.software}


def test_nvidia_host_on_linux():
    host = new_host(
        title="8x H100, Ubuntu 22.04",
        system="Ubuntu 22.04.4 LTS",
        kernel="5.15.0-102-generic",
        cpu="Intel Xeon Platinum 8458P",
        cpu_cores=88,
        memory_bytes=2 << 40,
        virtualisation="bare",
        cards=[
            {"reported_name": "NVIDIA H100 80GB HBM3", "driver_version": "550.54.15", "power_limit_w": 700.0},
            {"reported_name": "NVIDIA H100 80GB HBM3", "driver_version": "550.54.15", "compute_capability": "9.0"},
        ],
        components={
            "pytorch": "2.2.1+cu121",
            "python": "3.10.14",
            "torch.cuda_version": "12.1",
            "cuda-toolkit": "12.4.131",
            "cuda.available": "yes",
            "vllm": "",
            "cudnn": None,
        },
    )
    report = host_report(host)
    assert report.facts == {
        "os.name": "Ubuntu",
        "os.version": "22.04.4",
        "os.kernel": "Linux 5.15.0-102-generic",
        "cpu.model": "Intel Xeon Platinum 8458P",
        "cpu.cores_physical": 88,
        "memory.total_bytes": 2 << 40,
        "nvidia.driver_version": "550.54.15",
        "torch.version": "2.2.1+cu121",
        "torch.cuda_version": "12.1",
        "python.version": "3.10.14",
        "cuda.toolkit_version": "12.4.131",
        "cuda.available": True,
    }
    assert report.absent == {
        "cudnn.version": Absent("not_installed"),
        "machine.virtualization": Absent("not_applicable"),
        "machine.container": Absent("not_applicable"),
    }
    assert [card.facts for card in report.cards] == [
        {"driver_version": "550.54.15", "power_limit_w": 700.0},
        {"driver_version": "550.54.15", "compute_capability": "9.0"},
    ]
    versions = {"pytorch": "2.2.1+cu121", "python": "3.10.14", "cuda-toolkit": "12.4.131", "vllm": None}
    versions |= {"cuda-runtime": "12.1", "nvidia-driver": "550.54.15", "linux": "Ubuntu 22.04.4"}
    assert _versions(report) == versions
    assert report.created_at == datetime(2026, 7, 1, tzinfo=UTC)


def test_host_in_wsl2():
    host = new_host(
        title="RTX 3080 Ti in WSL2",
        system="Ubuntu 22.04 (WSL2 2.7.0 on Windows 11)",
        kernel="6.6.87.2-microsoft-standard-WSL2",
        virtualisation="wsl2",
        cards=[{"reported_name": "NVIDIA GeForce RTX 3080 Ti", "driver_version": "610.47", "pcie_lanes": 16}],
        components={"nvidia-smi": "610.43.02", "cuda.driver_api_version": "13.3"},
    )
    report = host_report(host)
    assert report.facts == {
        "os.name": "Ubuntu",
        "os.version": "22.04",
        "os.kernel": "Linux 6.6.87.2-microsoft-standard-WSL2",
        "os.wsl": "2",
        "nvidia.driver_version": "610.47",
        "nvidia.nvml_version": "610.43.02",
        "cuda.driver_api_version": "13.3",
    }
    assert report.cards[0].facts == {"driver_version": "610.47", "pcie_width": 16}


def test_windows_host():
    host = new_host(
        system="Windows 11 Pro 24H2",
        kernel="10.0.26100.3194",
        cards=[{"reported_name": "NVIDIA GeForce RTX 4070 Ti SUPER"}],
    )
    assert host_report(host).facts == {"os.name": "Windows", "os.version": "11 Pro 24H2"}
    assert _versions(host_report(new_host(system="Windows"))) == {"windows": None}


def test_mac():
    host = new_host(
        "apple",
        system="macOS 26.5.2 (25F84)",
        cpu="Apple M4 Pro",
        cpu_cores=14,
        cards=[{"reported_name": "Apple M4 Pro", "gpu_cores": 20}],
        components={"mps.available": "yes", "mlx": "0.31.0", "macos": "26.5.2"},
    )
    report = host_report(host)
    assert report.facts == {
        "os.name": "macOS",
        "os.version": "26.5.2",
        "os.build": "25F84",
        "os.arch": "arm64",
        "cpu.model": "Apple M4 Pro",
        "cpu.cores_physical": 14,
        "apple.chip": "Apple M4 Pro",
        "apple.gpu_cores": 20,
        "mps.available": True,
    }
    [card] = report.cards
    assert (card.kind, card.vendor, card.facts) == ("soc", "apple", {"gpu_cores": 20, "unified_memory": True})
    assert _versions(report) == {"mlx": "0.31.0", "macos": "26.5.2"}


def test_intel_mac():
    host = new_host("amd", system="macOS (Intel)", cards=[{"reported_name": "AMD Radeon Pro 5700 XT"}])
    assert host_report(host).facts == {"os.name": "macOS", "os.arch": "x86_64"}


def test_host_with_rocm():
    host = new_host(
        "amd",
        system="CachyOS",
        kernel="6.16.0-1-mainline",
        cards=[{"reported_name": "Radeon 8060S", "compute_capability": "gfx1151"}],
        components={"rocm": "6.5", "rocm.hip_runtime_version": "6.5.25281", "llama-cpp": "b6115"},
    )
    report = host_report(host)
    assert report.facts == {
        "os.name": "CachyOS",
        "os.kernel": "Linux 6.16.0-1-mainline",
        "rocm.version": "6.5",
        "rocm.hip_runtime_version": "6.5.25281",
    }
    assert report.cards[0].facts == {"gfx_target": "gfx1151"}


def test_card_on_a_raspberry_pi():
    host = new_host(
        "amd",
        system="Raspberry Pi OS (Debian 13 trixie)",
        cpu="Raspberry Pi CM5 (4x Cortex-A76)",
        cards=[{"reported_name": "Radeon RX 7900 XT", "pcie_generation": 2, "pcie_lanes": 1}],
        components={"vulkan": "", "rocm": None, "llama-cpp": ""},
    )
    report = host_report(host)
    assert report.facts == {"os.name": "Raspberry Pi OS", "cpu.model": "Raspberry Pi CM5 (4x Cortex-A76)"}
    assert report.absent == {"rocm.version": Absent("not_installed")}
    assert report.cards[0].facts == {"pcie_generation_max": 2, "pcie_width": 1}
    assert _versions(report) == {"vulkan": None, "llama-cpp": None, "linux": "Raspberry Pi OS"}


def test_ascend_host():
    host = new_host(
        "huawei",
        system="Linux (aarch64)",
        kernel="5.15.0-25-generic",
        cards=[{"reported_name": "910B3"}],
        components={"cann": "8.0.RC2"},
    )
    report = host_report(host)
    assert report.facts == {"os.name": "Linux", "os.arch": "aarch64", "os.kernel": "Linux 5.15.0-25-generic"}
    assert (report.cards[0].kind, report.cards[0].vendor) == ("npu", "huawei")


def test_jetson():
    host = new_host(
        title="Jetson AGX Thor, JetPack 7.2",
        system="JetPack 7.2 (L4T r39.2)",
        cards=[{"reported_name": "NVIDIA Thor", "compute_capability": "11.0"}],
        components={"l4t": "r39.2"},
    )
    facts = {"os.name": "JetPack", "os.version": "7.2", "os.build": "L4T 39.2", "machine.model": "Jetson AGX Thor"}
    assert host_report(host).facts == facts


def test_bare_description_states_nothing_else():
    host = new_host(cards=[{"reported_name": "NVIDIA GeForce RTX 5090"}])
    report = host_report(host)
    assert (report.facts, report.absent, report.cards[0].facts, report.software) == ({}, {}, {}, ())


def test_report_is_one_of_the_format():
    host = new_host(system="Ubuntu 24.04", cards=[{"reported_name": "NVIDIA GeForce RTX 5090"}])
    assert parse_report(to_json(host_report(host)).encode()) == host_report(host)


def test_rules_judge_a_host_as_of_its_day():
    host = new_host(
        system="Windows 11",
        cards=[{"reported_name": "NVIDIA GeForce RTX 5080", "compute_capability": "12.0"}],
        components={"pytorch": "2.6.0+cu124", "torch.cuda_version": "12.4"},
    )
    broken = [finding.rule for finding in judge(host_report(host), packaged_tables()) if finding.severity == "broken"]
    assert broken == ["kernels-missing"]

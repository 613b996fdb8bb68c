"""The dump that a stack would print, as the diagnosis reads it."""

from dataclasses import dataclass, replace
from datetime import datetime

from stackviz.report.dumps import machines
from stackviz.report.importers import read_all
from stackviz.report.rules import Finding, Severity, Tables, judge_breaking

COLLECT_ENV = """\
PyTorch version: {torch}
Is debug build: False
CUDA used to build PyTorch: {cuda}
ROCM used to build PyTorch: {rocm}

OS: {system}
Python version: {python} (64-bit runtime)
Python platform: {platform}
CUDA runtime version: Could not collect
GPU models and configuration: {card}
Nvidia driver version: {driver}
cuDNN version: {cudnn}

Versions of relevant libraries:
[pip3] torch=={torch}
"""
NOTHING = "Could not collect"
SYSTEMS = {  # key of a planned system -> what collect_env prints for it and for Python's platform
    "linux-x86_64": ("Ubuntu 22.04.4 LTS (x86_64)", "Linux-6.8.0-45-generic-x86_64-with-glibc2.35"),
    "linux-aarch64": ("Ubuntu 22.04.4 LTS (aarch64)", "Linux-6.8.0-45-generic-aarch64-with-glibc2.35"),
    "windows-x86_64": ("Microsoft Windows 11 Pro (10.0.22631 64-bit)", "Windows-10-10.0.22631-SP0"),
    "wsl2": ("Ubuntu 22.04.4 LTS (x86_64)", "Linux-5.15.153.1-microsoft-standard-WSL2-x86_64-with-glibc2.35"),
    "macos-arm64": ("macOS {macos} (arm64)", "macOS-{macos}-arm64-arm-64bit"),
    "macos-x86_64": ("macOS {macos} (x86_64)", "macOS-{macos}-x86_64-i386-64bit"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpedStack:
    """A stack in the words of collect_env. `torch` with its build; what there is not is ""."""

    system: str
    torch: str
    python: str = "3.11.9"
    cuda: str = ""
    rocm: str = ""
    cudnn: str = ""
    card: str = ""
    driver: str = ""
    macos: str = ""

    @property
    def text(self) -> str:
        """What `python -m torch.utils.collect_env` prints; on a Mac the chip is printed as the CPU."""
        system, platform = (words.format(macos=self.macos) for words in SYSTEMS[self.system])
        is_mac = self.system.startswith("macos-")
        text = COLLECT_ENV.format(
            torch=self.torch,
            cuda=self.cuda or ("N/A" if self.rocm else "None"),
            rocm=self.rocm or "N/A",
            system=system,
            python=self.python,
            platform=platform,
            card=f"{'' if self.rocm else 'GPU 0: '}{self.card}" if self.card and not is_mac else NOTHING,
            driver=self.driver or NOTHING,
            cudnn=self.cudnn or NOTHING,
        )
        return f"{text}\nCPU:\n{self.card}\n" if is_mac and self.card else text


def broken_findings(dump: DumpedStack, tables: Tables, day: datetime) -> list[Finding]:
    """What the diagnosis calls broken in the dump."""
    return broken_findings_in(dump.text, tables, day)


def broken_findings_in(text: str, tables: Tables, day: datetime) -> list[Finding]:
    """What the diagnosis calls broken in a pasted text."""
    [machine] = machines(read_all(text))
    findings = judge_breaking(replace(machine.report(), created_at=day), tables)
    return [finding for finding in findings if finding.severity == Severity.BROKEN]

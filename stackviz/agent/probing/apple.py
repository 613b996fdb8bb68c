"""The Apple probe: chip, cores, memory, Metal and macOS, without root.

Sources: sysctl(3) names hw.*, machdep.cpu.*, iogpu.wired_limit_mb; `sw_vers`; `system_profiler -json`; `ioreg`
(class AGXAccelerator has gpu-core-count); `pmset`. Power and clocks need root on macOS and are not asked for.
"""

import plistlib
import re
from typing import Any

from stackviz.agent.probing.asking import Missing, Questions, Surroundings
from stackviz.importers import CardReading, Reading
from stackviz.importers.system_profiler import read_system_profiler
from stackviz.wire import Card

__all__ = ["QUESTIONS", "probe_apple"]

QUESTIONS = Questions()

_READINGS_OF_ROOT = ("power_w", "sm_clock_hz", "temperature_c")
_MIB = 2**20


def probe_apple(around: Surroundings) -> Reading:
    reading = Reading("apple")
    if around.system != "Darwin":
        for name in ("apple.chip", "apple.gpu_cores", "apple.metal_family"):
            reading.sheet.lack(name, "not_applicable", "not a Mac")
        return reading
    QUESTIONS.ask(around, reading.sheet)
    _read_profile(around, reading)
    _find_software(reading)
    return reading


# ---- sysctl and sw_vers ---------------------------------------------------------------------------------------------


def _sysctl(around: Surroundings, name: str) -> str:
    return around.run("sysctl", "-n", name).strip()


def _sysctl_number(around: Surroundings, name: str) -> int:
    text = _sysctl(around, name)
    if not re.fullmatch(r"-?\d{1,20}", text):
        raise Missing("not_reported", f"sysctl {name} says {text[:80]}")
    return int(text)


def _is_apple_silicon(around: Surroundings) -> bool:
    """hw.optional.arm64 is missing on Intel Macs; unlike the machine word it is not translated under Rosetta."""
    try:
        return _sysctl(around, "hw.optional.arm64") == "1"
    except Missing:
        return False


def _for_apple_silicon(around: Surroundings) -> None:
    if not _is_apple_silicon(around):
        raise Missing("not_applicable", "an Intel Mac")


@QUESTIONS.about("os.version")
def os_version(around: Surroundings) -> str:
    return around.run("sw_vers", "-productVersion").strip()


@QUESTIONS.about("os.build")
def os_build(around: Surroundings) -> str:
    return around.run("sw_vers", "-buildVersion").strip()


@QUESTIONS.about("machine.model")
def machine_model(around: Surroundings) -> str:
    return _sysctl(around, "hw.model")


@QUESTIONS.about("machine.vendor")
def machine_vendor(_around: Surroundings) -> str:
    return "Apple"


@QUESTIONS.about("machine.virtualization")
def machine_virtualization(around: Surroundings) -> str:
    if _sysctl(around, "kern.hv_vmm_present") != "1":
        raise Missing("not_applicable", "no sign of a hypervisor")
    return "apple-virtualization"


@QUESTIONS.about("machine.power_source")
def machine_power_source(around: Surroundings) -> str | None:
    match = re.search(r"Now drawing from '(AC|Battery) Power'", around.run("pmset", "-g", "batt"))
    return match[1].lower() if match else None


@QUESTIONS.about("machine.low_power_mode")
def machine_low_power_mode(around: Surroundings) -> bool | None:
    match = re.search(r"^\s*(?:lowpowermode|powermode)\s+(\d)", around.run("pmset", "-g"), re.MULTILINE)
    return match[1] == "1" if match else None


@QUESTIONS.about("cpu.model")
def cpu_model(around: Surroundings) -> str:
    return _sysctl(around, "machdep.cpu.brand_string")


@QUESTIONS.about("cpu.cores_physical")
def cpu_cores_physical(around: Surroundings) -> int:
    return _sysctl_number(around, "hw.physicalcpu")


@QUESTIONS.about("cpu.features")
def cpu_features(around: Surroundings) -> str | None:
    _for_apple_silicon(around)
    features = re.findall(r"hw\.optional\.arm\.FEAT_(\w+): 1", around.run("sysctl", "hw.optional.arm"))
    told = {"SME": "sme", "SME2": "sme2", "BF16": "bf16", "I8MM": "i8mm", "DotProd": "asimddp", "FP16": "fphp"}
    return " ".join(sorted(told[feature] for feature in features if feature in told)) or None


@QUESTIONS.about("memory.total_bytes")
def memory_total_bytes(around: Surroundings) -> int:
    return _sysctl_number(around, "hw.memsize")


@QUESTIONS.about("memory.gpu_limit_bytes")
def memory_gpu_limit_bytes(around: Surroundings) -> int:
    """0 stands for the default; that is torch.mps.recommended_max_memory(), which the torch probe asks."""
    _for_apple_silicon(around)
    megabytes = _sysctl_number(around, "iogpu.wired_limit_mb")
    if megabytes == 0:
        raise Missing("not_reported", "iogpu.wired_limit_mb is 0: the default, which only Metal tells")
    return megabytes * _MIB


@QUESTIONS.about("apple.chip")
def apple_chip(around: Surroundings) -> str:
    _for_apple_silicon(around)
    return _sysctl(around, "machdep.cpu.brand_string")


@QUESTIONS.about("apple.cpu_p_cores")
def apple_cpu_p_cores(around: Surroundings) -> int:
    _for_apple_silicon(around)
    return _sysctl_number(around, "hw.perflevel0.physicalcpu")


@QUESTIONS.about("apple.cpu_e_cores")
def apple_cpu_e_cores(around: Surroundings) -> int:
    _for_apple_silicon(around)
    levels = _sysctl_number(around, "hw.nperflevels")
    if levels < 2:
        raise Missing("not_applicable", "this chip has one kind of core")
    return sum(_sysctl_number(around, f"hw.perflevel{level}.physicalcpu") for level in range(1, min(levels, 8)))


@QUESTIONS.about("apple.gpu_cores")
def apple_gpu_cores(around: Surroundings) -> int | None:
    _for_apple_silicon(around)
    for accelerator in _registry(around, "AGXAccelerator"):
        count = accelerator.get("gpu-core-count")
        if isinstance(count, int):
            return count
    return None  # _read_profile may know


# ---- ioreg and system_profiler --------------------------------------------------------------------------------------


def _registry(around: Surroundings, name: str) -> list[dict[str, Any]]:
    """Entries of a class of the IORegistry: `ioreg -r -c <class> -d 1 -a` prints a property list."""
    text = around.run("ioreg", "-r", "-c", name, "-d", "1", "-a")
    try:
        entries = plistlib.loads(text.encode()) if text.strip() else []
    except Exception as error:  # noqa: BLE001 - plistlib raises what its parsers raise
        raise Missing("failed", f"ioreg prints no property list: {type(error).__name__}") from None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _read_profile(around: Surroundings, reading: Reading) -> None:
    """Cards from system_profiler; if it fails, the chip itself as sysctl names it."""
    try:
        told = read_system_profiler(
            around.run("system_profiler", "-json", "SPHardwareDataType", "SPDisplaysDataType", timeout_s=40)
        )
    except Missing as missing:
        reading.problem(f"system_profiler: {missing.detail}")
        told = Reading("system-profiler-json")
    for problem in told.problems:
        reading.problem(f"system_profiler: {problem}")
    for name, value in told.facts.items():
        reading.sheet.state(name, value)
    reading.software.extend(told.software)
    reading.cards.extend(_with_what_is_known(card, around, reading) for card in told.cards)
    if not reading.cards and "apple.chip" in reading.facts:
        chip = CardReading(0, "soc", "apple", str(reading.facts["apple.chip"]))
        chip.sheet.state("unified_memory", value=True)
        reading.cards.append(_with_what_is_known(chip.card(), around, reading))


def _with_what_is_known(card: Card, around: Surroundings, reading: Reading) -> Card:
    if card.vendor != "apple":
        return card
    told = CardReading(card.index, card.kind, card.vendor, card.reported_name)
    told.sheet.facts.update(card.facts)
    told.sheet.absent.update(card.absent)
    told.sheet.state("gpu_cores", reading.facts.get("apple.gpu_cores"))
    told.sheet.lack("gpu_cores", "not_reported")
    told.sheet.lack("memory_bytes", "not_applicable", "the GPU uses the machine's memory")
    told.sheet.state("registry_class", _registry_class(around))
    for name in _READINGS_OF_ROOT:
        told.sheet.lack(name, "not_supported", "macOS tells it to root only")
    return told.card()


def _registry_class(around: Surroundings) -> str | None:
    try:
        entries = _registry(around, "AGXAccelerator")
    except Missing:
        return None
    name = entries[0].get("IOClass") if entries else None
    return name if isinstance(name, str) else None


def _find_software(reading: Reading) -> None:
    version, build = reading.facts.get("os.version"), reading.facts.get("os.build")
    if version:
        reading.found("macos", version, "sw_vers")
        reading.found("accelerate", None, "part of macOS")
    if build:
        reading.found("metal-driver", build, "sw_vers: the driver is part of macOS")

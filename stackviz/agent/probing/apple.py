"""The Apple probe: chip, cores, memory, Metal and macOS, without root.

Sources: sysctl(3) names hw.*, machdep.cpu.*, iogpu.wired_limit_mb; `sw_vers`; `system_profiler -json`; `ioreg` (class
AGXAccelerator has gpu-core-count); `pmset`. Power and clocks need root on macOS and are not read.
"""

import re
import sys
from dataclasses import replace
from importlib import util

from stackviz.base.backports import PATH_WITHOUT_FOLDER
from stackviz.report.format import Card
from stackviz.report.format.facts import questions_of
from stackviz.report.format.facts.apple import for_apple_silicon, registry, sysctl, sysctl_number
from stackviz.report.format.facts.asking import MissingFact, Questions, Surroundings
from stackviz.report.importers import CardReading, Reading, read_all
from stackviz.report.importers.system_profiler import read_system_profiler

__all__ = ["QUESTIONS", "probe_apple"]

QUESTIONS = Questions()
"""What other probes ask on Linux and Windows, asked here in the way of macOS."""

_READINGS_OF_ROOT = ("power_w", "sm_clock_hz", "temperature_c")
_MIB = 2**20
_MLX = "import mlx.core as mx; print((getattr(mx, 'device_info', None) or mx.metal.device_info)())"


def probe_apple(around: Surroundings) -> Reading:
    reading = Reading(kind="apple")
    if around.system != "Darwin":
        for name in ("apple.chip", "apple.gpu_cores", "apple.metal_family"):
            reading.sheet.mark_missing(name, "not_applicable", "not a Mac")
        return reading
    QUESTIONS.ask(around, reading.sheet)
    questions_of("apple").ask(around, reading.sheet)
    _read_profile(around, reading)
    _read_mlx(around, reading)
    _find_software(reading)
    return reading


# ---- sysctl and sw_vers ---------------------------------------------------------------------------------------------


@QUESTIONS.about("os.version")
def macos_version(around: Surroundings) -> str:
    return around.run("sw_vers", "-productVersion").strip()


@QUESTIONS.about("machine.model")
def mac_model(around: Surroundings) -> str:
    return sysctl(around, "hw.model")


@QUESTIONS.about("machine.vendor")
def mac_vendor(_around: Surroundings) -> str:
    return "Apple"


@QUESTIONS.about("machine.virtualization")
def mac_virtualization(around: Surroundings) -> str:
    if sysctl(around, "kern.hv_vmm_present") != "1":
        raise MissingFact("not_applicable", "no sign of a hypervisor")
    return "apple-virtualization"


@QUESTIONS.about("machine.power_source")
def mac_power_source(around: Surroundings) -> str | None:
    match = re.search(r"Now drawing from '(AC|Battery) Power'", around.run("pmset", "-g", "batt"))
    return match[1].lower() if match else None


@QUESTIONS.about("cpu.model")
def mac_cpu_model(around: Surroundings) -> str:
    return sysctl(around, "machdep.cpu.brand_string")


@QUESTIONS.about("cpu.cores_physical")
def mac_cores_physical(around: Surroundings) -> int:
    return sysctl_number(around, "hw.physicalcpu")


@QUESTIONS.about("cpu.features")
def mac_cpu_features(around: Surroundings) -> str | None:
    for_apple_silicon(around)
    features = re.findall(r"hw\.optional\.arm\.FEAT_(\w+): 1", around.run("sysctl", "hw.optional.arm"))
    names = {"SME": "sme", "SME2": "sme2", "BF16": "bf16", "I8MM": "i8mm", "DotProd": "asimddp", "FP16": "fphp"}
    return " ".join(sorted(names[feature] for feature in features if feature in names)) or None


@QUESTIONS.about("memory.total_bytes")
def mac_memory_bytes(around: Surroundings) -> int:
    return sysctl_number(around, "hw.memsize")


# ---- ioreg and system_profiler --------------------------------------------------------------------------------------


def _read_profile(around: Surroundings, reading: Reading) -> None:
    """Cards from system_profiler; if it fails, the chip itself as sysctl names it."""
    try:
        answer = read_system_profiler(
            around.run("system_profiler", "-json", "SPHardwareDataType", "SPDisplaysDataType", timeout_s=40)
        )
    except MissingFact as missing:
        reading.problem(f"system_profiler: {missing.detail}")
        answer = Reading(kind="system-profiler-json")
    for problem in answer.problems:
        reading.problem(f"system_profiler: {problem}")
    for name, value in answer.facts.items():
        reading.sheet.state(name, value)
    reading.software.extend(answer.software)
    reading.cards.extend(_with_what_is_known(card, around, reading) for card in answer.cards)
    if not reading.cards and "apple.chip" in reading.facts:
        chip = CardReading(index=0, kind="soc", vendor="apple", reported_name=str(reading.facts["apple.chip"]))
        chip.sheet.state("unified_memory", value=True)
        reading.cards.append(_with_what_is_known(chip.card(), around, reading))


def _with_what_is_known(card: Card, around: Surroundings, reading: Reading) -> Card:
    if card.vendor != "apple":
        return card
    copied = CardReading(index=card.index, kind=card.kind, vendor=card.vendor, reported_name=card.reported_name)
    copied.sheet.facts.update(card.facts)
    copied.sheet.absent.update(card.absent)
    copied.sheet.state("gpu_cores", reading.facts.get("apple.gpu_cores"))
    copied.sheet.mark_missing("gpu_cores", "not_reported")
    copied.sheet.mark_missing("memory_bytes", "not_applicable", "the GPU uses the machine's memory")
    copied.sheet.state("registry_class", _registry_class(around))
    for name in _READINGS_OF_ROOT:
        copied.sheet.mark_missing(name, "not_supported", "macOS reports it to root only")
    return copied.card()


def _registry_class(around: Surroundings) -> str | None:
    try:
        entries = registry(around, "AGXAccelerator")
    except MissingFact:
        return None
    name = entries[0].get("IOClass") if entries else None
    return name if isinstance(name, str) else None


def _read_mlx(around: Surroundings, reading: Reading) -> None:
    """How much memory Metal recommends, which else only torch tells. In a child: importing MLX may crash."""
    try:
        if util.find_spec("mlx") is None:
            return
        text = around.run(sys.executable, "-c", PATH_WITHOUT_FOLDER + _MLX, timeout_s=around.within_s / 3)
    except MissingFact as missing:
        reading.problem(f"mlx: {missing.detail}")
        return
    for card in [card for dump in read_all(text).readings for card in dump.cards][:1]:
        limit = card.facts.get("recommended_max_memory_bytes")
        reading.sheet.state("memory.gpu_limit_bytes", limit)
        reading.cards = [
            replace(known, facts={**known.facts, "recommended_max_memory_bytes": limit})
            if limit and known.vendor == "apple"
            else known
            for known in reading.cards
        ]


def _find_software(reading: Reading) -> None:
    version, build = reading.facts.get("os.version"), reading.facts.get("os.build")
    if version:
        reading.add_software("macos", version, "sw_vers")
        reading.add_software("accelerate", None, "part of macOS")
    if build:
        reading.add_software("metal-driver", build, "sw_vers: the driver is part of macOS")

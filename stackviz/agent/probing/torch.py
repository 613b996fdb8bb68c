"""The torch probe: which torch, what it was built with, which devices it can use, which libraries it loads.

Importing torch can take long, crash or hang in a driver: this probe runs in a separate process like the others. Names
that only some releases have are read with getattr.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata, util
from types import ModuleType
from typing import Any

from stackviz.report.format import LIMITS, hashed_uuid
from stackviz.report.format.agent_texts import PART_OF_TORCH
from stackviz.report.format.components import PACKAGE_METADATA
from stackviz.report.format.facts import questions_of
from stackviz.report.format.facts.asking import MissingFact, Surroundings
from stackviz.report.importers.reading import CardReading, Reading

__all__ = ["probe_torch"]

HandBack = Callable[[Reading], None]


def probe_torch(around: Surroundings, hand_back: HandBack = lambda _reading: None) -> Reading:
    """Facts that need torch. Without it they are absent: not_installed, or failed with its import error.

    `hand_back` gets what is known so far: importing torch may crash, and any question may hang in a driver.
    """
    reading = Reading(kind="torch")
    questions = questions_of("torch")
    version = _installed_version()
    if version is not None:  # what pip lists, in case that nothing else is to be had
        reading.sheet.state("torch.version", version)
        reading.add_software("pytorch", version, PACKAGE_METADATA)
        hand_back(reading)
    try:
        torch = _import_torch()
    except MissingFact as missing:
        if missing.reason == "failed":
            reading.sheet.state("torch.import_error", missing.detail)
        for name in questions.names:
            reading.sheet.mark_missing(name, missing.reason, missing.detail)
        return reading
    reading = Reading(kind="torch")
    reading.add_software("pytorch", torch.__version__, "torch.__version__")
    questions.ask(replace(around, torch=torch), reading.sheet, after_each=lambda: hand_back(reading))
    _find_software(torch, reading)
    hand_back(reading)
    _read_cards(torch, reading)
    return reading


def _installed_version() -> str | None:
    """By torch's metadata; nothing of it is run."""
    try:
        return metadata.version("torch") if util.find_spec("torch") else None
    except (metadata.PackageNotFoundError, ValueError):  # a module that is put in by hand has no spec
        return None


def _import_torch() -> ModuleType:
    if util.find_spec("torch") is None:
        raise MissingFact("not_installed", "torch is not installed for this Python")
    try:
        import torch
    except Exception as error:  # noqa: BLE001 - a broken wheel or driver raises anything
        raise MissingFact("failed", f"import torch: {type(error).__name__}: {error}") from None
    if not hasattr(torch, "__version__"):
        raise MissingFact("failed", "a folder named torch hides the package")
    return torch  # type: ignore[no-any-return]


# ---- software -------------------------------------------------------------------------------------------------------


def _find_software(torch: Any, reading: Reading) -> None:  # noqa: ANN401
    if hasattr(torch, "compile"):  # since 2.0
        reading.add_software("torchinductor", torch.__version__, PART_OF_TORCH)
    for fact, component in (("cudnn.version", "cudnn"), ("nccl.version", "nccl")):
        if fact in reading.facts:
            reading.add_software(component, reading.facts[fact], "torch")
    if reading.facts.get("torch.hip_version"):
        reading.add_software("rocm", reading.facts["torch.hip_version"], "torch.version.hip")
    elif reading.facts.get("torch.cuda_version"):
        reading.add_software("cuda-runtime", reading.facts["torch.cuda_version"], "torch.version.cuda")
    if reading.facts.get("mps.available"):
        reading.add_software("mps", None, "torch.backends.mps")
        reading.add_software("mpsgraph", None, "torch.backends.mps")
        reading.add_software("mps-kernels", None, "torch.backends.mps")
    try:
        _find_cpu_libraries(str(torch.__config__.show()), reading)
    except Exception as error:  # noqa: BLE001 - half a torch; the facts above stay
        reading.problem(f"torch does not describe its build: {type(error).__name__}: {error}")


def _find_cpu_libraries(built_with: str, reading: Reading) -> None:
    """From the lines torch.__config__.show() prints about its build."""
    for component, pattern in _BUILT_WITH.items():
        match = re.search(pattern, built_with)
        if match:
            reading.add_software(component, match[1] if match.re.groups else None, "torch.__config__")


_BUILT_WITH = {
    "mkl": r"Math Kernel Library Version (\d[\d.]*)",
    "onednn": r"(?:MKL-DNN|oneDNN) v(\d[\w.]*)",
    "openmp": r"OpenMP \d+ \(a\.k\.a\. OpenMP ([\d.]+)\)",
    "openblas": r"BLAS_INFO=open\b",
    "accelerate": r"BLAS_INFO=accelerate\b",
}


# ---- cards ----------------------------------------------------------------------------------------------------------


def _read_cards(torch: Any, reading: Reading) -> None:  # noqa: ANN401
    """Cards as torch sees them. They are used only where no probe of their vendor reports more: see gather.py."""
    try:
        if reading.facts.get("cuda.available"):
            vendor = "amd" if reading.facts.get("torch.hip_version") else "nvidia"
            _read_devices(torch.cuda, vendor, reading)
        if reading.facts.get("xpu.available"):
            _read_devices(torch.xpu, "intel", reading)
    except Exception as error:  # noqa: BLE001 - a driver may fail anywhere in here; the facts above stay
        reading.problem(f"torch could not list its devices: {type(error).__name__}: {error}")


def _read_devices(backend: Any, vendor: str, reading: Reading) -> None:  # noqa: ANN401
    for number in range(min(int(backend.device_count()), LIMITS.cards - len(reading.cards))):
        properties = backend.get_device_properties(number)
        card = CardReading(
            index=len(reading.cards),
            kind="gpu",
            vendor=vendor,
            reported_name=str(properties.name),
            memory_bytes=int(properties.total_memory),
        )
        uuid = getattr(properties, "uuid", None)
        card.uuid_hash = hashed_uuid(str(uuid)) if uuid else None
        card.sheet.state("multiprocessors", getattr(properties, "multi_processor_count", None))
        if vendor == "nvidia":
            card.sheet.state("compute_capability", f"{properties.major}.{properties.minor}")
        else:
            target = getattr(properties, "gcnArchName", None)
            card.sheet.state("architecture", target or getattr(properties, "architecture", None))
            card.sheet.state("gfx_target", str(target).partition(":")[0] if target else None)
        card.sheet.mark_missing("power_w", "not_collected", "reported by torch only")
        reading.cards.append(card.card())

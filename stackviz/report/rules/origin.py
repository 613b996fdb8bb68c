"""Where a report comes from, as far as sorting causes goes: its dumps first, then the hints of the text around them."""

from collections.abc import Iterable

from stackviz.report.format import systems
from stackviz.report.messages.around_torch import AROUND_TORCH, AroundTorch
from stackviz.report.messages.commands import MAC_HARDWARE, NVIDIA_SMI, ROCMINFO
from stackviz.report.messages.hints import Hint
from stackviz.report.rules.look import Look

__all__ = ["command_here", "is_of", "origin_hints", "programs_of", "torch_refuses_card"]

_SYSTEMS: frozenset[Hint] = frozenset({"mac", "windows", "linux"})
_VENDORS: frozenset[Hint] = frozenset({"nvidia", "amd", "intel-gpu"})
_GROUPS: tuple[frozenset[str], ...] = (
    _SYSTEMS,
    _VENDORS | {"mac"},
    frozenset({"intel-mac", "apple-silicon"}),
)
"""Of each only one holds: a Mac has no CUDA."""
_IMPLIED: tuple[tuple[Hint, Hint], ...] = (
    ("intel-mac", "mac"),
    ("apple-silicon", "mac"),
    ("jetson", "linux"),
    ("jetson", "nvidia"),
    ("windows-arm", "windows"),
)
_PYTHON = "python "
_REFUSALS = frozenset({"capability-not-supported", "card-outside-range"})


def origin_hints(look: Look) -> frozenset[str]:
    """What the machine is known or said to be; what a dump states counts more than what the text hints at."""
    hints = set((look.get("message.hints") or "").split())
    hints |= {implied for hint, implied in _IMPLIED if hint in hints}
    if "wsl" in hints:
        hints.discard("windows")
        hints.add("linux")
    if "intel-mac" in hints:  # an Intel Python on a Mac with another chip is the fault itself
        hints.discard("apple-silicon")
    for group in _GROUPS[:2]:
        if len(hints & group) > 1:
            hints -= group - {"mac"} if hints & {"intel-mac", "apple-silicon"} else group
    return frozenset(_with_facts(look, hints))


def _with_facts(look: Look, hints: set[str]) -> set[str]:
    family = systems.family({"os.name": look.get("os.name")})
    if family:
        hints = (hints - _SYSTEMS) | {"mac" if family == "macos" else family}
    if look.get("os.wsl"):
        hints.add("wsl")
    if vendors := {card.vendor for card in look.all_cards} & {"nvidia", "amd", "intel"}:
        hints = (hints - _VENDORS) | {"intel-gpu" if vendor == "intel" else vendor for vendor in vendors}
    if systems.is_cpu_build(look.get("torch.version") or ""):
        hints.add("cpu-build")
    return hints | ({"linux-arm"} if look.wheel_platform == "linux-aarch64" else set())


def is_of(hints: frozenset[str], wanted: Iterable[str]) -> bool:
    """Whether one of these hints holds, or nothing says that none does."""
    names = set(wanted)
    if not names or names & hints:
        return True
    return not any(names & group and hints & group for group in _GROUPS) and not names - {
        name for group in _GROUPS for name in group
    }


def programs_of(look: Look) -> list[AroundTorch]:
    """The programs around torch that the text is of, the most telling first."""
    return [AROUND_TORCH[key] for key in (look.get("message.programs") or "").split() if key in AROUND_TORCH]


def command_here(look: Look, hints: frozenset[str], command: str) -> str:
    """The command that answers the same question here: no nvidia-smi on a Mac, the Python that the text shows."""
    if command.startswith("nvidia-smi") and "mac" in hints:
        return MAC_HARDWARE
    if command.startswith("nvidia-smi") and "amd" in hints:
        return ROCMINFO
    if command.startswith(_PYTHON) and "no-python" in hints and "mac" not in hints:
        return ROCMINFO if "amd" in hints else NVIDIA_SMI
    python = look.get("message.python")
    if python and command.startswith(_PYTHON):
        return f"{python} {command.removeprefix(_PYTHON)}"
    return command


def torch_refuses_card(look: Look) -> bool:
    """Whether torch warns of a card itself: it knows better than what follows from the PTX of its list."""
    return not _REFUSALS.isdisjoint((look.get("message.symptoms") or "").split())

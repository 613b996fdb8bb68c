"""One door to NVML: every quirk of the binding and every error code is dealt with here.

The binding is the module `pynvml` of the package nvidia-ml-py (the package named pynvml on PyPI is deprecated, and
some releases of it hide the real one). What NVML answers and fails with: NVML API reference, nvmlReturn_t.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ctypes import byref
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from stackviz.report.format.agent_texts import NO_NVML, NO_NVML_VERSION, OLD_BINDING, UNKNOWN_FIGURE
from stackviz.report.format.facts.asking import MissingFact

__all__ = [
    "CardLost",
    "NoNvml",
    "Nvml",
    "NvmlCard",
    "open_nvml",
    "throttle_bits",
    "throttle_words",
    "version_of_library",
]

# nvmlReturn_t, by number: older bindings lack names of newer codes
_INVALID_ARGUMENT = 2
_NOT_SUPPORTED = 3
_NO_PERMISSION = 4
_NOT_FOUND = 6
_DRIVER_NOT_LOADED = 9
_LIBRARY_NOT_FOUND = 12
_FUNCTION_NOT_FOUND = 13
_GPU_IS_LOST = 15
_MISMATCH = 18
_UNKNOWN = 999

_REASONS = {
    _INVALID_ARGUMENT: ("not_supported", "NVML says: invalid argument, which means not on this card"),
    _NOT_SUPPORTED: ("not_supported", None),
    _NO_PERMISSION: ("failed", "NVML says: no permission"),
    _NOT_FOUND: ("not_reported", "NVML says: not found"),
    _FUNCTION_NOT_FOUND: ("not_supported", "the driver is too old to be asked this"),
    _GPU_IS_LOST: ("failed", "GPU is lost"),
}
_NO_START = {
    _DRIVER_NOT_LOADED: ("failed", "the NVIDIA driver is installed and not loaded"),
    _LIBRARY_NOT_FOUND: ("not_installed", NO_NVML),
    _MISMATCH: (
        "failed",
        "driver and NVML library have different versions, as after an update: reboot, or reload the driver",
    ),
    _NO_PERMISSION: ("failed", "this user may not talk to the NVIDIA driver"),
}


_OWN_WORDS = {
    _NO_PERMISSION: "Insufficient Permissions",
    _DRIVER_NOT_LOADED: "Driver Not Loaded",
    _GPU_IS_LOST: "GPU is lost",
    _MISMATCH: "Driver/library version mismatch",
    _UNKNOWN: "Unknown Error",
}
"""What nvmlErrorString and nvidia-smi call them: people search for these words."""

_UNKNOWN_FIGURES = frozenset({2**31 - 1, 2**32 - 1, 2**64 - 1})
"""All ones, as wide as the answer: NVML fills an answer with them where the board does not tell. Nothing that is
asked here can reach them.
"""

_THROTTLE_BITS = {
    # NVML API reference, nvmlClocksEventReasons; bit 0 is "idle", which holds nothing back
    0x002: "applications_clocks_setting",
    0x004: "sw_power_cap",
    0x008: "hw_slowdown",
    0x010: "sync_boost",
    0x020: "sw_thermal_slowdown",
    0x040: "hw_thermal_slowdown",
    0x080: "hw_power_brake_slowdown",
    0x100: "display_clock_setting",
}


class NoNvml(MissingFact):
    """NVML does not start. `error_text`: how NVML calls it; None where it was not there to say anything."""

    def __init__(self, reason: str, detail: str, error_text: str | None = None) -> None:
        super().__init__(reason, detail)
        self.error_text = error_text


class CardLost(MissingFact):
    """The card stopped answering: nothing more need be asked of it."""


class Nvml:
    """NVML after nvmlInit. `ask` is the only way in."""

    def __init__(self, library: ModuleType) -> None:
        self._library = library

    def ask(self, function: str, *arguments: Any) -> Any:  # noqa: ANN401 - NVML's own types
        """What NVML answers, text as str. Raises Missing with the reason; CardLost when the card is gone."""
        call = getattr(self._library, function, None)
        if call is None:
            raise MissingFact("not_supported", OLD_BINDING.format(name=function))
        try:
            answer = call(*arguments)
        except self._library.NVMLError as error:
            raise _missing(error) from None
        return _known(answer)

    def first(self, *functions: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """Return the answer of the first of these that this binding and driver know: newer names come first."""
        for function in functions[:-1]:
            with suppress(_NotKnown):
                return self._ask_known(function, arguments)
        return self.ask(functions[-1], *arguments)

    def _ask_known(self, function: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        if not hasattr(self._library, function):
            raise _NotKnown
        try:
            return self.ask(function, *arguments)
        except CardLost:
            raise
        except MissingFact as missing:
            if missing.detail == _REASONS[_FUNCTION_NOT_FOUND][1]:
                raise _NotKnown from None
            raise

    def number(self, name: str) -> Any:  # noqa: ANN401
        """A constant of the binding."""
        return getattr(self._library, name)

    def field(self, handle: object, name: str) -> int:
        """One of the figures that have a number instead of a function. Raises Missing, CardLost."""
        return int(_known(self._field(handle, name).uiVal))

    def long_field(self, handle: object, name: str) -> int:
        """As `field`, of those that have 64 bits: counters since the driver was loaded."""
        return int(_known(self._field(handle, name).ullVal))

    def _field(self, handle: object, name: str) -> Any:  # noqa: ANN401
        number = getattr(self._library, name, None)
        if number is None:
            raise MissingFact("not_supported", OLD_BINDING.format(name=name))
        (answer,) = self.ask("nvmlDeviceGetFieldValues", handle, [number])
        if answer.nvmlReturn:
            raise _missing(self._library.NVMLError(answer.nvmlReturn))
        return answer.value

    def fabric_state(self, handle: object) -> tuple[int, int]:
        """Return the state of joining the fabric (nvmlGpuFabricState_t), and its result. Raises Missing, CardLost."""
        structure = getattr(self._library, "c_nvmlGpuFabricInfo_v2_t", None)
        if structure is None:
            raise MissingFact("not_supported", OLD_BINDING.format(name="c_nvmlGpuFabricInfo_v2_t"))
        info = structure()
        self.ask("nvmlDeviceGetGpuFabricInfoV", handle, byref(info))
        return int(info.state), int(info.status)


@dataclass(frozen=True, slots=True)
class NvmlCard:
    """One card, as its facts are asked of NVML; units are NVML's (mW, MHz, bytes) and become SI here."""

    nvml: Nvml
    handle: object

    def ask(self, function: str, *more: object) -> Any:  # noqa: ANN401
        """What NVML answers about this card. Raises Missing, CardLost."""
        return self.nvml.ask(function, self.handle, *more)

    def part(self, function: str, key: int | str, *more: object) -> Any:  # noqa: ANN401
        """One figure of an answer that has several: by its place in a list, or by its field's name."""
        answer = self.ask(function, *more)
        return _known(getattr(answer, key) if isinstance(key, str) else answer[key])

    def watts(self, function: str) -> float:
        return float(self.ask(function) / 1000)

    def clock_hz(self, function: str, clock: str) -> float:
        return float(self.ask(function, self.nvml.number(clock)) * 1e6)


class _NotKnown(Exception):
    """Neither the binding nor the driver knows this function."""


@contextmanager
def open_nvml() -> Iterator[Nvml]:
    """NVML, started and ended. Raises Missing if it cannot start."""
    try:
        import pynvml
    except ImportError:
        raise MissingFact("not_installed", "the package nvidia-ml-py is not installed for this Python") from None
    except Exception as error:  # noqa: BLE001 - a foreign module of that name may raise anything
        raise MissingFact("failed", f"import pynvml: {type(error).__name__}: {error}") from None
    if not hasattr(pynvml, "nvmlInit") or not hasattr(pynvml, "NVMLError"):
        raise MissingFact("failed", "a package hides NVML's binding: pip uninstall pynvml, pip install nvidia-ml-py")
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        reason, detail = _NO_START.get(_code(error), ("failed", f"NVML does not start: {error}"))
        error_text = None if reason == "not_installed" else _OWN_WORDS.get(_code(error), str(error))
        raise NoNvml(reason, detail, error_text) from None
    except OSError as error:
        raise NoNvml("failed", f"NVML does not load: {error}", f"NVML does not load: {error}") from None
    try:
        yield Nvml(pynvml)
    finally:
        with suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def version_of_library() -> str:
    """The version of NVML itself, which it tells even where it does not start. Raises Missing."""
    pynvml = sys.modules.get("pynvml")
    ask = getattr(pynvml, "nvmlSystemGetNVMLVersion", None)
    if ask is None:
        raise MissingFact("not_installed", "the package nvidia-ml-py is not installed for this Python")
    try:
        version = ask()
    except Exception as error:  # noqa: BLE001 - what a library that does not start makes of it
        raise MissingFact("failed", NO_NVML_VERSION.format(error=error)) from None
    return version.decode("utf-8", "replace") if isinstance(version, bytes) else str(version)


def throttle_bits(nvml: Nvml, handle: object) -> int:
    names = ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")
    return int(nvml.first(*names, arguments=(handle,)))


def throttle_words(bits: int) -> str:
    """The reasons as words, space separated; "none" where nothing holds the clock back."""
    return " ".join(reason for bit, reason in _THROTTLE_BITS.items() if bits & bit) or "none"


def _known(answer: Any) -> Any:  # noqa: ANN401
    """Decode text. Raises Missing for a figure that means "unknown"."""
    if isinstance(answer, int) and answer in _UNKNOWN_FIGURES:
        raise MissingFact("not_reported", UNKNOWN_FIGURE.format(answer=answer))
    return answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer


def _code(error: Exception) -> int:
    return int(getattr(error, "value", -1))


def _missing(error: Exception) -> MissingFact:
    code = _code(error)
    reason, detail = _REASONS.get(code, ("failed", f"NVML says: {error}"))
    return (CardLost if code == _GPU_IS_LOST else MissingFact)(reason, detail)

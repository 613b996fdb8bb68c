"""The packages probe: packages that are installed and may still not work, each imported in a child of its own.

Whether a package is there is told by its metadata (the python probe); only importing it tells whether it loads. What
is not installed is not imported.
"""

import sys
from importlib import util

from stackviz.agent.probing.asking import Missing, Questions, Surroundings
from stackviz.importers.reading import Reading

__all__ = ["QUESTIONS", "probe_packages"]

QUESTIONS = Questions()

_IMPORT_TIMEOUT_S = 45.0  # flash_attn imports torch, which takes long from a network disk
_PROVIDERS = "import onnxruntime; print('providers', *onnxruntime.get_available_providers())"


def probe_packages(around: Surroundings) -> Reading:
    reading = Reading("packages")
    QUESTIONS.ask(around, reading.sheet)
    return reading


def is_installed(module: str) -> bool:
    try:
        return util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def in_child(around: Surroundings, code: str) -> str:
    """What a Python of its own prints. -P: a file in the current folder must not stand in for a package."""
    return around.run(sys.executable, "-P", "-c", code, timeout_s=_IMPORT_TIMEOUT_S)


@QUESTIONS.about("flash_attn.import_error")
def flash_attn_import_error(around: Surroundings) -> str:
    if not is_installed("flash_attn"):
        raise Missing("not_applicable", "flash-attn is not installed for this Python")
    try:
        in_child(around, "import flash_attn")
    except Missing as missing:
        if missing.reason != "failed":
            raise
        return (missing.detail or "failed").removeprefix(f"{sys.executable} ")
    raise Missing("not_applicable", "flash_attn can be imported")


@QUESTIONS.about("onnxruntime.providers")
def onnxruntime_providers(around: Surroundings) -> str | None:
    if not is_installed("onnxruntime"):
        raise Missing("not_applicable", "onnxruntime is not installed for this Python")
    lines = [line for line in in_child(around, _PROVIDERS).splitlines() if line.startswith("providers ")]
    return lines[-1].removeprefix("providers ") if lines else None

"""The Python interpreter."""

import platform
import sysconfig

from stackviz.report.format.agent_texts import OTHER_SYSTEM
from stackviz.report.format.facts.asking import MissingFact, Surroundings
from stackviz.report.format.facts.table import FactTable

__all__ = ["FACTS"]

FACTS = FactTable(order=40, probe="python")


@FACTS.text("python.version", "3.12.4")
def python_version(_around: Surroundings) -> str:
    return platform.python_version()


@FACTS.text("python.implementation", "CPython, PyPy")
def python_implementation(_around: Surroundings) -> str:
    return platform.python_implementation()


@FACTS.text(
    "python.arch",
    "the interpreter's own machine word; arm64 hardware may run x86_64 Python",
    command='python -c "import platform; print(platform.machine())"',
)
def python_arch(_around: Surroundings) -> str:
    """What this interpreter was built for: `linux-x86_64`, `macosx-11.0-arm64` end in it; universal builds run as
    what the process runs as."""
    built_for = sysconfig.get_platform().rpartition("-")[2]
    return platform.machine() if built_for in {"universal2", "fat64", "intel", ""} else built_for


@FACTS.truth("python.rosetta", "this interpreter is translated by Rosetta")
def python_rosetta(around: Surroundings) -> bool:
    """sysctl.proc_translated: 1 for a translated process, 0 for a native one, missing on Intel Macs."""
    if around.system != "Darwin":
        raise MissingFact("not_applicable", OTHER_SYSTEM.format(systems="macOS"))
    try:
        return around.run("sysctl", "-n", "sysctl.proc_translated").strip() == "1"
    except MissingFact as missing:
        if missing.reason == "failed":
            return False
        raise


@FACTS.truth("python.free_threaded", "built without the global interpreter lock")
def python_free_threaded(_around: Surroundings) -> bool:
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

"""The Python probe: the interpreter, and which packages of the stack are installed, by their metadata alone.

Nothing is imported here: a broken package shows as installed, and fails in a probe of its own.
"""

import platform
import sysconfig
from importlib import metadata

from stackviz.agent.probing.asking import Missing, Questions, Surroundings
from stackviz.agent.probing.pip_index import pip_index_url
from stackviz.importers.reading import Reading
from stackviz.wire.packages import PACKAGE_METADATA, component_of

__all__ = ["QUESTIONS", "probe_python"]

QUESTIONS = Questions()

_HAS_A_PROBE = "pytorch"  # which imports it, and tells what runs


def probe_python(around: Surroundings) -> Reading:
    reading = Reading("python")
    QUESTIONS.ask(around, reading.sheet)
    reading.found("python", platform.python_version(), "platform")
    _find_packages(reading)
    return reading


def _find_packages(reading: Reading) -> None:
    for distribution in metadata.distributions():
        component = component_of(distribution.metadata["Name"] or "")
        if component is None or component == _HAS_A_PROBE:
            continue
        reading.found(component, distribution.version, PACKAGE_METADATA)
        if component == "cuda-runtime":
            reading.sheet.state("cuda.runtime_version", distribution.version)


QUESTIONS.about("pip.index_url")(pip_index_url)


@QUESTIONS.about("python.version")
def python_version(_around: Surroundings) -> str:
    return platform.python_version()


@QUESTIONS.about("python.implementation")
def python_implementation(_around: Surroundings) -> str:
    return platform.python_implementation()


@QUESTIONS.about("python.arch")
def python_arch(_around: Surroundings) -> str:
    """What this interpreter was built for: `linux-x86_64`, `macosx-11.0-arm64` end in it; universal builds run as
    what the process runs as."""
    built_for = sysconfig.get_platform().rpartition("-")[2]
    return platform.machine() if built_for in {"universal2", "fat64", "intel", ""} else built_for


@QUESTIONS.about("python.free_threaded")
def python_free_threaded(_around: Surroundings) -> bool:
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@QUESTIONS.about("python.rosetta")
def python_rosetta(around: Surroundings) -> bool:
    """sysctl.proc_translated: 1 for a translated process, 0 for a native one, missing on Intel Macs."""
    if around.system != "Darwin":
        raise Missing("not_applicable", "asked on macOS only")
    try:
        return around.run("sysctl", "-n", "sysctl.proc_translated").strip() == "1"
    except Missing as missing:
        if missing.reason == "failed":
            return False
        raise

"""Cards of AMD, Intel, Huawei and Google: tools of their makers, read by the importers of what people paste."""

from collections.abc import Callable

from stackviz.report.dumps.merge import merged
from stackviz.report.format.facts.asking import MissingFact, Surroundings
from stackviz.report.importers import Reading, read_all

__all__ = ["probe_vendor_tools"]

TOOLS: tuple[tuple[str, ...], ...] = (
    ("rocminfo",),
    ("amd-smi", "static"),
    ("amd-smi", "version"),
    ("rocm-smi", "--showproductname", "--showmeminfo", "vram", "--showdriverversion"),
    ("rocm-smi",),
    ("xpu-smi", "discovery"),
    ("sycl-ls",),
    ("npu-smi", "info"),
    ("tpu-info",),
)
"""None of them needs root or changes anything."""

_FOLDERS = ("", "/opt/rocm/bin/")  # where they are installed, on the path or not
_LONGEST_SHARE = 1 / 4  # of the time of the probe: each of them ends within seconds where the driver works
_FACTS = ("rocm.",)  # of the machine; what else they state the system probe states better

HandBack = Callable[[Reading], None]


def probe_vendor_tools(around: Surroundings, hand_back: HandBack = lambda _reading: None) -> Reading:
    """`hand_back` gets what is known before the next tool is run."""
    readings: list[Reading] = []
    problems: list[str] = []
    for argv in () if around.system == "Darwin" else TOOLS:
        try:
            text = _run(around, argv)
        except MissingFact as missing:
            if missing.reason != "not_installed":
                problems.append(str(missing.detail))
            continue
        readings += read_all(f"$ {' '.join(argv)}\n{text}").readings
        hand_back(_together(readings, problems))
    return _together(readings, problems)


def _run(around: Surroundings, argv: tuple[str, ...]) -> str:
    why = MissingFact("not_installed")
    for folder in _FOLDERS:
        try:
            return around.run(folder + argv[0], *argv[1:], timeout_s=around.within_s * _LONGEST_SHARE)
        except MissingFact as missing:
            if missing.reason != "not_installed":
                raise
            why = missing
    raise why


def _together(readings: list[Reading], problems: list[str]) -> Reading:
    """Their cards, each once, and their software."""
    reading = Reading(kind="tools")
    if readings:
        whole = merged(readings)
        reading.cards, reading.software = whole.cards, whole.software
        for name, value in whole.facts.items():
            if name.startswith(_FACTS):
                reading.sheet.state(name, value)
    for problem in [*problems, *(problem for each in readings for problem in each.problems)]:
        reading.problem(problem)
    return reading

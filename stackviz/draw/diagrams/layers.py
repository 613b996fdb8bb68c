"""The eight layers of a stack and the states of a box, with the words the page shows.

Pure: imports Django's translation only, never the database or a request.
"""

from enum import StrEnum
from functools import lru_cache

from django.utils.translation import get_language, gettext, gettext_noop


class Layer(StrEnum):
    """One of the eight layers, always listed and drawn top to bottom in this order. Colours: `--l-<value>`."""

    APPLICATION = "application"
    FRAMEWORK = "framework"
    COMPILER = "compiler"
    LIBRARY = "library"
    PLATFORM = "platform"
    DRIVER = "driver"
    OS = "os"
    HARDWARE = "hardware"

    @property
    def label(self) -> str:
        """The layer's name in the reader's language."""
        return _translated(LAYER_TITLES[self], get_language())


LAYER_TITLES = {
    Layer.APPLICATION: gettext_noop("Application"),
    Layer.FRAMEWORK: gettext_noop("Framework"),
    Layer.COMPILER: gettext_noop("Compiler"),
    Layer.LIBRARY: gettext_noop("Libraries"),
    Layer.PLATFORM: gettext_noop("Compute platform"),
    Layer.DRIVER: gettext_noop("Driver"),
    Layer.OS: gettext_noop("Operating system"),
    Layer.HARDWARE: gettext_noop("Hardware"),
}


class State(StrEnum):
    """The state of a box. Each has a label and a shape; colour only repeats them."""

    DESCRIBED = "described"  # part of a described stack, without a machine
    REPORTED = "reported"  # reported by a machine; checked by no rule
    FITS = "fits"  # a rule checked its requirements, and they hold
    WARNING = "warning"
    BROKEN = "broken"
    ABSENT = "absent"  # no component of the stack has this role
    UNKNOWN = "unknown"  # the machine did not report it

    @property
    def label(self) -> str:
        """The label of the box in the current language; "" for states without one."""
        return _translated(STATE_LABELS[self], get_language()) if self in STATE_LABELS else ""

    @property
    def outcome(self) -> str:
        """The outcome of a rule, before a line about the box; "" where no rule checked it."""
        return _translated(OUTCOME_LABELS[self], get_language()) if self in OUTCOME_LABELS else ""


STATE_LABELS = {
    State.FITS: gettext_noop("fits"),
    State.WARNING: gettext_noop("warning"),
    State.BROKEN: gettext_noop("broken"),
    State.ABSENT: gettext_noop("none"),
    State.UNKNOWN: gettext_noop("not reported"),
}

OUTCOME_LABELS = {
    State.FITS: gettext_noop("holds"),
    State.WARNING: gettext_noop("warning"),
    State.BROKEN: gettext_noop("broken"),
    State.UNKNOWN: gettext_noop("cannot tell"),
}
# The shape of each state, the same everywhere.
STATE_SHAPES = {
    State.DESCRIBED: "↳",
    State.REPORTED: "↳",
    State.FITS: "✓",
    State.WARNING: "▲",
    State.BROKEN: "✕",
    State.ABSENT: "–",
    State.UNKNOWN: "?",
}

# What a component is for: components with the same role do the same job, so they share a row across stacks, and inside
# one stack they are alternatives. A role not listed here is shown with its dashes as spaces.
ROLE_TITLES = {
    "program": gettext_noop("your program"),
    "interpreter": gettext_noop("interpreter"),
    "model-library": gettext_noop("model library"),
    "framework": gettext_noop("tensors and operators"),
    "graph-compiler": gettext_noop("graph compiler"),
    "kernel-compiler": gettext_noop("kernel language"),
    "device-compiler": gettext_noop("device compiler"),
    "model-compiler": gettext_noop("model compiler"),
    "inference-runtime": gettext_noop("inference runtime"),
    "array-library": gettext_noop("arrays on the CPU"),
    "neural-network-kernels": gettext_noop("neural-network kernels"),
    "matrix-product": gettext_noop("matrix product"),
    "cpu-math": gettext_noop("math on the CPU"),
    "collectives": gettext_noop("collectives"),
    "sparse": gettext_noop("sparse matrices"),
    "fourier-transform": gettext_noop("Fourier transform"),
    "kernel-templates": gettext_noop("kernel templates"),
    "threading": gettext_noop("threads"),
    "device-runtime": gettext_noop("device runtime"),
    "device-api": gettext_noop("device interface"),
    "toolkit": gettext_noop("developer toolkit"),
    "device-driver": gettext_noop("device driver"),
    "device-firmware": gettext_noop("device firmware"),
    "telemetry": gettext_noop("telemetry"),
    "operating-system": gettext_noop("operating system"),
    "guest-system": gettext_noop("guest system"),
    "accelerator": gettext_noop("accelerator"),
    "processor": gettext_noop("processor"),
    "memory": gettext_noop("memory"),
    "host-memory": gettext_noop("memory of the host"),
    "interconnect": gettext_noop("interconnect"),
    "matrix-unit": gettext_noop("matrix units"),
    "neural-engine": gettext_noop("neural engine"),
    "server": gettext_noop("server"),
    "launcher": gettext_noop("launcher"),
    "framework-plugin": gettext_noop("device plug-in"),
    "training-framework": gettext_noop("training"),
    "graph-capture": gettext_noop("graph capture"),
    "graph-ir": gettext_noop("operator sets"),
    "compiler-framework": gettext_noop("framework of compilers"),
    "build-tool": gettext_noop("build tool"),
    "attention-kernels": gettext_noop("attention kernels"),
    "quantised-kernels": gettext_noop("quantised kernels"),
    "solvers": gettext_noop("solvers"),
    "random-numbers": gettext_noop("random numbers"),
    "compatibility": gettext_noop("compatibility"),
    "driver-model": gettext_noop("driver model"),
    "sharing": gettext_noop("sharing a card"),
    "telemetry-binding": gettext_noop("telemetry from Python"),
    "fabric-service": gettext_noop("fabric service"),
    "host-system": gettext_noop("host system"),
    "system-image": gettext_noop("system image of the vendor"),
    "vendor-sdk": gettext_noop("software kit of the vendor"),
    "network-stack": gettext_noop("network between machines"),
    "container-runtime": gettext_noop("containers"),
    "partition": gettext_noop("slices of a card"),
    "binary-target": gettext_noop("what code is built for"),
    "monitor": gettext_noop("monitor"),
    "monitoring-service": gettext_noop("monitoring service"),
    "timeline-profiler": gettext_noop("profiler of a program"),
    "kernel-profiler": gettext_noop("profiler of a kernel"),
    "operator-profiler": gettext_noop("profiler of operators"),
    "compile-log": gettext_noop("log of the compiler"),
    "lister": gettext_noop("list of devices"),
    "network-tool": gettext_noop("network tool"),
}


def role_title(role: str) -> str:
    """The role's name in the reader's language: `matrix-product` -> "matrix product"."""
    return _translated(ROLE_TITLES.get(role) or role.replace("-", " "), get_language()) if role else ""


@lru_cache(maxsize=512)
def _translated(text: str, _language: str | None) -> str:
    """A drawing asks for the same few words some two hundred times."""
    return gettext(text)

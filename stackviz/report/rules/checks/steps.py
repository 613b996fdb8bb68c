"""The smallest step to a torch that works: the same release from another index first, then the nearest one.

Bounded by what is installed here: Python, the C library, conda's packages, packages that are built for one torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from stackviz.base.sentence import join_sentences, say
from stackviz.report.format.systems import cuda_of, is_cpu_build, wheel_variant
from stackviz.report.rules.checks.companions import found_companions, line_specs
from stackviz.report.rules.compatibility import Tables, computed_once
from stackviz.report.rules.drivers import reaches, shipped_drivers
from stackviz.report.rules.look import Look
from stackviz.report.rules.versions import is_below, major_minor, numbers

__all__ = ["JETSON", "ReleasedBuild", "after", "before", "for_shell", "nearest", "why_not_installable"]

JETSON = say(
    "The torch of a Jetson comes from NVIDIA's index for its JetPack, not from pytorch.org: "
    "https://docs.nvidia.com/deeplearning/frameworks/install-pytorch-jetson-platform/ names the wheel for each "
    "JetPack (cat /etc/nv_tegra_release prints the release)."
)
DROPPED_FIRST = "7.5"  # builds for a newer CUDA leave out cards below: Maxwell and Pascal, then Volta
_PINNED = {"vllm": "vLLM", "xformers": "xFormers", "flash-attn": "flash-attn"}
_WHEELS = "linux-x86_64"  # whose releases for Python are in the tables; other systems have the same
# The sum fails where the build has no code for the card, of which is_available() knows nothing.
_CHECK = say(
    'To check: python -c "import torch; print(torch.__version__, torch.cuda.is_available()); torch.ones(1).cuda() + 1".'
)


@dataclass(frozen=True, slots=True)
class ReleasedBuild:
    """torch of one release line ("2.14") for one CUDA version ("cu126")."""

    torch: str
    variant: str

    @property
    def cuda(self) -> str:
        return cuda_of(self.variant)


def nearest(look: Look, tables: Tables, builds: Sequence[ReleasedBuild]) -> ReleasedBuild:
    """Of these builds (one at least), the one that changes least; the newest where no torch is told.

    Of those that install here if any does. Of one release: the newest CUDA that the driver came with or is newer
    than, else the oldest CUDA, which asks least of the driver; the oldest for cards that newer builds leave out first.
    """
    fitting = [build for build in builds if not why_not_installable(look, tables, build)] or list(builds)
    lines = sorted({build.torch for build in fitting}, key=numbers)
    here = major_minor(look.get("torch.version") or "")
    line = min(lines, key=lambda other: _distance(here, other)) if here else lines[-1]
    variants = sorted((build for build in fitting if build.torch == line), key=lambda build: numbers(build.cuda))
    if any(is_below(card.get("compute_capability") or DROPPED_FIRST, DROPPED_FIRST) for card in look.cards("nvidia")):
        return variants[0]
    native = [build for build in variants if _is_native(look, tables, build)]
    return native[-1] if native else variants[0]


def _distance(here: str, other: str) -> tuple[int, bool]:
    """How many releases apart, a newer one first. A change of the major version counts as twenty releases."""
    (major, minor), (other_major, other_minor) = ((*numbers(line), 0)[:2] for line in (here, other))
    return abs((other_major - major) * 20 + other_minor - minor), is_below(other, here)


def _is_native(look: Look, tables: Tables, build: ReleasedBuild) -> bool:
    """Whether the driver is as new as the one that shipped with this CUDA, or nothing says that it is not."""
    driver = look.get("nvidia.driver_version")
    shipped = shipped_drivers(tables, build.cuda, look.driver_platform)
    return not driver or not shipped or reaches(tables, driver, shipped[0].values, look.driver_platform) is not False


def why_not_installable(look: Look, tables: Tables, build: ReleasedBuild) -> str:
    """What this machine lacks for the wheels of a build, and how to get it; "" where nothing is known to be lacking."""
    python = major_minor(look.get("python.version") or "")
    pythons = [version for version in _pythons(tables, build.torch) if not version.endswith("t")]
    if python and pythons and python not in pythons:
        return say(
            "torch {torch} has wheels for Python {pythons} to {pythons_2}, and this is {python}: make a new "
            "environment first (uv venv --python {pythons_3}, or conda create)",
            build.torch,
            pythons[0],
            pythons[-1],
            python,
            pythons[-2 if len(pythons) > 1 else -1],
        )
    libc, floor = look.get("os.libc") or "", _glibc(tables, build.torch)
    have = libc.removeprefix("glibc").strip()
    if look.wheel_platform.startswith("linux") and libc.startswith("glibc") and floor and is_below(have, floor):
        return say(
            "The wheels of torch {torch} need glibc {floor}, and this system has {have}: use a container or a newer "
            "release of the system",
            build.torch,
            floor,
            have,
        )
    if libc.startswith("musl"):
        return say("torch has no wheels for musl: use a container with glibc")
    return ""


@computed_once
def _pythons(tables: Tables, line: str) -> tuple[str, ...]:
    rows = tables.rows("pytorch", "needs", "python", platform=_WHEELS)
    return tuple(next((row.values for row in reversed(rows) if major_minor(row.version) == line), "").split())


@computed_once
def _glibc(tables: Tables, line: str) -> str:
    rows = tables.rows("pytorch", "needs", "glibc", platform=_WHEELS)
    return next((row.low for row in reversed(rows) if major_minor(row.version) == line), "")


def before(look: Look) -> str:
    """What has to go before pip installs another torch; "" where nothing has to."""
    if not look.is_from_conda("pytorch"):
        return ""
    packages = " ".join(["pytorch", *found_companions(look)])
    return say("conda's own torch goes first, or two are mixed: conda remove {packages}; then: ", packages)


def after(look: Look, tables: Tables, build: ReleasedBuild) -> str:
    """What else this changes, how to check it, how to undo it."""
    return join_sentences([_pinned(look, build), _CHECK, _undo(look, tables)])


def _pinned(look: Look, build: ReleasedBuild) -> str:
    """The packages found that are compiled for one torch, and what they need then."""
    pinned = {slug: versions for slug in _PINNED if (versions := look.software(slug))}
    if not pinned:
        return ""
    named = ", ".join(f"{_PINNED[slug]} {versions[0]}".strip() for slug, versions in pinned.items())
    if major_minor(look.get("torch.version") or "") == build.torch:
        return say(
            "{named}: compiled for a CUDA too; install the build for {variant}, if it no longer loads.",
            named,
            build.variant,
        )
    vllm_too = say("vLLM pins its torch: better install a newer vLLM, which brings one.") if "vllm" in pinned else ""
    needed = say(
        "{named}: made for one release of torch, and need their own release for torch {torch}.", named, build.torch
    )
    return join_sentences([needed, vllm_too])


def _undo(look: Look, tables: Tables) -> str:
    """How to get the present torch back; "" where its index is not known."""
    torch = look.get("torch.version") or ""
    release, local = ".".join(map(str, numbers(torch)[:3])), torch.partition("+")[2]
    index = "cpu" if is_cpu_build(torch) else local or wheel_variant(look.get("torch.cuda_version") or "")
    if look.is_from_conda("pytorch") or not release or not (index == "cpu" or cuda_of(index)):
        return ""
    packages = " ".join([f"torch=={release}", *line_specs(look, tables, major_minor(torch))])
    return say(
        "To undo: the same with --force-reinstall {for_shell} and the index {index}", for_shell(look, packages), index
    )


def for_shell(look: Look, command: str) -> str:
    """A command for bash with the Python that the text shows, and with double quotes for the shells of Windows."""
    python = look.get("message.python")
    if python and command.startswith("pip "):
        command = f"{python} -m {command}"
    return command.replace("'", '"') if look.wheel_platform.startswith("windows") else command

"""A Mac: is Python native, does torch's mps device work, and does it really run everything?"""

from collections.abc import Iterator, Sequence

from stackviz.rules.compatibility import Requirement, Source, Tables, newest_up_to
from stackviz.rules.finding import Severity, Verdict
from stackviz.rules.look import Look
from stackviz.rules.rule import Rule
from stackviz.rules.versions import is_below, numbers

ROSETTA = Source(
    "pytorch-issue-146236",
    "pytorch/pytorch issue 146236: torch under Rosetta",
    "https://github.com/pytorch/pytorch/issues/146236",
)
MPS_MACOS = Source(
    "pytorch-issue-159275",
    "pytorch/pytorch issue 159275: MPS drops macOS 13",
    "https://github.com/pytorch/pytorch/issues/159275",
)
MPS_NONE = Source(
    "pytorch-issue-167679",
    "pytorch/pytorch issue 167679: MPS built, not available on macOS 26",
    "https://github.com/pytorch/pytorch/issues/167679",
)
MPS_FALLBACK = Source(
    "pytorch-mps-environment",
    "PyTorch documentation, MPS environment variables",
    "https://docs.pytorch.org/docs/stable/mps_environment_variables.html",
)


def is_apple_silicon(look: Look) -> bool | None:
    """Whether the chip is Apple's own; None if the report does not say."""
    if look.get("apple.chip"):
        return True
    if (look.get("python.arch") or "") == "arm64" or (look.get("os.arch") or "") == "arm64":
        return True
    model = look.get("cpu.model")
    return None if model is None else model.startswith("Apple")


def check_rosetta(look: Look, tables: Tables) -> Iterator[Verdict]:
    if look.platform != "macos":
        return
    translated = look.is_true("python.rosetta")
    if translated is None:
        arch = look.need("python.arch")
        if arch == "arm64":
            return
        if is_apple_silicon(look) is None:
            look.need("apple.chip")
        translated = bool(is_apple_silicon(look))
    if translated:
        yield Verdict(
            Severity.BROKEN,
            "Python is an Intel program translated by Rosetta",
            f"{_intel_wheels(tables)}, the mps device is out of reach, and the system may state an old macOS version.",
            'Install a Python for arm64 (python3 -c "import platform; print(platform.machine())" must print arm64).',
        )


def _intel_wheels(tables: Tables) -> str:
    rows = tables.rows("pytorch", "offers", "wheel", platform="macos-x86_64")
    offered = [row.version for row in rows if row.values == "yes"]
    return f"torch has no Intel wheels for macOS after {offered[-1]}" if offered else "Few wheels are built for it"


def check_mps_macos(look: Look, tables: Tables) -> Iterator[Verdict]:
    if look.platform != "macos" or look.is_true("python.rosetta") or look.says_none("torch.version"):
        return
    if is_apple_silicon(look) is False:
        return
    torch, macos = look.need("torch.version"), look.need("os.version")
    rows = list(tables.rows("pytorch", "needs", "macos", part="mps"))
    row = next(iter(newest_up_to(rows, torch)), None)
    if row is None:
        return  # before 1.12 there is no mps device to ask for
    if is_below(macos, row.low):
        yield Verdict(
            Severity.BROKEN,
            f"torch {torch} asks for macOS {row.low} before it uses the GPU; this Mac has {macos}",
            "The wheel installs, and torch.backends.mps.is_available() says no: everything runs on the CPU.",
            _older_torch(rows, macos),
            source=row.source,
        )
    elif is_below(rows[-1].version, torch) and look.is_true("mps.available") is not True:
        yield Verdict(
            Severity.CANNOT_TELL,
            f"Cannot tell which macOS torch {torch} asks for: the newest release known here is {rows[-1].version}",
        )
    else:
        yield Verdict(Severity.FITS, f"torch {torch} needs macOS {row.low} for mps: has {macos}", source=row.source)


def _older_torch(rows: Sequence[Requirement], macos: str) -> str:
    fitting = [row.version for row in rows if not is_below(macos, row.low)]
    older = f", or install torch {fitting[-1]}, the newest for macOS {numbers(macos)[0]}" if fitting else ""
    return f"Update macOS{older}."


def check_mps_unavailable(look: Look, tables: Tables) -> Iterator[Verdict]:
    if look.platform != "macos" or look.says_none("torch.version") or look.says_none("mps.built"):
        return
    if look.is_true("python.rosetta") or is_apple_silicon(look) is False:
        return
    if look.need("mps.built") != "true":
        return
    if look.need("mps.available") == "true":
        yield Verdict(Severity.FITS, "torch can use the mps device")
        return
    if any(verdict.severity == Severity.BROKEN for verdict in check_mps_macos(look, tables)):
        return  # mps-old-macos says why
    yield Verdict(
        Severity.WARNING,
        "torch is built with mps, and the device is not available",
        "macOS is new enough, yet torch finds no Metal device. Seen in virtual machines, sandboxes and remote "
        "sessions; torch then prints that macOS is too old, which need not be so.",
        "Run from a session of the logged-in user outside any sandbox, and compare with: system_profiler "
        "SPDisplaysDataType",
    )


def check_mps_fallback(look: Look, _tables: Tables) -> Iterator[Verdict]:
    if look.platform != "macos" or look.says_none("torch.version") or look.says_none("mps.fallback"):
        return
    if look.is_true("mps.available") is False:
        return
    if look.need("mps.fallback") not in ("0", ""):
        yield Verdict(
            Severity.WARNING,
            "PYTORCH_ENABLE_MPS_FALLBACK is set: operators the GPU lacks run on the CPU",
            "Nothing fails, and a part of the model may run on the CPU with a copy each way; timings do not show it.",
            "unset PYTORCH_ENABLE_MPS_FALLBACK to see which operators are missing.",
        )


RULES = (
    Rule("rosetta", "python", "Python is native to this Mac", ROSETTA, check_rosetta),
    Rule("mps-old-macos", "macos", "macOS is new enough for torch's mps device", MPS_MACOS, check_mps_macos),
    Rule("mps-unavailable", "mps", "torch can use the mps device", MPS_NONE, check_mps_unavailable),
    Rule("mps-fallback", "mps", "missing operators run on the CPU instead", MPS_FALLBACK, check_mps_fallback),
)

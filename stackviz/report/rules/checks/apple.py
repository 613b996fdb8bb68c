"""A Mac: is Python native, does torch's mps device work, and does it really run everything?"""

import re
from collections.abc import Iterator, Sequence

from stackviz.base.sentence import say
from stackviz.report.rules.compatibility import Requirement, RuleSource, Tables, newest_up_to
from stackviz.report.rules.look import Look, NotReported
from stackviz.report.rules.package_releases import first_with_macos
from stackviz.report.rules.rule import Check, Conclusion, RuleSet, Severity
from stackviz.report.rules.versions import is_below, major_minor, numbers, same_line

RULES = RuleSet(order=60)

ROSETTA = RuleSource(
    "pytorch-issue-146236",
    "pytorch/pytorch issue 146236: torch under Rosetta",
    "https://github.com/pytorch/pytorch/issues/146236",
)
MPS_MACOS = RuleSource(
    "pytorch-issue-159275",
    "pytorch/pytorch issue 159275: MPS drops macOS 13",
    "https://github.com/pytorch/pytorch/issues/159275",
)
MPS_NONE = RuleSource(
    "pytorch-issue-167679",
    "pytorch/pytorch issue 167679: MPS built, not available on macOS 26",
    "https://github.com/pytorch/pytorch/issues/167679",
)
MPS_FALLBACK = RuleSource(
    "pytorch-mps-environment",
    "PyTorch documentation, MPS environment variables",
    "https://docs.pytorch.org/docs/stable/mps_environment_variables.html",
)
CUDA_INDEX = RuleSource(
    "ai-engineering-340",
    "rohitg00/ai-engineering-from-scratch issue 340: a CUDA index on a Mac",
    "https://github.com/rohitg00/ai-engineering-from-scratch/issues/340",
)
MLX_INSTALL = RuleSource(
    "mlx-build", "MLX, Build and Install", "https://ml-explore.github.io/mlx/build/html/install.html"
)
TENSORFLOW_METAL = RuleSource(
    "tensorflow-metal",
    "Apple, Get started with tensorflow-metal",
    "https://developer.apple.com/metal/tensorflow-plugin/",
)
JAX_METAL = RuleSource("jax-metal", "Apple, Accelerated JAX on Mac", "https://developer.apple.com/metal/jax/")
COREMLTOOLS = RuleSource("coremltools", "apple/coremltools", "https://github.com/apple/coremltools")
WHEELS = (
    ("mlx", "MLX", MLX_INSTALL),
    ("tensorflow-metal", "tensorflow-metal", TENSORFLOW_METAL),
    ("jax-metal", "jax-metal", JAX_METAL),
    ("coremltools", "coremltools", COREMLTOOLS),
)
FIRST_MACOS_ON_APPLE_SILICON = "10.16"  # macOS 11, as it calls itself to programs built for older systems
_FOR_CARDS = re.compile(r"cu\d{2,3}|rocm\d[\d.]*|xpu")


def is_apple_silicon(look: Look) -> bool | None:
    """Whether the chip is Apple's own; None if the report does not say."""
    if look.get("apple.chip"):
        return True
    if (look.get("python.arch") or "") == "arm64" or (look.get("os.arch") or "") == "arm64":
        return True
    if look.is_true("python.rosetta") is False and look.get("python.arch") == "x86_64":
        return False
    model = look.get("cpu.model")
    return None if model is None else model.startswith("Apple")


def _speaks_of_python(look: Look) -> bool:
    """A listing of the machine alone leaves no question about Python open."""
    return look.mentions_torch or any(
        look.mentions(name) for name in ("python.version", "python.arch", "python.rosetta")
    )


def _is_older_than_apple_silicon(look: Look) -> bool:
    version = look.get("os.version")
    return bool(version and numbers(version)) and is_below(version or "", FIRST_MACOS_ON_APPLE_SILICON)


@RULES.rule("rosetta", "python", asks="Python is native to this Mac", worst=Severity.BROKEN, source=ROSETTA)
def check_rosetta(look: Look, tables: Tables) -> Iterator[Conclusion]:
    if look.platform != "macos" or not _speaks_of_python(look):
        return
    translated = look.is_true("python.rosetta")
    if translated is None:
        if _is_older_than_apple_silicon(look):
            return
        arch = look.need("python.arch")
        if arch == "arm64":
            return
        if is_apple_silicon(look) is None:
            look.need("apple.chip")
        translated = bool(is_apple_silicon(look))
    if translated:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("Python is an Intel program translated by Rosetta"),
            explanation=say(
                "{intel_wheels}, the mps device is unavailable, and the system may report an old macOS version.",
                _intel_wheels(tables),
            ),
            advice=say(
                'Install a Python for arm64 (python3 -c "import platform; print(platform.machine())" must print arm64).'
            ),
        )


def _intel_wheels(tables: Tables) -> str:
    rows = tables.rows("pytorch", "offers", "wheel", platform="macos-x86_64")
    offered = [row.version for row in rows if row.values == "yes"]
    return (
        say("torch has no Intel wheels for macOS after {offered}", offered[-1])
        if offered
        else say("Few packages publish wheels for it")
    )


@RULES.rule(
    "mps-old-macos", "macos", asks="macOS is new enough for torch's mps device", worst=Severity.BROKEN, source=MPS_MACOS
)
def check_mps_macos(look: Look, tables: Tables) -> Iterator[Conclusion]:
    if look.platform != "macos" or look.is_true("python.rosetta") or look.states_none("torch.version"):
        return
    if not look.mentions_torch:
        return
    if is_apple_silicon(look) is False:
        return
    torch, macos = look.need("torch.version"), look.need("os.version")
    rows = list(tables.rows("pytorch", "needs", "macos", part="mps"))
    row = next(iter(newest_up_to(rows, torch)), None)
    if row is None:
        return  # before 1.12 there is no mps device to ask for
    works = look.works("mps")
    if is_below(macos, row.low) and works:
        yield _works_below_the_floor(torch, macos, row)
    elif is_below(macos, row.low) and same_line(macos, FIRST_MACOS_ON_APPLE_SILICON):
        raise NotReported("os.version")
    elif is_below(macos, row.low):
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("torch {torch} needs macOS {low} to use the GPU; this Mac has {macos}", torch, row.low, macos),
            explanation=say(
                "The wheel installs, but torch.backends.mps.is_available() returns False: everything runs on the CPU."
            ),
            advice=_older_torch(rows, macos),
            source=row.source,
        )
    elif is_below(rows[-1].version, torch) and not works:
        yield Conclusion(
            severity=Severity.CANNOT_TELL,
            title=say(
                "Cannot tell which macOS torch {torch} needs: the newest release known here is {version}",
                torch,
                rows[-1].version,
            ),
        )
    else:
        yield Conclusion(
            severity=Severity.FITS,
            title=say("torch {torch} needs macOS {low} for mps: has {macos}", torch, row.low, macos),
            source=row.source,
        )


def _works_below_the_floor(torch: str, macos: str, row: Requirement) -> Conclusion:
    if same_line(macos, FIRST_MACOS_ON_APPLE_SILICON):
        title = say(
            "torch {torch} uses the mps device; macOS reports {macos} to older programs, whatever its real version",
            torch,
            macos,
        )
        return Conclusion(severity=Severity.FITS, title=title, source=row.source)
    return Conclusion(
        severity=Severity.NOTE,
        title=say(
            "torch {torch} needs macOS {low}; the mps device is available although {macos} is reported",
            torch,
            row.low,
            macos,
        ),
        explanation=say(
            "Both cannot be true at the same time: macOS may have been updated since, or it reports an old version to "
            "a program built for older systems."
        ),
        advice=say("Compare with: sw_vers -productVersion"),
        source=row.source,
    )


def _older_torch(rows: Sequence[Requirement], macos: str) -> str:
    fitting = [row.version for row in rows if not is_below(macos, row.low)]
    older = (
        say(", or install torch {fitting}, the newest for macOS {numbers}", fitting[-1], numbers(macos)[0])
        if fitting
        else ""
    )
    return say("Update macOS{older}.", older)


@RULES.rule("mps-unavailable", "mps", asks="torch can use the mps device", worst=Severity.WARNING, source=MPS_NONE)
def check_mps_unavailable(look: Look, tables: Tables) -> Iterator[Conclusion]:
    if look.platform != "macos" or look.states_none("torch.version") or look.states_none("mps.built"):
        return
    if look.is_true("python.rosetta") or is_apple_silicon(look) is False:
        return
    if not look.mentions("mps.built") and not look.mentions("mps.available"):
        return  # older tools do not speak of it
    if look.need("mps.built") != "true":
        return
    if look.need("mps.available") == "true":
        yield Conclusion(severity=Severity.FITS, title=say("torch can use the mps device"))
        return
    if any(conclusion.severity == Severity.BROKEN for conclusion in check_mps_macos(look, tables)):
        return  # mps-old-macos says why
    yield Conclusion(
        severity=Severity.WARNING,
        title=say("torch is built with mps, but the device is not available"),
        explanation=say(
            "macOS is new enough, but torch finds no Metal device. This happens in virtual machines, sandboxes and "
            "remote sessions; torch then reports that macOS is too old, which may not be true."
        ),
        advice=say(
            "Run from a session of the logged-in user outside any sandbox, and compare with: system_profiler "
            "SPDisplaysDataType"
        ),
    )


@RULES.rule(
    "mps-fallback", "mps", asks="missing operators fall back to the CPU", worst=Severity.WARNING, source=MPS_FALLBACK
)
def check_mps_fallback(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if look.platform != "macos" or look.states_none("torch.version") or look.states_none("mps.fallback"):
        return
    if not look.mentions("mps.fallback"):
        return  # no dump tells it
    if look.is_true("mps.available") is False:
        return
    if look.need("mps.fallback") not in ("0", ""):
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("PYTORCH_ENABLE_MPS_FALLBACK is set: operators without a GPU kernel run on the CPU"),
            explanation=say(
                "Nothing fails, but part of the model may run on the CPU, with a copy each way; timings do not show "
                "which part."
            ),
            advice=say("unset PYTORCH_ENABLE_MPS_FALLBACK to see which operators are missing."),
        )


@RULES.rule(
    "mac-cu-index", "pytorch", asks="pip uses an index with wheels for macOS", worst=Severity.BROKEN, source=CUDA_INDEX
)
def check_cuda_index(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if look.platform != "macos":
        return
    index = look.get("pip.index_url") or ""
    build = next((part for part in index.split("/") if _FOR_CARDS.fullmatch(part)), None)
    if build is None:
        return
    yield Conclusion(
        severity=Severity.BROKEN,
        title=say("pip looks for torch among the builds for {build}, which has none for macOS", build),
        explanation=say(
            "An index of builds for CUDA or ROCm has wheels for Linux and Windows only: pip finds nothing, or an old "
            "version."
        ),
        advice=say("pip config unset global.index-url (and unset PIP_INDEX_URL), then: pip install torch"),
    )


def wheel_on_macos(component: str, name: str) -> Check:
    """The check of a package whose wheels ask for a macOS: one rule each."""

    def check(look: Look, tables: Tables) -> Iterator[Conclusion]:
        if look.platform != "macos" or look.is_true("python.rosetta"):
            return
        versions = look.software(component)
        if not versions:
            return
        if not numbers(versions[0]):
            raise NotReported(component)
        row = first_with_macos(tables, component, versions[0], look.wheel_platform or "macos-arm64")
        if row is None:
            return
        macos = look.need("os.version")
        if not is_below(macos, row.low):
            title = say("{name} {versions} needs macOS {low}: has {macos}", name, versions[0], row.low, macos)
            yield Conclusion(severity=Severity.FITS, title=title, source=row.source)
            return
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say("{name} {versions} needs macOS {low}; this Mac has {macos}", name, versions[0], row.low, macos),
            explanation=say(
                "Since {version} its wheels are built for macOS {low} and newer. On an older system the package fails "
                "when it is imported, or when it uses something the system lacks.",
                row.version,
                row.low,
            ),
            advice=say("Update macOS, or install a release of {name} before {version}.", name, row.version),
            source=row.source,
        )

    return check


for _component, _name, _source in WHEELS:
    RULES.rule(
        f"{_component}-old-macos",
        _component,
        asks=say("macOS is new enough for {name}", _name),
        worst=Severity.BROKEN,
        source=_source,
        needs=(_component, "macos"),
    )(wheel_on_macos(_component, _name))


@RULES.rule(
    "coremltools-torch",
    "coremltools",
    asks="coremltools supports this torch",
    worst=Severity.NOTE,
    source=COREMLTOOLS,
    needs=("coremltools", "pytorch"),
)
def check_coremltools_torch(look: Look, tables: Tables) -> Iterator[Conclusion]:
    versions = [version for version in look.software("coremltools") if numbers(version)]
    if not versions or look.states_none("torch.version"):
        return
    row = next(iter(newest_up_to(tables.rows("coremltools", "supports", "pytorch", part="tested"), versions[0])), None)
    if row is None:
        return
    torch = look.need("torch.version")
    if is_below(row.values, torch) and not same_line(torch, major_minor(row.values)):
        yield Conclusion(
            severity=Severity.NOTE,
            title=say(
                "coremltools {versions} was tested with torch up to {values}; this is torch {torch}",
                versions[0],
                row.values,
                torch,
            ),
            explanation=say("It prints a warning and continues; a conversion may fail on newer operators."),
            advice=say(
                "If a conversion fails: pip install 'torch=={values}' in a separate environment for converting.",
                row.values,
            ),
            source=row.source,
        )
    else:
        yield Conclusion(
            severity=Severity.FITS,
            title=say("coremltools {versions} supports torch {torch}", versions[0], torch),
            source=row.source,
        )

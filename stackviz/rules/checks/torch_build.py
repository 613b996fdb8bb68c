"""Is this the right torch: built with CUDA, with code for the cards, with a cuDNN that still takes them?"""

import re
from collections.abc import Iterable, Iterator

from stackviz.rules.checks.cards import by_capability, indexes, named
from stackviz.rules.checks.driver import cuda_of_torch
from stackviz.rules.compatibility import Requirement, Source, Tables, newest_up_to
from stackviz.rules.finding import Severity, Verdict
from stackviz.rules.look import Look
from stackviz.rules.rule import Rule
from stackviz.rules.versions import is_below, major_minor, numbers

CPU_WHEEL = Source(
    "pytorch-github-io-757",
    "pytorch/pytorch.github.io issue 757: which wheel pip chooses",
    "https://github.com/pytorch/pytorch.github.io/issues/757",
)
BINARIES = Source(
    "cuda-programming-guide-platform",
    "CUDA Programming Guide 1.3, The CUDA platform",
    "https://docs.nvidia.com/cuda/cuda-programming-guide/01-introduction/cuda-platform.html",
)
CUDNN_DROPS = Source(
    "pytorch-issue-162574",
    "pytorch/pytorch issue 162574: cuDNN 9.11 drops Maxwell, Pascal and Volta",
    "https://github.com/pytorch/pytorch/issues/162574",
)
_ARCH = re.compile(r"(sm|compute)_(\d+)(\d)([af]?)")


def check_cpu_wheel(look: Look, tables: Tables) -> Iterator[Verdict]:
    cards = look.cards("nvidia")
    if not cards or look.says_none("torch.version"):
        return
    torch = look.need("torch.version")
    if look.get("torch.hip_version"):
        return
    if not torch.endswith("+cpu") and not look.says_none("torch.cuda_version"):
        cuda = look.need("torch.cuda_version")
        yield Verdict(Severity.FITS, f"torch {torch} is built with CUDA {cuda}", cards=indexes(cards))
        return
    yield Verdict(
        Severity.BROKEN,
        f"torch {torch} is built without CUDA, on a machine with {named(cards)}",
        _why_cpu_only(torch, look.wheel_platform, tables),
        "Install a CUDA build: pip install --force-reinstall torch --index-url "
        "https://download.pytorch.org/whl/cu<version>, with a version the driver serves.",
        cards=indexes(cards),
    )


def _why_cpu_only(torch: str, platform: str, tables: Tables) -> str:
    """Said only where the tables know it: on some platforms the wheel pip chooses by itself has no CUDA."""
    rows = newest_up_to(tables.rows("pytorch", "ships", "cuda-runtime", platform=platform), torch) if platform else []
    if any(row.values == "none" for row in rows):
        return f"The wheel of torch {rows[0].version} that pip chooses by itself on {platform} is the CPU-only one."
    return "Nothing of torch runs on the card with this build."


def covers(capability: str, arch: str) -> bool:
    """Whether code for `arch` runs on a card of this capability.

    sm_86: the same major, this minor or newer. compute_80: PTX, compiled for anything from 8.0 on.
    sm_90a: exactly that capability; sm_100f: that major family from that minor on.
    """
    match = _ARCH.fullmatch(arch)
    own = numbers(capability)
    if not match or len(own) < 2:
        return False
    kind, major, minor, suffix = match[1], int(match[2]), int(match[3]), match[4]
    if suffix == "a":
        return own[:2] == (major, minor)
    if kind == "compute" and not suffix:
        return own[:2] >= (major, minor)
    return own[0] == major and own[1] >= minor


def _archs(rows: Iterable[Requirement]) -> list[str]:
    """The tables' lists in torch's own words: "7.5 8.0" -> sm_75, sm_80; PTX -> compute_120."""
    archs = []
    for row in rows:
        kind = "compute" if row.relation == "compiles-for" else "sm"
        archs += [f"{kind}_{text.replace('.', '')}" for text in (row.values or row.low).split()]
    return archs


def _build(cuda: str) -> str:
    """ "12.8" -> "cu128"."""
    return "cu" + "".join(str(part) for part in numbers(cuda)[:2])


def _from_tables(look: Look, tables: Tables, torch: str, cuda: str) -> list[str]:
    platform = look.wheel_platform
    return _archs(
        row
        for relation in ("built-for", "compiles-for")
        for row in tables.rows("pytorch", relation, "compute-capability", platform=platform)
        if row.version == major_minor(torch) and row.variant == _build(cuda)
    )


def check_kernels(look: Look, tables: Tables) -> Iterator[Verdict]:
    cards = look.cards("nvidia")
    if not cards:
        return
    cuda = cuda_of_torch(look)
    if cuda is None:
        return
    torch = look.need("torch.version")
    listed = look.get("torch.arch_list")
    archs = listed.split() if listed else _from_tables(look, tables, torch, cuda)
    if not archs:
        look.need("torch.arch_list")
    for capability, group in by_capability(cards):
        if any(covers(capability, arch) for arch in archs):
            title = f"torch {torch} carries code for capability {capability}"
            yield Verdict(Severity.FITS, title, cards=indexes(group))
        else:
            yield Verdict(
                Severity.BROKEN,
                f"torch {torch} carries no code for {named(group)} (capability {capability})",
                f"The build has code for: {' '.join(archs)}. Code for one major capability does not run on another, so "
                'the first kernel fails with "no kernel image is available".',
                _other_build(look, tables, capability),
                cards=indexes(group),
            )


def _other_build(look: Look, tables: Tables, capability: str) -> str:
    """The newest torch of the tables that has code for this capability on this platform."""
    platform = look.wheel_platform
    rows = [
        row
        for relation in ("built-for", "compiles-for")
        for row in tables.rows("pytorch", relation, "compute-capability", platform=platform)
        if any(covers(capability, arch) for arch in _archs([row]))
    ]
    if not rows:
        return "Build torch from source with TORCH_CUDA_ARCH_LIST set to this capability."
    best = max(rows, key=lambda row: (numbers(row.version), row.relation == "built-for", row.variant))
    return (
        f"Newest build known to carry it: torch {best.version} for {best.variant}: "
        f"pip install 'torch=={best.version}.*' --index-url https://download.pytorch.org/whl/{best.variant}"
    )


def check_cudnn(look: Look, tables: Tables) -> Iterator[Verdict]:
    cards = look.cards("nvidia")
    if not cards or look.says_none("cudnn.version") or cuda_of_torch(look) is None:
        return
    cudnn = look.need("cudnn.version")
    lowest = _lowest_taken(tables, cudnn)
    if lowest is None:
        return
    for capability, group in by_capability(cards):
        if is_below(capability, lowest.low):
            yield Verdict(
                Severity.BROKEN,
                f"cuDNN {cudnn} no longer takes {named(group)} (capability {capability})",
                f"cuDNN {lowest.version} and newer takes capability {lowest.low} and newer: matrix products may still "
                "run, convolutions fail.",
                _build_with_older_cudnn(look, tables, capability),
                cards=indexes(group),
                source=lowest.source,
            )
        else:
            title = f"cuDNN {cudnn} takes capability {lowest.low} and newer: has {capability}"
            yield Verdict(Severity.FITS, title, cards=indexes(group), source=lowest.source)


def _lowest_taken(tables: Tables, cudnn: str) -> Requirement | None:
    """What this cuDNN says about the lowest compute capability it takes; None if the tables do not say."""
    rows = newest_up_to(tables.rows("cudnn", "supports", "compute-capability"), cudnn)
    return min((row for row in rows if row.low), key=lambda row: numbers(row.low), default=None)


def _build_with_older_cudnn(look: Look, tables: Tables, capability: str) -> str:
    """The newest torch of the tables that ships a cuDNN which still takes this capability."""
    fitting = []
    for row in tables.rows("pytorch", "ships", "cudnn", platform=look.wheel_platform):
        lowest = _lowest_taken(tables, row.values)
        if row.variant and lowest is not None and not is_below(capability, lowest.low):
            fitting.append(row)
    if not fitting:
        return "Install a torch build that brings an older cuDNN."
    best = max(fitting, key=lambda row: (numbers(row.version), row.variant))
    return (
        "Install a torch build that brings an older cuDNN: the newest known is torch "
        f"{best.version} for {best.variant}, with cuDNN {best.values}."
    )


RULES = (
    Rule("cpu-wheel", "pytorch", "torch is built with CUDA", CPU_WHEEL, check_cpu_wheel),
    Rule("kernels-missing", "pytorch", "torch carries code for the card", BINARIES, check_kernels),
    Rule("cudnn-drops-old-card", "cudnn", "cuDNN still takes the card", CUDNN_DROPS, check_cudnn),
)

"""Is this the right torch: built with CUDA, with code for the cards, with a cuDNN that still takes them?"""

from collections.abc import Iterator, Sequence

from stackviz.base.sentence import join_sentences, say
from stackviz.report.format.systems import is_cpu_build
from stackviz.report.rules.checks.builds import (
    USUAL_PLATFORM,
    Origin,
    advice,
    archs_of_release,
    builds_for,
    capabilities_of,
    command_for,
    covers,
    dropped_or_newer,
    dropping_in_wheel,
    hidden_cards,
    lowest_taken,
    names_no_build,
    origin_of,
    precedes,
    published_archs,
    served,
    wheels_of_pip,
    which_builds,
    why_no_code,
)
from stackviz.report.rules.checks.companions import torch_packages
from stackviz.report.rules.checks.driver import cuda_of_torch, may_have_cuda
from stackviz.report.rules.checks.grouping import by_capability, indexes, named
from stackviz.report.rules.checks.places import is_jetson
from stackviz.report.rules.checks.steps import JETSON, ReleasedBuild, before
from stackviz.report.rules.compatibility import Requirement, RuleSource, Tables, computed_once, newest_up_to
from stackviz.report.rules.drivers import cuda_without_card
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.origin import origin_hints, torch_refuses_card
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity, command_to_read
from stackviz.report.rules.versions import is_below, major_minor, numbers

RULES = RuleSet(order=30)

CPU_WHEEL = RuleSource(
    "pytorch-github-io-757",
    "pytorch/pytorch.github.io issue 757: which wheel pip chooses",
    "https://github.com/pytorch/pytorch.github.io/issues/757",
)
BINARIES = RuleSource(
    "cuda-programming-guide-platform",
    "CUDA Programming Guide 1.3, The CUDA platform",
    "https://docs.nvidia.com/cuda/cuda-programming-guide/01-introduction/cuda-platform.html",
)
CUDNN_DROPS = RuleSource(
    "pytorch-issue-162574",
    "pytorch/pytorch issue 162574: cuDNN 9.11 drops Maxwell, Pascal and Volta",
    "https://github.com/pytorch/pytorch/issues/162574",
)
TORCH_INSTALL = RuleSource(
    "pytorch-issue-147626",
    "pytorch/pytorch, torch/utils/collect_env.py: N/A without torch",
    "https://github.com/pytorch/pytorch/blob/main/torch/utils/collect_env.py",
)
CPU_TORCH = RuleSource(
    "pytorch-get-started",
    "PyTorch, Start Locally",
    "https://pytorch.org/get-started/locally/",
)


@RULES.rule(
    "cpu-wheel",
    "pytorch",
    asks="torch is built with CUDA",
    worst=Severity.BROKEN,
    source=CPU_WHEEL,
    needs=("pytorch", "cuda-runtime"),
)
def check_cpu_wheel(look: Look, tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    if not cards or not look.mentions_torch or look.states_none("torch.version"):
        return
    torch = look.need("torch.version")
    if look.get("torch.hip_version"):
        return
    if not is_cpu_build(torch) and not look.states_none("torch.cuda_version"):
        if names_no_build(torch, look):
            yield wheels_of_pip(torch, look, tables)
            return
        cuda = look.need("torch.cuda_version")
        yield Conclusion(
            severity=Severity.FITS,
            title=say("torch {torch} is built with CUDA {cuda}", torch, cuda),
            cards=indexes(cards),
        )
        return
    intel = say(" for Intel GPUs,") if _other_gpu(torch) == "xpu" else ""
    yield Conclusion(
        severity=Severity.BROKEN,
        title=say("torch {torch} is built{intel} without CUDA, on a machine with {named}", torch, intel, named(cards)),
        explanation=_why_cpu_only(torch, look.wheel_platform, tables),
        advice=_cuda_build(look, tables),
        cards=indexes(cards),
    )


def _cuda_build(look: Look, tables: Tables) -> str:
    """The newest CUDA build for all cards; where that cannot be said, how to choose one."""
    capabilities = {card.get("compute_capability") for card in look.cards("nvidia")}
    if is_jetson(look):
        return say(
            "pip uninstall -y {torch_packages}; then install NVIDIA's build. {jetson}", torch_packages(look), JETSON
        )
    if look.wheel_platform and None not in capabilities:
        is_from_pip = not look.is_from_conda("pytorch")
        build = advice(look, tables, filter(None, capabilities), is_fresh=is_from_pip)
        if not is_from_pip:
            return build
        return say("pip uninstall -y {torch_packages}; then install a CUDA build. {fresh}", torch_packages(look), build)
    return say(
        "{before}pip uninstall -y {torch_packages}; then install a build for a CUDA version that the driver supports: "
        "https://pytorch.org/get-started/locally/ gives the command.",
        before(look),
        torch_packages(look),
    )


@RULES.rule("cpu-only-torch", "pytorch", asks="torch can use a GPU", worst=Severity.NOTE, source=CPU_TORCH)
def check_cpu_only(look: Look, tables: Tables) -> Iterator[Conclusion]:
    """No card was reported: then a build without CUDA is nothing wrong, and worth knowing."""
    if look.all_cards or look.platform == "macos" or look.states_none("torch.version"):
        return
    torch = look.get("torch.version") or ""
    if look.get("torch.hip_version") or look.is_true("xpu.available") or not (torch or _tells_of_build(look)):
        return
    has_no_cuda = look.states_none("torch.cuda_version") and not _other_gpu(torch)
    is_placed = look.platform or not origin_hints(look).isdisjoint(_NO_MACS)
    if is_cpu_build(torch) or (is_placed and has_no_cuda):  # on an unnamed system it may be the build for Macs
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("{this} is a CPU-only build, and no card was reported", _this(torch)),
            explanation=(
                say("It cannot use the GPU of this Jetson.")
                if is_jetson(look)
                else say("It cannot use a GPU, even if one is added later.")
            ),
            advice=_for_a_gpu(look, tables),
        )


def _tells_of_build(look: Look) -> bool:
    """Whether torch itself was asked for its CUDA, and no message says the same."""
    return look.states_none("torch.cuda_version") and not look.get("message.symptoms")


_NO_MACS = frozenset({"linux", "linux-arm", "windows", "jetson"})


def _for_a_gpu(look: Look, tables: Tables) -> str:
    """What to do where there is a GPU after all."""
    if is_jetson(look):
        return _cuda_build(look, tables)
    lists = say("If there is a GPU, nvidia-smi (or rocminfo) must list it; then install the build for it.")
    if "linux-arm" not in origin_hints(look):
        return lists
    return join_sentences(
        [lists, say("On aarch64 name the index of a CUDA build: pip's own has CPU-only wheels of many releases.")]
    )


def _other_gpu(torch: str) -> str:
    """`xpu` or `rocm` for a build for Intel's or AMD's GPUs; "" for any other."""
    local = torch.partition("+")[2]
    return next((name for name in ("xpu", "rocm") if local.startswith(name)), "")


@RULES.rule(
    "torch-not-installed", "pytorch", asks="this Python has torch", worst=Severity.WARNING, source=TORCH_INSTALL
)
def check_installed(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """Only where a tool that imports torch could not: that a machine has none is nothing wrong by itself."""
    if look.reason_of("torch.version") == "not_installed" and look.reason_of("torch.cuda_version") == "not_installed":
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("torch is not installed in this Python, or cannot be imported by it"),
            explanation=say(
                "The tool that printed this could not import torch: it ran in another environment than the program "
                "that uses torch, or the import fails."
            ),
            advice=say(
                'Activate the right environment, then: python -c "import torch; print(torch.__version__)" (its error '
                'names the cause). To see which Python runs: python -c "import sys; print(sys.executable)"'
            ),
        )


def _why_cpu_only(torch: str, platform: str, tables: Tables) -> str:
    """Said only where the tables know it: on some platforms the wheel pip chooses by itself has no CUDA."""
    rows = newest_up_to(tables.rows("pytorch", "ships", "cuda-runtime", platform=platform), torch) if platform else []
    if any(row.values == "none" for row in rows):
        return say(
            "The torch {version} wheel that pip installs by default on {platform} is CPU-only.",
            rows[0].version,
            platform,
        )
    return say("With this build torch cannot use the card.")


@RULES.rule(
    "kernels-missing",
    "pytorch",
    asks="torch carries code for the card",
    worst=Severity.BROKEN,
    source=BINARIES,
    needs=("pytorch", "hardware"),
)
def check_kernels(look: Look, tables: Tables) -> Iterator[Conclusion]:
    """The list that torch prints itself is enough, as in its own warning; else what was published for its build."""
    cards = look.cards("nvidia")
    if not cards or not may_have_cuda(look):
        return
    listed, torch = look.get("torch.arch_list"), look.get("torch.version") or ""
    archs = listed.split() if listed else []
    if not archs:
        if look.get("torch.cuda_version") is None:
            decided = list(_releases_without_code(look, tables, torch))
            yield from decided
            if decided:
                return
        cuda = look.need("torch.cuda_version")
        archs = published_archs(look, tables, look.need("torch.version"), cuda)
    if not archs:
        yield from _toolkit_without_code(look, tables, torch)
        return
    for capability, group in by_capability(cards):
        fitting = [arch for arch in archs if covers(capability, arch)]
        by_ptx = bool(fitting) and not any(arch.startswith("sm_") for arch in fitting)
        built_with = look.get("torch.cuda_version") if by_ptx and origin_of(torch) is not Origin.SOURCE else None
        outside = precedes(tables, built_with, capability) if built_with else None
        if by_ptx and torch_refuses_card(look):
            fitting = []
        if outside and built_with:
            yield _before_toolkit(look, tables, torch, built_with, outside, capability=capability, group=group)
        elif fitting:
            yield Conclusion(
                severity=Severity.FITS,
                title=say("{this} carries code for capability {capability}", _this(torch), capability),
                explanation=say(
                    "Code for {fitting} runs on it, because older code runs within the same major capability.",
                    " ".join(fitting),
                ),
                cards=indexes(group),
            )
        else:
            yield _no_code(look, tables, torch, archs, capability=capability, group=group)


def _releases_without_code(look: Look, tables: Tables, torch: str) -> Iterator[Conclusion]:
    """Which build of the release it is was not reported: where none has code for the card, it does not matter."""
    platform = look.wheel_platform or look.platform or USUAL_PLATFORM
    archs = () if is_jetson(look) else archs_of_release(tables, torch, platform)
    for capability, group in by_capability(look.cards("nvidia")) if archs else ():
        if not any(covers(capability, arch) for arch in archs):
            yield Conclusion(
                severity=Severity.BROKEN,
                title=say(
                    "{this} carries no code for {named} ({generation}capability {capability})",
                    _this(torch),
                    named(group),
                    _generation(tables, capability),
                    capability,
                ),
                explanation=say(
                    "No build of torch {major_minor} that was published for {platform} has code for capability "
                    '{capability}, whatever its CUDA: the first kernel fails with "no kernel image is available". '
                    "{which_builds}",
                    major_minor(torch),
                    platform,
                    capability,
                    which_builds(look, tables, torch, capability),
                ),
                advice=advice(look, tables, capabilities_of(look), capability),
                cards=indexes(group),
            )


def _toolkit_without_code(look: Look, tables: Tables, torch: str) -> Iterator[Conclusion]:
    """What the build carries is not known: a CUDA before the card's first toolkit or after its last has none for it.

    Nightlies are built with the CUDA they name, as releases are; a build from source may carry PTX.
    """
    cuda, is_decided = look.need("torch.cuda_version"), False
    for capability, group in by_capability(look.cards("nvidia")) if origin_of(torch) is not Origin.SOURCE else ():
        outside = cuda_without_card(tables, capability, cuda)
        if outside:
            is_decided = True
            yield _before_toolkit(look, tables, torch, cuda, outside, capability=capability, group=group)
    if not is_decided:
        look.need("torch.arch_list")


def _before_toolkit(
    look: Look,
    tables: Tables,
    torch: str,
    cuda: str,
    outside: Requirement,
    *,
    capability: str,
    group: Sequence[CardLook],
) -> Conclusion:
    """`outside`: the row by which this CUDA makes no code for the card."""
    return Conclusion(
        severity=Severity.BROKEN,
        title=say(
            "{this} carries no code for {named} ({generation}capability {capability})",
            _this(torch),
            named(group),
            _generation(tables, capability),
            capability,
        ),
        explanation=join_sentences(
            [why_no_code(outside, cuda, capability), which_builds(look, tables, torch, capability)]
        ),
        advice=advice(look, tables, capabilities_of(look), capability),
        cards=indexes(group),
        source=outside.source,
    )


def _no_code(
    look: Look, tables: Tables, torch: str, archs: Sequence[str], capability: str, group: Sequence[CardLook]
) -> Conclusion:
    generation = _generation(tables, capability)
    return Conclusion(
        severity=Severity.BROKEN,
        title=say(
            "{this} carries no code for {named} ({generation}capability {capability})",
            _this(torch),
            named(group),
            generation,
            capability,
        ),
        explanation=join_sentences(
            [
                dropped_or_newer(archs, capability),
                say(
                    "The build has code for: {archs}. Code for one major capability does not run on another, so the "
                    'first kernel fails with "no kernel image is available". {which_builds}',
                    " ".join(archs),
                    which_builds(look, tables, torch, capability),
                ),
            ]
        ),
        advice=advice(look, tables, capabilities_of(look), capability),
        cards=indexes(group),
    )


def _this(torch: str) -> str:
    return say("torch {torch}", torch) if torch else say("This torch")


def _generation(tables: Tables, capability: str) -> str:
    """ "Pascal, " for 6.1."""
    lines = [row.line for row in tables.releases_of("compute-capability") if row.version == capability and row.line]
    return f"{lines[0]}, " if lines else ""


@RULES.rule(
    "cudnn-drops-old-card",
    "cudnn",
    asks="cuDNN still supports the card",
    worst=Severity.BROKEN,
    source=CUDNN_DROPS,
    needs=("cudnn", "hardware"),
)
def check_cudnn(look: Look, tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("nvidia")
    if not cards or look.states_none("cudnn.version") or cuda_of_torch(look) is None:
        return
    candidates = _cudnns(look) or dropping_in_wheel(look, tables, cuda_of_torch(look) or "")
    if not candidates and _may_drop(look, tables):
        look.need("cudnn.version")
    if not any(lowest_taken(tables, cudnn) for cudnn in candidates):
        return
    for capability, group in by_capability(cards):
        yield _takes(look, tables, candidates, capability, group)


def _cudnns(look: Look) -> list[str]:
    """The cuDNN that torch loads: what it said itself, else the package beside it, else the system's.

    Several where nothing tells which of them.
    """
    loaded, packages = look.get("cudnn.version"), look.packages("cudnn")
    if loaded and not (packages and loaded in look.files("cudnn")):
        return [loaded]
    return packages


def _takes(
    look: Look, tables: Tables, candidates: Sequence[str], capability: str, group: Sequence[CardLook]
) -> Conclusion:
    floors = [(cudnn, row) for cudnn in candidates if (row := lowest_taken(tables, cudnn)) is not None]
    dropping = [(cudnn, row) for cudnn, row in floors if is_below(capability, row.low)]
    cudnn, lowest = (dropping or floors)[0]
    if not dropping:
        title = say(
            "cuDNN {cudnn} supports capability {low} and newer: has {capability}", cudnn, lowest.low, capability
        )
        return Conclusion(severity=Severity.FITS, title=title, cards=indexes(group), source=lowest.source)
    if len(dropping) < len(candidates):
        return Conclusion(
            severity=Severity.CANNOT_TELL,
            title=say(
                "Cannot tell whether cuDNN still supports {named}: {candidates} are listed",
                named(group),
                " and ".join(candidates),
            ),
            explanation=say(
                "cuDNN {cudnn} supports capability {low} and newer; which of them torch loads is not reported.",
                cudnn,
                lowest.low,
            ),
            advice=command_to_read("cudnn.version"),
            cards=indexes(group),
            source=lowest.source,
        )
    return Conclusion(
        severity=Severity.BROKEN,
        title=say(
            "cuDNN {cudnn} no longer supports {named} (capability {capability})", cudnn, named(group), capability
        ),
        explanation=say(
            "cuDNN {cudnn} supports capability {low} and newer: matrix products may still run, but convolutions fail.",
            cudnn,
            lowest.low,
        ),
        advice=_build_with_older_cudnn(look, tables, capability),
        cards=indexes(group),
        source=lowest.source,
    )


def _may_drop(look: Look, tables: Tables) -> bool:
    """Whether a cuDNN that may be beside this torch leaves out one of these cards, or a card may be any."""
    capabilities = [card.get("compute_capability") for card in look.cards("nvidia")]
    torch = look.get("torch.version")
    for row in tables.rows("pytorch", "ships", "cudnn"):
        lowest = lowest_taken(tables, row.values)
        if lowest and any(capability is None or is_below(capability, lowest.low) for capability in capabilities):
            return torch is None or not is_below(torch, row.version)  # none so old ships one that does
    return False


def _build_with_older_cudnn(look: Look, tables: Tables, capability: str) -> str:
    """The newest torch of the tables that has code for all cards and ships a cuDNN which still takes them."""
    wanted = capabilities_of(look)
    best = _newest_taking(look, tables, wanted)
    apart = ""
    if best is None and len(wanted) > 1:
        best, apart = _newest_taking(look, tables, [capability]), hidden_cards(wanted)
    if best is None:
        return join_sentences([apart, say("Install a torch build that ships an older cuDNN.")])
    command = command_for(look, tables, ReleasedBuild(major_minor(best.version), best.variant))
    older = say(
        "Install a torch build that ships an older cuDNN: the newest known is torch {version} for {variant}, with "
        "cuDNN {values}: {command}",
        best.version,
        best.variant,
        best.values,
        command,
    )
    return join_sentences([apart, older])


def _newest_taking(look: Look, tables: Tables, capabilities: Sequence[str]) -> Requirement | None:
    carrying = set(served(look, tables, builds_for(look, tables, capabilities)))
    rows = _shipped_with_code(tables, look.wheel_platform, tuple(capabilities))
    fitting = [row for build, row in rows if build in carrying]
    return max(fitting, key=lambda row: (numbers(row.version), row.variant), default=None)


@computed_once
def _shipped_with_code(
    tables: Tables, platform: str, capabilities: tuple[str, ...]
) -> tuple[tuple[ReleasedBuild, Requirement], ...]:
    """The builds of torch that ship a cuDNN which takes all of these capabilities, each with its row of the tables."""
    return tuple(
        (ReleasedBuild(major_minor(row.version), row.variant), row)
        for row in tables.rows("pytorch", "ships", "cudnn", platform=platform)
        if (lowest := lowest_taken(tables, row.values)) is not None
        and not any(is_below(capability, lowest.low) for capability in capabilities)
    )

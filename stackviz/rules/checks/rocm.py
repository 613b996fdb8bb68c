"""AMD cards: is torch built for them, with code for this one; and a torch for AMD where there is none?"""

from collections.abc import Iterator

from stackviz.rules.checks.grouping import indexes, named
from stackviz.rules.compatibility import Source, Tables
from stackviz.rules.finding import Severity, Verdict
from stackviz.rules.look import CardLook, Look
from stackviz.rules.rule import Rule

ROCM_MATRIX = Source(
    "rocm-compatibility-matrix",
    "ROCm, compatibility matrix",
    "https://github.com/ROCm/ROCm/blob/e396b4898f459db094bfd60b876f419f77eb9f09/docs/compatibility/"
    "compatibility-matrix.rst",
)
GET_STARTED = Source(
    "pytorch-get-started", "PyTorch, Start locally: builds for CUDA, ROCm and CPU",
    "https://pytorch.org/get-started/locally/",
)  # fmt: skip


def hip_of_torch(look: Look) -> str | None:
    """The HIP version torch was built with, None if it was built with none. Raises NotReported if nobody said."""
    torch = look.need("torch.version")
    told = look.get("torch.hip_version")
    if told:
        return told
    local = torch.partition("+")[2]
    if local.startswith("rocm"):
        return local.removeprefix("rocm") or "not stated"
    if look.says_none("torch.hip_version") or look.get("torch.cuda_version") or local.startswith(("cu", "cpu", "xpu")):
        return None
    return look.need("torch.hip_version")


def check_rocm_wheel(look: Look, _tables: Tables) -> Iterator[Verdict]:
    if look.get("torch.version") is None:
        return
    if not look.get("torch.hip_version") and "+rocm" not in (look.get("torch.version") or ""):
        return
    torch = look.need("torch.version")
    cards = look.cards("amd")
    if cards:
        yield Verdict(Severity.FITS, f"torch {torch} is built for AMD cards", cards=indexes(cards))
        return
    others = look.cards("nvidia")
    if others and look.works("cuda"):
        yield Verdict(
            Severity.NOTE,
            f"torch {torch} is built for AMD cards and uses one that is not listed here: only {named(others)} is",
            "Tools of NVIDIA list cards of NVIDIA alone.",
            "rocminfo lists the cards of AMD.",
            cards=indexes(others),
        )
    elif others:
        yield Verdict(
            Severity.BROKEN,
            f"torch {torch} is built for AMD cards, on a machine with {named(others)}",
            "A build for ROCm holds no code for cards of NVIDIA: torch.cuda.is_available() says no.",
            "Install a CUDA build: pip install --force-reinstall torch --index-url "
            "https://download.pytorch.org/whl/cu<version>, with a version the driver serves.",
            cards=indexes(others),
        )
    elif look.is_true("cuda.available") is False:
        yield Verdict(
            Severity.WARNING,
            f"torch {torch} is built for AMD cards and finds none",
            "There is no card, its driver is not loaded, or this user may not open /dev/kfd.",
            "rocminfo lists the cards; if it may not: sudo usermod -aG render,video $USER, and log in again.",
        )


def _for_computing(look: Look) -> list[CardLook]:
    """AMD cards that ROCm may serve: their target is told, or they stand in the catalogue. A display alone is none."""
    return [card for card in look.cards("amd") if card.get("gfx_target") or card.known]


def check_amd_card(look: Look, _tables: Tables) -> Iterator[Verdict]:
    if look.platform != "linux" or not look.speaks_of_torch or look.says_none("torch.version") or look.cards("nvidia"):
        return
    cards = _for_computing(look)
    if not cards or hip_of_torch(look) is not None:
        return
    yield Verdict(
        Severity.BROKEN,
        f"torch {look.need('torch.version')} is built without ROCm, on a machine with {named(cards)}",
        "The wheel that pip chooses by itself is for CUDA or for the CPU; neither runs on a card of AMD.",
        "Install a build for ROCm: pip install --force-reinstall torch --index-url "
        "https://download.pytorch.org/whl/rocm<version>",
        cards=indexes(cards),
    )


def has_code_for(target: str, built_for: str) -> bool:
    """gfx942 for gfx942 (with or without :sramecc+); gfx11-generic for all of gfx11xx. There is no PTX-like form."""
    name = built_for.partition(":")[0]
    if name.endswith("-generic"):
        return target.startswith(name.removesuffix("-generic").replace("-", ""))
    return name == target


def check_rocm_kernels(look: Look, _tables: Tables) -> Iterator[Verdict]:
    cards = look.cards("amd")
    if not cards or look.says_none("torch.version") or look.get("torch.version") is None:
        return
    if look.platform == "macos" or hip_of_torch(look) is None:
        return
    told = look.get("torch.arch_list")
    if told is None and look.is_true("cuda.available"):
        return  # no sign of trouble: not worth a question
    archs = look.need("torch.arch_list").split()
    for card in cards:
        target = card.need("gfx_target")
        if any(has_code_for(target, arch) for arch in archs):
            yield Verdict(Severity.FITS, f"torch carries code for {target}", cards=(card.index,))
        else:
            yield Verdict(
                Severity.BROKEN,
                f"torch {look.need('torch.version')} carries no code for {named([card])} ({target})",
                f"The build has code for: {' '.join(archs)}. Code for one target does not run on another, and there is "
                "no form that the driver could compile.",
                "Install a build that lists this target. Within one family code often runs all the same, unsupported: "
                "HSA_OVERRIDE_GFX_VERSION=<target of the list>.",
                cards=(card.index,),
            )


RULES = (
    Rule("rocm-wheel", "pytorch", "torch is built for these cards", GET_STARTED, check_rocm_wheel,
         needs=("pytorch", "hardware")),
    Rule("amd-card-unused", "pytorch", "torch is built for the AMD card", GET_STARTED, check_amd_card,
         needs=("pytorch", "rocm")),
    Rule("rocm-kernels-missing", "pytorch", "torch carries code for the AMD card", ROCM_MATRIX, check_rocm_kernels,
         needs=("pytorch", "hardware")),
)  # fmt: skip

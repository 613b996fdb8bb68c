"""AMD cards: is torch built for them, with code for this one; and a torch for AMD where there is none?"""

import re
from collections.abc import Iterable, Iterator, Sequence

from stackviz.base.sentence import join_sentences, say
from stackviz.report.rules.checks.builds import Origin, origin_of
from stackviz.report.rules.checks.companions import torch_packages
from stackviz.report.rules.checks.grouping import indexes, named
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity
from stackviz.report.rules.versions import major_minor, numbers

RULES = RuleSet(order=130)

ROCM_MATRIX = RuleSource(
    "rocm-compatibility-matrix",
    "ROCm, compatibility matrix",
    "https://github.com/ROCm/ROCm/blob/e396b4898f459db094bfd60b876f419f77eb9f09/docs/compatibility/"
    "compatibility-matrix.rst",
)
GET_STARTED = RuleSource(
    "pytorch-get-started", "PyTorch, Start locally: builds for CUDA, ROCm and CPU",
    "https://pytorch.org/get-started/locally/",
)  # fmt: skip
INTEGRATED = "integrated graphics"
INVALID_FUNCTION = "hip-invalid-device-function"
_PARTS = ("", INTEGRATED)
_RDNA = re.compile(r"gfx(1[0-9])([0-9])([0-9])")


def hip_of_torch(look: Look) -> str | None:
    """The HIP version torch was built with, None if it was built without. Raises NotReported if it is not reported."""
    torch = look.need("torch.version")
    hip = look.get("torch.hip_version")
    if hip:
        return hip
    local = torch.partition("+")[2]
    if local.startswith("rocm"):
        return local.removeprefix("rocm") or say("not stated")
    if (
        look.states_none("torch.hip_version")
        or look.get("torch.cuda_version")
        or local.startswith(("cu", "cpu", "xpu"))
    ):
        return None
    return look.need("torch.hip_version")


@RULES.rule(
    "rocm-wheel",
    "pytorch",
    asks="torch is built for these cards",
    worst=Severity.BROKEN,
    source=GET_STARTED,
    needs=("pytorch", "hardware"),
)
def check_rocm_wheel(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    if look.get("torch.version") is None:
        return
    if not look.get("torch.hip_version") and "+rocm" not in (look.get("torch.version") or ""):
        return
    torch, cards, others = look.need("torch.version"), look.cards("amd"), look.cards("nvidia")
    if cards:
        yield Conclusion(
            severity=Severity.FITS, title=say("torch {torch} is built for AMD cards", torch), cards=indexes(cards)
        )
    elif others:
        yield _beside_nvidia(look, torch, others)
    elif look.is_true("cuda.available") is False:
        yield Conclusion(
            severity=Severity.WARNING,
            title=say("torch {torch} is built for AMD cards but finds none", torch),
            explanation=say(
                "There is no card, its driver is not loaded, or this user has no permission to open /dev/kfd."
            ),
            advice=say(
                "rocminfo lists the cards; if it lacks permission: sudo usermod -aG render,video $USER, and log in "
                "again."
            ),
        )


def _beside_nvidia(look: Look, torch: str, others: Sequence[CardLook]) -> Conclusion:
    """A torch for AMD cards, where only NVIDIA cards are listed."""
    if look.works("cuda"):
        return Conclusion(
            severity=Severity.NOTE,
            title=say(
                "torch {torch} is built for AMD cards and uses one that is not listed here; only {named} is listed",
                torch,
                named(others),
            ),
            explanation=say("NVIDIA's tools list only NVIDIA cards."),
            advice=say("rocminfo lists AMD cards."),
            cards=indexes(others),
        )
    return Conclusion(
        severity=Severity.BROKEN,
        title=say("torch {torch} is built for AMD cards, on a machine with {named}", torch, named(others)),
        explanation=say("A ROCm build has no code for NVIDIA cards: torch.cuda.is_available() returns False."),
        advice=say(
            "pip uninstall -y {torch_packages}; then install a build for a CUDA version that the driver supports: "
            "https://pytorch.org/get-started/locally/ gives the command.",
            torch_packages(look),
        ),
        cards=indexes(others),
    )


def _served(look: Look, tables: Tables) -> tuple[list[CardLook], list[CardLook]]:
    """Cards of AMD that a published build of torch serves, and graphics inside a processor that one serves too.

    A display that no build carries code for is neither: there is nothing to install for it.
    """
    rows = list(tables.rows("pytorch", "built-for", "gfx-target"))
    made_for = {part: {target for row in rows if row.part == part for target in row.values.split()} for part in _PARTS}
    cards, integrated = [], []
    for card in look.cards("amd"):
        target = card.get("gfx_target")
        if target in made_for[""] or card.known:
            cards.append(card)
        elif target in made_for[INTEGRATED]:
            integrated.append(card)
    return cards, integrated


@RULES.rule(
    "amd-card-unused",
    "pytorch",
    asks="torch is built for the AMD card",
    worst=Severity.BROKEN,
    source=GET_STARTED,
    needs=("pytorch", "rocm"),
)
def check_amd_card(look: Look, tables: Tables) -> Iterator[Conclusion]:
    if look.platform != "linux" or not look.mentions_torch or look.states_none("torch.version") or look.cards("nvidia"):
        return
    cards, integrated = _served(look, tables)
    if not (cards or integrated) or hip_of_torch(look) is not None:
        return
    install = "pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/rocm<version>"
    if cards:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=say(
                "torch {torch_version} is built without ROCm, on a machine with {named}",
                look.need("torch.version"),
                named(cards),
            ),
            explanation=say(
                "The wheel that pip installs by default is for CUDA or the CPU; neither runs on an AMD card."
            ),
            advice=say("Install a build for ROCm: {install}", install),
            cards=indexes(cards),
        )
    else:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say(
                "torch {torch_version} is built without ROCm; newer ROCm builds support {named}",
                look.need("torch.version"),
                named(integrated),
            ),
            explanation=say(
                "This is a GPU integrated in the processor that uses main memory: slower than a card, but enough to "
                "try things out."
            ),
            advice=say("To use them: {install}", install),
            cards=indexes(integrated),
        )


def has_code_for(target: str, built_for: str) -> bool:
    """gfx942 for gfx942 (with or without :sramecc+); gfx11-generic for all of gfx11xx. There is no PTX-like form."""
    name = built_for.partition(":")[0]
    if name.endswith("-generic"):
        return target.startswith(name.removesuffix("-generic").replace("-", ""))
    return name == target


@RULES.rule(
    "rocm-kernels-missing",
    "pytorch",
    asks="torch carries code for the AMD card",
    worst=Severity.BROKEN,
    source=ROCM_MATRIX,
    needs=("pytorch", "hardware"),
)
def check_rocm_kernels(look: Look, tables: Tables) -> Iterator[Conclusion]:
    cards = look.cards("amd")
    if not cards or look.states_none("torch.version") or look.platform == "macos":
        return
    is_proved = INVALID_FUNCTION in (look.get("message.symptoms") or "").split()
    if look.get("torch.version") is None:
        if is_proved:
            yield _proved(tables, cards)
        return
    if hip_of_torch(look) is None:
        return
    archs = (look.get("torch.arch_list") or "").split() or published_targets(look, tables)
    if archs:
        yield from _compared(look, tables, cards, archs)
    elif is_proved:
        yield _proved(tables, cards)
    elif not look.is_true("cuda.available"):  # else no sign of trouble: not worth a question
        look.need("torch.arch_list")


def published_targets(look: Look, tables: Tables) -> list[str]:
    """What the tables say that this release of torch for this ROCm has code for; empty for any other build."""
    torch = look.get("torch.version") or ""
    if origin_of(torch) is not Origin.RELEASE:
        return []
    rows = tables.rows("pytorch", "built-for", "gfx-target", platform=look.wheel_platform)
    mine = [row for row in rows if (row.version, row.variant) == (major_minor(torch), torch.partition("+")[2])]
    return [target for row in mine for target in row.values.split()]


def _compared(look: Look, tables: Tables, cards: Sequence[CardLook], archs: Sequence[str]) -> Iterator[Conclusion]:
    fitting = [card for card in cards if _runs(card, archs)]
    for card in cards:
        if card in fitting:
            title = say("torch carries code for {gfx_target}", card.get("gfx_target"))
            yield Conclusion(severity=Severity.FITS, title=title, cards=(card.index,))
        elif not fitting:
            yield _no_code(look, tables, card, archs)
        elif card.get("gfx_target"):
            yield Conclusion(
                severity=Severity.NOTE,
                title=say(
                    "torch carries code for another card here, but none for {named} ({gfx_target})",
                    named([card]),
                    card.get("gfx_target"),
                ),
                explanation=say(
                    "This is usually the GPU integrated in the processor. A program that selects this device fails at "
                    "its first kernel."
                ),
                advice=say(
                    "Hide it: export HIP_VISIBLE_DEVICES={str}", ",".join(str(index) for index in indexes(fitting))
                ),
                cards=(card.index,),
            )


def _proved(tables: Tables, cards: Sequence[CardLook]) -> Conclusion:
    """HIP's own words: an invalid device function is one that the build has no code for on this card."""
    targets = sorted({target for card in cards if (target := card.get("gfx_target"))})
    target = f" ({', '.join(targets)})" if targets else ""
    return Conclusion(
        severity=Severity.BROKEN,
        title=say("This torch carries no code for {named}{target}", named(cards), target),
        explanation=join_sentences(
            [
                say(
                    "HIP reports an invalid device function: most likely the build, or an extension of it, was not "
                    "made for this target."
                ),
                say("Less likely: HSA_OVERRIDE_GFX_VERSION is set to another family's."),
            ]
        ),
        advice=say(
            '{install} To see what the build has: python -c "import torch; print(torch.cuda.get_arch_list())"',
            _install(tables, targets),
        ),
        cards=indexes(cards),
    )


def _install(tables: Tables, targets: Sequence[str]) -> str:
    """The newest build that the tables know to have code for all of these."""
    builds: dict[tuple[str, str], set[str]] = {}
    for row in tables.rows("pytorch", "built-for", "gfx-target"):
        builds.setdefault((row.version, row.variant), set()).update(row.values.split())
    fitting = [build for build, known in builds.items() if targets and known.issuperset(targets)]
    if not fitting:
        return say("Install a build that lists this target, from AMD (https://rocm.docs.amd.com) or from source.")
    torch, variant = max(fitting, key=lambda build: numbers(build[0]))
    return say(
        "torch {torch} for {variant} has code for it: pip install --force-reinstall 'torch=={torch_2}.*' --index-url "
        "https://download.pytorch.org/whl/{variant_2} (in an image of its own if others depend on this torch).",
        torch,
        variant,
        torch,
        variant,
    )


def _runs(card: CardLook, archs: Sequence[str]) -> bool:
    target = card.get("gfx_target")
    return target is not None and any(has_code_for(target, arch) for arch in archs)


def _no_code(look: Look, tables: Tables, card: CardLook, archs: Sequence[str]) -> Conclusion:
    target = card.need("gfx_target")
    like = override_for(target, archs) if look.platform == "linux" else ""
    unsupported = (
        say("Code for its family may still run, unsupported: export HSA_OVERRIDE_GFX_VERSION={like}", like)
        if like
        else ""
    )
    return Conclusion(
        severity=Severity.BROKEN,
        title=say(
            "torch {torch_version} carries no code for {named} ({target})",
            look.need("torch.version"),
            named([card]),
            target,
        ),
        explanation=say(
            "The build has code for: {archs}. Code for one target does not run on another, and the build has no "
            "intermediate code that the driver could compile.",
            " ".join(archs),
        ),
        advice=join_sentences([_install(tables, [target]), unsupported]),
        cards=(card.index,),
    )


def override_for(target: str, archs: Iterable[str]) -> str:
    """What makes ROCm take code of the card's own family for it: gfx1031 beside gfx1030 -> "10.3.0"; "" if none is.

    Families differ in the last place only, from RDNA on (gfx10): before, targets of one family differ in instructions.
    """
    target_match = _RDNA.fullmatch(target)
    others = [match for match in map(_RDNA.fullmatch, (arch.partition(":")[0] for arch in archs)) if match]
    family = sorted(match[3] for match in others if target_match and match.group(1, 2) == target_match.group(1, 2))
    return f"{target_match[1]}.{target_match[2]}.{family[0]}" if target_match and family else ""

"""HSA_OVERRIDE_GFX_VERSION: does the card run code of the target that it passes for?"""

import re
from collections.abc import Iterator

from stackviz.base.sentence import say
from stackviz.report.rules.checks.grouping import named
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=131)

GFX900 = RuleSource(
    "rocm-llvm-gfx900",
    "ROCm LLVM, syntax of gfx900, gfx902, gfx909 and gfx90c instructions",
    "https://rocm.docs.amd.com/projects/llvm-project/en/latest/reference/AMDGPU/AMDGPUAsmGFX900.html",
)
PROCESSORS = RuleSource(
    "llvm-amdgpu-processors",
    "LLVM, User Guide for the AMDGPU backend: processors",
    "https://llvm.org/docs/AMDGPUUsage.html#processors",
)
_OVERRIDE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{1,2})")
_TARGET = re.compile(r"gfx(\d{1,2})([0-9a-f])([0-9a-f])")
_LIKE_GFX900 = frozenset({"gfx900", "gfx902", "gfx909", "gfx90c"})
_RDNA = 10  # the first major version of these


@RULES.rule(
    "gfx-override",
    "rocm",
    asks="the card runs code of the target that HSA_OVERRIDE_GFX_VERSION names",
    worst=Severity.BROKEN,
    source=PROCESSORS,
    needs=("rocm", "hardware"),
)
def check_gfx_override(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    override = look.get("rocm.gfx_override")
    version = _OVERRIDE.fullmatch(override or "")
    if version is None or look.platform == "windows":
        return
    passes_for = f"gfx{version[1]}{int(version[2]):x}{int(version[3]):x}"
    for card in look.cards("amd"):
        target = _own_target(card, passes_for)
        if _TARGET.fullmatch(target):
            yield from _judged(card, target, passes_for)


def _own_target(card: CardLook, passes_for: str) -> str:
    """With the variable set, ROCm's tools state the target that it names: then the name of the card tells its own."""
    stated = (card.get("gfx_target") or "").partition(":")[0]
    return stated if stated != passes_for else card.capability_by_name


def _judged(card: CardLook, target: str, passes_for: str) -> Iterator[Conclusion]:
    mine, other = _parts(target), _parts(passes_for)
    title = say("HSA_OVERRIDE_GFX_VERSION lets {named} ({target}) pass for {other}", named([card]), target, passes_for)
    if target == passes_for:
        title = say("HSA_OVERRIDE_GFX_VERSION names the own target of {named}: {target}", named([card]), target)
        yield Conclusion(severity=Severity.FITS, title=title, cards=(card.index,))
    elif mine[0] != other[0]:
        yield Conclusion(
            severity=Severity.BROKEN,
            title=title,
            explanation=say(
                "They are of two generations, whose instructions differ: the first kernel fails, or the card hangs."
            ),
            advice=_unset(),
            cards=(card.index,),
        )
    elif mine[0] < _RDNA and not {target, passes_for} <= _LIKE_GFX900:
        yield Conclusion(
            severity=Severity.WARNING,
            title=title,
            explanation=say(
                "Targets of gfx9 differ in instructions: gfx900, gfx902, gfx909 and gfx90c share some that no other "
                "has. A kernel with one that the card lacks fails."
            ),
            advice=_unset(),
            cards=(card.index,),
            source=GFX900,
        )
    elif mine[0] < _RDNA or mine[1] == other[1]:
        title = say("{title}, of its own family; AMD does not support it", title)
        source = GFX900 if mine[0] < _RDNA else None
        yield Conclusion(severity=Severity.FITS, title=title, cards=(card.index,), source=source)


def _parts(target: str) -> tuple[int, str]:
    """gfx1031 -> (10, "3"): its generation and its family."""
    match = _TARGET.fullmatch(target)
    return (int(match[1]), match[2]) if match else (0, "")


def _unset() -> str:
    return say(
        "unset HSA_OVERRIDE_GFX_VERSION, and use a build that lists the card's own target: "
        'python -c "import torch; print(torch.cuda.get_arch_list())"'
    )

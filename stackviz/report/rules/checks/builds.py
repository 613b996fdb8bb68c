"""Which build of torch to install instead: one that carries code for the cards and that the driver serves."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from stackviz.base.backports import StrEnum
from stackviz.base.sentence import join_sentences, say
from stackviz.report.format.systems import wheel_variant
from stackviz.report.rules.checks.branches import driver_range
from stackviz.report.rules.checks.companions import line_specs
from stackviz.report.rules.checks.places import is_jetson, why_container
from stackviz.report.rules.checks.steps import (
    JETSON,
    ReleasedBuild,
    after,
    before,
    for_shell,
    nearest,
    why_not_installable,
)
from stackviz.report.rules.compatibility import Requirement, Tables, computed_once, newest_up_to
from stackviz.report.rules.drivers import cuda_without_card, is_older_than_card, needed_driver, serves
from stackviz.report.rules.look import Look
from stackviz.report.rules.origin import programs_of
from stackviz.report.rules.rule import Conclusion, Severity, command_to_read
from stackviz.report.rules.torch_cudas import NO_CUDA, default_wheels
from stackviz.report.rules.versions import is_below, major_minor, numbers

MOST_VARIANTS = 4  # that a sentence names
USUAL_PLATFORM = "linux-x86_64"  # of most published builds: what is named where the system was not reported
_CODE = ("built-for", "compiles-for")  # how the tables name machine code and PTX
_ARCH = re.compile(r"(sm|compute)_(\d{1,6})(\d)([af]?)")


# A local part that is a commit (`+gitabc1234`, `+ecf3bae40a.nv25.01`), or the a0 of a version that is not out.
_SOURCE_TREE = re.compile(r"\da0\b|\+(?:git|[0-9a-f]{7,40}(?:\.|$))")
_NIGHTLY = re.compile(r"\.?dev\d{8}")


class Origin(StrEnum):
    """Who built a torch. Only of a release do the tables say what it carries."""

    RELEASE = "release"
    NIGHTLY = "nightly"  # published by pytorch.org too, with its own libraries
    SOURCE = "source"  # from a source tree, against the libraries of the system


def origin_of(torch: str) -> Origin:
    """`2.9.1+cu128` is a release, `2.10.0.dev20251101+cu130` a nightly, `2.1.0a0+git1234abc` a custom build."""
    if _NIGHTLY.search(torch) and not _SOURCE_TREE.search(torch):
        return Origin.NIGHTLY
    return Origin.SOURCE if _SOURCE_TREE.search(torch) or "dev" in torch else Origin.RELEASE


@lru_cache(maxsize=4096)
def covers(capability: str, arch: str) -> bool:
    """Whether code for `arch` runs on a card of this capability.

    sm_86: the same major, this minor or newer. compute_80: PTX, compiled for anything from 8.0 on.
    sm_90a: exactly that capability; sm_100f: that major family from that minor on.
    """
    match = _ARCH.fullmatch(arch)
    version = numbers(capability)
    if not match or len(version) < 2:
        return False
    kind, major, minor, suffix = match[1], int(match[2]), int(match[3]), match[4]
    if suffix == "a":
        return version[:2] == (major, minor)
    if kind == "compute" and not suffix:
        return version[:2] >= (major, minor)
    return version[0] == major and version[1] >= minor


def _archs_of(row: Requirement) -> list[str]:
    """A row's list in torch's own words: "7.5 8.0" -> sm_75, sm_80; PTX -> compute_120."""
    kind = "compute" if row.relation == "compiles-for" else "sm"
    return [f"{kind}_{text.replace('.', '')}" for text in (row.values or row.low).split()]


@computed_once
def _code_of_builds(tables: Tables, platform: str) -> dict[ReleasedBuild, tuple[str, ...]]:
    """What the builds of torch for a platform carry, machine code first."""
    archs: dict[ReleasedBuild, list[str]] = {}
    for relation in _CODE:
        for row in tables.rows("pytorch", relation, "compute-capability", platform=platform):
            archs.setdefault(ReleasedBuild(row.version, row.variant), []).extend(_archs_of(row))
    return {build: tuple(names) for build, names in archs.items()}


def published_archs(look: Look, tables: Tables, torch: str, cuda: str) -> list[str]:
    """What a build carries, as its vendor publishes it; empty for one that is no release, whatever its number."""
    if origin_of(torch) is not Origin.RELEASE:
        return []
    build = ReleasedBuild(major_minor(torch), wheel_variant(cuda))
    return list(_code_of_builds(tables, look.wheel_platform).get(build, ()))


@computed_once
def archs_of_release(tables: Tables, torch: str, platform: str) -> tuple[str, ...]:
    """What the published builds of a release carry together, of whatever CUDA; () where none is listed.

    `platform`: how those of the builds begin: `linux-x86_64`, or `windows` where the architecture is not known.
    """
    if origin_of(torch) is not Origin.RELEASE:
        return ()
    release = major_minor(torch)
    rows = (row for kind in _CODE for row in tables.rows("pytorch", kind, "compute-capability"))
    ours = (row for row in rows if row.version == release and row.platform.startswith(platform))
    return tuple(dict.fromkeys(arch for row in ours for arch in _archs_of(row)))


def builds_for(look: Look, tables: Tables, capabilities: Iterable[str]) -> Sequence[ReleasedBuild]:
    """The builds for this platform that carry code for all of these, oldest torch first."""
    return builds_carrying(tables, look.wheel_platform, tuple(capabilities))


@computed_once
def builds_carrying(tables: Tables, platform: str, capabilities: tuple[str, ...]) -> tuple[ReleasedBuild, ...]:
    """As `builds_for`, of a platform such as `linux-x86_64`. Those with PTX only where none has machine code.

    A build whose cuDNN has dropped one of the cards is none: its convolutions fail.
    """
    codes = _code_of_builds(tables, platform)
    fitting = [
        build
        for build, archs in codes.items()
        if _covers_all(capabilities, archs)
        and not any(precedes(tables, build.cuda, card) for card in capabilities)
        and not _ships_dropping_cudnn(tables, platform, build, capabilities)
    ]
    native = [
        build
        for build in fitting
        if _covers_all(capabilities, [arch for arch in codes[build] if arch.startswith("sm_")])
    ]
    return tuple(sorted(native or fitting, key=lambda build: (numbers(build.torch), numbers(build.cuda))))


def _ships_dropping_cudnn(tables: Tables, platform: str, build: ReleasedBuild, capabilities: Iterable[str]) -> bool:
    """Whether every cuDNN that is known to be in the build has dropped one of these cards."""
    rows = tables.rows("pytorch", "ships", "cudnn", platform=platform)
    shipped = {row.values for row in rows if ReleasedBuild(major_minor(row.version), row.variant) == build}
    return _all_drop(tables, shipped, tuple(capabilities))


def _all_drop(tables: Tables, cudnns: Iterable[str], capabilities: Iterable[str]) -> bool:
    """Whether there is a cuDNN, and none that takes all of these capabilities or of which the tables do not say."""
    floors = [lowest_taken(tables, cudnn) for cudnn in cudnns]
    drop = [floor is not None and any(is_below(each, floor.low) for each in capabilities) for floor in floors]
    return bool(drop) and all(drop)


@computed_once
def lowest_taken(tables: Tables, cudnn: str) -> Requirement | None:
    """What this cuDNN says about the lowest compute capability it takes; None if the tables do not say."""
    rows = newest_up_to(tables.rows("cudnn", "supports", "compute-capability"), cudnn)
    return min((row for row in rows if row.low), key=lambda row: numbers(row.low), default=None)


def dropping_in_wheel(look: Look, tables: Tables, cuda: str) -> list[str]:
    """Where no cuDNN is listed: those of the wheel which the torch names (`2.7.1+cu118`), if all drop a card."""
    torch, capabilities = look.get("torch.version") or "", capabilities_of(look)
    if look.software("cudnn") or origin_of(torch) is not Origin.RELEASE or "+cu" not in torch or not cuda:
        return []
    build, release = wheel_variant(cuda), numbers(torch)[:3]
    rows = tables.rows("pytorch", "ships", "cudnn", platform=look.wheel_platform)
    shipped = {row.values for row in rows if numbers(row.version) == release and row.variant == build}
    return sorted(shipped) if _all_drop(tables, shipped, capabilities) else []


def precedes(tables: Tables, cuda: str, capability: str) -> Requirement | None:
    """The row by which a card is newer than the CUDA of a published build; None where it is not.

    PTX inside such a build does not help: the cuBLAS and cuDNN that it brings have no code for the card.
    """
    outside = cuda_without_card(tables, capability, cuda)
    return outside if outside is not None and outside.relation == "needs" else None


def why_no_code(outside: Requirement, cuda: str, capability: str) -> str:
    """Why a build with this CUDA has no code for the card, by the row that says so."""
    if outside.low:
        return say(
            "It is built with CUDA {cuda}, and the first toolkit that makes code for capability {capability} "
            'is {first}: the first kernel fails with "no kernel image is available".',
            cuda,
            capability,
            outside.low,
        )
    return say(
        "It is built with CUDA {cuda}, and the last toolkit that makes code for capability {capability} "
        'is {last}: the first kernel fails with "no kernel image is available".',
        cuda,
        capability,
        outside.values,
    )


def dropped_or_newer(archs: Sequence[str], capability: str) -> str:
    """Whether the card is older than all that the build has code for, or newer; "" for one in between."""
    known = [int(number) for number in (re.sub(r"\D", "", arch) for arch in archs) if number]
    version = numbers(capability)[:2]
    if not version:
        return ""
    mine = int("".join(map(str, version)))
    if known and mine < min(known):
        return say("This build has dropped the card, which is older than the oldest that it has code for.")
    if known and mine > max(known):
        return say("The card is newer than the newest that this build has code for.")
    return ""


@computed_once
def age_of_card(tables: Tables, capability: str) -> str:
    """Which builds of torch lack code for such a card: those before it ("new"), those that dropped it ("old"); ""."""
    rows = tables.rows("pytorch", "built-for", "compute-capability", platform=USUAL_PLATFORM)
    without = [names for names in map(_archs_of, rows) if not any(covers(capability, arch) for arch in names)]
    mine = int("".join(capability.split(".")[:2]) or 0)
    ends = [sorted(int(re.sub(r"\D", "", arch)) for arch in archs) for archs in without if archs]
    if any(mine < archs[0] for archs in ends):
        return "old"
    return "new" if any(mine > archs[-1] for archs in ends) else ""


def _covers_all(capabilities: Sequence[str], archs: Sequence[str]) -> bool:
    return all(any(covers(capability, arch) for arch in archs) for capability in capabilities)


def served(look: Look, tables: Tables, builds: Iterable[ReleasedBuild]) -> list[ReleasedBuild]:
    """Of these, those whose CUDA runs under the driver of this machine; all if the driver is not known, none if it
    does not know the cards.

    If the driver version is too vague for some: those that certainly run, or all that may run if none does.
    """
    driver, api_version = look.get("nvidia.driver_version"), look.get("cuda.driver_api_version") or ""
    if driver is None:
        family = numbers(api_version)[:1]
        return [build for build in builds if not family or numbers(build.cuda)[:1] <= family]
    if any(is_older_than_card(tables, driver, card, look.driver_platform) for card in capabilities_of(look)):
        return []
    runs = {build: serves(tables, driver, build.cuda, look.driver_platform, api_version) for build in builds}
    return [build for build, does in runs.items() if does] or [build for build, does in runs.items() if does is None]


def ranges(builds: Sequence[ReleasedBuild], chosen: str = "") -> str:
    """`cu126 (torch 2.7 to 2.14), cu128 (torch 2.8 to 2.10)`: the newest four variants, `chosen` always among them.

    Says so where there are others.
    """
    lines: dict[str, list[str]] = {}
    for build in builds:
        lines.setdefault(build.variant, []).append(major_minor(build.torch))
    shown = list(lines)[-MOST_VARIANTS:]
    if chosen in lines and chosen not in shown:
        shown = [chosen, *shown[1:]]
    spans = (
        say("{variant} (torch {releases})", variant, releases[0])
        if releases[0] == releases[-1]
        else say("{variant} (torch {releases} to {releases_2})", variant, releases[0], releases[-1])
        for variant, releases in lines.items()
        if variant in shown
    )
    named, left_out = join_sentences(spans, ", "), len(lines) - len(shown)
    if left_out > 1:
        return say("{named}, and builds for {left_out} older versions of CUDA", named, left_out)
    return say("{named}, and builds for {left_out} older version of CUDA", named, left_out) if left_out else named


def which_builds(look: Look, tables: Tables, torch: str, capability: str) -> str:
    """Of this system; of the most usual one, which the sentence names, where none was reported: as the advice does."""
    fitting = builds_carrying(tables, look.wheel_platform or USUAL_PLATFORM, (capability,))
    if not fitting:
        return say("No build known here carries it.")
    chosen = nearest(look, tables, served(look, tables, fitting) or fitting).variant
    last, is_linux_assumed = fitting[-1].torch, not look.wheel_platform
    if torch and is_below(last, major_minor(torch)):
        if is_linux_assumed:
            return say(
                "On Linux with x86-64, torch {last} is the last release with a build that does: {ranges}.",
                last,
                ranges(fitting, chosen),
            )
        return say("torch {last} is the last release with a build that does: {ranges}.", last, ranges(fitting, chosen))
    if is_linux_assumed:
        return say("On Linux with x86-64, builds that carry it: {ranges}.", ranges(fitting, chosen))
    return say("Builds that carry it: {ranges}.", ranges(fitting, chosen))


def hidden_cards(capabilities: Sequence[str]) -> str:
    """What to do where the cards have no build in common."""
    return say(
        "No published build carries code for all of these cards (capability {capabilities}): use one environment for "
        "each, and hide the other cards from it with CUDA_VISIBLE_DEVICES=<its own card numbers>.",
        ", ".join(capabilities),
    )


def capabilities_of(look: Look) -> list[str]:
    """What the NVIDIA cards of this machine have, each once, lowest first; cards that do not say are left out."""
    capabilities = {card.get("compute_capability") for card in look.cards("nvidia")}
    return sorted(filter(None, capabilities), key=numbers)


def command_for(look: Look, tables: Tables, build: ReleasedBuild, *, is_fresh: bool = False) -> str:
    """How to replace the torch of this machine by a build, with the packages found that are compiled for one torch.

    `is_fresh`: the present torch is uninstalled first.

    The same release where the line is the same; pip leaves it alone, whatever its CUDA, unless it is forced.
    """
    torch, is_same = look.get("torch.version") or "", False
    if major_minor(torch) == build.torch and origin_of(torch) is Origin.RELEASE and len(numbers(torch)) > 2:
        is_same = True
    release = ".".join(map(str, numbers(torch)[:3]))
    spec = f"torch=={release}" if is_same else f"'torch=={build.torch}.*'"
    forced = "--force-reinstall " if major_minor(torch) == build.torch and not is_fresh else ""
    packages = " ".join([spec, *line_specs(look, tables, build.torch)])
    command = f"pip install {forced}{packages} --index-url https://download.pytorch.org/whl/{build.variant}"
    return for_shell(look, command)


def advice(
    look: Look, tables: Tables, capabilities: Iterable[str], failing: str = "", *, is_fresh: bool = False
) -> str:
    """The nearest build that fits driver and cards, as the command to type, with what it changes.

    Where no build carries code for all of them: the one for the card that fails (`failing`), and that the others
    have to be hidden from it.
    """
    wanted = list(capabilities)
    if is_jetson(look):
        return JETSON
    program = next(iter(programs_of(look)), None)
    if program and program.kind in _OWN_TORCH:
        return program.advice
    if not look.wheel_platform:
        return _advice_anywhere(look, tables, wanted)
    fitting = builds_for(look, tables, wanted)
    if not fitting and len(wanted) > 1:
        return join_sentences(
            [hidden_cards(wanted), advice(look, tables, [failing], is_fresh=is_fresh) if failing else ""]
        )
    if not fitting:
        return say("Build torch from source with TORCH_CUDA_ARCH_LIST set to this capability.")
    return step_to(look, tables, fitting, is_fresh=is_fresh)


_OWN_TORCH = ("image", "pinned", "notebook")
"""Kinds of programs that bring their torch: another one is never put into them."""


def step_to(look: Look, tables: Tables, fitting: Sequence[ReleasedBuild], *, is_fresh: bool = False) -> str:
    """The smallest step to one of these builds, in words and commands."""
    running = served(look, tables, fitting)
    best = nearest(look, tables, running or fitting)
    install = command_for(look, tables, best, is_fresh=is_fresh)
    command: str = say(
        "{before}{install}. {after}",
        before(look),
        install,
        join_sentences([_needed_driver(look, tables, best), after(look, tables, best)]),
    )
    if lacking := why_not_installable(look, tables, best):
        command = say("{lacking}. Then: {command}", lacking, command)
    if running:
        kind = say("The smallest step that fits") if look.get("torch.version") else say("The newest build known to fit")
        return say("{kind}: torch {torch} for {variant}: {command}", kind, best.torch, best.variant, command)
    needed = needed_driver(tables, best.cuda, "", look.driver_platform)
    span = driver_range(look, tables, needed.low, look.driver_platform) if needed else ""
    to = say(" to {span}", span) if span else ""
    return say(
        "No such build runs under this driver: update the driver{where_driver}{to}, then: {command}",
        where_driver(look),
        to,
        command,
    )


def _needed_driver(look: Look, tables: Tables, build: ReleasedBuild) -> str:
    """The driver that a build for CUDA 13 asks for, where the one of this machine is not known."""
    if look.get("nvidia.driver_version") or numbers(build.cuda)[:1] < (13,):
        return ""
    needed = needed_driver(tables, build.cuda, "", look.driver_platform or "linux")
    return say("{variant} needs driver {low} or newer.", build.variant, needed.low) if needed else ""


def where_driver(look: Look) -> str:
    """Where the driver of this machine is installed, if not here."""
    if look.get("os.wsl"):
        return say(" in Windows, not in WSL,")
    return say(" on the host (this is inside a container)") if why_container(look) else ""


def _advice_anywhere(look: Look, tables: Tables, capabilities: Sequence[str]) -> str:
    """The system was not reported: what fits on the most usual one, and where to look for others."""
    running = served(look, tables, builds_carrying(tables, USUAL_PLATFORM, tuple(capabilities)))
    others = say("https://pytorch.org/get-started/locally/ gives the command for other systems.")
    if not running:
        return say("Install a build that carries code for this card: {others}", others)
    best = nearest(look, tables, running)
    kind = say("the smallest step that fits") if look.get("torch.version") else say("the newest build known to fit")
    return say(
        "On Linux with x86-64, {kind} is torch {torch} for {variant}: {command_for}. {others}",
        kind,
        best.torch,
        best.variant,
        command_for(look, tables, best),
        join_sentences([_needed_driver(look, tables, best), others]),
    )


def names_no_build(torch: str, look: Look) -> bool:
    """Whether all that is known of a torch is its release, from a list of packages other than conda's."""
    is_listed = bool(look.packages("pytorch")) and not look.is_from_conda("pytorch")
    return is_listed and "+" not in torch and look.get("torch.cuda_version") is None


def wheels_of_pip(torch: str, look: Look, tables: Tables) -> Conclusion:
    """That a torch which names no build may have this CUDA: that of the wheel pip takes by itself, on each platform."""
    wheels = default_wheels(tables, torch)
    rows = [wheels[look.wheel_platform]] if look.wheel_platform in wheels else list(wheels.values())
    with_cuda = (
        say("CUDA {cuda} on {platform}", row.values, row.platform)
        if row.values != NO_CUDA
        else say("none on {platform}", row.platform)
        for row in rows
    )
    known = say("The wheel that pip takes by itself has: {list}.", join_sentences(with_cuda, between=", "))
    unknown = say("Which CUDA the wheel has that pip takes by itself is not known: no source on record lists it.")
    return Conclusion(
        severity=Severity.CANNOT_TELL,
        title=say("Cannot tell whether torch {torch} is built with CUDA: its version names no build", torch),
        explanation=known if rows else unknown,
        advice=command_to_read("torch.cuda_version"),
        source=rows[0].source if rows else None,
    )

"""Which branch of the NVIDIA driver to move to: one that is still supported, and that still serves the cards."""

from stackviz.base.sentence import join_sentences, say
from stackviz.report.rules.checks.grouping import named
from stackviz.report.rules.checks.places import (
    REBOOT,
    has_nvswitch,
    is_jetson,
    is_vgpu_guest,
    may_have_nvswitch,
    needs_open_modules,
    takes_open_modules,
    ubuntu_release,
    why_container,
)
from stackviz.report.rules.compatibility import Release, Tables, newest_up_to
from stackviz.report.rules.drivers import driver_branch, first_branch, last_branch
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.versions import is_below, numbers

__all__ = ["DOWNLOADS", "driver_range", "newest_driver", "no_common_branch", "ubuntu_packages", "where_to_move"]

DOWNLOADS = "https://www.nvidia.com/drivers"
CAPABILITIES = "https://developer.nvidia.com/cuda-gpus"


def where_to_move(look: Look, tables: Tables, driver: str, platform: str) -> str:
    """What to do with a driver whose branch is over: the branch supported longest that serves every card, and how."""
    if is_jetson(look):
        return say(
            "The driver of a Jetson comes with JetPack: update JetPack (cat /etc/nv_tegra_release prints its "
            "release). Install no driver for desktops or servers."
        )
    if is_vgpu_guest(look):
        return say(
            "The driver of a vGPU belongs to the vGPU release of its host: ask who runs the hypervisor for the guest "
            "driver that goes with it. Install no other; it would find no licence, or no card."
        )
    if contradiction := no_common_branch(look, tables, platform):
        return contradiction
    here = max(
        driver_branch(tables, driver, platform) or driver, _first_for_cards(look, tables, platform)[0], key=numbers
    )
    releases = [row for row in tables.releases_of("nvidia-driver", platform) if row.last_day >= look.day]
    supported = [release for release in releases if numbers(release.version) >= numbers(here)[:1]]
    oldest, limited = _last_for_cards(look, tables)
    allowed = [release for release in supported if not oldest or numbers(release.version) <= numbers(oldest)]
    if oldest and not allowed:
        return _nothing_left(tables, driver, platform, oldest, limited)
    if not allowed and releases:
        return _newest(look, platform, say("No longer-supported branch known here is newer than R{here}", here))
    if not allowed:
        return say("Move to a branch that is still supported; no branch known here has an end date in the future.")
    best = max(allowed, key=lambda release: release.last_day)
    kind = f" ({best.line})" if best.line else ""
    return say(
        "Move to a supported branch; R{version}{kind} is supported longest, until {support_ends}. {look_up_first}{how}",
        best.version,
        kind,
        best.support_ends,
        _look_up_first(look, tables, best, platform),
        _how(look, tables, best, platform),
    )


def driver_range(look: Look, tables: Tables, low: str, platform: str) -> str:
    """`525.60.13 or newer`, bounded by what the cards here need and take; "" where no such driver serves them all.

    `low`: the oldest driver that would do for the software.
    """
    first, _cards = _first_for_cards(look, tables, platform)
    oldest = max(low, first, key=numbers)
    last, ending = _last_for_cards(look, tables)
    if last and is_below(last, driver_branch(tables, oldest, platform) or oldest):
        return ""
    bound = say(", up to R{last}, the last branch that supports {named}", last, named(ending)) if last else ""
    return say("{oldest} or newer{bound}", oldest, bound)


def newest_driver(look: Look, tables: Tables) -> str:
    """The newest driver that serves the cards here, in words: of the branch that is the last for one of them."""
    last, ending = _last_for_cards(look, tables)
    if not last:
        return say("the newest NVIDIA driver")
    return say("the newest NVIDIA driver of R{last}, the last branch that supports {named}", last, named(ending))


def no_common_branch(look: Look, tables: Tables, platform: str) -> str:
    """What to do where some cards here need a newer branch than others take; "" where one serves them all."""
    first, beginning = _first_for_cards(look, tables, platform)
    last, ending = _last_for_cards(look, tables)
    if not (first and last and is_below(last, first)):
        return ""
    return say(
        "No driver serves all of these cards: {named} begins with R{first}, and R{last} is the last branch that "
        "supports {named_2}. Move one of them to another machine.",
        named(beginning),
        first,
        last,
        named(ending),
    )


def _first_for_cards(look: Look, tables: Tables, platform: str) -> tuple[str, list[CardLook]]:
    """The newest of the first branches that know these cards, and the cards that need it; "" where none is known."""
    first: dict[str, list[CardLook]] = {}
    for card in look.cards("nvidia"):
        if row := first_branch(tables, card.get("compute_capability") or "", platform):
            first.setdefault(row.low, []).append(card)
    newest = max(first, key=numbers, default="")
    return newest, first.get(newest, [])


def _last_for_cards(look: Look, tables: Tables) -> tuple[str, list[CardLook]]:
    """The oldest of the last branches that serve these cards, and the cards it is the last for; "" where none ends."""
    last: dict[str, list[CardLook]] = {}
    for card in look.cards("nvidia"):
        if branch := last_branch(tables, card.get("compute_capability") or ""):
            last.setdefault(branch, []).append(card)
    oldest = min(last, key=numbers, default="")
    return oldest, last.get(oldest, [])


def _nothing_left(tables: Tables, driver: str, platform: str, last: str, cards: list[CardLook]) -> str:
    ending = say("R{last} is the last branch that supports {named}, and it is no longer maintained", last, named(cards))
    stay = say(
        "Stay on it, with the newest driver of R{last} that {downloads} or the distribution has", last, DOWNLOADS
    )
    if driver_branch(tables, driver, platform) != last:
        stay = say(
            "The newest driver for the card is one of R{last}, from {downloads} or the distribution", last, DOWNLOADS
        )
    return say(
        "{ending}: a newer branch would drop the card. {stay}, or replace the card where security fixes matter.",
        ending,
        stay,
    )


def _newest(look: Look, platform: str, why: str) -> str:
    """The driver is of the newest branch that is known: what comes after it, and never an older one."""
    if platform == "windows":
        driver = say("the newest Game Ready or Studio driver")
        is_wsl = look.get("os.wsl") is not None
        driver = say("in Windows, not in WSL, {kind}", driver) if is_wsl else say("in Windows {kind}", driver)
    else:
        driver = say("the newest driver of its branch")
        driver = say("on the host {kind}", driver) if why_container(look) else driver
    return say(
        "{why}, so do not go back to an older one. Install {driver} from {downloads}. To check: nvidia-smi",
        why,
        driver,
        DOWNLOADS,
    )


def _how(look: Look, tables: Tables, best: Release, platform: str) -> str:
    """Where to install the driver, with what; what that ends, how to undo it, how to check it."""
    if platform == "windows":
        where = say("in Windows, not in WSL") if look.get("os.wsl") else say("in Windows")
        return say("Install it {where}, from {downloads}", where, DOWNLOADS)
    if container := why_container(look):
        return say(
            "{container} Its driver is the host's: update it on the host; a driver installed here does nothing.",
            container,
        )
    if needs_open_modules(look) and not takes_open_modules(look):
        return say(
            "The Blackwell cards here need NVIDIA's open kernel modules; check that every other card works with them "
            "(Turing and newer) before you install a driver of R{version} from {downloads}",
            best.version,
            DOWNLOADS,
        )
    return join_sentences([_how_on_linux(look, tables, best), _after(look, best)])


def _how_on_linux(look: Look, tables: Tables, best: Release) -> str:
    release = ubuntu_release(look)
    on_record = tables.releases_of("linux", "ubuntu")
    if release and on_record and is_below(release, on_record[0].version):
        return say(
            "Ubuntu {release} is older than every release on record, and whether its archive has R{version} is not "
            "known: upgrade Ubuntu first, or take a driver that {downloads} lists for it{modules}.",
            release,
            best.version,
            DOWNLOADS,
            _modules(look),
        )
    ended = next((row for row in on_record if row.version == release), None)
    if ended and ended.support_ends and ended.last_day < look.day:
        return say(
            "Ubuntu {release} itself is supported only until {support_ends}, and its archive may not have R{version}: "
            "upgrade Ubuntu first, or take a driver that {downloads} lists for it{modules}.",
            release,
            ended.support_ends,
            best.version,
            DOWNLOADS,
            _modules(look),
        )
    if "ubuntu" in (look.get("os.name") or "").lower():
        packages = " ".join(ubuntu_packages(look, best.version))
        return say(
            "sudo apt install {packages}; then {reboot}. Where apt has no such package: a driver of R{version} from "
            "{downloads}{modules}.",
            packages,
            REBOOT,
            best.version,
            DOWNLOADS,
            _modules(look),
        )
    return say(
        "Install a driver of R{version} from the distribution or from {downloads}{modules}, then {reboot}.",
        best.version,
        DOWNLOADS,
        _modules(look),
        REBOOT,
    )


def _modules(look: Look) -> str:
    return say(", with the open kernel modules, which Blackwell cards need") if needs_open_modules(look) else ""


def ubuntu_packages(look: Look, branch: str) -> list[str]:
    """The driver in the flavour the cards need, and the fabric manager where NVSwitch joins them."""
    if has_nvswitch(look):
        flavour = "-server-open" if takes_open_modules(look) else "-server"
        return [f"nvidia-driver-{branch}{flavour}", f"nvidia-fabricmanager-{branch}"]
    return [f"nvidia-driver-{branch}-open" if needs_open_modules(look) else f"nvidia-driver-{branch}"]


def _after(look: Look, best: Release) -> str:
    """What has to match the driver, how to check that it runs, how to go back."""
    fabric = ""
    if may_have_nvswitch(look):
        where = "" if has_nvswitch(look) else say("If NVSwitch joins the cards (HGX): ")
        fabric = say(
            "{where}install the fabric manager in exactly the driver's version, digit for digit, in the same step; "
            "with another, CUDA fails with error 802. ",
            where,
        )
    here = look.get("nvidia.driver_version") or say("the driver before")
    return say(
        "{fabric}To check: nvidia-smi must show {version}. To undo: install {here} in the same way.",
        fabric,
        best.version,
        here,
    )


def _look_up_first(look: Look, tables: Tables, best: Release, platform: str) -> str:
    """Added if the generation of a card is unknown and the branch may not support it."""
    unknown = [card for card in look.cards("nvidia") if card.get("compute_capability") is None]
    rows = newest_up_to(tables.rows("nvidia-driver", "supports", "compute-capability", platform=platform), best.version)
    if not unknown or not rows:
        return ""
    return say(
        "First look up {named} at {capabilities}: R{version} supports compute capability {low} and newer, and drops "
        "older cards. ",
        named(unknown),
        CAPABILITIES,
        best.version,
        rows[0].low,
    )

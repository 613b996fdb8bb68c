"""Which branch of the NVIDIA driver to move to: one that is still supported, and that still serves the cards."""

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

__all__ = ["DOWNLOADS", "driver_range", "no_common_branch", "ubuntu_packages", "where_to_move"]

DOWNLOADS = "https://www.nvidia.com/drivers"
CAPABILITIES = "https://developer.nvidia.com/cuda-gpus"


def where_to_move(look: Look, tables: Tables, driver: str, platform: str) -> str:
    """What to do with a driver whose branch is over: the branch supported longest that serves every card, and how."""
    if is_jetson(look):
        return (
            "The driver of a Jetson comes with JetPack: update JetPack (cat /etc/nv_tegra_release prints its release). "
            "Install no driver for desktops or servers."
        )
    if is_vgpu_guest(look):
        return (
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
        return _newest(look, platform, f"No longer-supported branch known here is newer than R{here}")
    if not allowed:
        return "Move to a branch that is still supported; no branch known here has an end date in the future."
    best = max(allowed, key=lambda release: release.last_day)
    kind = f" ({best.line})" if best.line else ""
    return (
        f"Move to a supported branch; R{best.version}{kind} is supported longest, until {best.support_ends}. "
        f"{_look_up_first(look, tables, best, platform)}{_how(look, tables, best, platform)}"
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
    bound = f", up to R{last}, the last branch that supports {named(ending)}" if last else ""
    return f"{oldest} or newer{bound}"


def no_common_branch(look: Look, tables: Tables, platform: str) -> str:
    """What to do where some cards here need a newer branch than others take; "" where one serves them all."""
    first, beginning = _first_for_cards(look, tables, platform)
    last, ending = _last_for_cards(look, tables)
    if not (first and last and is_below(last, first)):
        return ""
    return (
        f"No driver serves all of these cards: {named(beginning)} begins with R{first}, and R{last} is the last branch "
        f"that supports {named(ending)}. Move one of them to another machine."
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
    ending = f"R{last} is the last branch that supports {named(cards)}, and it is no longer maintained"
    stay = f"Stay on it, with the newest driver of R{last} that {DOWNLOADS} or the distribution has"
    if driver_branch(tables, driver, platform) != last:
        stay = f"The newest driver for the card is one of R{last}, from {DOWNLOADS} or the distribution"
    return f"{ending}: a newer branch would drop the card. {stay}, or replace the card where security fixes matter."


def _newest(look: Look, platform: str, why: str) -> str:
    """The driver is of the newest branch that is known: what comes after it, and never an older one."""
    on_windows = "in Windows, not in WSL, " if look.get("os.wsl") is not None else "in Windows "
    where = on_windows if platform == "windows" else "on the host " if why_container(look) else ""
    kind = "the newest Game Ready or Studio driver" if platform == "windows" else "the newest driver of its branch"
    return f"{why}, so do not go back to an older one. Install {where}{kind} from {DOWNLOADS}. To check: nvidia-smi"


def _how(look: Look, tables: Tables, best: Release, platform: str) -> str:
    """Where to install the driver, with what; what that ends, how to undo it, how to check it."""
    if platform == "windows":
        where = "in Windows, not in WSL" if look.get("os.wsl") else "in Windows"
        return f"Install it {where}, from {DOWNLOADS}"
    if container := why_container(look):
        return f"{container} Its driver is the host's: update it on the host; a driver installed here does nothing."
    if needs_open_modules(look) and not takes_open_modules(look):
        return (
            "The Blackwell cards here need NVIDIA's open kernel modules; check that every other card works with them "
            f"(Turing and newer) before you install a driver of R{best.version} from {DOWNLOADS}"
        )
    return f"{_how_on_linux(look, tables, best)} {_after(look, best)}"


def _how_on_linux(look: Look, tables: Tables, best: Release) -> str:
    release = ubuntu_release(look)
    ended = next((row for row in tables.releases_of("linux", "ubuntu") if row.version == release), None)
    if ended and ended.support_ends and ended.last_day < look.day:
        return (
            f"Ubuntu {release} itself is supported only until {ended.support_ends}, and its archive may not have "
            f"R{best.version}: upgrade Ubuntu first, or take a driver that {DOWNLOADS} lists for it{_modules(look)}."
        )
    if "ubuntu" in (look.get("os.name") or "").lower():
        packages = " ".join(ubuntu_packages(look, best.version))
        return f"sudo apt install {packages}; then {REBOOT}."
    return (
        f"Install a driver of R{best.version} from the distribution or from {DOWNLOADS}{_modules(look)}, then {REBOOT}."
    )


def _modules(look: Look) -> str:
    return ", with the open kernel modules, which Blackwell cards need" if needs_open_modules(look) else ""


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
        where = "" if has_nvswitch(look) else "If NVSwitch joins the cards (HGX): "
        fabric = (
            f"{where}install the fabric manager in exactly the driver's version, digit for digit, in the same step; "
            "with another, CUDA fails with error 802. "
        )
    here = look.get("nvidia.driver_version") or "the driver before"
    return f"{fabric}To check: nvidia-smi must show {best.version}. To undo: install {here} in the same way."


def _look_up_first(look: Look, tables: Tables, best: Release, platform: str) -> str:
    """Added if the generation of a card is unknown and the branch may not support it."""
    unknown = [card for card in look.cards("nvidia") if card.get("compute_capability") is None]
    rows = newest_up_to(tables.rows("nvidia-driver", "supports", "compute-capability", platform=platform), best.version)
    if not unknown or not rows:
        return ""
    return (
        f"First look up {named(unknown)} at {CAPABILITIES}: R{best.version} supports compute capability "
        f"{rows[0].low} and newer, and drops older cards. "
    )

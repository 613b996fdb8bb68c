"""Which branch of the NVIDIA driver to move to: one that is still supported, and that still serves the cards."""

from stackviz.rules.checks.grouping import named
from stackviz.rules.compatibility import Release, Tables, newest_up_to
from stackviz.rules.drivers import driver_branch
from stackviz.rules.look import CardLook, Look
from stackviz.rules.versions import numbers

__all__ = ["where_to_move"]

DOWNLOADS = "https://www.nvidia.com/drivers"
CAPABILITIES = "https://developer.nvidia.com/cuda-gpus"


def where_to_move(look: Look, tables: Tables, driver: str, platform: str) -> str:
    """What to do with a driver whose branch is over: the branch supported longest that serves every card, and how."""
    supported = [release for release in tables.releases_of("nvidia-driver", platform) if release.last_day >= look.day]
    oldest, limited = _last_for_cards(look, tables)
    allowed = [release for release in supported if not oldest or numbers(release.version) <= numbers(oldest)]
    if oldest and not allowed:
        return _nothing_left(tables, driver, platform, oldest, limited)
    if not allowed:
        return "Move to a branch that is still supported; no branch known here has an end date in the future."
    best = max(allowed, key=lambda release: release.last_day)
    kind = f" ({best.line})" if best.line else ""
    return (
        f"Move to a supported branch; R{best.version}{kind} is supported longest, until {best.support_ends}. "
        f"{_look_up_first(look, tables, best, platform)}{_how(look, best, platform)}"
    )


def _last_for_cards(look: Look, tables: Tables) -> tuple[str, list[CardLook]]:
    """The oldest of the last branches that serve these cards, and the cards it is the last for; "" where none ends."""
    last: dict[str, list[CardLook]] = {}
    for card in look.cards("nvidia"):
        capability = card.get("compute_capability")
        for row in tables.rows("compute-capability", "ends-with", "nvidia-driver"):
            if row.version == capability:
                last.setdefault(row.values, []).append(card)
    oldest = min(last, key=numbers, default="")
    return oldest, last.get(oldest, [])


def _nothing_left(tables: Tables, driver: str, platform: str, last: str, cards: list[CardLook]) -> str:
    ending = f"R{last} is the last branch that supports {named(cards)}, and it is no longer maintained"
    stay = f"Stay on it, with the newest driver of R{last} that {DOWNLOADS} or the distribution has"
    if driver_branch(tables, driver, platform) != last:
        stay = f"The newest driver for the card is one of R{last}, from {DOWNLOADS} or the distribution"
    return f"{ending}: a newer branch would drop the card. {stay}, or replace the card where security fixes matter."


def _how(look: Look, best: Release, platform: str) -> str:
    if platform == "windows":
        where = "in Windows, not in WSL" if look.get("os.wsl") else "in Windows"
        return f"Install it {where}, from {DOWNLOADS}"
    if "ubuntu" in (look.get("os.name") or "").lower():
        return f"sudo apt install nvidia-driver-{best.version} && sudo reboot"
    return f"Install a driver of R{best.version} from the distribution or from {DOWNLOADS}, then reboot"


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

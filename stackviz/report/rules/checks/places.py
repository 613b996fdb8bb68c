"""Where a driver or a package has to be changed: on this system, on a container's host, in Windows, in JetPack.

A command that is right on one machine does nothing, or harm, on another: every advice about a driver asks here first.
"""

import re

from stackviz.base.sentence import say
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.versions import is_below, numbers

__all__ = [
    "REBOOT",
    "has_nvswitch",
    "is_jetson",
    "is_vgpu_guest",
    "is_wsl1",
    "may_have_nvswitch",
    "needs_open_modules",
    "reset_command",
    "takes_open_modules",
    "ubuntu_release",
    "why_container",
]

REBOOT = say("reboot, which ends every program and every login on this machine")

_RED_HATS = (
    "centos", "red hat", "rhel", "rocky", "alma", "oracle", "scientific", "eurolinux", "cloudlinux", "anolis",
)  # fmt: skip
# The marks of kernels that one family of distributions builds, and the names of that family.
_KERNELS_OF = (
    (re.compile(r"\.el\d"), _RED_HATS),
    (re.compile(r"\.amzn\d"), ("amazon",)),
    (re.compile(r"\.fc\d"), ("fedora",)),
    (re.compile(r"\.al\d|\balios"), ("alibaba", "alios", "anolis")),
    (re.compile(r"\.azl\d|\.cm\d"), ("azure linux", "cbl-mariner", "mariner")),
    (re.compile(r"-pve\b"), ("debian", "proxmox")),
    (re.compile(r"-linuxkit\b"), ("linuxkit",)),
    (re.compile(r"-talos\b|-flatcar\b|-Unraid\b"), ("talos", "flatcar", "slackware", "unraid")),
    (re.compile(r"-arch\d"), ("arch", "manjaro", "endeavour", "cachyos")),
    (re.compile(r"-\d+-(?:generic|lowlatency)\b"), ("ubuntu", "mint", "pop", "elementary", "zorin", "neon", "kali")),
)
_OLDEST_UBUNTU_KERNELS = {"18.04": "4.15", "20.04": "5.4", "22.04": "5.13", "24.04": "6.5", "26.04": "6.17"}
_BLACKWELL = re.compile(r"\bRTX 50\d0\b|\bBlackwell\b|\bG?B[123]00\b|\bGB10\b")
_OLDEST_BLACKWELL, _OLDEST_OPEN = "10.0", "7.5"
_SWITCHED = ("SXM", "HBM3", "H100", "H200", "A100", "B200", "B300")
_JETSON = re.compile(r"\b(?:Jetson|Orin|Xavier|Tegra|TX[12])\b", re.IGNORECASE)
_FIRST_SBSA = "11.0"  # Jetson Thor takes the wheels that servers take
_JETSON_LINUX = re.compile(r"L4T (\d{2})\.")
_FIRST_L4T_OF_THOR = 38


_VGPU_PROFILE = re.compile(r"-\d{1,3}(?:-\d{1,3})?[ABCQ]$")


def is_vgpu_guest(look: Look) -> bool:
    """Whether a card is a share of one, as a virtual machine sees it: GRID A40-2B, NVIDIA A16-4Q."""
    return any(
        card.get("virtualization_mode") == "vgpu" or _VGPU_PROFILE.search(card.name) for card in look.cards("nvidia")
    )


def why_container(look: Look) -> str:
    """Why this report seems to come from inside a container, as a sentence; "" where nothing says so."""
    if look.states_none("machine.container"):
        return ""
    if kind := look.get("machine.container"):
        return say("This is inside a container ({kind}).", kind)
    kernel, name, version = look.get("os.kernel") or "", look.get("os.name") or "", look.get("os.version") or ""
    is_distribution = bool(kernel and name) and name != "Linux" and look.platform == "linux"
    if is_distribution and _is_kernel_of_another(kernel, name.lower(), version):
        system = f"{name} {version}".rstrip()
        return say("{kernel} is not a kernel of {system}: this is inside a container.", kernel, system)
    return ""


def _is_kernel_of_another(kernel: str, name: str, version: str) -> bool:
    for mark, families in _KERNELS_OF:
        if mark.search(kernel) and not any(family in name for family in families):
            return True
    release = numbers(kernel.removeprefix("Linux ").strip())
    built = re.search(r"\.el(\d{1,2})", kernel)
    if built and numbers(version):
        return int(built[1]) != numbers(version)[0]
    oldest = _OLDEST_UBUNTU_KERNELS.get(version[:5], "") if name == "ubuntu" else ""
    return bool(oldest and release) and is_below(".".join(map(str, release)), oldest)


def is_wsl1(look: Look) -> bool:
    """Whether this is the first Windows Subsystem for Linux, which has no GPU. Its kernel calls itself 4.4."""
    return (look.get("os.wsl") or "").removeprefix("WSL").strip() == "1"


def is_jetson(look: Look) -> bool:
    """Whether this is a Jetson before Thor: its driver and its torch come with JetPack."""
    release = _JETSON_LINUX.match(look.get("os.build") or "")
    if release and int(release[1]) < _FIRST_L4T_OF_THOR:
        return True
    if "tegra" in (look.get("os.kernel") or "").lower():
        return not any(_is_at_least(card, _FIRST_SBSA) for card in look.cards("nvidia"))
    if "jetson" in (look.get("message.hints") or "").split() and not look.all_cards:
        return True
    cards = [card for card in look.cards("nvidia") if _JETSON.search(card.name)]
    return look.platform == "linux" and any(not _is_at_least(card, _FIRST_SBSA) for card in cards)


def needs_open_modules(look: Look) -> bool:
    """Whether a card here works with NVIDIA's open kernel modules only: Blackwell and newer."""
    return any(map(_is_blackwell, look.cards("nvidia")))


def _is_blackwell(card: CardLook) -> bool:
    return _is_at_least(card, _OLDEST_BLACKWELL) or bool(_BLACKWELL.search(card.name))


def takes_open_modules(look: Look) -> bool:
    """Whether all cards here work with the open kernel modules: Turing and newer."""
    cards = look.cards("nvidia")
    return bool(cards) and all(_is_at_least(card, _OLDEST_OPEN) or _is_blackwell(card) for card in cards)


def _is_at_least(card: CardLook, low: str) -> bool:
    capability = card.get("compute_capability")
    return capability is not None and not is_below(capability, low)


def has_nvswitch(look: Look) -> bool:
    """Whether the cards are surely joined by NVSwitch: the report counts switches, or eight cards are on SXM boards."""
    if switches := look.number("nvidia.nvswitches"):
        return switches > 0
    return may_have_nvswitch(look) and len(look.cards("nvidia")) >= 8 and not why_container(look)


def may_have_nvswitch(look: Look) -> bool:
    """Whether the cards are of a kind that NVSwitch joins in most machines, and nothing denies it."""
    names = " ".join(card.name for card in look.cards("nvidia"))
    is_joined = any(mark in names for mark in _SWITCHED) and "PCIe" not in names and "NVL" not in names
    return is_joined and look.number("nvidia.nvswitches") != 0 and not look.states_none("nvidia.fabric_manager")


def reset_command(index: int) -> str:
    """How to reset a card, with what that ends."""
    return say(
        "End every program on the card (nvidia-smi -i {index} lists them) and any display on it, then: sudo "
        "nvidia-smi --gpu-reset -i {index_2}. The reset is refused while one runs, and on machines with NVSwitch for "
        "a single card; then {reboot}.",
        index,
        index,
        REBOOT,
    )


def ubuntu_release(look: Look) -> str:
    """`24.04`; "" where this is no Ubuntu or its version is not told."""
    match = re.match(r"\d{2}\.\d{2}", look.get("os.version") or "")
    return match[0] if match and (look.get("os.name") or "").lower().startswith("ubuntu") else ""

"""The operating system, and what decides which kernel modules and libraries a program gets.

Sources on Linux: /etc/os-release (os-release(5)), /proc/version and /proc/modules (proc(5)); the EFI variable
SecureBoot (UEFI specification 3.3), mokutil(1); ld.so(8).
"""

import platform
import re

from stackviz.base.private import without_homes
from stackviz.report.format.agent_texts import NOT_SET
from stackviz.report.format.facts.asking import MissingFact, Surroundings, only_on
from stackviz.report.format.facts.table import FactTable

__all__ = ["FACTS"]

FACTS = FactTable(order=10, probe="system")

_GRAPHICS_MODULES = frozenset(
    {
        "nvidia", "nvidia_drm", "nvidia_modeset", "nvidia_peermem", "nvidia_uvm", "nouveau", "nova_core", "nova_drm",
        "amdgpu", "radeon", "i915", "xe", "habanalabs",
    }
)  # fmt: skip
_SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"


def _os_release(around: Surroundings) -> dict[str, str]:
    text = around.read("/etc/os-release") or around.read("/usr/lib/os-release") or ""
    pairs = re.findall(r"^([A-Z_]+)=[\"']?(.*?)[\"']?$", text, re.MULTILINE)
    return dict(pairs)


@FACTS.text(
    "os.name", "operating system or distribution: Ubuntu, macOS, Windows", command="python -m torch.utils.collect_env"
)
def os_name(around: Surroundings) -> str | None:
    if around.system == "Linux":
        return _os_release(around).get("NAME")
    return {"Darwin": "macOS"}.get(around.system, around.system)


@FACTS.text("os.version", "its version: 24.04, 15.3.1", command="python -m torch.utils.collect_env")
def os_version(around: Surroundings) -> str | None:
    if around.system == "Linux":
        return _os_release(around).get("VERSION_ID")
    return platform.mac_ver()[0] if around.system == "Darwin" else platform.version()


@FACTS.text("os.build", "its build: 24D70", probe="apple")
def os_build(around: Surroundings) -> str:
    return around.run("sw_vers", "-buildVersion").strip()


@FACTS.text("os.kernel", "kernel name and release: Linux 6.8.0-45-generic", command="uname -a")
def os_kernel(around: Surroundings) -> str:
    return f"{around.system} {platform.release()}"


@FACTS.text("os.arch", "machine word as uname states it: x86_64, arm64")
def os_arch(_around: Surroundings) -> str:
    return platform.machine()


@FACTS.text("os.wsl", "version of the Windows Subsystem for Linux this runs under; absent elsewhere")
def os_wsl(around: Surroundings) -> str:
    only_on(around, "Linux")
    version = (around.read("/proc/version") or "").lower()
    if "microsoft" not in version:
        raise MissingFact("not_applicable", "not under the Windows Subsystem for Linux")
    return "2" if "wsl2" in version or "microsoft-standard" in version else "1"


@FACTS.text("os.libc", "C library: glibc 2.39")
def os_libc(around: Surroundings) -> str | None:
    only_on(around, "Linux")
    return " ".join(platform.libc_ver()).strip() or None


@FACTS.text(
    "os.modules",
    "kernel modules of graphics cards that are loaded, space separated: nvidia nvidia_uvm nouveau",
    command="lsmod",
)
def os_modules(around: Surroundings) -> str | None:
    only_on(around, "Linux")
    text = around.read("/proc/modules")
    if text is None:
        return None
    loaded = {line.split(None, 1)[0] for line in text.splitlines() if line.strip()}
    if not loaded & _GRAPHICS_MODULES:
        raise MissingFact("not_applicable", "no kernel module of a graphics card is loaded")
    return " ".join(sorted(loaded & _GRAPHICS_MODULES))


@FACTS.truth("os.secure_boot", "the firmware loads signed kernels only", command="mokutil --sb-state")
def os_secure_boot(around: Surroundings) -> bool | None:
    """The variable is four bytes of attributes and one that is 1 or 0; `read` takes trailing zeros off."""
    only_on(around, "Linux")
    if not around.path("/sys/firmware/efi").is_dir():
        raise MissingFact("not_applicable", "this system was not started by EFI firmware")
    variable = around.read(_SECURE_BOOT)
    if variable is not None:
        return variable.endswith("\x01")
    output = around.run("mokutil", "--sb-state")
    match = re.search(r"SecureBoot (enabled|disabled)", output)
    return match[1] == "enabled" if match else None


@FACTS.text("env.ld_library_path", "LD_LIBRARY_PATH as set, home folders masked; absent if unset")
def ld_library_path(around: Surroundings) -> str:
    only_on(around, "Linux")
    value = around.environ.get("LD_LIBRARY_PATH", "")
    if not value.strip(": "):
        raise MissingFact("not_applicable", NOT_SET.format(name="LD_LIBRARY_PATH"))
    return without_homes(value)

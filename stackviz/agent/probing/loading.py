"""What decides which kernel modules and libraries a program gets: loaded modules, Secure Boot, search paths.

Asked by the system probe. Sources: /proc/modules (proc(5)); the EFI variable SecureBoot (UEFI specification 3.3),
mokutil(1); ld.so(8), ldconfig(8); /opt/rocm/.info/version.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath

from stackviz.agent.probing.asking import Missing, Questions, Surroundings, only_on
from stackviz.wire import LIMITS
from stackviz.wire.private import without_homes

__all__ = ["QUESTIONS"]

QUESTIONS = Questions()

_GRAPHICS_MODULES = frozenset(
    {
        "nvidia", "nvidia_drm", "nvidia_modeset", "nvidia_peermem", "nvidia_uvm", "nouveau", "nova_core", "nova_drm",
        "amdgpu", "radeon", "i915", "xe", "habanalabs",
    }
)  # fmt: skip
_SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_MOST_FOLDERS = 64
_MOST_FILES = 10_000


@QUESTIONS.about("os.modules")
def os_modules(around: Surroundings) -> str | None:
    only_on(around, "Linux")
    text = around.read("/proc/modules")
    if text is None:
        return None
    loaded = {line.split(None, 1)[0] for line in text.splitlines() if line.strip()}
    if not loaded & _GRAPHICS_MODULES:
        raise Missing("not_applicable", "no kernel module of a graphics card is loaded")
    return " ".join(sorted(loaded & _GRAPHICS_MODULES))


@QUESTIONS.about("os.secure_boot")
def os_secure_boot(around: Surroundings) -> bool | None:
    """The variable is four bytes of attributes and one that is 1 or 0; `read` takes trailing zeros off."""
    only_on(around, "Linux")
    if not around.path("/sys/firmware/efi").is_dir():
        raise Missing("not_applicable", "this system was not started by EFI firmware")
    variable = around.read(_SECURE_BOOT)
    if variable is not None:
        return variable.endswith("\x01")
    said = around.run("mokutil", "--sb-state")
    match = re.search(r"SecureBoot (enabled|disabled)", said)
    return match[1] == "enabled" if match else None


@QUESTIONS.about("env.ld_library_path")
def ld_library_path(around: Surroundings) -> str:
    only_on(around, "Linux")
    value = around.environ.get("LD_LIBRARY_PATH", "")
    if not value.strip(": "):
        raise Missing("not_applicable", "LD_LIBRARY_PATH is not set")
    return without_homes(value)


@QUESTIONS.about("cudnn.libraries")
def cudnn_libraries(around: Surroundings) -> str:
    """Paths a loader would search before or beside Python's packages, those of the packages left out."""
    only_on(around, "Linux")
    found = dict.fromkeys([*_in_search_path(around), *_in_cache(around)])
    outside = [path for path in found if "/site-packages/" not in path and "/dist-packages/" not in path]
    if not outside:
        raise Missing("not_applicable", "no cuDNN outside Python's packages")
    return _as_many_as_fit(outside)


def _in_search_path(around: Surroundings) -> Iterator[str]:
    folders = around.environ.get("LD_LIBRARY_PATH", "").split(":")
    for folder in dict.fromkeys(folder for folder in folders[:_MOST_FOLDERS] if folder.startswith("/")):
        try:
            entries = [entry.name for entry in islice(around.path(folder).iterdir(), _MOST_FILES)]
        except OSError:
            continue
        yield from (str(PurePosixPath(folder) / name) for name in sorted(entries) if _is_cudnn(name))


def _in_cache(around: Surroundings) -> Iterator[str]:
    """`	libcudnn.so.9 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcudnn.so.9`; musl has no ldconfig -p."""
    for ldconfig in ("ldconfig", "/sbin/ldconfig"):  # /sbin is often not in a user's PATH
        try:
            said = around.run(ldconfig, "-p")
        except Missing:
            continue
        paths = (line.partition("=> ")[2].strip() for line in said.splitlines())
        yield from sorted(path for path in paths if _is_cudnn(PurePosixPath(path).name))
        return


def _is_cudnn(name: str) -> bool:
    return name.startswith("libcudnn") and ".so" in name and " " not in name


def _as_many_as_fit(paths: list[str]) -> str:
    text = ""
    for path in paths:
        if len(text) + len(path) >= LIMITS.string_chars:
            break
        text = f"{text} {path}".strip()
    return text


@QUESTIONS.about("rocm.version")
def rocm_version(around: Surroundings) -> str:
    """`6.4.1-83` is release 6.4.1, build 83."""
    only_on(around, "Linux")
    text = around.read("/opt/rocm/.info/version")
    if text is None:
        raise Missing("not_applicable", "no ROCm in /opt/rocm")
    return text.partition("-")[0]

"""What Linux says of NVIDIA's module: /proc/driver/nvidia, modinfo, lsmod, modprobe, dkms, device files.

Formats: NVIDIA's README, "The /proc Interface"; lsmod(8), modprobe(8), modinfo(8), dkms(8), ls(1), systemctl(1).
"""

import re
from collections.abc import Mapping

from stackviz.report.importers.importer import Importer, Span, blocks_after, runs_of
from stackviz.report.importers.reading import Reading

__all__ = ["DEVICES_IMPORTER", "DKMS_IMPORTER", "FABRIC_IMPORTER", "LSMOD_IMPORTER", "MODULE_IMPORTER"]

_VERSION = r"\d{3}\.\d{1,3}(?:\.\d{1,3})?"
_KERNEL = r"\d{1,2}\.\d{1,3}[\w.+-]{0,80}"

# ---- /proc/driver/nvidia/version, modinfo nvidia --------------------------------------------------------------------

_NVRM = re.compile(
    rf"^(?:NVRM version:[ \t]{{0,8}}|[^\n]{{0,60}}?NVRM: loading )"
    rf"(NVIDIA UNIX [^\n]{{0,80}}?) {{1,4}}({_VERSION})\b[^\n]{{0,160}}"
    r"(?:\nGCC version:[^\n]{0,160})?",
    re.MULTILINE,
)
_MODINFO = re.compile(r"^filename:[ \t]+\S{1,200}/nvidia(?:-current)?\.ko[^\n]{0,20}$", re.MULTILINE)
_MODINFO_LINE = re.compile(r"(?:alias|version|supported|license|firmware|srcversion|depends|retpoline|name|vermagic"
                           r"|sig_\w+|"
                           r"signer|parm|signature|import_ns|description|author|softdep|intree)\b[:\t ]"
                           r"|[ \t0-9A-F:]{8,}")  # fmt: skip


def find_module(text: str) -> list[Span]:
    spans = [Span(*match.span()) for match in _NVRM.finditer(text)] if "NVRM" in text else []
    return sorted([*spans[:64], *blocks_after(_MODINFO, _MODINFO_LINE, text, anchor="filename:")])


def read_module(text: str) -> Reading:
    """Never raises. The module that is loaded (/proc), or the one that would be (modinfo)."""
    reading = Reading(kind="nvidia-module")
    reading.sheet.state("os.name", "Linux")
    if loaded := _NVRM.search(text):
        kind = "open" if "Open Kernel Module" in loaded[1] else "proprietary"
        reading.sheet.state("nvidia.kernel_module_version", loaded[2])
        reading.sheet.state("nvidia.driver_version", loaded[2])
        reading.sheet.state("nvidia.driver_kind", kind)
        reading.add_software("nvidia-driver", loaded[2], "/proc/driver/nvidia/version")
        return reading
    version = re.search(rf"^version:[ \t]+({_VERSION})\s*$", text, re.MULTILINE)
    license_name = re.search(r"^license:[ \t]+(\S[^\n]{0,40})$", text, re.MULTILINE)
    vermagic = re.search(rf"^vermagic:[ \t]+({_KERNEL})", text, re.MULTILINE)
    reading.sheet.state("nvidia.module_installed", value=True)
    reading.sheet.state("os.kernel", f"Linux {vermagic[1]}" if vermagic else None)
    if license_name:
        reading.sheet.state("nvidia.driver_kind", "open" if "MIT" in license_name[1] else "proprietary")
    if version:
        reading.add_software("nvidia-driver", version[1], "modinfo")
    return reading


MODULE_IMPORTER = Importer(
    kind="nvidia-module",
    tool="cat /proc/driver/nvidia/version, modinfo nvidia",
    tells="the version of NVIDIA's kernel module, open or proprietary",
    trust=81,
    find=find_module,
    read=read_module,
    answers=(
        "cat /proc/driver/nvidia/version",
        "cat /proc/driver/nvidia/version; echo $LD_LIBRARY_PATH",
    ),
    command=r"(?:cat /proc/driver/nvidia|modinfo|dmesg)",
    yields=True,
)

# ---- lsmod, modprobe ------------------------------------------------------------------------------------------------

_MODULES = "nvidia|nvidia_(?:drm|modeset|peermem|uvm|wmi_ec_backlight)|nouveau|amdgpu|radeon|i915|xe|nova_(?:core|drm)"
_MODULE_LINE = re.compile(
    r"^(?:(?P<name>[a-z]\w{1,40})[ \t]+\d{3,9}[ \t]+\d{1,4}(?:[ \t]+[\w,-]{1,400})?"
    r"|Module[ \t]+Size[ \t]+Used by)[ \t]*$",
    re.MULTILINE,
)
_OURS = re.compile(rf"^(?:{_MODULES})[ \t]+\d{{3,9}}[ \t]+\d", re.MULTILINE)
_HEAD = re.compile(r"^Module[ \t]+Size[ \t]+Used by", re.MULTILINE)
_MODPROBE = re.compile(
    rf"^modprobe: (?:FATAL|ERROR): [^\n]{{0,60}}\b(?P<module>nvidia[\w-]{{0,20}}|amdgpu|nouveau)'?\b[^\n]{{0,20}}?(?:"
    rf"(?P<missing>not found in directory )(?:/usr)?/lib/modules/(?P<kernel>{_KERNEL})|: (?P<why>[A-Z][^\n]{{3,80}}))$",
    re.MULTILINE,
)


def find_lsmod(text: str) -> list[Span]:
    spans = [Span(*match.span()) for match in _MODPROBE.finditer(text)] if "modprobe: " in text else []
    if any(name in text for name in ("nvidia", "nouveau", "amdgpu", "i915", "Used by")):
        for span in runs_of(_MODULE_LINE, text):
            lines = text[span.start : span.end]
            if _OURS.search(lines) or _HEAD.search(lines):
                spans.append(span)
    return sorted(spans)[:64]


def read_lsmod(text: str) -> Reading:
    """Never raises. Modules that are loaded; with the head of the whole list, those that are not, too."""
    reading = Reading(kind="lsmod")
    reading.sheet.state("os.name", "Linux")
    if failed := _MODPROBE.match(text):
        _take_modprobe(reading, failed)
        return reading
    names = [match["name"] for match in _MODULE_LINE.finditer(text) if match["name"]]
    loaded = sorted({name for name in names[:4_000] if re.fullmatch(_MODULES, name)})
    reading.sheet.state("os.modules", " ".join(loaded) or None)
    if not loaded:
        reading.sheet.mark_missing("os.modules", "not_applicable", "lsmod lists no module of a graphics card")
    if "nvidia" in loaded:
        reading.sheet.state("nvidia.module_installed", value=True)
    return reading


def _take_modprobe(reading: Reading, failed: re.Match[str]) -> None:
    """`FATAL: Module nvidia not found in directory /lib/modules/6.8.0`, `ERROR: could not insert 'nvidia': ...`."""
    if failed["missing"]:
        reading.sheet.state("os.kernel", f"Linux {failed['kernel']}")
        if failed["module"].startswith("nvidia"):
            reading.sheet.state("nvidia.module_installed", value=False)
        return
    if failed["module"].startswith("nvidia"):
        reading.sheet.state("nvidia.module_installed", value=True)
    if failed["module"] in {"nvidia", "nvidia-current"}:
        reading.sheet.mark_missing("nvidia.kernel_module_version", "not_applicable", "modprobe could not load nvidia")
    if re.search(r"Key was rejected|Required key not available", failed["why"]):
        reading.sheet.state("os.secure_boot", value=True)
    reading.problem(f"modprobe could not load {failed['module']}: {failed['why']}")


LSMOD_IMPORTER = Importer(
    kind="lsmod",
    tool="lsmod, modprobe",
    tells="kernel modules of graphics cards that are loaded, or why one is not",
    trust=79,
    find=find_lsmod,
    read=read_lsmod,
    answers=("lsmod | grep -iE 'nvidia|nouveau'",),
    command=r"(?:lsmod|modprobe)",
    yields=True,
)

# ---- dkms status ----------------------------------------------------------------------------------------------------

_DKMS = re.compile(
    rf"^(?P<name>nvidia|amdgpu)(?:-[\w-]{{1,30}})?(?:/"
    rf"|, )(?P<version>\d[\w.+~-]{{0,40}})(?:, (?P<kernel>{_KERNEL}), \w{{3,12}})?"
    r": (?P<state>added|built|installed|broken)\b[^\n]{0,120}$",
    re.MULTILINE,
)


def find_dkms(text: str) -> list[Span]:
    return runs_of(_DKMS, text) if "nvidia" in text or "amdgpu" in text else []


def read_dkms(text: str) -> Reading:
    """Never raises. A module that is installed for one kernel only may be missing for the one that runs."""
    reading = Reading(kind="dkms-status")
    reading.sheet.state("os.name", "Linux")
    modules = [match for match in _DKMS.finditer(text) if match["name"] == "nvidia"]
    for module in modules[:64]:
        reading.add_software("nvidia-driver", module["version"], "dkms")
    kernels = [module["kernel"] for module in modules if module["state"] == "installed" and module["kernel"]]
    reading.sheet.state("nvidia.module_kernels", " ".join(dict.fromkeys(kernels)) or None)
    states = {module["state"] for module in modules}
    if modules and "installed" not in states:
        reading.sheet.state("nvidia.module_installed", value=False)
        reading.sheet.mark_missing("nvidia.module_kernels", "not_installed", "dkms has built it for no kernel")
        reading.problem(f"dkms has not installed the module: {', '.join(sorted(states))}")
    return reading


DKMS_IMPORTER = Importer(
    kind="dkms-status",
    tool="dkms status",
    tells="whether NVIDIA's module was built for a kernel",
    trust=77,
    find=find_dkms,
    read=read_dkms,
    command="dkms status",
    yields=True,
)

# ---- device files ---------------------------------------------------------------------------------------------------

_DEVICE = re.compile(
    r"^(?:[bcd][rwx-]{9}[.+@]?[ \t]+\d{1,4}[ \t]+[\w-]{1,40}[ \t]+[\w-]{1,40}[ \t][^\n/]{4,60}"
    r"(?P<path>/dev/(?:nvidia|kfd|dri|dxg)\S{0,60})"
    r"|ls: (?:cannot access|[^\n:]{0,40}) ?'?(?P<missing>/dev/(?:nvidia|kfd|dri|dxg)[^\n:']{0,40})'?: [^\n]{0,60}"
    r"|total \d{1,6}|[bcd][rwx-]{9}[.+@]?[ \t]+\d{1,4}[ \t]+\w{1,40}[ \t]+\w{1,40}[ \t][^\n/]{4,60}(?:card|renderD"
    r"|nvidia)\d{1,4}"
    r"|/dev/(?:dri|nvidia-caps):|(?P<bare>/dev/(?:kfd|nvidia[\w-]{0,20}|dxg)))$",
    re.MULTILINE,
)


def find_devices(text: str) -> list[Span]:
    if "/dev/" not in text:
        return []
    return [span for span in runs_of(_DEVICE, text) if "/dev/" in text[span.start : span.end]]


def read_devices(text: str) -> Reading:
    """Never raises. `ls -l /dev/nvidia*`: whether the file is there that CUDA opens first; under WSL 2 there is dxg."""
    reading = Reading(kind="device-files")
    reading.sheet.state("os.name", "Linux")
    matches = list(_DEVICE.finditer(text))[:400]
    paths = {match["path"] or match["bare"] for match in matches if match["path"] or match["bare"]}
    missing = {match["missing"] for match in matches if match["missing"]}
    if "/dev/nvidia-uvm" in paths:
        reading.sheet.state("nvidia.uvm_device", value=True)
    elif missing & {"/dev/nvidia-uvm", "/dev/nvidia*"} or "/dev/nvidiactl" in paths:
        reading.sheet.state("nvidia.uvm_device", value=False)
    if "/dev/nvidiactl" in paths:
        reading.sheet.state("os.modules", "nvidia")  # which makes the file
    if "/dev/dxg" in paths:
        reading.sheet.state("os.wsl", "2")
    if "/dev/kfd" in missing:
        reading.problem(
            "there is no /dev/kfd: the module amdgpu is not loaded, or the container was started without it"
        )
    return reading


DEVICES_IMPORTER = Importer(
    kind="device-files",
    tool="ls -l /dev/nvidia*",
    tells="whether the device files of the driver are there",
    trust=75,
    find=find_devices,
    read=read_devices,
    answers=("ls -l /dev/nvidia-uvm", "ls -l /dev/kfd /dev/dri"),
    command=r"ls (?:-l )?/dev",
    yields=True,
)

# ---- the fabric manager's service -----------------------------------------------------------------------------------

_SERVICE = re.compile(
    r"^(?:[●○×*x] )?nvidia-fabricmanager\.service - [^\n]{0,120}$"
    r"|^Unit nvidia-fabricmanager(?:\.service)? could not be found",
    re.MULTILINE,
)
_SERVICE_LINE = re.compile(r"[ \t]{1,12}(?:Loaded|Active|Drop-In|Docs|Process|Main PID|Tasks|Memory|CPU|CGroup)\b"
                           r"|[ \t]{8,}[└├]|"
                           r"[A-Z][a-z]{2} \d\d \d\d:")  # fmt: skip
_STATES: Mapping[str, str] = {
    "active": "active",
    "activating": "activating",
    "inactive": "inactive",
    "failed": "failed",
}


def find_fabric(text: str) -> list[Span]:
    return blocks_after(_SERVICE, _SERVICE_LINE, text, anchor="nvidia-fabricmanager")


def read_fabric(text: str) -> Reading:
    """Never raises."""
    reading = Reading(kind="fabric-manager")
    reading.sheet.state("os.name", "Linux")
    active = re.search(r"^[ \t]{1,12}Active: (\w{4,12})", text, re.MULTILINE)
    if active:
        reading.sheet.state("nvidia.fabric_manager", _STATES.get(active[1], active[1]))
    else:
        reading.sheet.mark_missing("nvidia.fabric_manager", "not_installed", "systemctl finds no such unit")
    return reading


FABRIC_IMPORTER = Importer(
    kind="fabric-manager",
    tool="systemctl status nvidia-fabricmanager",
    tells="whether the fabric manager runs",
    trust=73,
    find=find_fabric,
    read=read_fabric,
    command=r"systemctl",
    yields=True,
)

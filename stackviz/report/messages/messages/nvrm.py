"""What NVIDIA's kernel modules log when a card does not start, and what modprobe prints when they do not load."""

from collections.abc import Mapping
from dataclasses import replace

from stackviz.base.sentence import say
from stackviz.report.messages.commands import DKMS_STATUS, DMESG, NVIDIA_SMI, NVIDIA_SMI_Q
from stackviz.report.messages.symptom import (
    KERNEL_LOG,
    Cause,
    Family,
    SeverityName,
    Symptom,
    coded,
    table_rows,
    text_family,
)

_GUIDE = "NVIDIA Driver Installation Guide"
_GUIDE_URL = "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/"
_SOURCE = "NVIDIA/open-gpu-kernel-modules: the modules' source code"
_SOURCE_URL = "https://github.com/NVIDIA/open-gpu-kernel-modules"
_LSPCI = "lspci -nnk"

_NO_ROOM = Cause(
    text="The firmware of the board gives the card no address space.",
    sign="lspci -vv shows regions of the card as unassigned or disabled; the card sits in a riser, dock or old board.",
    remedy="In the UEFI, turn on Above 4G decoding and Resizable BAR and turn off CSM; update the UEFI.",
)
_BAD_CONTACT = Cause(
    text="Power, a riser or the slot: the card does not answer while it starts.",
    sign="The log also says fallen off the bus, or it happens on some starts only.",
    remedy="Power off, seat the card and its cables again, try it in another slot without a riser.",
)
_WRONG_MODULES = Cause(
    text="The modules do not suit the card: Blackwell needs the open ones, Pascal and Volta the closed ones.",
    sign="modinfo nvidia prints license: Dual MIT/GPL for the open modules, NVIDIA for the closed.",
    remedy="Install the other kind of the same driver (packages whose name ends in -open, or without it), then reboot.",
)
_FIRMWARE_STATE = Cause(
    text="The firmware on the card is in a bad state, often after a crash or in a virtual machine.",
    sign="It worked before.",
    remedy="Switch the machine off, wait ten seconds, switch it on: a reboot does not cut the power of the card.",
)
_OTHER_KERNEL = Cause(
    text="The module was built for another kernel, or not built at all.",
    sign="dkms status does not list the running kernel, which uname -r prints.",
    remedy="Install the headers of this kernel, then build the module: sudo dkms autoinstall",
)
_SECURE_BOOT = Cause(
    text="Secure Boot is on, and the module is not signed by a key that the machine trusts.",
    sign="mokutil --sb-state prints enabled.",
    remedy="Enrol the key that signed the module (mokutil --import, then reboot), or turn Secure Boot off in the UEFI.",
    excluded_by=("secure-boot",),
)
_NOUVEAU = Cause(
    text="nouveau, the open driver of the kernel, holds the card.",
    sign="lspci -nnk -d 10de: prints Kernel driver in use: nouveau.",
    remedy="Install the driver from the distribution's packages, which keep nouveau away, and reboot.",
    excluded_by=("nouveau",),
)
_VFIO = Cause(
    text="The card is reserved for a virtual machine.",
    sign="lspci -nnk -d 10de: prints Kernel driver in use: vfio-pci.",
    remedy="Remove the setting that binds it to vfio-pci, and reboot.",
)


_RIGHTS = Cause(
    text="The command lacks the rights of root, or runs in a container that may load no modules.",
    sign="id -u does not print 0, or the machine is rented.",
    remedy="Run it with sudo; in a container, install the driver on the host only.",
)
_IN_USE = Cause(
    text="A program, the desktop or a service uses the module.",
    sign="lsmod | grep nvidia shows a count above 0.",
    remedy="End the programs on the card, or reboot: the new module is loaded then.",
)
_LEGACY = Cause(
    text="The branch of the driver that is installed has dropped this card.",
    sign="The log names the branch that still has it.",
    remedy="Install that branch (nvidia-driver-470, -390 or as the log says); newer CUDA and torch leave the card out.",
)
_TOO_NEW = Cause(
    text="The card is newer than this driver, or this branch has dropped it.",
    sign="NVIDIA's list of supported products of this driver lacks the card.",
    remedy="Install the newest branch for a new card, the last branch that lists it for an old one.",
)
_NO_CARD = Cause(
    text="The machine has no NVIDIA card, or the virtual machine was given none.",
    sign="lspci -d 10de: prints nothing.",
    remedy="Seat the card, turn its slot on in the UEFI, or pass the card through to the virtual machine.",
)


_SHORT = {
    "nvrm-bar": "an invalid BAR",
    "nvrm-other-driver": "already bound",
    "nvrm-gsp": "GSP",
    "nvrm-no-card": "probe routine failed",
}


def _logged(
    key: str,
    message: str,
    meaning: str,
    causes: tuple[Cause, ...],
    rank: int,
    *,
    ask: str = DMESG,
    rules: tuple[str, ...] = (),
    severity: SeverityName = "broken",
    states: Mapping[str, bool] | None = None,
    lacks: Mapping[str, str] | None = None,
) -> Symptom:
    source = (_GUIDE, _GUIDE_URL) if key.startswith("module-") else (_SOURCE, _SOURCE_URL)
    return replace(
        coded(key, message, meaning, causes, ask, "nvidia-driver", source, severity=severity, rules=rules),
        states=states or {},
        lacks=lacks or {},
        series=KERNEL_LOG,
        rank=rank,
        short="RmInitAdapter failed" if key.startswith("nvrm-init") else _SHORT.get(key, ""),
    )


_NOT_STARTED = say("NVIDIA's module is loaded and could not start the card, so nvidia-smi finds no devices.")
_INIT_FAILED: Mapping[str, tuple[str, tuple[Cause, ...]]] = {
    "": ("0x26:0xffff:1290", (_WRONG_MODULES, _NO_ROOM, _BAD_CONTACT, _FIRMWARE_STATE)),
    "modules": ("0x22:0x56:884", (_WRONG_MODULES, _NO_ROOM, _FIRMWARE_STATE)),
    "contact": ("0x62:0x40:1860", (_BAD_CONTACT, _FIRMWARE_STATE, _NO_ROOM)),
    "room": ("0x31:0x51:2545", (_NO_ROOM, _WRONG_MODULES)),
    "firmware": ("0x62:0x70:1914", (_FIRMWARE_STATE, _BAD_CONTACT)),
}
"""What the second of the three codes points to -> an example, and the causes in that order."""

_STARTS = {
    kind: _logged(
        f"nvrm-init-failed-{kind}" if kind else "nvrm-init-failed",
        f"NVRM: GPU 0000:01:00.0: RmInitAdapter failed! ({codes})",
        _NOT_STARTED,
        causes,
        6,
        ask=_LSPCI,
    )
    for kind, (codes, causes) in _INIT_FAILED.items()
}
_LOGGED = (
    _STARTS[""],
    _logged(
        "nvrm-open-required",
        "NVRM: installed in this system requires use of the NVIDIA open kernel modules.",
        say("The card needs NVIDIA's open kernel modules, as all of Blackwell; the closed ones are loaded."),
        (
            Cause(
                text="The closed package of the driver is installed.",
                sign="modinfo nvidia prints license: NVIDIA.",
                remedy="Install the package of the same driver whose name ends in -open, then reboot.",
            ),
        ),
        -3,
        ask="modinfo nvidia",
    ),
    _logged(
        "nvrm-closed-required",
        "NVRM: installed in this system is not supported by open nvidia.ko because it does not include the "
        "required GPU System Processor (GSP).",
        say("The open kernel modules are loaded, and they need a card of Turing or newer: this one is older."),
        (
            Cause(
                text="The open package of the driver is installed for a Maxwell, Pascal or Volta card.",
                sign="modinfo nvidia prints license: Dual MIT/GPL.",
                remedy="Install the closed package of branch 580 or older, the last ones for these cards; reboot.",
            ),
        ),
        -3,
        ask="modinfo nvidia",
    ),
    _logged(
        "nvrm-legacy",
        "NVRM: The NVIDIA GPU 0000:05:00.0 installed in this system is supported through the NVIDIA 470.xx Legacy "
        "drivers.",
        say("The driver that is loaded no longer supports this card; the line names the branch that does."),
        (_LEGACY,),
        -3,
        ask=_LSPCI,
    ),
    _logged(
        "nvrm-unsupported",
        "NVRM: installed in this system is not supported by the NVIDIA 550.163.01 driver release.",
        say("The driver that is loaded does not know this card."),
        (_TOO_NEW,),
        -3,
        ask=_LSPCI,
    ),
    _logged(
        "nvrm-bar",
        "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid: BAR1 is 0M @ 0x0",
        say("The firmware of the board has not given the card what it needs: address space or an interrupt."),
        (_NO_ROOM, _BAD_CONTACT),
        -2,
        ask=_LSPCI,
    ),
    _logged(
        "nvrm-other-driver",
        "NVRM: GPU 0000:01:00.0 is already bound to nouveau.",
        say("Another driver holds the card, so NVIDIA's module cannot take it."),
        (_NOUVEAU, _VFIO),
        -1,
        ask=_LSPCI,
        rules=("nouveau",),
    ),
    _logged(
        "nvrm-gsp",
        "NVRM: _kgspIsHeartbeatTimedOut: Heartbeat timed out",
        say("The firmware on the card (GSP) did not start, or stopped answering; no program is at fault."),
        (
            _FIRMWARE_STATE,
            Cause(
                text="This release of the driver has a fault in its firmware.",
                sign="It returns, on several cards or since an update.",
                remedy="Install another release of the driver, the newest of its branch first.",
            ),
            _BAD_CONTACT,
        ),
        5,
        ask=NVIDIA_SMI_Q,
    ),
    _logged(
        "nvrm-no-card",
        "NVRM: The NVIDIA probe routine failed for 1 device(s).",
        say("NVIDIA's module was loaded and had no card that it could take, so it was unloaded again."),
        (_NOUVEAU, _WRONG_MODULES, _TOO_NEW, _BAD_CONTACT, _NO_CARD),
        8,
        rules=("nouveau",),
    ),
    _logged(
        "module-not-signed",
        "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service",
        say("The kernel refuses NVIDIA's module because of its signature."),
        (_SECURE_BOOT,),
        -2,
        ask="mokutil --sb-state",
        rules=("secure-boot",),
    ),
    _logged(
        "module-not-loaded",
        "ERROR: Unable to load the kernel module 'nvidia.ko'.",
        say("NVIDIA's installer has built the module, and the kernel did not take it."),
        (_SECURE_BOOT, _NOUVEAU, _OTHER_KERNEL),
        -1,
        ask="mokutil --sb-state",
        rules=("secure-boot", "nouveau"),
        states={"nvidia.module_installed": True},
        lacks={"nvidia.kernel_module_version": "not_applicable"},
    ),
    _logged(
        "module-not-permitted",
        "modprobe: ERROR: could not insert 'nvidia': Operation not permitted",
        say("The system does not let this command load a module."),
        (_RIGHTS, _SECURE_BOOT),
        -1,
        ask="mokutil --sb-state",
        rules=("secure-boot",),
    ),
    _logged(
        "module-not-built",
        "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-86-generic",
        say("The running kernel has no module of NVIDIA: there is none for it on the disk."),
        (
            _OTHER_KERNEL,
            Cause(
                text="The driver is not installed, or only its libraries are.",
                sign="dkms status prints nothing of nvidia.",
                remedy="Install the driver from the distribution's packages.",
            ),
        ),
        -2,
        ask=DKMS_STATUS,
    ),
    _logged(
        "module-other-kernel",
        "modprobe: ERROR: could not insert 'nvidia': Exec format error",
        say("NVIDIA's module on the disk was built for another kernel or another compiler than the running ones."),
        (_OTHER_KERNEL,),
        -2,
        ask=DKMS_STATUS,
    ),
    _logged(
        "module-in-use",
        "rmmod: ERROR: Module nvidia is in use by: nvidia_uvm nvidia_modeset",
        say("NVIDIA's module cannot be exchanged while something uses it."),
        (_IN_USE,),
        7,
        ask="lsmod | grep -iE 'nvidia|nouveau'",
    ),
    _logged(
        "nvidia-device-files",
        "nvidia-modprobe: could not create /dev/nvidia0",
        say("The device files /dev/nvidia* are missing, or this user may not open them."),
        (
            Cause(
                text="The process runs in a container, sandbox or as a user that was given no GPU.",
                sign="The same command works on the host, or with sudo.",
                remedy="Start the container with --gpus all; add the user to the group that owns the files.",
            ),
            Cause(
                text="The driver's module is not loaded, so that nothing makes the files.",
                sign="lsmod lists no nvidia.",
                remedy="Make nvidia-smi work as root first.",
            ),
        ),
        3,
        ask="ls -l /dev/nvidia*",
    ),
    _logged(
        "module-taints",
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
        say("The kernel notes that it does not vouch for this module. It is loaded all the same, and works."),
        (
            Cause(
                text="NVIDIA's module is not a part of the kernel, and not signed by its maker.",
                remedy="Nothing has to be done.",
            ),
        ),
        11,
        ask="lsmod | grep -iE 'nvidia|nouveau'",
        severity="note",
    ),
)


_OTHER = _logged(
    "nvrm-other",
    "NVRM: GPU 0000:c4:00.0: Failed to copy vbios to system memory.",
    say("NVIDIA's kernel module reports an error that no table here has."),
    (_BAD_CONTACT, _FIRMWARE_STATE, _WRONG_MODULES),
    9,
    ask=NVIDIA_SMI,
    severity="warning",
)

FAMILIES = (
    text_family("nvrm", _LOGGED),
    Family(
        patterns=(r"\bNVRM: (?P<code>(?!Xid)[^\n]{0,160}?(?:\bfail|\berror\b|\binvalid\b|timed? ?out|not supported))",),
        anchors=("nvrm",),
        members={},
        is_general=True,
        unlisted=_OTHER,
    ),
    text_family(
        "nvidia_module",
        _LOGGED,
        r"(?:\b(?:modprobe|insmod|rmmod): [^\n]{0,60}nvidia|\b(?:kernel )?module '?nvidia"
        r"|\bnvidia(?:[-_]\w{1,12})?(?: [\da-f]{4}:[\da-f:.]{7})?: )[^\n]{0,90}?\bTEXT",
    ),
    Family(
        patterns=(r"\bnouveau [\da-f]{4}:[\da-f:.]{7}: [^\n]{0,60}?(?P<code>fail|error|timeout|fault|unknown)",),
        anchors=("nouveau",),
        members={},
        is_general=True,
        unlisted=next(symptom for symptom in _LOGGED if symptom.key == "nvrm-other-driver"),
    ),
    Family(
        patterns=(r"RmInitAdapter failed! \(0x[0-9a-f]{1,8}:(?P<code>0x[0-9a-f]{1,8}):\d{1,6}\)",),
        anchors=("rminitadapter failed! (",),
        members={row["code"]: _STARTS[row["kind"]] for row in table_rows("nvrm_status")},
    ),
)

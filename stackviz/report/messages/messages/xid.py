"""Xid of the NVIDIA driver and SXid of NVSwitch: the numbers under which the kernel's log has an error of a card."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from stackviz.base.sentence import Sentence, say
from stackviz.report.messages.commands import BLOCKING_RUN, DMESG, NVIDIA_SMI_Q
from stackviz.report.messages.symptom import (
    FOLLOWS,
    KERNEL_LOG,
    Cause,
    Family,
    SeverityName,
    Symptom,
    coded,
    table_rows,
)

__all__ = ["FAMILIES"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """What Xids of one kind have in common. `rank`: as that of a `Symptom`, by how much it explains of the others."""

    rank: int
    fault: Sentence
    causes: tuple[Cause, ...]
    ask: str
    component: str = "hardware"
    severity: SeverityName = "broken"
    rules: tuple[str, ...] = ()


_XID_URL = "https://docs.nvidia.com/deploy/xid-errors/"
_RESET = (
    "End what runs on the card, then reset it: sudo nvidia-smi --gpu-reset -i 0 (its number), or reboot. On a machine "
    "with NVSwitch all cards are reset together."
)
_REPLACE = "Have the card replaced: the vendor wants the output of nvidia-bug-report.sh."
_OTHER_DRIVER = "Install another release of the driver, the newest of its branch first."
_IS_BAD = Cause(text="The card is failing.", sign="It returns after a reset, on this card only.", remedy=_REPLACE)
_DRIVER_FAULT = Cause(
    text="This release of the driver has a fault.",
    sign="It began with a new driver, or several cards have it.",
    remedy=_OTHER_DRIVER,
)
_MEMORY = (
    Cause(
        text="A cell of the memory failed. The driver takes its row or page out of use at the next reset.",
        sign="The row remapper says Pending: Yes, or the number of remapped rows has grown.",
        remedy=_RESET,
    ),
    Cause(
        text="No spare rows are left, or the memory goes on failing.",
        sign="The row remapper says Remapping Failure Occurred: Yes, or the error returns after the reset.",
        remedy=f"{_REPLACE} dcgmi diag -r 3 proves it.",
    ),
)
_BUS = (
    Cause(
        text="Power: the supply or its cables drop under load.",
        sign="It happens under load.",
        remedy="Check the cables at the card and the supply; try a lower limit: sudo nvidia-smi -pl 300",
    ),
    Cause(
        text="Heat, a riser or a loose slot.",
        sign="Temperatures before were high, or a riser is in between.",
        remedy="Power off, reseat the card, try another slot without a riser.",
    ),
    Cause(
        text="The card is failing.",
        sign="It happens at idle and in another machine too.",
        remedy="Have it replaced.",
    ),
)

_KINDS: Mapping[str, _Kind] = {
    "bus": _Kind(
        rank=0,
        fault=say(
            "The card does not answer over PCIe. No program can use it until it is reset or the machine restarts."
        ),
        causes=_BUS,
        ask=DMESG,
        rules=("cards-lost",),
    ),
    "power": _Kind(
        rank=1,
        fault=say("The card has too little power to work at full speed."),
        causes=(
            Cause(
                text="A power cable of the card is loose, missing, or shared with another card.",
                remedy="Power off and seat each cable, one of the supply for each socket of the card.",
            ),
        ),
        ask=NVIDIA_SMI_Q,
    ),
    "memory": _Kind(
        rank=2,
        fault=say("The memory of the card has an error that could not be corrected; no program is at fault."),
        causes=_MEMORY,
        ask=NVIDIA_SMI_Q,
    ),
    "contained": _Kind(
        rank=3,
        fault=say(
            "The memory of the card has an error that could not be corrected. It was contained: only the program that "
            "used this memory was ended, and others run on."
        ),
        causes=_MEMORY,
        ask=NVIDIA_SMI_Q,
    ),
    "firmware": _Kind(
        rank=4,
        fault=say(
            "A controller inside the card, which runs NVIDIA's firmware (GSP, PMU), stopped or does not answer. Every "
            "later call to this card fails or hangs; no program is at fault."
        ),
        causes=(
            Cause(
                text="The firmware met a fault once.",
                sign="It does not return after a reset.",
                remedy=_RESET,
            ),
            Cause(
                text="The driver's release has a fault in this firmware.",
                sign="It returns, on several cards.",
                remedy=(
                    f"{_OTHER_DRIVER} With the closed modules and a card before Blackwell, the GSP can be turned off: "
                    "options nvidia NVreg_EnableGpuFirmware=0 in /etc/modprobe.d, then reboot."
                ),
            ),
            _IS_BAD,
        ),
        ask=NVIDIA_SMI_Q,
        component="nvidia-driver",
    ),
    "link": _Kind(
        rank=5,
        fault=say("NVLink, between the cards or to the switch, has errors."),
        causes=(
            Cause(
                text="A link was lost or trained badly.",
                sign="nvidia-smi nvlink -s shows a link inactive, or slower than the others.",
                remedy="Reset all cards of the machine together, or reboot it; the fabric manager sets the links up.",
            ),
            Cause(
                text="A bridge, cable, connector or board is bad.",
                sign="The errors stay on one link.",
                remedy="Power off and seat the bridge or board again; have the part replaced if it stays.",
            ),
            Cause(
                text="Fabric manager and driver are of two versions.",
                sign="The log of the fabric manager names two versions.",
                remedy="Install nvidia-fabricmanager in exactly the driver's version.",
            ),
        ),
        ask=NVIDIA_SMI_Q,
    ),
    "driver": _Kind(
        rank=6,
        fault=say("The driver met a state that it did not expect, or the card did not answer it in time."),
        causes=(
            _DRIVER_FAULT,
            Cause(
                text="The card hung, under a kernel that does not end or when it is unstable.",
                sign="It comes with one program, or with overclocking.",
                remedy="Undo overclocking; reset the card: sudo nvidia-smi --gpu-reset -i 0 (its number), or reboot.",
            ),
            _IS_BAD,
        ),
        ask=NVIDIA_SMI_Q,
        component="nvidia-driver",
    ),
    "virtual": _Kind(
        rank=6,
        fault=say("It concerns a virtual machine: its vGPU, or its encrypted access to the card."),
        causes=(
            Cause(
                text="The drivers of host and guest do not suit each other.",
                sign="nvidia-smi prints another branch on the host than in the guest.",
                remedy="Install the two drivers of one vGPU release, then start the virtual machine again.",
            ),
        ),
        ask=NVIDIA_SMI_Q,
        component="nvidia-driver",
    ),
    "program": _Kind(
        rank=7,
        fault=say("The program, or a library of it, gave the card a wrong command or address. The card is seldom bad."),
        causes=(
            Cause(
                text="A kernel of the program or of an extension uses memory that is not its own.",
                sign="It comes at the same place each time, and CUDA_LAUNCH_BLOCKING=1 names it.",
                remedy="Update or turn off the extension; compute-sanitizer finds the kernel in a small case.",
            ),
            Cause(
                text="The card is overclocked, too hot or unstable.",
                sign="It comes at random places, in programs that ran before.",
                remedy="Undo overclocking; run the program on another card.",
            ),
            _DRIVER_FAULT,
        ),
        ask=BLOCKING_RUN,
        component="cuda-runtime",
    ),
    "copy": _Kind(
        rank=7,
        fault=say("An engine of the card that copies memory stopped, and the program that used it was ended."),
        causes=(
            Cause(
                text="The program copies from or to memory that is not its own.",
                sign="It comes at the same place each time.",
                remedy="Run it with CUDA_LAUNCH_BLOCKING=1, which names the copy.",
            ),
            Cause(
                text="The PCIe or NVLink connection damages data.",
                sign="Other Xids of the bus or of NVLink are in the log.",
                remedy="Seat the card again, try another slot without a riser.",
            ),
            _IS_BAD,
        ),
        ask=DMESG,
    ),
    "engine": _Kind(
        rank=7,
        fault=say("An engine of the card for video or pictures stopped; computing goes on."),
        causes=(
            Cause(
                text="The program gave it a damaged file or a wrong command.",
                sign="It comes with one file.",
                remedy="Decode that file with another program; start this one again.",
            ),
            _DRIVER_FAULT,
        ),
        ask=NVIDIA_SMI_Q,
        component="nvidia-driver",
        severity="warning",
    ),
    "display": _Kind(
        rank=7,
        fault=say("It concerns the screen, not computing."),
        causes=(_DRIVER_FAULT,),
        ask=NVIDIA_SMI_Q,
        component="nvidia-driver",
        severity="note",
    ),
    "remapped": _Kind(
        rank=8,
        fault=say("The card found weak memory and takes it out of use, as it is made to. Its work goes on."),
        causes=_MEMORY,
        ask=NVIDIA_SMI_Q,
        severity="warning",
    ),
    "follows": _Kind(
        rank=FOLLOWS,
        fault=say("It follows from another error: the driver clears up, or says what the card needs (reset, reboot)."),
        causes=(
            Cause(
                text="Another Xid of the same card and second is the cause.",
                remedy="Look at the first one in the log.",
            ),
            Cause(
                text="The program was ended from outside while it computed.",
                sign="There is no other Xid.",
                remedy="Nothing is broken: start it again.",
            ),
        ),
        ask=DMESG,
        component="nvidia-driver",
        severity="note",
    ),
    "information": _Kind(
        rank=10,
        fault=say("It is for information, and no error of a program."),
        causes=(Cause(text="The driver logs a state of the card.", remedy="Nothing has to be done now."),),
        ask=NVIDIA_SMI_Q,
        severity="note",
    ),
    "unused": _Kind(
        rank=10,
        fault=say("NVIDIA describes no error under this number."),
        causes=(_DRIVER_FAULT,),
        ask=DMESG,
        component="nvidia-driver",
        severity="note",
    ),
}


_GROUPS = {
    "xid-push-buffer": "Invalid or corrupted push buffer stream",
    "xid-video-engine": "Video processor exception (NVDEC, NVENC, NVJPG, OFA)",
    "xid-nvlink": "NVLINK Error (SAW, RLW, TLW, TREX, NVLPW_CTRL, NETIR, MSE)",
}
"""Names of the rows that are one message, where NVIDIA has one for each."""


def _xid(key: str, rows: list[dict[str, str]]) -> Symptom:
    kind = _KINDS[rows[0]["kind"]]
    name = _GROUPS.get(key) or " / ".join(dict.fromkeys(row["name"] for row in rows))
    codes = ", ".join(row["code"] for row in rows)
    is_unused = rows[0]["kind"] == "unused"
    return replace(
        coded(
            key,
            f"NVRM: Xid (PCI:0000:01:00): {rows[0]['code']}, {'an unknown error' if is_unused else name}.",
            kind.fault if is_unused else say("Xid {codes} is “{name}”. {fault}", codes, name, kind.fault),
            kind.causes,
            kind.ask,
            kind.component,
            ("NVIDIA, Xid errors: the catalog", f"{_XID_URL}analyzing-xid-catalog.html"),
            severity=kind.severity,
            rules=kind.rules,
        ),
        series=KERNEL_LOG,
        rank=kind.rank,
        short="" if is_unused else f"Xid {codes}" if len(rows) == 1 else name,
    )


_XIDS = table_rows("xid")
_BY_KEY = {key: _xid(key, [row for row in _XIDS if row["key"] == key]) for key in {row["key"]: None for row in _XIDS}}
_NUMBERS = {row["code"]: _BY_KEY[row["key"]] for row in _XIDS}
_NEXT = r"(?: ?[,/&+] ?(?:and |or )?| (?:and|or) )(?:xid[ :]{0,2})?\d{1,3}\b"
_LIST = rf"(?P<code>\d{{1,3}}\b(?:{_NEXT}){{0,12}})(?![\w.]\d)"
_TEXTS = {
    "gpu has fallen off the bus": "xid-off-bus",
    "fallen off the bus and is not": "xid-off-bus",
    "gpu lost from the bus": "xid-off-bus",
    "bad register read": "xid-off-bus",
    "necessary power cables": "xid-54",
}
"""Lines without a number that are one of the Xids."""

# ---- SXid ----

_SWITCH_URL = "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/"
_SWITCH_CAUSES = (
    Cause(
        text="A link of the switch was lost, or damaged data.",
        sign="The line names the link; Xid 74 stands near it for the card at its other end.",
        remedy="End the programs, then reset all cards of the machine together, or reboot it.",
    ),
    Cause(
        text="The switch, its board or a connector is failing.",
        sign="It returns on the same switch or link.",
        remedy="Have the board replaced: the vendor wants the output of nvidia-bug-report.sh.",
    ),
)
_SWITCH_KINDS: Mapping[str, tuple[int, str, Sentence]] = {
    "non-fatal": (8, "11012, Non-fatal, Single bit ECC", say("It was corrected or does no harm: programs go on.")),
    "fatal": (2, "20034, Fatal, LTSSM Fault Up", say("Programs whose cards use this link end; others go on.")),
    "always-fatal": (1, "22003, Fatal, Minion Halt", say("The whole fabric stops until all cards are reset.")),
}
"""Kind of an SXid -> its rank, an example, what it does."""

_SWITCH_ERRORS = {
    kind: replace(
        coded(
            f"sxid-{kind}",
            f"nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): {example}",
            say("This is an error of NVSwitch, which connects the cards (SXid). {effect}", effect),
            _SWITCH_CAUSES,
            "systemctl status nvidia-fabricmanager",
            "hardware",
            ("NVIDIA, Fabric Manager user guide: SXid errors", _SWITCH_URL),
            severity="note" if kind == "non-fatal" else "broken",
        ),
        series=KERNEL_LOG,
        rank=rank,
        short="SXid",
    )
    for kind, (rank, example, effect) in _SWITCH_KINDS.items()
}

FAMILIES = (
    Family(
        patterns=(
            r"(?:NVRM: |\bnvrm\W{1,4})?\bXid ?(?:\((?:PCI|\d{4}:)[^)\n]{0,30}\))?: ?(?P<code>\d{1,3})\b",
            rf"(?P<code>{'|'.join(_TEXTS)})",
        ),
        anchors=("xid", *_TEXTS),
        members={**_NUMBERS, **{text: _BY_KEY[key] for text, key in _TEXTS.items()}},
        unlisted=_BY_KEY["xid-unused"],
    ),
    Family(
        patterns=(
            rf"\bxids?(?: (?:errors?|codes?|events?|numbers?|messages?))?(?: ?[:=#]| \()? ?{_LIST}",
            r"_XID_ERRORS?(?:\{[^}\n]{0,300}\})?[ :=]{1,3}(?P<code>\d{1,3})\b",
        ),
        anchors=("xid",),
        members=_NUMBERS,
        each_code=r"\d{1,3}",
    ),
    Family(
        patterns=(
            r"\bSXids? ?(?:\(PCI[^)\n]{0,30}\))?(?: errors?)?[: ] ?(?P<code>\d{5})\b",
            r"\bSXid ?(?:\(PCI[^)\n]{0,30}\))?: ?\d{5}, (?P<code>(?:non-)?fatal)\b",
        ),
        anchors=("sxid",),
        members={row["code"]: _SWITCH_ERRORS[row["kind"]] for row in table_rows("sxid")} | _SWITCH_ERRORS,
    ),
)

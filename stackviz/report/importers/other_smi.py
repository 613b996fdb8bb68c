"""Tools of other makers: `xpu-smi discovery` and `sycl-ls` (Intel), `npu-smi info` (Huawei).

Formats: https://intel.github.io/xpumanager/smi_user_guide.html, sycl/tools/sycl-ls of intel/llvm,
https://support.huawei.com/enterprise/en/ascend-computing (npu-smi Command Reference).
"""

import re

from stackviz.report.format import LIMITS
from stackviz.report.importers.env_report import add_listed_card
from stackviz.report.importers.importer import Importer, Span, blocks_after, runs_of
from stackviz.report.importers.reading import CardReading, Reading

__all__ = ["NPU_SMI", "SYCL_LS", "XPU_SMI"]

# ---- xpu-smi --------------------------------------------------------------------------------------------------------

_XPU_HEAD = re.compile(r"^\| Device ID {1,4}\| Device Information[^\n]{0,160}$", re.MULTILINE)
_TABLE = re.compile(r"[|+]")
_XPU_ROW = re.compile(
    r"^\| (?P<index>\d{1,3} {0,16}| {1,20})\| (?P<label>[\w /]{3,40}): (?P<value>[^"
    r"|\n]{1,120}?) {0,120}\|[ \t]*$",
    re.MULTILINE,
)


def find_xpu_smi(text: str) -> list[Span]:
    return blocks_after(_XPU_HEAD, _TABLE, text, anchor="Device Information")


def read_xpu_smi(text: str) -> Reading:
    """Never raises. Memory is stated by `xpu-smi discovery -d 0` only."""
    reading = Reading(kind="xpu-smi")
    devices: list[dict[str, str]] = []
    for match in list(_XPU_ROW.finditer(text))[:2_000]:
        if match["index"].strip():
            devices.append({"index": match["index"].strip()})
        if devices:
            devices[-1].setdefault(match["label"].strip().lower(), match["value"].strip())
    for device in devices[: LIMITS.cards]:
        memory = re.match(r"(\d{1,9}(?:\.\d+)?) MiB", device.get("memory physical size", ""))
        if device.get("device name"):
            add_listed_card(
                reading,
                int(device["index"]),
                device["device name"],
                "xpu-smi discovery",
                "intel",
                int(float(memory[1]) * 2**20) if memory else None,
                driver_version=device.get("driver version"),
            )
    return reading


XPU_SMI = Importer(
    kind="xpu-smi",
    tool="xpu-smi discovery",
    tells="Intel cards",
    trust=76,
    find=find_xpu_smi,
    read=read_xpu_smi,
    command="(?:xpu-smi|xpumcli)",
)

# ---- sycl-ls --------------------------------------------------------------------------------------------------------

_SYCL = re.compile(
    r"^\[(?P<back>level_zero|opencl|cuda|hip|ext_oneapi_\w{3,12}):(?P<kind>gpu|cpu|fpga"
    r"|acc)(?::\d{1,3})?\](?:\[\w{3,12}:(?P<index>\d{1,3})\])? "
    r"[^,\n]{3,120}, (?P<name>[^\n]{3,120}?)(?: \d[\w.]{0,30})? {0,4}\[(?P<driver>[^\]\n]{1,60})\][ \t]*$",
    re.MULTILINE,
)


def find_sycl_ls(text: str) -> list[Span]:
    return runs_of(_SYCL, text) if ":gpu" in text or ":cpu" in text else []


def read_sycl_ls(text: str) -> Reading:
    """Never raises. A card is listed for each back end: that of Level Zero counts, else that of OpenCL."""
    reading = Reading(kind="sycl-ls")
    lines = [match for match in list(_SYCL.finditer(text))[:256] if match["kind"] == "gpu"]
    back = next((name for name in ("level_zero", "opencl", "cuda", "hip") if any(m["back"] == name for m in lines)), "")
    for number, match in enumerate(match for match in lines if match["back"] == back):
        add_listed_card(reading, number, match["name"].strip(), "sycl-ls", driver_version=match["driver"])
    if not lines:
        reading.problem("sycl-ls lists no GPU")
    return reading


SYCL_LS = Importer(
    kind="sycl-ls",
    tool="sycl-ls",
    tells="Intel cards and their driver",
    trust=66,
    find=find_sycl_ls,
    read=read_sycl_ls,
    command="sycl-ls",
    lists_all_cards=False,
)

# ---- npu-smi --------------------------------------------------------------------------------------------------------

_NPU_HEAD = re.compile(
    r"^\| npu-smi (?P<version>\d[\w.]{1,30}) {1,40}Version: {1,4}(?P<driver>\d[\w.]{1,30})[^\n]{0,80}$", re.MULTILINE
)
_NPU_CARD = re.compile(r"^\| (?P<index>\d{1,3}) {1,8}(?P<name>\d{3}\w{0,6}|Ascend ?\w{3,10}) {1,30}"
                       r"\| (?P<health>\w{2,12}) {1,20}\| (?P<power>\d{1,4}(?:\.\d{1,2})?|NA|-) {1,14}"
                       r"(?P<heat>\d{1,3}|NA|-)[^\n]{0,80}\n"
                       r"\| [^|\n]{1,60}\| (?P<bus>[0-9A-Fa-f:.]{7,16}|NA) {1,12}"
                       r"\|[^\n]{0,40}?(?P<used>\d{1,7}) {0,6}/ (?P<total>\d{1,7}) {0,20}\|[ \t]*$",
                       re.MULTILINE)  # fmt: skip


def find_npu_smi(text: str) -> list[Span]:
    return blocks_after(_NPU_HEAD, _TABLE, text, anchor="npu-smi")


def read_npu_smi(text: str) -> Reading:
    """Never raises. The last pair of numbers of a card's second row is its HBM, or its memory where it has none."""
    reading = Reading(kind="npu-smi")
    head = _NPU_HEAD.match(text)
    for match in list(_NPU_CARD.finditer(text))[: LIMITS.cards]:
        name = match["name"] if match["name"].startswith("Ascend") else f"Ascend {match['name']}"
        card = CardReading(index=int(match["index"]), kind="npu", vendor="huawei", reported_name=name)
        card.memory_bytes = int(match["total"]) * 2**20 or None
        if card.memory_bytes is None:
            card.sheet.mark_missing("memory_bytes", "not_reported", "npu-smi states 0")
        card.sheet.state("memory_used_bytes", int(match["used"]) * 2**20)
        card.sheet.state("power_w", float(match["power"]) if match["power"][0].isdigit() else None)
        card.sheet.state("temperature_c", float(match["heat"]) if match["heat"].isdigit() else None)
        card.sheet.state("driver_version", head["driver"] if head else None)
        if not any(known.index == card.index for known in reading.cards):
            reading.cards.append(card.card())
        if match["health"] != "OK":
            reading.problem(f"npu-smi says {match['health']} of NPU {match['index']}")
    return reading


NPU_SMI = Importer(
    kind="npu-smi",
    tool="npu-smi info",
    tells="Ascend cards with memory, power, health",
    trust=74,
    find=find_npu_smi,
    read=read_npu_smi,
    command="npu-smi",
)


KIND = "tpu-info"

_TITLE = re.compile(r"^[ \t>]{0,20}TPU Chips[ \t]{0,40}$", re.MULTILINE)
_LINE = re.compile(r"[ \t>]{0,20}(?:[┏┡└┃│┓┩┘]|TPU (?:Chips|Runtime Utilization)|[ \t]{0,40}$)")
_CHIP = re.compile(r"│ ?(/dev/\S{3,30}) {1,20}│ ?(TPU [\w ]{2,30}?) {1,20}│ ?(\d{1,2}) {1,20}│")
_USE = re.compile(
    r"│ ?\d{1,4} {1,20}│ ?(\d{1,6}(?:\.\d{1,4})?) GiB / (\d{1,6}(?:\.\d{1,4})?) GiB {1,20}"
    r"│ {0,20}(\d{1,3}(?:\.\d{1,4})?)% {0,20}│"
)


def find_tpu_info(text: str) -> list[Span]:
    return blocks_after(_TITLE, _LINE, text, anchor="TPU Chips")


def read_tpu_info(text: str) -> Reading:
    """Never raises. Memory is stated for each device; where a chip has two of them, they are not told apart."""
    reading = Reading(kind=KIND)
    chips = _CHIP.findall(text)[: LIMITS.cards]
    uses = _USE.findall(text)[: LIMITS.cards]
    for index, (_file, name, _devices) in enumerate(chips):
        card = CardReading(index=index, kind="tpu", vendor="google", reported_name=name.removesuffix(" chip"))
        if len(uses) == len(chips):
            used, total, busy = uses[index]
            card.memory_bytes = round(float(total) * 2**30) or None
            card.sheet.state("memory_used_bytes", round(float(used) * 2**30))
            card.sheet.state("busy_ratio", float(busy) / 100)
        if card.memory_bytes is None:
            card.sheet.mark_missing("memory_bytes", "not_reported", "tpu-info states it while a program runs")
        reading.cards.append(card.card())
    if not chips:
        reading.problem("tpu-info lists no chip")
    return reading


IMPORTER = Importer(
    kind=KIND,
    tool="tpu-info",
    tells="TPU chips, their memory and load",
    trust=74,
    find=find_tpu_info,
    marks=("TPU Chips",),
    read=read_tpu_info,
    command="tpu-info",
)

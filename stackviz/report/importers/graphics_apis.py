"""What OpenCL and Vulkan list: `clinfo` and `vulkaninfo --summary` -> cards and their drivers.

Formats: clinfo(1), https://github.com/Oblomov/clinfo; vulkaninfo of KhronosGroup/Vulkan-Tools.
"""

import re
from itertools import pairwise

from stackviz.report.format import LIMITS
from stackviz.report.importers.env_report import add_listed_card
from stackviz.report.importers.importer import Importer, Span, block_after, blocks_after
from stackviz.report.importers.reading import Reading, clean

__all__ = ["CLINFO", "VULKANINFO"]

# ---- clinfo ---------------------------------------------------------------------------------------------------------

_CL_HEAD = re.compile(r"^(?:Number of platforms:? +\d{1,3}[^\n]{0,20}|Platform #\d{1,2}: [^\n]{2,100})$", re.MULTILINE)
_CL_LINE = re.compile(
    r"[ \t]{1,40}\S|(?:Platform #\d|Number of (?:platforms|devices)|NULL platform|ICD loader)"
    r"|[ \t]*[`+|]--"
)
_CL_FIELD = re.compile(
    r"^[ \t]{2,6}(?P<label>[A-Z][\w (),.-]{3,70}?)(?:: {1,60}"
    r"| {2,60})(?P<value>\S[^\n]{0,200})$",
    re.MULTILINE,
)
_CL_SHORT = re.compile(r"^[ \t]{0,6}[`+|]-- Device #(\d{1,2}): ([^\n]{2,100})$", re.MULTILINE)


def find_clinfo(text: str) -> list[Span]:
    if "Number of platforms" not in text and "-- Device #" not in text:
        return []
    return blocks_after(_CL_HEAD, _CL_LINE, text)


def read_clinfo(text: str) -> Reading:
    """Never raises. Processors that offer OpenCL are left out. A card under two platforms is one card."""
    reading = Reading(kind="clinfo")
    starts = [match.start() for match in re.finditer(r"^[ \t]{2,6}Device Name[: ]", text, re.MULTILINE)][:64]
    for start, end in pairwise([*starts, len(text)]):
        values: dict[str, str] = {}
        for match in list(_CL_FIELD.finditer(text, start, end))[:400]:
            values.setdefault(match["label"].strip().lower(), match["value"].strip())
        _add(reading, values)
    for _index, name in _CL_SHORT.findall(text)[:64]:
        _add(reading, {"device name": name, "device type": "GPU"})
    return reading


def _add(reading: Reading, values: dict[str, str]) -> None:
    name = clean(
        values.get("board name (amd)") or values.get("device board name (amd)") or values.get("device name", ""), 150
    )
    is_card = "GPU" in values.get("device type", "GPU")
    memory = re.match(r"\d{6,15}", values.get("global memory size", ""))
    driver = values.get("driver version", "")
    if not is_card or not re.search(r"[A-Za-z]{2}", name) or any(card.reported_name == name for card in reading.cards):
        return
    vendor = "amd" if re.match(r"gfx\d", values.get("device name", "")) else ""
    target = re.match(r"gfx[0-9a-f]{3,5}", values.get("device name", ""))
    add_listed_card(
        reading,
        len(reading.cards),
        name,
        "clinfo",
        vendor,
        int(memory[0]) if memory else None,
        gfx_target=target[0] if target else None,
        driver_version=driver or None,
    )
    if "nvidia" in values.get("device vendor", "").lower() and re.match(r"\d{3}\.\d", driver):
        reading.sheet.state("nvidia.driver_version", driver)


CLINFO = Importer(
    kind="clinfo",
    tool="clinfo",
    tells="cards that OpenCL lists, with memory and driver",
    trust=64,
    find=find_clinfo,
    read=read_clinfo,
    command="clinfo",
    lists_all_cards=False,
)

# ---- vulkaninfo -----------------------------------------------------------------------------------------------------

_VK_CARD = re.compile(r"^[ \t]{0,4}GPU(?P<index>\d{1,2}):[ \t]*$", re.MULTILINE)
_VK_LINE = re.compile(r"[ \t]{1,8}\w{3,40}[ \t]{1,40}= |[ \t]{0,4}GPU\d{1,2}:[ \t]*$")
_VK_FIELD = re.compile(r"^[ \t]{1,8}(\w{3,40})[ \t]{1,40}= ([^\n]{1,200})$", re.MULTILINE)


def find_vulkaninfo(text: str) -> list[Span]:
    if "PHYSICAL_DEVICE_TYPE_" not in text:
        return []
    spans: list[Span] = []
    for match in _VK_CARD.finditer(text):
        if not spans or match.start() >= spans[-1].end:
            spans.append(block_after(match.start(), _VK_LINE, text))
    return [span for span in spans[:64] if "deviceName" in text[span.start : span.end]]


def read_vulkaninfo(text: str) -> Reading:
    """Never raises. llvmpipe and other programs that draw on the processor are no cards."""
    reading = Reading(kind="vulkaninfo")
    starts = [match.start() for match in _VK_CARD.finditer(text)][: LIMITS.cards]
    for start, end in pairwise([*starts, len(text)]):
        values = dict(_VK_FIELD.findall(text[start:end])[:100])
        name = values.get("deviceName", "").strip()
        if not name or not values.get("deviceType", "").endswith("_GPU"):
            continue
        bare = re.sub(r" \((?:RADV|AMD open-source|NVK)[^()]{0,40}\)$", "", name)
        driver = values.get("driverInfo", "").strip()
        add_listed_card(reading, len(reading.cards), bare, "vulkaninfo --summary", driver_version=driver or None)
        if "NVIDIA_PROPRIETARY" in values.get("driverID", "") and re.match(r"\d{3}\.\d", driver):
            reading.sheet.state("nvidia.driver_version", driver)
    return reading


VULKANINFO = Importer(
    kind="vulkaninfo",
    tool="vulkaninfo --summary",
    tells="cards that Vulkan lists, with their driver",
    trust=63,
    find=find_vulkaninfo,
    read=read_vulkaninfo,
    command="vulkaninfo",
    lists_all_cards=False,
)

"""How much of a language model is on the card: `ollama ps`, and the lines of llama.cpp, which LM Studio prints too.

Formats: cmd/cmd.go of ollama; src/llama-model.cpp of llama.cpp.
"""

import re

from stackviz.report.importers.importer import Importer, Span, blocks_after
from stackviz.report.importers.reading import Reading

__all__ = ["LAYERS", "OLLAMA_PS"]

# ---- ollama ps ------------------------------------------------------------------------------------------------------

_PS_HEAD = re.compile(r"^[ \t]{0,8}NAME[ \t]{1,80}ID[ \t]{1,40}SIZE[ \t]{1,20}PROCESSOR\b[^\n]{0,80}$", re.MULTILINE)
_PS_ROW = re.compile(
    r"[ \t]{0,8}\S{1,160}[ \t]{1,80}[0-9a-f]{8,16}[ \t]{1,20}(?P<size>\d{1,6}(?:\.\d{1,3})?) (?P<unit>[KMGT]?B)"
    r"[ \t]{1,20}"
    r"(?:(?P<cpu>\d{1,3})%/\d{1,3}% CPU/GPU|(?P<all>100)% (?P<where>GPU|CPU))\b"
)
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_MOST_ROWS = 64


def find_ollama_ps(text: str) -> list[Span]:
    return blocks_after(_PS_HEAD, _PS_ROW, text, anchor="PROCESSOR")


def read_ollama_ps(text: str) -> Reading:
    """Never raises. Of several models the one of which the processor computes most."""
    reading = Reading(kind="ollama-ps")
    rows = [match for line in text.split("\n", _MOST_ROWS)[1:_MOST_ROWS] if (match := _PS_ROW.match(line))]
    shares = [(int(row["cpu"]) / 100 if row["cpu"] else float(row["where"] == "CPU"), row) for row in rows]
    if not shares:
        reading.problem("ollama ps lists no model that is loaded")
        return reading
    share, row = max(shares, key=lambda each: each[0])
    reading.sheet.state("model.cpu_ratio", min(share, 1.0))
    reading.sheet.state("model.memory_bytes", int(float(row["size"]) * _UNITS[row["unit"]]))
    return reading


OLLAMA_PS = Importer(
    kind="ollama-ps",
    tool="ollama ps",
    tells="how much of a loaded model the processor computes, and its memory",
    trust=43,
    find=find_ollama_ps,
    read=read_ollama_ps,
    marks=("PROCESSOR",),
    answers=("ollama ps",),
    command="ollama",
)

# ---- llama.cpp ------------------------------------------------------------------------------------------------------

_OFFLOADED = re.compile(
    r"^[^\n]{0,240}?(?:\boffloaded (?P<on>\d{1,4})/(?P<all>\d{1,4}) layers to GPU\b"
    r"|\blayers\.model=(?P<model>\d{1,4}) layers\.offload=(?P<offload>\d{1,4})\b)[^\n]{0,900}$",
    re.MULTILINE,
)
_LAYERS_MARKS = (" layers to GPU", " layers.offload=")
_MOST_LOADS = 64


def find_layers(text: str) -> list[Span]:
    if not any(mark in text for mark in _LAYERS_MARKS):
        return []
    return [Span(*match.span()) for match in _OFFLOADED.finditer(text)][:_MOST_LOADS][-1:]


def read_layers(text: str) -> Reading:
    """Never raises. The last line of several: a program that tries again puts fewer layers on the card."""
    reading = Reading(kind="layer-offload")
    if match := _OFFLOADED.search(text):
        on_card, layers = int(match["on"] or match["offload"]), int(match["all"] or match["model"])
        reading.sheet.state("model.layers", layers)
        if on_card <= layers:
            reading.sheet.state("model.layers_on_card", on_card)
    return reading


LAYERS = Importer(
    kind="layer-offload",
    tool="llama.cpp, LM Studio or ollama, a log",
    tells="how many layers of a model are on the card",
    trust=30,
    find=find_layers,
    read=read_layers,
    marks=_LAYERS_MARKS,
    yields=True,
)

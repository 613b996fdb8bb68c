"""What checks of a GPU print: the site's own check scripts, the lines of articles, the headers of cuDNN.

`CHECK_SCRIPTS` are shown below a plan. Each computes one product on the device and prints a line that is read here.
"""

import re
from collections.abc import Iterator, Mapping

from stackviz.report.importers.env_report import add_listed_card
from stackviz.report.importers.importer import Importer, Span, runs_of
from stackviz.report.importers.reading import Reading, vendor_of
from stackviz.report.importers.torch_facts import state_torch_version

__all__ = ["AVAILABILITY", "CHECK_SCRIPTS", "GPU_CHECK"]

# ---- the site's own scripts -----------------------------------------------------------------------------------------

_TORCH = (
    "import torch; {device}; a = torch.ones(512, 512, dtype=torch.float16, device=d); "
    "print('check torch', torch.__version__, '|', d, '|', {name}, '|', {memory}, '| float16 |', "
    "bool(((a @ a) == 512).all()))"
)
CHECK_SCRIPTS: Mapping[str, str] = {
    "torch-cuda": _TORCH.format(
        device="d = 'cuda'",
        name="torch.cuda.get_device_name()",
        memory="torch.cuda.get_device_properties(0).total_memory",
    ),
    "torch-xpu": _TORCH.format(
        device="d = 'xpu'",
        name="torch.xpu.get_device_name()",
        memory="torch.xpu.get_device_properties(0).total_memory",
    ),
    "torch-mps": _TORCH.format(device="d = 'mps'", name="'Apple GPU'", memory="torch.mps.recommended_max_memory()"),
    "jax": (
        "import jax, jax.numpy as jnp; d = jax.devices()[0]; a = jnp.ones((512, 512), jnp.float16); "
        "print('check jax', jax.__version__, '|', d.platform, '|', d.device_kind, '|', "
        "(d.memory_stats() or {}).get('bytes_limit', ''), '| float16 |', bool(((a @ a) == 512).all()))"
    ),
    "mlx": (
        "import mlx.core as mx; a = mx.ones((512, 512), mx.float16); i = mx.device_info(); "
        "print('check mlx', mx.__version__, '|', str(mx.default_device()), '|', i.get('device_name', ''), '|', "
        "i.get('memory_size', ''), '| float16 |', bool(mx.all((a @ a) == 512)))"
    ),
    "tensorflow": (
        "import tensorflow as tf; g = tf.config.list_physical_devices('GPU'); a = tf.ones((512, 512), tf.float16); "
        "print('check tensorflow', tf.__version__, '|', 'gpu' if g else 'cpu', '|', "
        "tf.config.experimental.get_device_details(g[0]).get('device_name', '') if g else '', '| | float16 |', "
        "bool(tf.reduce_all((a @ a) == 512)))"
    ),
}
"""By framework, and for torch by its device: Python, to be run by `python -c`."""

_CHECK = re.compile(
    r"^check (?P<framework>torch|jax|mlx|tensorflow) (?P<version>\d\S{0,60}) \| (?P<device>[\w(), :]{2,40}?) \| "
    r"(?P<name>[^|\n]{0,100}?) ?\| (?P<bytes>\d{0,16}) ?\| (?P<type>\w{2,20}) \| (?P<right>True|False)[ \t]{0,8}$",
    re.MULTILINE,
)
_MOST_LINES = 16


def find_gpu_check(text: str) -> list[Span]:
    return [Span(*match.span()) for match in _CHECK.finditer(text)][:_MOST_LINES]


def read_gpu_check(text: str) -> Reading:
    """Never raises. A product on the device proves that kernels for it run, and that they compute right."""
    reading = Reading(kind="gpu-check")
    match = _CHECK.search(text)
    if match is None:
        return reading
    is_right = match["right"] == "True"
    device = re.sub(r"Device\((\w+), \d+\)", r"\1", match["device"])
    if match["framework"] == "torch":
        state_torch_version(reading, match["version"], "the check script")
        if device in {"cuda", "mps", "xpu"}:
            reading.sheet.state(f"{device}.available", value=True)
    else:
        reading.add_software(match["framework"], match["version"], "the check script")
    if device != "cpu" and vendor_of(match["name"]) != "unknown":
        size = int(match["bytes"]) if match["bytes"] and match["framework"] == "torch" and device == "cuda" else None
        add_listed_card(reading, 0, match["name"], "the check script", memory_bytes=size)
    reading.sheet.state("check.framework", f"{match['framework']} {match['version']}")
    reading.sheet.state("check.device", device)
    reading.sheet.state("check.card", match["name"] or None)
    reading.sheet.state("check.memory_bytes", int(match["bytes"]) if match["bytes"] else None)
    reading.sheet.state("check.type", match["type"])
    reading.sheet.state("check.is_right", is_right)
    return reading


GPU_CHECK = Importer(
    kind="gpu-check",
    tool="a check script of this site",
    tells="the device on which a kernel ran, its memory, the type, and whether the result was right",
    trust=56,
    find=find_gpu_check,
    read=read_gpu_check,
    marks=("check ",),
    yields=True,
)

# ---- lines of articles ----------------------------------------------------------------------------------------------

_YES, _NO = r"True|yes|available|可用|支持|是|有", r"False|no|not available|unavailable|不可用|不支持|否|无"
_ANSWER = re.compile(
    rf"^[ \t]{{0,12}}(?P<label>[^\n:=>→]{{2,90}}?)[ \t]{{0,8}}(?::|=>?|->|→|is\b|returns\b)[ \t]{{0,8}}"
    rf"[✅❌✓✗]?[ \t]{{0,4}}(?P<value>{_NO}|{_YES})[.!。！]?[ \t]{{0,8}}$",
    re.MULTILINE | re.IGNORECASE,
)
_DEVICE = re.compile(r"(?<![a-z])(?:(cuda|rocm|hip)|(mps|metal)|(xpu)|(gpu|显卡))(?![a-z])", re.IGNORECASE)
_QUESTIONS = re.compile(r"avail|usable|enabled|detected|found|support|可用|支持|使用|检测|built|编译", re.IGNORECASE)


def _answers(text: str) -> Iterator[tuple[str, bool]]:
    """(fact, whether so). That "a GPU" is there proves nothing of CUDA; that there is none, does."""
    for match in list(_ANSWER.finditer(text))[:_MOST_LINES]:
        device = _DEVICE.search(match["label"])
        if device is None or not _QUESTIONS.search(match["label"]):
            continue
        is_yes = not re.fullmatch(_NO, match["value"], re.IGNORECASE)
        if re.search(r"built|编译", match["label"], re.IGNORECASE):
            if device[2]:
                yield "mps.built", is_yes
        elif device[2] or device[3]:
            yield ("mps.available" if device[2] else "xpu.available"), is_yes
        elif device[1] or not is_yes:
            yield "cuda.available", is_yes


def find_availability(text: str) -> list[Span]:
    return [span for span in runs_of(_ANSWER, text) if any(_answers(text[span.start : span.end]))]


def read_availability(text: str) -> Reading:
    """Never raises. `MPS available: True`, `GPU是否可用: False`: the first answer about each device."""
    reading = Reading(kind="availability")
    for fact, is_yes in _answers(text):
        reading.sheet.state(fact, is_yes)
    return reading


AVAILABILITY = Importer(
    kind="availability",
    tool="a program that prints whether torch can use the GPU",
    tells="whether CUDA, MPS or XPU is available to it",
    trust=0,
    find=find_availability,
    read=read_availability,
    yields=True,
)

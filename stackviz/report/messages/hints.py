"""Words of a text that say where it comes from: a system, a build, a vendor, a program. Standard library only.

They prove nothing, and no dump is contradicted by them: they put the causes of a message in order, and drop those of
another platform.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["Hint", "hints_in", "python_in"]

Hint = Literal[
    "mac", "intel-mac", "apple-silicon", "windows", "windows-arm", "linux", "linux-arm", "wsl", "jetson",
    "nvidia", "amd", "intel-gpu", "container", "conda", "uv", "cpu-build", "none-offered", "plain-offered", "no-python",
]  # fmt: skip

_MOST_CHARS = 20_000  # a longer text is a log, whose beginning says where it is from
_MOST_HITS = 8  # of one word


@dataclass(frozen=True, slots=True)
class _Clue:
    """`words`: in lower case, one of them is in the text; `pattern`: what has to match around it, "" for the word."""

    hint: Hint
    words: tuple[str, ...]
    pattern: str = ""


_CLUES = (
    _Clue("mac", ("macos", "mac os", "macbook", "imac", "mac mini", "mac studio", "mac pro", "macosx_")),
    _Clue("mac", ("darwin", "/opt/homebrew", "/usr/local/cellar", "osx-arm64", "osx-64", "intel mac", "apple silicon")),
    _Clue("mac", ("/users/",), r"(?<![a-z]:)(?<![a-z]:/)/users/"),
    _Clue("intel-mac", ("intel mac", "intel imac", "intel-mac", "osx-64", "/usr/local/cellar")),
    _Clue("intel-mac", ("macosx_",), r"macosx_\d{1,2}_\d{1,2}_x86_64"),
    _Clue("intel-mac", ("from versions:",), r"from versions: [^)\n]{0,400}\b2\.2\.2\)"),
    _Clue("apple-silicon", ("apple silicon", "/opt/homebrew", "osx-arm64")),
    _Clue("apple-silicon", ("macosx_",), r"macosx_\d{1,2}_\d{1,2}_arm64"),
    _Clue("apple-silicon", ("mac",), r"mac.{0,40}?\bm[1-9](?: (?:pro|max|ultra))?\b(?![.\w])"),
    _Clue("apple-silicon", ("apple m",), r"\bapple m[1-9]\b"),
    _Clue("windows", ("windows 1", "win_amd64", "win_arm64", "[winerror", "powershell", "win-64", "on windows")),
    _Clue("windows", ("c:\\", "d:\\", ".bat", "python.exe", "windows server", "msvc", "microsoft visual c++")),
    _Clue("windows-arm", ("win_arm64", "snapdragon", "windows on arm", "win-arm64")),
    _Clue(
        "linux", ("ubuntu", "debian", "fedora", "arch linux", "rocky linux", "linux_x86_64", "linux-64", "manylinux")
    ),
    _Clue("linux", ("/home/", "x86_64-linux-gnu", "/lib/modules/", "dkms", "apt-get", "apt install", "modprobe")),
    _Clue("linux-arm", ("aarch64", "gh200", "dgx spark", "gb10", "sbsa"), r"aarch64|\bgh200|\bdgx spark|\bgb10|\bsbsa"),
    _Clue("wsl", ("wsl", "microsoft-standard"), r"\bwsl ?[12]?\b|microsoft-standard"),
    _Clue("jetson", ("jetson", "jetpack", "l4t", "tegra"), r"\b(?:jetson|jetpack|l4t|tegra)"),
    _Clue("nvidia", ("geforce", "rtx", "gtx", "tesla", "quadro"), r"\b(?:geforce|rtx|gtx|tesla|quadro)[ -]?(?:\w|\d)"),
    _Clue("nvidia", ("nvidia-smi", "nvcc", "cudaerror", "libcuda", "/dev/nvidia", "nvrm:")),
    _Clue("amd", ("radeon", "instinct mi", "/dev/kfd", "amdgpu", "+rocm", "hip gpus", "hip error", "rocblas")),
    _Clue("amd", ("gfx",), r"\bgfx(?:9|1[0-2])\w{2,3}\b"),
    _Clue("amd", ("rx ",), r"\brx [5-9]\d{3}\b"),
    _Clue("intel-gpu", ("level zero", "level_zero", "battlemage", "+xpu", "ze_result_")),
    _Clue("intel-gpu", ("arc ",), r"\barc (?:pro )?[ab]\d{2,3}\b"),
    _Clue("container", ("docker", "podman", "kubectl", "containerd", "dockerfile", "/workspace/")),
    _Clue("container", (" | ",), r"(?:^|\n)[a-z][\w-]{1,40}-\d{1,2} {1,8}\| "),
    _Clue("conda", ("conda", "mamba", "miniforge"), r"\b(?:\w{0,4}conda\d?|mamba|miniforge)\b"),
    _Clue("uv", ("uv pip", "uv sync", "uv add", "uv run", "no solution found", "uv.lock")),
    _Clue("cpu-build", ("+cpu",), r"\d\+cpu\b"),
    _Clue("none-offered", ("from versions: none",)),
    _Clue(
        "plain-offered",
        ("from versions:",),
        r"==(\d[\w.]{0,20})\+\w[\w.]{1,20} \(from versions: (?:[^)\n]{0,2000} )?\1[,)]",
    ),
)
_COMPILED = {clue.pattern: re.compile(clue.pattern) for clue in _CLUES if clue.pattern}
_OF_PYTHON = ("python", "torch", "pip ", "traceback", "wheel", "import ", ".py")
_NATIVE = ("ollama", "llama-server", "llama-cli", "llama-bench", "koboldcpp", "lm studio", "folding", "miner")
_AROUND = 200
_EMBEDDED = re.compile(
    r"(?P<path>(?:\.?\\|[A-Za-z]:\\[^\s\"'<>|]{0,120}\\)?(?:python_embed{1,2}ed|venv\\Scripts|\.venv\\Scripts)"
    r"\\python(?:\.exe)?)(?![\w.])"
    r"|(?P<posix>(?:\./|(?<![\w/])/[^\s\"'<>|]{0,120}/)?\.?venv/bin/python3?)(?![\w./])",
    re.IGNORECASE,
)


def hints_in(text: str) -> list[Hint]:
    """Return what the text says of where it comes from, each once."""
    lowered = text[:_MOST_CHARS].lower()
    hints = dict.fromkeys(clue.hint for clue in _CLUES if _is_in(clue, lowered))
    is_native = any(term in lowered for term in _NATIVE)
    if "no python" in lowered or (is_native and not any(term in lowered for term in _OF_PYTHON)):
        hints["no-python"] = None
    return list(hints)


def _is_in(clue: _Clue, lowered: str) -> bool:
    if not clue.pattern:
        return any(term in lowered for term in clue.words)
    pattern = _COMPILED[clue.pattern]
    return any(pattern.search(lowered, max(0, at - _AROUND), at + 500) for at in _hits(clue, lowered))


def _hits(clue: _Clue, lowered: str) -> Iterator[int]:
    for term in clue.words:
        at, left = lowered.find(term), _MOST_HITS
        while at >= 0 and left:
            yield at
            at, left = lowered.find(term, at + len(term)), left - 1


def python_in(text: str) -> str:
    """Return the Python that a text runs programs with, where it is an embedded one or that of a venv; "" else.

    From a folder of its own on, so that no name of a person is repeated: `.\\python_embeded\\python.exe`.
    """
    match = _EMBEDDED.search(text[:_MOST_CHARS])
    if not match:
        return ""
    if match["path"]:
        return ".\\" + "\\".join(match["path"].split("\\")[-2 if "embed" in match["path"].lower() else -3 :])
    return "./" + "/".join(match["posix"].split("/")[-3:])

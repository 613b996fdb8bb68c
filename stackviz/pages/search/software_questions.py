"""`pytorch for gtx 1080 ti` -> the plan of that card, and its sheet: questions about software for an accelerator."""

import re
from collections.abc import Iterator

from django.utils.translation import gettext as _
from rapidfuzz.distance import OSA

from stackviz.pages.plan.addresses import plan_address
from stackviz.pages.search.entries import SearchEntry, SearchKind
from stackviz.pages.search.index import SearchIndex
from stackviz.pages.search.versus import meant_accelerator
from stackviz.pages.search.words import is_chinese, split_words

# What a plan answers for.
_SOFTWARE = frozenset(
    {
        "pytorch", "torch", "torchvision", "torchaudio", "cuda", "cudnn", "driver", "drivers", "mps", "rocm", "pip",
        "conda", "驱动",
    }
)  # fmt: skip
# The system that a word names, as `plan` knows it.
_SYSTEMS = {
    "linux": "linux-x86_64", "ubuntu": "linux-x86_64", "debian": "linux-x86_64", "fedora": "linux-x86_64",
    "aarch64": "linux-aarch64", "windows": "windows-x86_64", "win10": "windows-x86_64", "win11": "windows-x86_64",
    "wsl": "wsl2", "wsl2": "wsl2", "macos": "macos-arm64",
}  # fmt: skip
# Words of such a question that name neither.
_LINKING = frozenset(
    {
        "a", "an", "and", "best", "can", "compatible", "compatibility", "correct", "do", "does", "for", "get", "gpu",
        "how", "i", "in", "install", "installation", "installing", "is", "it", "latest", "me", "my", "need", "newest",
        "of", "on", "or", "required", "requirements", "run", "runs", "running", "set", "setup", "should", "support",
        "supported", "supports", "the", "to", "up", "use", "using", "version", "versions", "what", "when", "which",
        "with", "work", "works",
    }
)  # fmt: skip
_CHINESE_DRIVER = re.compile("(?:显卡)?驱动(?:程序)?")
_CHINESE_LINKING = re.compile(
    "安装|配置|环境|适配|兼容|支持|需要|版本|最新|推荐|应该|可以|能不能|能用|怎么|如何|什么|哪个|显卡|[装配用上在的给我能吗和要哪多少个跑下]"
)
_RELEASE = re.compile(r"(?<![\w.])v?\d{1,3}(?:\.\d{1,3}){1,3}(?![\w.])|(?<=cuda)\s?\d{1,2}(?![\w.])", re.IGNORECASE)
_BUILD = re.compile(r"\bcu\d{2,3}\b", re.IGNORECASE)  # of torch: cu126
_LEAST_MISTYPED = 5  # letters from which on one may be wrong


def software_entries(index: SearchIndex, query: str) -> list[SearchEntry]:
    """The plan of the accelerator that the question names, where one can be made, and its sheet; [] for others."""
    tokens = tuple(_without_linking(split_words(_BUILD.sub("cuda", _RELEASE.sub(" ", query)))))
    names = [token for token in tokens if token not in _SYSTEMS and not _is_software(token)]
    if not names or not any(map(_is_software, tokens)):
        return []
    sheet = meant_accelerator(index.search(" ".join(names)))
    if sheet is None:
        return []
    system = next((_SYSTEMS[token] for token in tokens if token in _SYSTEMS), "")
    url = plan_address(sheet.url.strip("/").rpartition("/")[2], system)
    return [*([_plan_entry(sheet, url)] if url else []), sheet]


def _plan_entry(sheet: SearchEntry, url: str) -> SearchEntry:
    return SearchEntry(
        kind=SearchKind.PAGE,
        title=_("Plan a stack for %(name)s") % {"name": sheet.title},
        url=url,
        line=_("Which PyTorch, driver and CUDA fit it, and what to install."),
    )


def _is_software(token: str) -> bool:
    """Also with one letter wrong: `pytroch`."""
    return token in _SOFTWARE or (
        len(token) >= _LEAST_MISTYPED
        and any(OSA.distance(token, name, score_cutoff=1) <= 1 for name in _SOFTWARE if len(name) >= _LEAST_MISTYPED)
    )


def _without_linking(tokens: tuple[str, ...]) -> Iterator[str]:
    """Tokens but those that only link, also within Chinese ones, which have no spaces: `驱动怎么装` -> 驱动."""
    for token in tokens:
        if not is_chinese(token):
            if token not in _LINKING:
                yield token
            continue
        if _CHINESE_DRIVER.search(token):
            yield "驱动"
        if name := _CHINESE_LINKING.sub("", _CHINESE_DRIVER.sub("", token)):
            yield name

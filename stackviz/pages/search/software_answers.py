"""Answers about software: releases, plans, drivers, counterparts on other stacks, and why something is slow."""

import re

from django.utils import timezone
from django.utils.translation import gettext as _
from rapidfuzz.distance import OSA

from stackviz.draw.diagrams.layers import State
from stackviz.pages.plan.targets import plan_address
from stackviz.pages.search.index import SearchEntry, SearchKind
from stackviz.pages.search.named import slug_of
from stackviz.pages.search.query import Query, content_words, entry_at, named_run, names_of_kind
from stackviz.pages.search.words import joined_words, split_words
from stackviz.pages.stacks.release_answer import release_answer
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.stacks.driver_words import sheet_drivers
from stackviz.records.stacks.queries import described_columns
from stackviz.records.stacks.release_lines import DRIVER, ReleaseLine, line_of, lines_of_product, release_lines
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules import Tables
from stackviz.report.rules.compatibility import computed_once
from stackviz.report.rules.versions import numbers

# --- releases ---

# What people call the products of the tables besides their own names.
_PRODUCT_WORDS = {
    "pytorch": "torch", "torch": "torch", "cuda toolkit": "cuda", "nvidia driver": DRIVER, "driver version": DRIVER,
    "driver": DRIVER, "drivers": DRIVER, "驱动程序": DRIVER, "驱动": DRIVER, "tf": "tensorflow", "win": "windows",
    "mac os": "macos", "os x": "macos", "osx": "macos", "compute capability": "compute-capability",
    "计算能力": "compute-capability", "flash attention": "flash-attn", "flashattention": "flash-attn", "py": "python",
    "onnxruntime": "onnxruntime-gpu", "l4t": "jetpack",
}  # fmt: skip
_VERSION = r"\d{1,4}(?:\.\d{1,4}){0,3}"
_BRANCH = re.compile(r"(?<![\w.])r?(\d{3}(?:\.\d{1,3}){1,2})(?![\w.])|(?<![\w.])r(\d{3})(?![\w.])")
_DRIVER_AFTER = re.compile(r"(?<![\w.])(\d{3}(?:\.\d{1,3}){0,2})\s*(?:nvidia\s*)?(?:driver|驱动)")
_BUILD = re.compile(r"(?<![a-z0-9])cu(\d{2})(\d)(?!\d)")  # of torch: cu128
_BARE = re.compile(r"(?<![\w.])\d{1,3}\.\d{1,3}(?![\w.])")
_OF_RELEASES = frozenset(
    {
        "rocm", "kepler", "maxwell", "pascal", "volta", "turing", "ampere", "ada", "hopper", "blackwell",
        "changelog", "cuda", "date", "docs", "download", "driver", "drivers", "end", "eol", "life", "lts", "nvidia",
        "python",
        "pytorch", "release", "released", "releases", "notes", "torch", "until", "long", "lifecycle", "matrix", "table",
        "apple", "linux", "toolkit", "wheel", "wheels", "pip",
    }
)  # fmt: skip
_CHINESE_RELEASES = re.compile("驱动程序|驱动|对应|关系|发布|日期|下载|生命周期|结束|要求|截止")


@computed_once
def _product_pattern(tables: Tables) -> re.Pattern[str]:
    """Matches a product with a version: `cuda 12.8`, `cuda12.6`, `驱动 580`."""
    products = {line.product for line in release_lines(tables).values()}
    names = {*_PRODUCT_WORDS, *products, *(product.replace("-", " ") for product in products)}
    listed = "|".join(re.escape(name).replace("\\ ", "[ -]") for name in sorted(names, key=len, reverse=True))
    return re.compile(
        rf"(?<![a-z0-9])({listed})[\s-]*(?:version|ver|release|branch|版本)?\s*[:：=v]*\s*({_VERSION})(?![\w.]|\s*gb?\b)"
    )


def release_answers(query: Query) -> list[SearchEntry]:
    """The pages of the releases that the query names, where it names nothing but them."""
    entries, rest = _releases_and_rest(query)
    return [] if rest else entries


def releases_among_words(query: Query) -> list[SearchEntry]:
    """The pages of the releases that the query names, whatever else it says of no accelerator."""
    return [] if query.cards else _releases_and_rest(query)[0]


def _releases_and_rest(query: Query) -> tuple[list[SearchEntry], list[str]]:
    tables = rule_tables()
    products = _product_pattern(tables)
    named = [(_product(match[1]), match[2]) for match in products.finditer(query.text)]
    named += [("cuda", f"{match[1]}.{match[2]}") for match in _BUILD.finditer(query.text)]
    text = _BUILD.sub(" ", products.sub(" ", query.text))
    for pattern in (_DRIVER_AFTER, _BRANCH):
        named += [(DRIVER, match[1] or match[2]) for match in pattern.finditer(text)]
        text = pattern.sub(" ", text)
    if named:  # "cuda 12.9 vs 13.0"
        named += [(named[-1][0], version) for version in _BARE.findall(text)]
        text = _BARE.sub(" ", text)
    lines = [line for product, version in named if (line := line_of(tables, product, version))]
    rest = content_words(split_words(_CHINESE_RELEASES.sub(" ", text)), _OF_RELEASES)
    today = timezone.now().date().isoformat()
    return [_release_entry(tables, line, today) for line in dict.fromkeys(lines)], rest


def _product(name: str) -> str:
    return _PRODUCT_WORDS.get(name.replace("-", " ")) or name.replace(" ", "-")


NEWEST = re.compile(r"\b(?:latest|newest|current|most recent)\b|最新")


def newest_release(query: Query) -> list[SearchEntry]:
    """The page of the newest release of the product that the query names, and nothing else."""
    tables = rule_tables()
    words = [token for token in content_words(split_words(query.text), ("release", "releases", "stable")) if token]
    product = _product(" ".join(words))
    lines = [line for line in lines_of_product(tables, product) if numbers(line.version)]
    if not lines:
        return []
    newest = max(lines, key=lambda line: numbers(line.version))
    return [_release_entry(tables, newest, timezone.now().date().isoformat())]


def _release_entry(tables: Tables, line: ReleaseLine, today: str) -> SearchEntry:
    answer = release_answer(tables, line, today)
    return SearchEntry(kind=SearchKind.RELEASE, title=line.name, url=line.url, line=answer)


# --- plans ---

PLANNING = re.compile(
    r"\b(?:plan|stack|support\w*|compatib\w*|set ?up|install\w*|work|works|eol|legacy|[a-z]{3,})\b"
    r"|驱动|支持|安装|兼容|装|能用|过时"
)
SUPPORT = re.compile(
    r"\b(?:plan|stack|support\w*|compatib\w*|eol|legacy|works? with|install\w*|set ?up|wheels?|stop\w*)\b"
    r"|支持|兼容|能用|过时|还能|安装|方案|装什么|怎么装"
)
# What a plan answers for.
SOFTWARE = frozenset(
    {
        "pytorch", "torch", "torchvision", "torchaudio", "cuda", "cudnn", "driver", "drivers", "mps", "rocm", "pip",
        "conda", "驱动",
    }
)  # fmt: skip
# The system that a word names, as `plan` knows it.
SYSTEMS = {
    "linux": "linux-x86_64", "ubuntu": "linux-x86_64", "debian": "linux-x86_64", "fedora": "linux-x86_64",
    "aarch64": "linux-aarch64", "windows": "windows-x86_64", "win10": "windows-x86_64", "win11": "windows-x86_64",
    "wsl": "wsl2", "wsl2": "wsl2", "macos": "macos-arm64",
}  # fmt: skip
_OF_PLANS = frozenset({"plan", "stack", "eol", "legacy", "any", "longer", "no", "dead", "end", "life", "software"})
_CHINESE_DRIVER = re.compile("(?:显卡)?驱动(?:程序)?")
_RELEASE = re.compile(r"(?<![\w.])v?\d{1,3}(?:\.\d{1,3}){1,3}(?![\w.])|(?<=cuda)\s?\d{1,2}(?![\w.])", re.IGNORECASE)
_LEAST_MISTYPED = 5  # letters from which on one may be wrong


def plan_answer(query: Query) -> list[SearchEntry]:
    """The plan of the accelerator that the question names, where one can be made, and its sheet; [] for others."""
    text = _CHINESE_DRIVER.sub(" driver ", _BUILD.sub("cuda", _RELEASE.sub(" ", query.text)))
    words = content_words(split_words(text), _OF_PLANS)
    names = [token for token in words if token not in SYSTEMS and not _is_software(token)]
    if not names or not (any(map(_is_software, words)) or SUPPORT.search(query.text)):
        return []
    card = query.only_card or query.card(" ".join(names))
    if card is None:
        return []
    system = next((SYSTEMS[token] for token in words if token in SYSTEMS), "")
    url = plan_address(slug_of(card), system)
    return [*([_plan_entry(card, url)] if url else []), card]


def _plan_entry(card: SearchEntry, url: str) -> SearchEntry:
    drivers = sheet_drivers(public_catalogue().by_slug[slug_of(card)])
    line = _("Which PyTorch, driver and CUDA fit it, and what to install.")
    return SearchEntry(
        kind=SearchKind.PAGE,
        title=_("Plan a stack for %(name)s") % {"name": card.title},
        url=url,
        line=_("NVIDIA driver: %(words)s.") % {"words": drivers.words} + f" {line}" if drivers else line,
    )


def _is_software(token: str) -> bool:
    """Also with one letter wrong: `pytroch`."""
    return token in SOFTWARE or (
        len(token) >= _LEAST_MISTYPED
        and any(OSA.distance(token, name, score_cutoff=1) <= 1 for name in SOFTWARE if len(name) >= _LEAST_MISTYPED)
    )


# --- counterparts ---

# A word -> the stack whose counterpart is meant.
_STACK_WORDS = {
    "mac": "apple-metal", "macos": "apple-metal", "apple": "apple-metal", "metal": "apple-metal", "amd": "amd-rocm",
    "rocm": "amd-rocm", "radeon": "amd-rocm", "intel": "intel-xpu", "xpu": "intel-xpu", "nvidia": "nvidia-cuda",
    "cuda": "nvidia-cuda", "tpu": "google-tpu", "ascend": "huawei-cann", "昇腾": "huawei-cann", "cann": "huawei-cann",
    "trainium": "aws-neuron",
}  # fmt: skip
OTHER_STACK = re.compile("|".join(_STACK_WORDS))
_EQUIVALENT = re.compile(
    r"\b(?:equivalent|counterpart|alternative|alternatives|replac\w*|instead|version of|like)\b|替代品|替代|对应|等价"
)


def counterpart_answer(query: Query) -> list[SearchEntry]:
    """Of a named component that a named stack lacks: what does its job there, then the component."""
    words = content_words(split_words(_EQUIVALENT.sub(" ", query.text)))
    stacks = [_STACK_WORDS[token] for token in words if token in _STACK_WORDS]
    names = [token for token in words if token not in _STACK_WORDS]
    component, others = named_run(names, names_of_kind(query.index, SearchKind.COMPONENT)) or (None, ())
    if len(stacks) != 1 or component is None or (others and not _EQUIVALENT.search(query.text)):
        return []
    by_slug = {slug_of(entry): entry for entry in query.index.entries if entry.kind is SearchKind.COMPONENT}
    boxes = described_columns(stacks).get(stacks[0])
    here = [box for box in boxes.boxes if box.state != State.ABSENT] if boxes else []
    slug = slug_of(component)
    if any(box.component == slug for box in here):
        return [component]
    same = [by_slug[box.component] for box in here if any(other.component == slug for other in box.counterparts)]
    return [*same, component] if same else []


# --- slow ---

SLOW = re.compile(r"\b(?:slow\w*|lag\w*|bottleneck\w*|utili[sz]ation|idle)\b|很慢|太慢|变慢|慢|卡顿|利用率|瓶颈")
_CHAPTER = "why-is-it-slow"
_OF_SLOWNESS = frozenset(
    {
        "why", "training", "inference", "train", "so", "very", "low", "high", "percent", "0", "pytorch", "torch",
        "cuda",
        "mps", "mac", "model", "zero", "stuck", "code", "program", "dataloader", "gpu",
    }
)  # fmt: skip
_CHINESE_SLOWNESS = re.compile("训练|推理|速度|为什么|怎么办|很低|太低|低|原因")


def slow_answer(query: Query) -> list[SearchEntry]:
    """The chapter that finds out why, where the query is about nothing more particular."""
    if query.rest(SLOW, _CHINESE_SLOWNESS, words=_OF_SLOWNESS) or names_of_kind(query.index, SearchKind.TERM).get(
        joined_words(query.words)
    ):
        return []
    chapter = entry_at(query.index, f"/learn/{_CHAPTER}/")
    return [chapter] if chapter else []

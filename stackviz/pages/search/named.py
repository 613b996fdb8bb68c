"""What a query names among other words: accelerators, by runs of the words of their slugs, and fields of their sheets.

A word beside a name that belongs to no such accelerator is no part of it; only the suffix of another product is (`ti`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from stackviz.pages.search.index import SearchEntry, SearchIndex, SearchKind
from stackviz.pages.search.words import folded, joined_words
from stackviz.records.catalog.asked_for import most_requested

MOST_JOINED = 6  # words of a name
LEAST_TAIL = 3  # characters: many names end with M4
# Words of slugs that, alone or with each other, name no accelerator though they have digits: sizes, watts, sockets.
_IS_NO_NAME = re.compile(r"\d{1,3}|\d000|\d+(?:gb|w)|g?ddr\dx?|sxm\d|[dsfxvr]\d|\d+[fhlti]|(?:19|20[0-3])\d\d|\D+")
_KNOWN_YEARS = frozenset({"2050", "2060", "2070", "2080"})
_PLURAL = re.compile(r"\A([a-z]{0,2}\d{3,4})s\Z")
# After a name: another product, where no accelerator of the name has it.
_SUFFIXES = frozenset({"d", "gre", "laptop", "max", "pro", "super", "ti", "ultra", "xt", "xtx"})
# Words of names that many share: alone they name no accelerator.
GENERIC = frozenset(
    {
        "accelerator", "ai", "amd", "apple", "arc", "ascend", "aws", "chip", "desktop", "geforce", "google", "gtx",
        "huawei",
        "imac", "instinct", "intel", "jetson", "laptop", "mac", "macbook", "macos", "mini", "moore", "nvidia", "pro",
        "quadro", "radeon", "rtx", "rx", "server", "studio", "super", "tesla", "threads",
        "pcie", "sxm", "nvl", "oam", "hgx", "ti", "tpu", "windows",
        "linux",
        "xt", "max", "air", "ultra", "npu",
    }
)  # fmt: skip
# Forms that several accelerators of one name differ in, wherever a query says them.
_FORM = re.compile(r"laptop|nvl|pcie|q|sxm[45]|\d+gb")  # q: of Max-Q
_CACHE = (["cache"], ["缓存"])  # after L2
_NUMBERS = re.compile(r"\d+")
# A word of a query -> the vendor it names.
VENDORS: Mapping[str, str] = {
    "nvidia": "nvidia", "geforce": "nvidia", "rtx": "nvidia", "gtx": "nvidia", "quadro": "nvidia", "tesla": "nvidia",
    "amd": "amd", "radeon": "amd", "rx": "amd", "instinct": "amd", "apple": "apple", "mac": "apple", "macbook": "apple",
    "intel": "intel", "arc": "intel", "gaudi": "intel", "huawei": "huawei", "ascend": "huawei", "昇腾": "huawei",
    "google": "google", "tpu": "google",
}  # fmt: skip


def slug_of(entry: SearchEntry) -> str:
    return entry.url.strip("/").rpartition("/")[2]


def vendor_of_entry(entry: SearchEntry) -> str:
    """The slug of an accelerator's vendor, with which its own begins: `moore-threads` is `moore`."""
    return slug_of(entry).partition("-")[0]


def request_rank(entry: SearchEntry) -> int:
    """Its place among the accelerators most asked for; the others are behind them."""
    return _ranks().get(slug_of(entry), len(_ranks()))


@lru_cache(maxsize=1)
def _ranks() -> Mapping[str, int]:
    return {slug: rank for rank, slug in enumerate(most_requested())}


@lru_cache(maxsize=4)
def runs_of_slugs(index: SearchIndex) -> Mapping[str, tuple[SearchEntry, ...]]:
    """Words of a slug that are neighbours, in one piece -> accelerators: 5060, 5060ti and rtx5060ti of the same one."""
    runs: dict[str, dict[str, SearchEntry]] = {}
    for entry in index.entries:
        if entry.kind is SearchKind.ACCELERATOR:
            parts = slug_of(entry).split("-")
            for start in range(len(parts)):
                for end in range(start + 1, len(parts) + 1):
                    runs.setdefault("".join(parts[start:end]), {})[entry.url] = entry
    return {run: tuple(entries.values()) for run, entries in runs.items()}


def named_accelerators(index: SearchIndex, words: Sequence[str]) -> tuple[tuple[SearchEntry, ...], tuple[str, ...]]:
    """(the accelerators that some of these words name, in their order; the other words)."""
    words = in_singular(index, words)
    named: list[tuple[str, tuple[SearchEntry, ...]]] = []
    left: list[str] = []
    at = 0
    while at < len(words):
        name, end = _name_at(index, words, at, left)
        if name:
            named.append(name)
        else:
            left.extend(words[at:end])
        at = end
    if len(named) == 1:  # "my laptop has a 4060"
        [(run, entries)] = named
        form = next((token for token in left if _FORM.fullmatch(token) and _having(entries, token)), "")
        named = [(run, _having(entries, form) if form else entries)]
    meant = {entry.url: entry for entry in (meant_by(run, entries) for run, entries in named)}
    return tuple(meant.values()), tuple(left)


def in_singular(index: SearchIndex, words: Sequence[str]) -> list[str]:
    """The words, `3090s` as 3090."""
    runs = runs_of_slugs(index)
    return [token if token in runs else _PLURAL.sub(r"\1", token) for token in words]


def begins_with_accelerator(index: SearchIndex, words: Sequence[str]) -> bool:
    """Whether the first of these words, or the first after words that many names share, begin a name."""
    words = in_singular(index, words[: 2 * MOST_JOINED])
    for at, token in enumerate(words):
        if _name_at(index, words, at, [])[0]:
            return True
        if token not in GENERIC:
            return False
    return False


def _name_at(
    index: SearchIndex, words: Sequence[str], start: int, before: list[str]
) -> tuple[tuple[str, tuple[SearchEntry, ...]] | None, int]:
    """((the name that begins at this word, accelerators it fits), the word after it); (None, the next one) for none."""
    runs = runs_of_slugs(index)
    for end in range(min(len(words), start + MOST_JOINED), start, -1):
        run = joined_words(words[start:end])
        if run in runs and _is_name(run, words[start:end]) and words[end : end + 1] not in _CACHE:
            break
    else:
        return None, start + 1
    entries = runs[run]
    while end < len(words) and (narrower := _having(entries, words[end])):  # "a100 80gb": the form is between
        entries, run, end = narrower, run + words[end], end + 1
    if before and before[-1] not in VENDORS and (narrower := _having(entries, before[-1])):  # "laptop 4060"
        entries, run = narrower, before.pop() + run
    vendor = VENDORS.get(before[-1]) if before else None
    entries = tuple(entry for entry in entries if vendor in (None, vendor_of_entry(entry)))
    is_other = end < len(words) and words[end] in _SUFFIXES
    if not entries or is_other:
        return None, end + is_other
    return (run, entries), end


def meant_by(run: str, entries: Sequence[SearchEntry]) -> SearchEntry:
    """Of accelerators that a run of words names the one asked for most, but no variant: 3060 is no Ti."""
    return min(
        entries,
        key=lambda entry: (
            _is_variant(entry, run),
            request_rank(entry),
            len(run) < LEAST_TAIL or not ends_with(entry, run),
            len(entry.url),
            -_last_number(entry),
        ),
    )


def _last_number(entry: SearchEntry) -> int:
    """Of its slug: of two sizes of memory the larger is meant."""
    numbers = _NUMBERS.findall(slug_of(entry))
    return int(numbers[-1]) if numbers else 0


def _is_variant(entry: SearchEntry, run: str) -> bool:
    """Whether a suffix follows the name in the slug."""
    parts = slug_of(entry).split("-")
    ends = ("".join(parts[:end]) for end in range(1, len(parts)))
    return any(joined.endswith(run) and parts[end] in _SUFFIXES for end, joined in enumerate(ends, start=1))


def ends_with(entry: SearchEntry, run: str) -> bool:
    return slug_of(entry).replace("-", "").endswith(run)


def _having(entries: Sequence[SearchEntry], token: str) -> tuple[SearchEntry, ...]:
    return tuple(entry for entry in entries if token in slug_of(entry).split("-"))


def _is_name(run: str, words: Sequence[str]) -> bool:
    if run in _KNOWN_YEARS or not _IS_NO_NAME.fullmatch(run):
        return True
    distinct = set(words) - GENERIC - _SUFFIXES
    return run.isalpha() and len(words) > 1 and any(len(token) > 1 for token in distinct)  # dgx spark, orin nano


# --- fields of a sheet ---

# What people call fields, besides their titles -> the fields, the first that a sheet has.
_NICKNAMES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"nvlink|infinity fabric|interconnect\w*|互联|互连", ("interconnect_gb_s", "interconnect")),
    (r"bandwidth|带宽", ("memory_bandwidth_gb_s",)),
    (r"bus width|位宽", ("memory_bus_bits",)),
    (
        r"power|watts?|wattage|tdp|tgp|tbp|psu|idle|draw|consumption|功耗|功率|几瓦|多少瓦|待机|耗电|用电",
        ("tdp_w", "power_w"),
    ),
    (r"fp64|double precision|双精度", ("fp64_tflops",)),
    (r"fp32|single precision|单精度", ("fp32_tflops",)),
    (r"tf32", ("tf32_tensor_tflops",)),
    (r"bf16|bfloat16", ("bf16_tensor_tflops",)),
    (r"fp16|half precision|半精度", ("fp16_tensor_tflops", "fp16_tflops")),
    (r"fp8", ("fp8_tensor_tflops",)),
    (r"fp4|nvfp4|mxfp4", ("fp4_tensor_tflops",)),
    (r"int8", ("int8_tensor_tops",)),
    (r"t?flops|tops|算力", ("fp16_tensor_tflops", "fp16_tflops", "fp32_tflops")),
    (r"cuda cores?|shaders?|stream processors?|cores|流处理器|核心数", ("cuda_cores", "gpu_cores", "gpu_alus")),
    (r"tensor cores?|matrix cores?|张量核心", ("tensor_cores",)),
    (r"sms?|compute units?|cus", ("sm_count",)),
    (r"boost|clocks?|mhz|ghz|频率", ("boost_clock_mhz", "gpu_clock_mhz")),
    (r"l2|cache|缓存", ("l2_cache_mb",)),
    (r"transistors?|晶体管", ("transistors",)),
    (r"die size|die area|die|芯片面积", ("die_area_mm2",)),
    (r"process|node|nm|制程|工艺", ("process_node",)),
    (r"pcie|pci express|lanes", ("pcie",)),
    (r"compute capability|sm version|计算能力", ("compute_capability",)),
    (r"release date|released|launch date|launched|came out|come out|发布|上市", ("release_date",)),
    (r"architecture|架构", ("architecture",)),
    (r"memory type|显存类型", ("memory_type",)),
    (r"vram|memory|ram|显存|内存", ("memory_gb", "memory_gb_max")),
)


@dataclass(frozen=True, slots=True)
class FieldWord:
    """What a query calls a figure. `fields`: of them the first that a sheet has is meant."""

    pattern: re.Pattern[str]
    fields: tuple[str, ...]


def _as_word(words: str) -> re.Pattern[str]:
    """Latin words as a whole only, Chinese ones anywhere."""
    return re.compile(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])")


FIELD_WORDS = tuple(FieldWord(_as_word(folded(words)), fields) for words, fields in _NICKNAMES)


def named_field(text: str) -> tuple[tuple[str, ...], str]:
    """(the fields of the figure that a folded text names, the text without words of figures); ((), text) for none."""
    fields = next((called.fields for called in FIELD_WORDS if called.pattern.search(text)), ())
    for called in FIELD_WORDS:
        text = called.pattern.sub(" ", text)
    return fields, text

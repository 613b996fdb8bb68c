"""A query as the router reads it: its words, and the accelerators, models, releases and sizes that it names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from stackviz.pages.search.index import SearchEntry, SearchHit, SearchIndex, SearchKind
from stackviz.pages.search.synonyms import MODELS, with_our_names
from stackviz.pages.search.words import folded, joined_words, split_words
from stackviz.records.catalog.asked_for import most_requested
from stackviz.web.i18n.languages import without_language

NEARLY = 0.05  # scores this close fit alike: what is asked for most is meant
MOST_JOINED = 6  # words of a name
LEAST_TAIL = 3  # characters: many names end with M4
# Words that only link. They name nothing, and no result is worse without them.
LINKING = frozenset(
    {
        "a", "about", "all", "am", "an", "and", "any", "are", "at", "available", "be", "best", "better", "buy",
        "by", "can",
        "card", "cards", "compatible", "compatibility", "correct", "could", "current", "do", "does", "during", "enough",
        "for", "from",
        "get", "good", "gpu", "gpus", "graphics", "has", "have", "how", "i", "if", "in", "install", "installation",
        "installing", "is", "it", "its", "latest", "least", "list", "many", "me", "minimum", "much", "my", "need",
        "needed",
        "needs", "newest", "now", "of", "on", "one", "or", "our", "please", "recommended", "required", "requirements",
        "requires", "run", "running", "runs", "set", "setup", "should", "still", "support", "supported", "supports",
        "than",
        "that", "the", "there", "this", "to", "up", "update", "upgrade", "use", "using", "version", "versions",
        "versus",
        "vs", "want", "what", "whats", "when", "where", "which", "will", "with", "work", "working", "works",
        "would", "you",
        "your",
    }
)  # fmt: skip
_CHINESE_LINKING = re.compile(
    "哪些|安装|配置|环境|适配|兼容|支持|需要|要求|版本|最新|推荐|应该|可以|能不能|能用|怎么样|怎么|如何|什么|哪个|哪一个|哪款|显卡|请问|一下|现在|目前|还是|"
    "比较|时候|多少|为什么|[装配用上在的给我能吗呢么和与要哪个跑下到了还该选买好是吧啊张块台款卡版有想]"
)
_CHINESE_RUN = re.compile("[\u3400-\u9fff]+")
_SIZE = re.compile(r"(?<![\w.])(\d{1,4})\s*(?:g|gb|gib|千兆)(?![a-z0-9])", re.IGNORECASE)
# Words of names that many share: alone they name no accelerator.
_GENERIC = frozenset(
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
# A word of a query -> the vendor it names.
VENDORS: Mapping[str, str] = {
    "nvidia": "nvidia", "geforce": "nvidia", "rtx": "nvidia", "gtx": "nvidia", "quadro": "nvidia", "tesla": "nvidia",
    "amd": "amd", "radeon": "amd", "rx": "amd", "instinct": "amd", "apple": "apple", "mac": "apple", "macbook": "apple",
    "intel": "intel", "arc": "intel", "gaudi": "intel", "huawei": "huawei", "ascend": "huawei", "昇腾": "huawei",
    "google": "google", "tpu": "google",
}  # fmt: skip


@dataclass(frozen=True)
class Query:
    """`given`: as it was typed. Everything else is read from it once."""

    index: SearchIndex
    given: str

    @cached_property
    def text(self) -> str:
        """Folded, with the names of this site."""
        return with_our_names(folded(self.given))

    @cached_property
    def words(self) -> tuple[str, ...]:
        return split_words(self.text)

    @cached_property
    def size_gb(self) -> int:
        """The memory it asks for; 0 for none."""
        match = _SIZE.search(self.text)
        return int(match[1]) if match else 0

    @property
    def vendor(self) -> str:
        """The slug of the one vendor that it names, "" for none or several."""
        named = {VENDORS[token] for token in self.words if token in VENDORS}
        return named.pop() if len(named) == 1 else ""

    @cached_property
    def model(self) -> SearchEntry | None:
        """The language model of which some words are the name, the longest name first."""
        match = _named_run(self.words, names_of_kind(self.index, SearchKind.MODEL))
        return match[0] if match else None

    @cached_property
    def without_model(self) -> tuple[str, ...]:
        """The words that are not the model's name."""
        match = _named_run(self.words, names_of_kind(self.index, SearchKind.MODEL))
        return match[1] if match else self.words

    def rest(self, *patterns: re.Pattern[str], words: Iterable[str] = ()) -> str:
        """What is left without sizes, what these patterns match, these words, and words that only link."""
        text = _SIZE.sub(" ", self.text)
        for pattern in patterns:
            text = pattern.sub(" ", text)
        return " ".join(content_words(split_words(text), words))

    def card(self, text: str) -> SearchEntry | None:
        """The accelerator that a text names with all its words."""
        return named_accelerator(self.index, text)


def content_words(words: Iterable[str], more: Iterable[str] = ()) -> list[str]:
    """Words but those that link, also within Chinese ones, which have no spaces: `驱动怎么装` -> 驱动."""
    left = []
    for token in words:
        if _CHINESE_RUN.fullmatch(token):
            left.append(_CHINESE_LINKING.sub("", token))
        elif token not in LINKING and token not in more:
            left.append(token)
    return [token for token in left if token]


@lru_cache(maxsize=16)
def names_of_kind(index: SearchIndex, kind: SearchKind) -> Mapping[str, SearchEntry]:
    """Title or other name in one piece -> the first entry with it."""
    names: dict[str, SearchEntry] = {}
    for entry in index.entries:
        if entry.kind is kind:
            for name in (entry.title, *entry.names):
                names.setdefault(joined_words(split_words(name)), entry)
    if kind is SearchKind.MODEL:
        by_slug = {entry.url.partition("model=")[2]: entry for entry in index.entries if entry.kind is kind}
        names = {name: by_slug[slug] for name, slug in MODELS.items() if slug in by_slug} | names
    return names


def _named_run(words: Sequence[str], names: Mapping[str, SearchEntry]) -> tuple[SearchEntry, tuple[str, ...]] | None:
    """The entry of which the longest run of these words is the name, and the other words."""
    for length in range(min(MOST_JOINED, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            if entry := names.get(joined_words(words[start : start + length])):
                return entry, (*words[:start], *words[start + length :])
    return None


def slug_of(entry: SearchEntry) -> str:
    return entry.url.strip("/").rpartition("/")[2]


@lru_cache(maxsize=4)
def _tails(index: SearchIndex) -> Mapping[str, tuple[SearchEntry, ...]]:
    """End of a slug in one piece -> accelerators: 4090, rtx4090 and geforcertx4090 of `nvidia-geforce-rtx-4090`."""
    tails: dict[str, list[SearchEntry]] = {}
    for entry in index.entries:
        if entry.kind is SearchKind.ACCELERATOR:
            parts = slug_of(entry).split("-")
            for start in range(len(parts)):
                tails.setdefault("".join(parts[start:]), []).append(entry)
    return {tail: tuple(entries) for tail, entries in tails.items()}


def accelerator_by_tail(index: SearchIndex, words: Sequence[str]) -> SearchEntry | None:
    """The accelerator whose slug ends with these words: `5090 laptop`; of several the one asked for most."""
    if not set(words) - _GENERIC or len(joined_words(words)) < LEAST_TAIL:
        return None
    named = _tails(index).get(joined_words(words), ())
    ranks = {slug: rank for rank, slug in enumerate(most_requested())}
    return min(named, key=lambda entry: (ranks.get(slug_of(entry), len(ranks)), len(slug_of(entry))), default=None)


def named_accelerator(index: SearchIndex, text: str) -> SearchEntry | None:
    """The accelerator that a text names with all its words; None for vendors alone and for short numbers (580)."""
    words = split_words(text)
    joined = joined_words(words)
    if not set(words) - _GENERIC or (joined.isdigit() and len(joined) < 4):
        return None
    return accelerator_by_tail(index, words) or meant_accelerator(_of_vendor(index.search(text), words))


def _of_vendor(hits: list[SearchHit], words: Iterable[str]) -> list[SearchHit]:
    """Hits but accelerators of other vendors than the one that is named: an NVIDIA 6900 is no RX 6900."""
    vendors = {VENDORS[token] for token in words if token in VENDORS}
    if not vendors:
        return hits
    return [
        hit for hit in hits if hit.entry.kind is not SearchKind.ACCELERATOR or vendor_of_entry(hit.entry) in vendors
    ]


def of_named_vendor(query: Query, hits: list[SearchHit]) -> list[SearchHit]:
    """The hits without accelerators of another vendor than those that the query names."""
    return _of_vendor(hits, query.words)


def vendor_of_entry(entry: SearchEntry) -> str:
    """The slug of an accelerator's vendor, with which its own begins: `moore-threads` is `moore`."""
    return slug_of(entry).partition("-")[0]


def meant_accelerator(hits: list[SearchHit]) -> SearchEntry | None:
    """Of the accelerators that have every word, and nearly the best score, the one asked for most."""
    fitting = [hit for hit in hits if hit.entry.kind is SearchKind.ACCELERATOR and not hit.missing]
    if not fitting:
        return None
    best = fitting[0].score
    ranks = {slug: rank for rank, slug in enumerate(most_requested())}
    near = [hit.entry for hit in fitting if hit.score >= best - NEARLY]
    return min(near, key=lambda entry: ranks.get(slug_of(entry), len(ranks)))


def entry_at(index: SearchIndex, address: str) -> SearchEntry | None:
    """The entry of an English address, or of the term with an anchor (`#fp8`)."""
    by_address = _addresses(index)
    return by_address.get(address)


@lru_cache(maxsize=4)
def _addresses(index: SearchIndex) -> Mapping[str, SearchEntry]:
    addresses = {without_language(entry.url): entry for entry in index.entries}
    terms = {f"#{entry.url.partition('#')[2]}": entry for entry in index.entries if entry.kind is SearchKind.TERM}
    return addresses | terms

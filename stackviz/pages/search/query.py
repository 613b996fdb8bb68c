"""A query as the router reads it: its words, and the accelerators, models, releases and sizes that it names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from stackviz.pages.search.counts import CountedText, count_accelerators
from stackviz.pages.search.index import SearchEntry, SearchHit, SearchIndex, SearchKind
from stackviz.pages.search.named import (
    GENERIC,
    LEAST_TAIL,
    MOST_JOINED,
    VENDORS,
    ends_with,
    named_accelerators,
    named_field,
    request_rank,
    runs_of_slugs,
    vendor_of_entry,
)
from stackviz.pages.search.synonyms import MODELS, with_our_names
from stackviz.pages.search.words import folded, joined_words, split_words
from stackviz.web.i18n.languages import without_language

NEARLY = 0.05  # scores this close fit alike: what is asked for most is meant
# Words that only link. They name nothing, and no result is worse without them.
LINKING = frozenset(
    {
        "a", "about", "actually", "all", "also", "am", "an", "and", "any", "are", "at", "available", "be", "been",
        "best", "better", "both", "buy", "by", "can", "card", "cards", "compatibility", "compatible", "correct",
        "could", "current", "did", "do", "does", "during", "each", "enough", "every", "for", "from", "get", "good",
        "gpu", "gpus", "graphics", "had", "has", "have", "home", "how", "i", "if", "in", "install", "installation",
        "installing", "into", "is", "it", "its", "just", "kind", "latest", "least", "list", "load", "many", "me",
        "minimum", "much", "my", "need", "needed", "needs", "newest", "now", "of", "on", "one", "only", "or", "our",
        "out", "over", "own", "please", "pls", "really", "recommended", "required", "requirements", "requires",
        "run", "running", "runs", "s", "say", "says", "set", "setup", "should", "some", "still", "support",
        "supported", "supports", "tell", "than", "that", "the", "them", "there", "they", "this", "three", "to",
        "today", "two", "under", "up", "update", "upgrade", "us", "use", "using", "version", "versions", "versus",
        "vs", "want", "was", "we", "were", "what", "whats", "when", "where", "which", "while", "will", "with",
        "work", "working", "works", "would", "you", "your",
    }
)  # fmt: skip
_CHINESE_LINKING = re.compile(
    "哪些|安装|配置|环境|适配|兼容|支持|需要|要求|版本|最新|推荐|应该|可以|能不能|能用|怎么样|怎么|如何|什么|哪个|哪一个|哪款|显卡|请问|一下|现在|目前|还是|"
    "比较|时候|多少|为什么|[装配用上在的给我能吗呢么和与要哪个跑下到了还该选买好是吧啊张块台款卡版有想]"
)
_CHINESE_RUN = re.compile("[\u3400-\u9fff]+")
_SIZE = re.compile(r"(?<![\w.])(\d{1,4})\s*(?:g|gb|gib|千兆)(?![a-z0-9])", re.IGNORECASE)


@dataclass(frozen=True)
class Query:
    """`given`: as it was typed. Everything else is read from it once."""

    index: SearchIndex
    given: str

    @cached_property
    def _counted(self) -> CountedText:
        return count_accelerators(self.index, with_our_names(folded(self.given)))

    @property
    def text(self) -> str:
        """Folded, with the names of this site, without numbers of accelerators."""
        return self._counted.text

    @property
    def counts(self) -> tuple[int, ...]:
        """How many it means of its accelerators, where it says so."""
        return self._counted.counts

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
        return self._model_and_rest[0]

    @cached_property
    def without_model(self) -> tuple[str, ...]:
        """The words that are not the model's name; a size is one of them (`24gb`)."""
        return self._model_and_rest[1]

    @cached_property
    def _model_and_rest(self) -> tuple[SearchEntry | None, tuple[str, ...]]:
        words = split_words(_SIZE.sub(r" \1gb ", self.text))
        return named_run(words, names_of_kind(self.index, SearchKind.MODEL)) or (None, words)

    @cached_property
    def cards(self) -> tuple[SearchEntry, ...]:
        """The accelerators that it names with words beside each other, whatever else it says."""
        return self._cards_and_rest[0]

    @property
    def only_card(self) -> SearchEntry | None:
        return self.cards[0] if len(self.cards) == 1 else None

    @cached_property
    def _cards_and_rest(self) -> tuple[tuple[SearchEntry, ...], tuple[str, ...]]:
        return named_accelerators(self.index, self.without_model)

    @cached_property
    def unnamed(self) -> str:
        """What it says besides the names of models and accelerators, and sizes."""
        return " ".join(token for token in self._cards_and_rest[1] if not _SIZE.fullmatch(token))

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields of a sheet that it asks for, the first that a sheet has; () for none."""
        return named_field(self.unnamed)[0]

    def foreign_words(self, *patterns: re.Pattern[str], words: Iterable[str] = ()) -> list[str]:
        """What is left of it without names, fields, what these patterns match, these words, and words that link."""
        text = named_field(self.unnamed)[1]
        for pattern in patterns:
            text = pattern.sub(" ", text)
        return content_words(split_words(text), {*words, *GENERIC})

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
        names = {name: by_slug[slug] for name, slug in MODELS.items() if slug in by_slug} | {
            name: entry
            for name, entry in names.items()
            if "model=" in entry.url  # no format
        }
    return names


def model_entry(index: SearchIndex, slug: str) -> SearchEntry | None:
    """The language model of this slug."""
    models = names_of_kind(index, SearchKind.MODEL).values()
    return next((entry for entry in models if entry.url.partition("model=")[2] == slug), None)


def named_run(words: Sequence[str], names: Mapping[str, SearchEntry]) -> tuple[SearchEntry, tuple[str, ...]] | None:
    """The entry of which the longest run of these words is the name, and the other words."""
    for length in range(min(MOST_JOINED, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            if entry := names.get(joined_words(words[start : start + length])):
                return entry, (*words[:start], *words[start + length :])
    return None


def accelerator_by_tail(index: SearchIndex, words: Sequence[str]) -> SearchEntry | None:
    """The accelerator whose slug ends with these words: `5090 laptop`; of several the one asked for most."""
    if not set(words) - GENERIC or len(joined_words(words)) < LEAST_TAIL:
        return None
    run = joined_words(words)
    named = [entry for entry in runs_of_slugs(index).get(run, ()) if ends_with(entry, run)]
    return min(named, key=lambda entry: (request_rank(entry), len(entry.url)), default=None)


def named_accelerator(index: SearchIndex, text: str) -> SearchEntry | None:
    """The accelerator that a text names with all its words; None for vendors alone and for short numbers (580)."""
    words = split_words(text)
    joined = joined_words(words)
    if not set(words) - GENERIC or (joined.isdigit() and len(joined) < 4):
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


def meant_accelerator(hits: list[SearchHit]) -> SearchEntry | None:
    """Of the accelerators that have every word, and nearly the best score, the one asked for most."""
    fitting = [hit for hit in hits if hit.entry.kind is SearchKind.ACCELERATOR and not hit.missing]
    if not fitting:
        return None
    best = fitting[0].score
    return min((hit.entry for hit in fitting if hit.score >= best - NEARLY), key=request_rank)


def entry_at(index: SearchIndex, address: str) -> SearchEntry | None:
    """The entry of an English address, or of the term with an anchor (`#fp8`)."""
    by_address = _addresses(index)
    return by_address.get(address)


@lru_cache(maxsize=4)
def _addresses(index: SearchIndex) -> Mapping[str, SearchEntry]:
    addresses = {without_language(entry.url): entry for entry in index.entries}
    terms = {f"#{entry.url.partition('#')[2]}": entry for entry in index.entries if entry.kind is SearchKind.TERM}
    return addresses | terms

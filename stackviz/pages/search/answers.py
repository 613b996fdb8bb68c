"""What a search answers: results in groups by kind, the group with the best one first."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from rapidfuzz.distance import OSA

from stackviz.pages.plan.targets import plan_address
from stackviz.pages.search.index import SearchEntry, SearchHit, SearchIndex, SearchKind
from stackviz.pages.search.prepared import search_index
from stackviz.pages.search.words import is_chinese, split_words
from stackviz.pages.search.words_of_machines import machine_hits
from stackviz.records.catalog.asked_for import most_requested
from stackviz.records.labs.queries import Visitor
from stackviz.web.http.address import comparison_query

MOST_NAMES = 6  # as many as a comparison holds
NEARLY = 0.05  # scores this close fit alike: what is asked for most is meant
_BETWEEN = re.compile(r"\s+(?:vs\.?|versus)\s+|\s*(?:对比|和|与)\s*", re.IGNORECASE)


def compared_entry(index: SearchIndex, query: str) -> SearchEntry | None:
    """The comparison that the query names; None where a name fits no accelerator with all its words."""
    names = [name for name in _BETWEEN.split(query) if name.strip()]
    if not 2 <= len(names) <= MOST_NAMES:
        return None
    chosen = [meant_accelerator(index.search(name)) for name in names]
    entries = [entry for entry in chosen if entry is not None]
    slugs = dict.fromkeys(entry.url.strip("/").rpartition("/")[2] for entry in entries)
    if len(entries) < len(names) or len(slugs) < 2:
        return None
    return SearchEntry(
        kind=SearchKind.PAGE,
        title=" vs. ".join(entry.title for entry in entries),
        url=f"{reverse('compare:page')}?{comparison_query(slugs)}",
        line=_("Side by side: memory, bandwidth, rates, power, price, stacks and results."),
    )


def meant_accelerator(hits: list[SearchHit]) -> SearchEntry | None:
    """Of the accelerators that have every word, and nearly the best score, the one asked for most."""
    fitting = [hit for hit in hits if hit.entry.kind is SearchKind.ACCELERATOR and not hit.missing]
    if not fitting:
        return None
    best = fitting[0].score
    ranks = {slug: rank for rank, slug in enumerate(most_requested())}
    near = [hit.entry for hit in fitting if hit.score >= best - NEARLY]
    return min(near, key=lambda entry: ranks.get(entry.url.strip("/").rpartition("/")[2], len(ranks)))


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


MOST_IN_GROUP = 8
LONGEST_QUESTION = 80  # characters: longer texts are messages
SENTENCE = 6  # words from which on a query may be an error message
OF_ERRORS = ("error", "fail", "exception", "fatal", "undefined", "错误", "报错", "失败", "异常")  # in a word of one


# How questions begin and end: words that every text has, and that error messages are full of.
_QUESTION = re.compile(
    r"\A\s*(?:what(?:'s| is| are)|what does|who is|where is|define|explain|什么是|什么叫)\s*(?:an? |the )?"
    r"([^\s?？].+?)(?: mean)?\s*[?？]*\s*\Z|\A\s*([^\s?？].+?)\s*(?:是什么|什么意思|是什么意思)\s*[?？]*\s*\Z",
    re.IGNORECASE | re.DOTALL,
)


def question_subject(query: str) -> str:
    """What a short question asks about: `what is MPS?` -> `MPS`; any other text as it is."""
    match = _QUESTION.match(query) if len(query) <= LONGEST_QUESTION else None
    return next(filter(None, match.groups()), query) if match else query


def ranked_hits(visitor: Visitor, query: str) -> list[SearchHit]:
    """Everything that matches, best first. Four queries, six where software is asked for."""
    query = question_subject(query)
    if not split_words(query):
        return []
    index = search_index()
    hits = sorted([*machine_hits(visitor, query), *index.search(query)], key=lambda hit: -hit.score)
    compared = compared_entry(index, query)
    leading = [compared] if compared else software_entries(index, query)
    score = hits[0].score if hits else 1.0
    return [
        *(SearchHit(entry, score, "", ()) for entry in leading),
        *(hit for hit in hits if hit.entry not in leading),
    ]


def answer_search(visitor: Visitor, query: str) -> dict[str, object]:
    """Return what the page shows: results by kind, each with how many are left out, and a link to the diagnosis.

    `diagnose_url`: /diagnose/ with the query in its box, where it may be an error message; else "".
    """
    hits = ranked_hits(visitor, query)
    words = split_words(query)
    by_kind: dict[SearchKind, list[SearchHit]] = {}
    for hit in hits:
        by_kind.setdefault(hit.entry.kind, []).append(hit)
    count = len(hits)
    return {
        "query": query,
        "has_words": bool(words),
        "groups": [
            (kind, group[:MOST_IN_GROUP], max(0, len(group) - MOST_IN_GROUP)) for kind, group in by_kind.items()
        ],
        "summary": ngettext("%(n)d result", "%(n)d results", count) % {"n": count} if count else _("No results"),
        "diagnose_url": _diagnose_url(query) if words and (not hits or _is_like_an_error(words, hits)) else "",
    }


def _is_like_an_error(words: Sequence[str], hits: Sequence[SearchHit]) -> bool:
    is_about_one = hits[0].entry.kind in (SearchKind.MESSAGE, SearchKind.RULE)
    return is_about_one or len(words) >= SENTENCE or any(part in token for token in words for part in OF_ERRORS)


def _diagnose_url(query: str) -> str:
    return f"{reverse('diagnose:page')}?{urlencode({'text': query})}"

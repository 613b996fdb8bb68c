"""Answers about named accelerators: side by side, a figure, the price, results, and who has one."""

import re
from collections.abc import Sequence
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.pages.machines.hosts_query import SYSTEMS, HostsQuery, matching_hosts
from stackviz.pages.machines.hosts_rows import known_hosts
from stackviz.pages.search.hardware_answers import CHEAPEST, FIT_WORDS, PRICE, PRICE_WORDS, cheapest_entry
from stackviz.pages.search.index import SearchEntry, SearchKind
from stackviz.pages.search.named import slug_of
from stackviz.pages.search.query import Query, content_words, names_of_kind
from stackviz.pages.search.words import joined_words, split_words
from stackviz.records.catalog.costs import costs_now, costs_sentence
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import Headline, nearest_headline
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.cases import public_results
from stackviz.web.http.address import comparison_query

MOST_NAMES = 6  # as many as a comparison holds

# --- side by side ---

COMPARING = re.compile(
    r"\s(?:vs\.?|versus|or|against)\s|\b(?:compare|difference|differences|comparison)\b|对比|比较|和|与|还是|区别|\bvs\b"
)
_BETWEEN = re.compile(r"\s+(?:vs\.?|versus|or|against)\s+|\s*(?:对比|比较|和|与|还是|,)\s*")
_COMPARE = re.compile(
    r"\b(?:compare|comparison|difference|differences)\b(?:\s+(?:between|of))?|区别|哪个好|哪个更好|哪个快"
)
_DIGIT = re.compile(r"\d")
_AND = re.compile(r"\s+(?:and|with|to)\s+")
# What people call the stacks that are compared most.
_STACKS = {
    "cuda": "nvidia-cuda", "nvidia": "nvidia-cuda", "nvidiacuda": "nvidia-cuda", "metal": "apple-metal",
    "mps": "apple-metal",
    "applemetal": "apple-metal", "rocm": "amd-rocm", "amdrocm": "amd-rocm", "mlx": "apple-mlx", "xpu": "intel-xpu",
    "oneapi": "intel-xpu", "cann": "huawei-cann", "neuron": "aws-neuron", "tpu": "google-tpu", "cpu": "cpu",
}  # fmt: skip


def comparison_answer(query: Query) -> list[SearchEntry]:
    """The comparison of what the query holds against each other; none where a part names nothing with all its words."""
    text, count = _COMPARE.subn(" ", query.text)
    names = [name for name in _BETWEEN.split(text) if content_words(split_words(name))]
    if count and len(names) == 1:
        names = _AND.split(text)
    if 2 <= len(names) <= len(query.cards):
        return cards_side_by_side(query)
    names = [" ".join(content_words(split_words(name), FIT_WORDS)) for name in names]
    if not 2 <= len(names) <= MOST_NAMES or not all(names):
        return []
    return _of_stacks(query, names) or _of_parts(query, names)


def _of_stacks(query: Query, names: list[str]) -> list[SearchEntry]:
    slugs = dict.fromkeys(_STACKS.get(joined_words(split_words(name)), "") for name in names)
    if "" in slugs or len(slugs) < 2:
        return []
    titles = {slug_of(entry): entry.title for entry in names_of_kind(query.index, SearchKind.STACK).values()}
    if not slugs.keys() <= titles.keys():
        return []
    return [_side_by_side([titles[slug] for slug in slugs], [f"stack:{slug}" for slug in slugs])]


def _of_parts(query: Query, names: list[str]) -> list[SearchEntry]:
    full = [name if _DIGIT.search(name) else f"{_numbered(names)} {name}" for name in names]  # "h100 sxm vs pcie"
    cards = (query.card(name) or query.card(fuller) for name, fuller in zip(names, full, strict=True))
    entries = [entry for entry in cards if entry]
    slugs = dict.fromkeys(map(slug_of, entries))
    if len(entries) < len(names) or len(slugs) < 2:
        return []
    return [_side_by_side([entry.title for entry in entries], list(slugs))]


def _numbered(names: list[str]) -> str:
    """The words with digits of the first name that has any."""
    words = next((name.split() for name in names if _DIGIT.search(name)), [])
    return " ".join(token for token in words if _DIGIT.search(token))


def cards_side_by_side(query: Query) -> list[SearchEntry]:
    """The comparison of all accelerators that the query names, at the figure that it asks for."""
    if not 2 <= len(query.cards) <= MOST_NAMES:
        return []
    line, anchor = "", ""
    if PRICE.search(query.text):
        prices = [(entry.title, _prices(entry)) for entry in query.cards]
        line = "; ".join(f"{title}: {price}" for title, price in prices if price)
    elif query.fields:
        figures = [(entry.title, _figure(entry, query.fields)) for entry in query.cards]
        line = "; ".join(f"{title}: {figure.text or _('not published')}" for title, figure in figures)
        anchor = f"#specs-{FIELDS[query.fields[0]].group}"
    elif RESULTS.search(query.text):
        anchor = "#cited"
    return [_side_by_side([entry.title for entry in query.cards], list(map(slug_of, query.cards)), line, anchor)]


def _side_by_side(titles: Sequence[str], subjects: Sequence[str], line: str = "", anchor: str = "") -> SearchEntry:
    return SearchEntry(
        kind=SearchKind.PAGE,
        title=" vs. ".join(titles),
        url=f"{reverse('compare:page')}?{comparison_query(subjects)}{anchor}",
        line=line or _("Side by side: memory, bandwidth, rates, power, price, stacks and results."),
    )


# --- one accelerator ---


def price_answer(query: Query) -> list[SearchEntry]:
    """What a named accelerator costs; without a name the list by price."""
    rest = query.rest(PRICE, CHEAPEST, words=PRICE_WORDS)
    if not rest:
        return [cheapest_entry(query)]
    card = query.only_card or query.card(rest)
    if card is None:
        return []
    costs = _prices(card)
    return [
        SearchEntry(
            kind=SearchKind.ACCELERATOR,
            title=_("Price of %(name)s") % {"name": card.title},
            url=f"{card.url}{'#prices' if costs else ''}",
            line=costs or _("No price is on record for it."),
        ),
        card,
    ]


def _prices(card: SearchEntry) -> str:
    catalogue = public_catalogue()
    return costs_sentence(costs_now(catalogue.by_slug[slug_of(card)].pk, catalogue))


def figure_answer(query: Query) -> list[SearchEntry]:
    """The row of its sheet that the query asks for."""
    card = query.only_card
    if card is None or not query.fields:
        return []
    figure = _figure(card, query.fields)
    line = ", ".join(filter(None, (figure.text, figure.condition)))
    return [
        SearchEntry(
            kind=SearchKind.ACCELERATOR,
            title=_("%(field)s of %(name)s") % {"field": figure.title, "name": card.title},
            url=f"{card.url}#f-{figure.field}" if line else card.url,
            line=line or _("No source on record publishes it."),
        ),
        card,
    ]


def _figure(card: SearchEntry, fields: Sequence[str]) -> Headline:
    """That of the first field which the sheet has; an empty one of the first field for none."""
    catalogue = public_catalogue()
    pk = catalogue.by_slug[slug_of(card)].pk
    figures = [nearest_headline(FIELDS[name], catalogue.preferred(pk, name)) for name in fields]
    return next((figure for figure in figures if figure.is_published), figures[0])


RESULTS = re.compile(
    r"\b(?:mlperf|llama[ -]?bench|benchmark\w*|results?|scores?|measure\w*|numbers|decod\w*|prefill|tokens?|tps|speeds?"
    r"|performance|throughput|how fast|faster)\b|跑分|实测|测试|成绩|性能|速度|解码|多快|更快|哪个快"
)


def results_answer(query: Query) -> list[SearchEntry]:
    """The results of a named accelerator on its sheet, where there are any. One query."""
    card = query.only_card
    count = public_results().filter(accelerator__slug=slug_of(card)).count() if card else 0
    if card is None or not count:
        return []
    return [
        SearchEntry(
            kind=SearchKind.ACCELERATOR,
            title=_("Results of %(name)s") % {"name": card.title},
            url=f"{card.url}#cited",
            line=ngettext(
                "%(n)d result that others published, with its source.",
                "%(n)d results that others published, each with its source.",
                count,
            )
            % {"n": count},
        ),
        card,
    ]


_LINUXES = ("ubuntu", "debian", "fedora", "arch", "linux")
# A word -> the families of systems that it names.
_FAMILIES = {
    "windows": ("windows",), "win10": ("windows",), "win11": ("windows",), "wsl": ("wsl2",), "wsl2": ("wsl2",),
    "macos": ("macos",), "ubuntu": ("ubuntu",), "debian": ("debian",), "fedora": ("fedora",), "arch": ("arch",),
    "cachyos": ("arch",), "linux": _LINUXES,
}  # fmt: skip
OWNERS = re.compile(r"\b(?:people|somebody|someone|anyone|owners?|who)\b|谁")
MACHINES = re.compile(r"\b(?:machines?|rigs?|builds?|hosts?|pcs?|boxe?s?|setups?|servers?)\b|机器|主机|整机")
ON_SYSTEM = re.compile(rf"\b(?:{'|'.join(_FAMILIES)})\b")


def machines_answer(query: Query) -> list[SearchEntry]:
    """The public hosts with a named accelerator and system; with any system where none has both."""
    card = query.only_card
    if card is None:
        return []
    accelerator = ("accelerator", (slug_of(card),))
    system = next((token for token in query.words if token in _FAMILIES), "")
    all_hosts = matching_hosts(known_hosts().rows, HostsQuery(chosen=(accelerator,)))
    if not all_hosts:
        return []
    chosen = (accelerator, ("system", _FAMILIES[system])) if system else (accelerator,)
    hosts = matching_hosts(all_hosts, HostsQuery(chosen=chosen))
    line = ngettext(
        "%(n)d machine that its owner described: stack, settings, results.",
        "%(n)d machines that their owners described: stacks, settings, results.",
        len(hosts or all_hosts),
    ) % {"n": len(hosts or all_hosts)}
    if not hosts:
        chosen = (accelerator,)
        title = SYSTEMS[_FAMILIES[system][0]] if len(_FAMILIES[system]) == 1 else "Linux"
        line = _("None on record runs %(system)s.") % {"system": title} + f" {line}"
    parameters = urlencode([(name, value) for name, values in chosen for value in values])
    entry = SearchEntry(
        kind=SearchKind.HOST,
        title=_("Public hosts with %(name)s") % {"name": card.title},
        url=f"{reverse('machines:list')}?{parameters}#hosts",
        line=line,
    )
    return [entry, card]

"""Answers about accelerators: which models fit, the cheapest, the fastest, the most of a field."""

import re
from collections.abc import Sequence
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.base.units import format_number
from stackviz.pages.accelerators.list_query import ListQuery
from stackviz.pages.accelerators.list_search import Search
from stackviz.pages.fit.answers import chosen_answers
from stackviz.pages.fit.evidence import calibrations, fit_evidence
from stackviz.pages.fit.query import CARDS, MOST_ACCELERATORS, read_fit_query
from stackviz.pages.fit.shown import shown_summary
from stackviz.pages.fit.targets import fit_targets
from stackviz.pages.search.counts import UNKNOWN
from stackviz.pages.search.index import SearchEntry, SearchKind
from stackviz.pages.search.named import VENDORS, slug_of
from stackviz.pages.search.query import Query, content_words, entry_at, model_entry, names_of_kind
from stackviz.pages.search.synonyms import MODELS_BY_SIZE
from stackviz.pages.search.words import joined_words, split_words
from stackviz.records.catalog.costs import Cost, costs_with_memory, dollars_to_buy, leading_cost
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import for_people, nearest_headline, usual_values
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue

BANDWIDTH = "memory_bandwidth_gb_s"

# --- which models fit ---

RUNNING = re.compile(
    r"\b(?:can i run|can run|run|runs|models?|llms?|fit|fits)\b|能跑|能运行|跑什么|跑哪些|运行什么|大模型|模型"
)
FIT_WORDS = frozenset(
    {
        "tokens", "token", "per", "second", "s", "tps", "tok", "speed", "fast", "fit", "fits", "memory", "vram", "ram",
        "inference", "model", "models", "llm", "llms", "local", "locally", "language", "cheapest", "run", "big",
        "large",
    }
)  # fmt: skip
_PARAMETERS = re.compile(r"(?<![\w.-])(\d{1,3})b(?![\w.-])")
_CHINESE_FIT = re.compile("多大|显存|内存|速度|能运行|运行|本地|大模型|模型|推理|最大|够|多快|大的|些")


def model_fit(query: Query) -> list[SearchEntry]:
    """Whether a named model fits the named accelerators or a size of memory; with neither the model."""
    model = query.model or _model_of_size(query)
    if model is None:
        return []
    words = content_words(split_words(_CHINESE_FIT.sub(" ", " ".join(query.without_model))), FIT_WORDS)
    rest = " ".join(token for token in words if token != f"{query.size_gb}gb")
    named = query.cards or ((query.card(rest),) if rest else ())
    cards = [card for card in named if card][:MOST_ACCELERATORS]
    slug = model.url.partition("model=")[2]
    if cards:
        return [_fit_entry(query, model, cards), model, *cards]
    if query.size_gb:
        size = f"{query.size_gb} GB"
        return [
            SearchEntry(
                kind=SearchKind.MODEL,
                title=_("%(model)s in %(size)s") % {"model": model.title, "size": size},
                url=f"{reverse('fit:page')}?model={slug}&memory={query.size_gb}",
                line=_as_read(query, model, _("Which accelerators with this memory run it, and how fast.")),
            ),
            model,
        ]
    return [] if rest else [model]


def _model_of_size(query: Query) -> SearchEntry | None:
    """The model that a size without a family is read as, where hardware for it is named: `70B on RTX 5090`."""
    size = _PARAMETERS.search(query.text)
    if size is None or not (query.cards or query.size_gb):
        return None
    return model_entry(query.index, MODELS_BY_SIZE.get(size[1], ""))


def _fit_entry(query: Query, model: SearchEntry, cards: Sequence[SearchEntry]) -> SearchEntry:
    together, is_known = _cards_together(query, cards)
    slug = model.url.partition("model=")[2]
    address = urlencode([("model", slug), *(("accelerator", slug_of(card)) for card in cards), *together])
    names = ", ".join(_counted_name(card, together) for card in cards)
    line = _fit_sentence(address) if is_known else _("Choose how many work together: whether it fits, and how fast.")
    return SearchEntry(
        kind=SearchKind.MODEL,
        title=_("%(model)s on %(name)s") % {"model": model.title, "name": names},
        url=f"{reverse('fit:page')}?{address}",
        line=_as_read(query, model, line),
    )


def _as_read(query: Query, model: SearchEntry, line: str) -> str:
    """The line, after which model is meant where the query names a size alone."""
    if query.model:
        return line
    return _("No family is named: read as %(model)s.") % {"model": model.title} + f" {line}"


def _cards_together(query: Query, cards: Sequence[SearchEntry]) -> tuple[list[tuple[str, str]], bool]:
    """(the parameter of `/fit/` for more than one together, whether the query leaves no doubt about their number)."""
    if set(query.counts) <= {1}:
        return [], True
    is_of_all = len(set(query.counts)) == 1 and (len(cards) == 1 or len(cards) == len(query.counts))
    if UNKNOWN in query.counts or not is_of_all:
        return [], False
    return [("cards", str(min(query.counts[0], CARDS.high)))], True


def _counted_name(card: SearchEntry, together: Sequence[tuple[str, str]]) -> str:
    return " × ".join([*(value for _name, value in together), card.title])


def _fit_sentence(address: str) -> str:
    """The sentence with which `/fit/` answers this address."""
    catalogue = public_catalogue()
    targets = fit_targets(catalogue)
    fit_query = read_fit_query(QueryDict(address), targets)
    answers = chosen_answers(fit_query, targets, calibrations(fit_evidence(catalogue), catalogue))
    return shown_summary(fit_query, answers, ()).sentence or _("No memory size is published for it.")


def models_for(query: Query) -> list[SearchEntry]:
    """Which models run on a named accelerator, or in a size of memory."""
    rest = query.rest(_CHINESE_FIT, RUNNING, words=FIT_WORDS)
    card = query.only_card or (query.card(rest) if rest else None)
    if card:
        together, _is_known = _cards_together(query, [card])
        title = _("Which models run on %(name)s?") % {"name": _counted_name(card, together)}
        return [_models_entry(title, urlencode([("accelerator", slug_of(card)), *together])), card]
    if query.size_gb and not (rest or query.cards):
        title = _("Which models run in %(size)s GB?") % {"size": query.size_gb}
        return [_models_entry(title, f"memory={query.size_gb}")]
    return []


def _models_entry(title: str, address: str) -> SearchEntry:
    line = _("Choose a model and a precision: whether it fits, and how fast it runs.")
    return SearchEntry(kind=SearchKind.PAGE, title=title, url=f"{reverse('fit:page')}?{address}", line=line)


# --- cheapest, fastest ---

PRICE = re.compile(
    r"\b(?:price\w*|costs?|msrp|rent\w*|how much (?:is|are|for|does|do|an?|the)|how expensive|per hour|hourly)\b"
    r"|价格|价钱|多少钱|售价|报价|租金|租用|租|几钱"
)
PRICE_WORDS = frozenset(
    {"cloud", "hour", "hourly", "launch", "street", "usd", "dollars", "list", "money", "new", "used"}
)

_DOLLARS = re.compile(r"\$\s?(\d{2,6})\b|\b(\d{2,6})\s*(?:usd|dollars?|bucks|美元|美金|刀)")
CHEAPEST = re.compile(
    r"\$\s?\d|\d\s*(?:usd|dollars?|bucks|美元|美金|刀)|\b(?:cheap\w*|affordable|lowest price|budget|inexpensive)\b"
    r"|最?便宜|最低价|性价比|预算"
)
FASTEST = re.compile(r"\b(?:fast\w*|quickest|best|most powerful|strongest|top)\b|最快|最强|最好|最佳")
_OF_LISTS = frozenset(
    {
        "memory", "vram", "ram", "more", "most", "nvidia", "amd", "intel", "apple", "accelerator", "accelerators", "ai",
        "new", "price", "value", "money", "under", "below", "less", "way", "within", "max", "ml", "llm",
    }
)  # fmt: skip
_CHINESE_LISTS = re.compile("显存|内存|以上|以下|以内|低于|至少|大于|最低|价格")


def cheapest_answer(query: Query) -> list[SearchEntry]:
    """The list with at least so much memory, by price; without a size all of it."""
    rest = query.rest(_DOLLARS, CHEAPEST, _CHINESE_LISTS, words=_OF_LISTS)
    if query.cards or (rest and not (query.size_gb or _dollars(query))):
        return []
    return [cheapest_entry(query) if query.size_gb or not _dollars(query) else _best_for(query, _dollars(query) or 0)]


def _best_for(query: Query, dollars: float) -> SearchEntry:
    """The list of what costs so much at most, by bandwidth."""
    sort = f"-{BANDWIDTH}"
    first = next(iter(Search(_listed(query, sort)).ordered()), None)
    cost = _cost_to_buy(first, query) if first else None
    line = (
        f"{first.name}: {_bandwidth(first)}, {cost.sentence}"
        if first and cost
        else _("None on record costs so little.")
    )
    title = _("Fastest memory for up to %(dollars)s USD") % {"dollars": format_number(dollars)}
    return SearchEntry(kind=SearchKind.PAGE, title=title, url=_list_url(query, sort), line=line)


def _cost_to_buy(item: Accelerator, query: Query) -> Cost | None:
    """Its leading price with the memory that the query asks for; None for a rent alone."""
    costs = costs_with_memory(item.pk, public_catalogue(), query.size_gb)
    return leading_cost(costs) if dollars_to_buy(costs) is not None else None


def cheapest_entry(query: Query) -> SearchEntry:
    first = next(iter(Search(_listed(query, "price")).ordered()), None)
    cost = _cost_to_buy(first, query) if first else None
    title = (
        _("Cheapest accelerators with at least %(size)s GB") % {"size": query.size_gb}
        if query.size_gb
        else _("Cheapest accelerators")
    )
    nothing = _("No price is known for %(size)s GB.") % {"size": query.size_gb} if query.size_gb else ""
    line = f"{first.name}: {cost.sentence}" if first and cost else nothing or _("No price is on record for these.")
    return SearchEntry(kind=SearchKind.PAGE, title=title, url=_list_url(query, "price"), line=line)


def fastest_answer(query: Query) -> list[SearchEntry]:
    """The list with at least so much memory, by bandwidth; the ladder where neither a size nor a vendor is named."""
    if query.cards or (query.rest(FASTEST, _CHINESE_LISTS, words=_OF_LISTS) and not query.size_gb):
        return []
    if not (query.size_gb or query.vendor):
        ladder = entry_at(query.index, "/ladder/")
        return [ladder] if ladder else []
    first = next(iter(Search(_listed(query, f"-{BANDWIDTH}")).ordered()), None)
    title = (
        _("Fastest memory with at least %(size)s GB") % {"size": query.size_gb}
        if query.size_gb
        else _("Fastest memory of %(vendor)s") % {"vendor": first.vendor.name if first else query.vendor}
    )
    line = f"{first.name}: {_bandwidth(first)}" if first else _("None on record has so much.")
    return [SearchEntry(kind=SearchKind.PAGE, title=title, url=_list_url(query, f"-{BANDWIDTH}"), line=line)]


def _listed(query: Query, sort: str) -> ListQuery:
    return ListQuery(
        vendor=(query.vendor,) if query.vendor else (),
        memory_min=float(query.size_gb) if query.size_gb else None,
        price_max=_dollars(query),
        availability=("released",),
        kind=_kinds(query, sort),
        sort=sort,
    )


def _dollars(query: Query) -> float | None:
    """The most that it may cost."""
    match = _DOLLARS.search(query.text)
    return float(match[1] or match[2]) if match else None


def _kinds(query: Query, sort: str) -> tuple[str, ...]:
    """Of what is fastest the GPUs, where no vendor is named: memory on a wafer is nothing to compare a card with."""
    return (Accelerator.Kind.GPU.value,) if sort != "price" and not query.vendor else ()


def _list_url(query: Query, sort: str) -> str:
    dollars = _dollars(query)
    chosen = [
        *(("vendor", query.vendor), ("memory_min", query.size_gb or ""), ("sort", sort), ("availability", "released")),
        ("price_max", f"{dollars:g}" if dollars else ""),
        *(("kind", kind) for kind in _kinds(query, sort)),
    ]
    return f"{reverse('accelerators:list')}?{urlencode([(name, value) for name, value in chosen if value])}"


def _bandwidth(item: Accelerator) -> str:
    values = usual_values(FIELDS[BANDWIDTH], public_catalogue().preferred(item.pk, BANDWIDTH))
    return for_people(values[0]).label if values else _("not published")


# --- the most of a field ---

_CHIPS = frozenset({"all", "chip", "chips", "silicon", "series", "different", "generation", "generations"})

MOST = re.compile(
    r"\b(?:highest|lowest|largest|biggest|most|least|max\w*|min\w*|top)\b|最高|最大|最低|最多|最少|最小|排行|排名|排序"
)


def most_of_field(query: Query) -> list[SearchEntry]:
    """The list sorted by a named field, the better end first."""
    name = joined_words(split_words(query.rest(MOST)))
    field = names_of_kind(query.index, SearchKind.FIELD).get(name)
    return [field] if field else []


def figure_of_vendor(query: Query) -> list[SearchEntry]:
    """The list of a named vendor's accelerators by a named figure: `bandwidth of M chips`."""
    numeric = [name for name in query.fields if not FIELDS[name].is_text]
    if query.cards or not (query.vendor and numeric) or query.foreign_words(MOST, words=_CHIPS | VENDORS.keys()):
        return []
    field = FIELDS[numeric[0]]
    address = [("vendor", query.vendor), ("sort", f"-{field.name}"), ("cols", field.name)]
    first = next(iter(Search(ListQuery(vendor=(query.vendor,), sort=f"-{field.name}")).ordered()), None)
    if first is None:
        return []
    figure = nearest_headline(field, public_catalogue().preferred(first.pk, field.name))
    return [
        SearchEntry(
            kind=SearchKind.PAGE,
            title=_("%(field)s of %(name)s") % {"field": figure.title, "name": first.vendor.name},
            url=f"{reverse('accelerators:list')}?{urlencode(address)}",
            line=f"{first.name}: {figure.text or _('not published')}",
        )
    ]

"""Answers of other pages of this site: rooflines, figures over time, frames for other sites, reports of mistakes."""

import re
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.pages.benchmarks.selection import MOST_ACCELERATORS
from stackviz.pages.search.index import SearchEntry, SearchKind
from stackviz.pages.search.named import slug_of
from stackviz.pages.search.query import Query, entry_at

ROOFLINE = re.compile(r"\brooflines?\b|屋顶线|屋顶图")
OVER_TIME = re.compile(
    r"\bover (?:time|the years)\b|\b(?:by|per) (?:year|generation)\b|\btimeline\b|历年|逐年|各代|历代"
)
EMBEDDING = re.compile(
    r"\A(?:how (?:do i|to|can i) )?embed(?:ding)?(?: an?| the| this| your)? (?:charts?|graphs?|comparisons?"
    r"|pages?|pictures?|tables?|widgets?|ranking)\b|\A(?:iframe|embed|badge)\Z|嵌入(?:图表|网页|页面|对比)"
)
REPORTING = re.compile(
    r"\A(?:how (?:do i|to|can i) )?(?:report|correct|suggest|flag|submit|fix)\b(?: an?| the)?(?: \w+)?"
    r" (?:values?|mistakes?|figures?|numbers?|corrections?|data|specs?|prices?|typos?)\b"
    r"|\A(?:wrong|incorrect) (?:value|figure|number|spec|data)\b|纠错|报告错误|数据有误|数值错误|参数错误"
)


def roofline_answer(query: Query) -> list[SearchEntry]:
    """The roofline of the accelerators that the query names."""
    cards = query.cards[:MOST_ACCELERATORS]
    if not cards:
        return []
    return [
        SearchEntry(
            kind=SearchKind.PAGE,
            title=_("Roofline of %(name)s") % {"name": ", ".join(card.title for card in cards)},
            url=f"{reverse('benchmarks:roofline')}?{urlencode([('a', slug_of(card)) for card in cards])}",
            line=_("Published peaks and bandwidth, and how near results come to them."),
        ),
        *cards,
    ]


def timeline_answer(query: Query) -> list[SearchEntry]:
    """The timeline of the vendor that the query names, or of all."""
    timeline = entry_at(query.index, "/timeline/")
    if query.cards or timeline is None:
        return []
    if not query.vendor:
        return [timeline]
    address = f"{timeline.url}?{urlencode({'vendor': query.vendor})}"
    return [SearchEntry(kind=SearchKind.PAGE, title=timeline.title, url=address, line=timeline.line)]


def embedding_answer(_query: Query) -> list[SearchEntry]:
    """A comparison, below which is the frame for other sites."""
    return [
        SearchEntry(
            kind=SearchKind.PAGE,
            title=_("Link and embed"),
            url=f"{reverse('compare:page')}?a=nvidia-h100-sxm5-80gb&a=amd-mi300x",
            line=_("Each sheet, comparison and ranking has a frame for other sites in “Link and embed”, as this one."),
        )
    ]


def reporting_answer(query: Query) -> list[SearchEntry]:
    """The sheet that the query names, each value of which can be reported, and the page of corrections."""
    corrections = SearchEntry(
        kind=SearchKind.PAGE,
        title=_("Report a mistake"),
        url=reverse("accelerators:corrections"),
        line=_("Open the row of a value on its sheet: “Report a mistake” is there."),
    )
    return [corrections, *query.cards]

"""What a ranking says of itself where it is linked to: who is first, by how much, in which setting."""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.cited.benchmark import CitedBenchmark
from stackviz.results.drawing import DrawnLadder
from stackviz.web.preview import Introduction

__all__ = ["introduce_ranking", "ranking_data", "ranking_setting"]


def introduce_ranking(benchmark: CitedBenchmark, drawn: DrawnLadder, setting: str) -> Introduction:
    """`Llama 2 7B decode: B200 first with 262 token/s`; the answer names the first three and the setting."""
    title = str(benchmark.title)
    if not drawn.rows:
        return Introduction(title, str(benchmark.measures))
    first = drawn.rows[0]
    words = {
        "benchmark": title,
        "name": first.name,
        "figure": f"{first.text} {drawn.unit}".rstrip(),
        "first": ", ".join(f"{row.rank}. {row.name} {row.text} {drawn.unit}".rstrip() for row in drawn.rows[:3]),
        "setting": ranking_setting(benchmark, drawn, setting),
    }
    return Introduction(
        _("%(benchmark)s: %(name)s is first with %(figure)s") % words,
        _("%(first)s. %(setting)s") % words,
    )


def ranking_setting(benchmark: CitedBenchmark, drawn: DrawnLadder, setting: str) -> str:
    """`tg128 · Llama 2 7B: 56 accelerators, each result with its source. Higher is better.`"""
    words = {
        "setting": setting,
        "counts": ngettext("%(n)d accelerator", "%(n)d accelerators", len(drawn.rows)) % {"n": len(drawn.rows)},
        "better": _("Higher is better.") if benchmark.higher_is_better else _("Lower is better."),
    }
    return _("%(setting)s: %(counts)s, each result with its source. %(better)s") % words


def ranking_data(benchmark: CitedBenchmark, introduction: Introduction, url: str) -> Mapping[str, object]:
    """The ranking as a `Dataset` of schema.org, with its files."""
    separator = "&" if "?" in url else "?"
    return {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": str(benchmark.title),
        "description": f"{benchmark.measures} {introduction.answer}",
        "url": url,
        "isAccessibleForFree": True,
        "distribution": [
            {"@type": "DataDownload", "encodingFormat": kind, "contentUrl": f"{url}{separator}format={name}"}
            for name, kind in (("csv", "text/csv"), ("json", "application/json"))
        ],
    }

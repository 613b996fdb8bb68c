"""What a ranking says of itself where it is linked to: who is first, by how much, in which setting; as data."""

from collections.abc import Mapping, Sequence
from urllib.parse import urljoin

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.pages.benchmarks.drawing import DrawnLadder
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.web.preview import Introduction
from stackviz.web.reverse import address_by_name

__all__ = ["dataset", "introduce_ranking", "ranking_data", "ranking_setting"]

DATA_NAME = "accelweb: all public data"


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
    """The ranking as a `Dataset` of schema.org, with its files and where the benchmark is defined."""
    return dataset(str(benchmark.title), f"{benchmark.measures} {introduction.answer}", url, benchmark.units) | {
        "measurementTechnique": benchmark.definition.title,
        "citation": benchmark.definition.url,
    }


def dataset(name: str, description: str, url: str, units: Sequence[str]) -> dict[str, object]:
    """What every page of a benchmark says of its results as a `Dataset` of schema.org; a part of all public data."""
    return {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": name,
        "description": description,
        "url": url,
        "creator": {"@type": "Organization", "name": "accelweb", "url": urljoin(url, "/")},
        "isAccessibleForFree": True,
        "isPartOf": {"@type": "Dataset", "name": DATA_NAME, "url": urljoin(url, address_by_name("data:index"))},
        "variableMeasured": [{"@type": "PropertyValue", "name": name, "unitText": unit} for unit in units],
        "distribution": [
            {"@type": "DataDownload", "encodingFormat": kind, "contentUrl": f"{url}?format={form}"}
            for form, kind in (("csv", "text/csv"), ("json", "application/json"))
        ],
    }

"""The benchmarks as the site shows them: `stackviz.measuring` declares them, titles are translated here."""

from functools import cache

from django.utils.translation import get_language, gettext

from stackviz.measuring import VERSIONS, Benchmark

__all__ = ["benchmark", "title_of"]


def benchmark(key: str, version: int) -> Benchmark | None:
    """The benchmark of this key and version; None if this site does not know it (its results are kept all the same)."""
    return VERSIONS.get((key, version))


def title_of(known: Benchmark) -> str:
    """The benchmark's title in the reader's language."""
    return _titles(get_language()).get(known.title) or gettext(known.title)


@cache
def _titles(_language: str | None) -> dict[str, str]:
    return {known.title: gettext(known.title) for known in VERSIONS.values()}

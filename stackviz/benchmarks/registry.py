"""The benchmarks as the site shows them: `stackviz.measuring` declares them, titles are translated here."""

from django.utils.translation import gettext

from stackviz.measuring import VERSIONS, Benchmark

__all__ = ["benchmark", "title_of"]


def benchmark(key: str, version: int) -> Benchmark | None:
    """The benchmark of this key and version; None if this site does not know it (its results are kept all the same)."""
    return VERSIONS.get((key, version))


def title_of(known: Benchmark) -> str:
    """The benchmark's title in the reader's language."""
    return gettext(known.title)

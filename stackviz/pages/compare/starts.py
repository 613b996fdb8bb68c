"""Comparisons of accelerators and stacks worth a first look, each with its answer in a line, computed."""

from collections.abc import Sequence
from functools import lru_cache

from django.contrib.auth.models import AnonymousUser
from django.utils.translation import get_language

from stackviz.draw.diagrams.stack_slide import stack_finding
from stackviz.pages.compare.comparison import stacks_of
from stackviz.pages.compare.pairs import AnsweredPair
from stackviz.pages.compare.query import Address, parse_selection
from stackviz.pages.compare.spec_table import spec_rows
from stackviz.pages.compare.subjects import Loaded, heading, heads_of, load
from stackviz.pages.compare.tiles import sentence_of, sheet_figures
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.stacks.models import Edition

PAIRS = (
    ("nvidia-geforce-rtx-5090", "apple-m4-max-40"),
    ("nvidia-h100-sxm5-80gb", "amd-mi300x"),
    ("nvidia-geforce-rtx-5090", "nvidia-geforce-rtx-4090"),
    ("amd-rx-9070-xt", "nvidia-geforce-rtx-5070-ti"),
    ("nvidia-dgx-spark-gb10", "amd-radeon-8060s"),
    ("apple-m5-max-40", "apple-m4-max-40"),
    ("nvidia-b200-hgx", "nvidia-h200-sxm"),
    ("intel-arc-b580", "nvidia-geforce-rtx-4060"),
    ("stack:nvidia-cuda", "stack:apple-metal"),
    ("stack:nvidia-cuda", "stack:amd-rocm"),
)
QUESTIONS_SHOWN = ("memory", "bandwidth")  # what two accelerators are compared for first, and what fits in a line


def suggested_pairs() -> list[AnsweredPair]:
    """The pairs whose subjects are all public, in the page's language. Once for each edition in a process."""
    return list(_answered((CatalogueEdition.current(), Edition.current()), get_language() or "en"))


@lru_cache(maxsize=4)
def _answered(_state: tuple[str, ...], _language: str) -> tuple[AnsweredPair, ...]:
    pairs = []
    for names in PAIRS:
        chosen, _refused = load(parse_selection(names), AnonymousUser())
        line = _line(chosen) if len(chosen) == len(names) else ""
        if line:
            url = Address(tuple(loaded.subject for loaded in chosen)).query()
            pairs.append(AnsweredPair(heading([loaded.title for loaded in chosen]), url, line))
    return tuple(pairs)


def _line(chosen: Sequence[Loaded]) -> str:
    if not any(loaded.accelerator for loaded in chosen):
        return stack_finding(stacks_of(chosen).drawing)
    address = Address(tuple(loaded.subject for loaded in chosen))
    rows, heads = spec_rows(chosen, heads_of(chosen, address), address)
    answered = sheet_figures(chosen, heads, rows)
    sentence = sentence_of([each for each in answered if each[0].key in QUESTIONS_SHOWN])
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else ""

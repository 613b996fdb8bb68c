"""Real dumps to try: excerpts of texts that people published, which a link puts into the box. Nothing is read then."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

TEXTS = Path(__file__).resolve().parent / "example_texts"


@dataclass(frozen=True, slots=True)
class Example:
    """`key` names its file and stands in the address."""

    key: str
    title: str | Promise


EXAMPLES: tuple[Example, ...] = (
    Example("old-driver", _("a GTX 1080 whose driver is too old for its CUDA")),
    Example("two-torches", _("a Mac with two copies of torch")),
    Example("nvidia-smi", _("the table of nvidia-smi")),
)


@cache
def example_texts() -> Mapping[str, str]:
    """Key -> text."""
    texts = {each.key: (TEXTS / f"{each.key}.txt").read_text(encoding="utf-8") for each in EXAMPLES}
    return MappingProxyType(texts)

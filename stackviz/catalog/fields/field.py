"""What a field is: what it is called, measured in, means, which way is better, and for which products it can be."""

from dataclasses import dataclass
from functools import lru_cache

from django.utils.functional import Promise
from django.utils.translation import get_language

from stackviz.catalog.formula import Formula

__all__ = ["APPLE", "DENSE", "DENSE_FP32_ACCUMULATE", "NVIDIA", "SOC", "Field", "Words"]

Words = str | Promise

DENSE = "sparsity=dense"
DENSE_FP32_ACCUMULATE = "sparsity=dense; accumulate=fp32"

APPLE, NVIDIA, SOC = frozenset({"apple"}), frozenset({"nvidia"}), frozenset({"soc"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Field:
    """One thing a sheet says about an accelerator.

    `group`: the heading of the sheet it stands under. `unit`: printed symbol values are given in, or "" for text.
    `higher_is_better`: None where neither way is. `plausible`: (least, most) in `unit`; a value outside is a mistake.
    `is_headline`: a sheet without it says so. `usual`: conditions under which the headline figure is looked for, the
    first that is published wins. `glossary`: anchor of the entry of /learn/ that says more, or "". `formula`: what
    holds its figures against others of the same sheet.

    `only`, `never`: for which products it can be at all: a vendor (`apple`), a kind (`soc`) or both (`nvidia/soc`);
    `only` empty: for all. Only what cannot be stands there: what a vendor could publish and does not is missing, and
    the sheet says so.

    `accumulate_matters`: GeForce cards run it at half rate when products are added up in fp32, which is what cuBLAS and
    PyTorch do.
    """

    name: str
    group: str
    title: Words
    meaning: Words
    unit: str = ""
    higher_is_better: bool | None = None
    plausible: tuple[float, float] | None = None
    is_headline: bool = False
    usual: tuple[str, ...] = ("",)
    glossary: str = ""
    formula: Formula | None = None
    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    accumulate_matters: bool = False

    @property
    def formula_name(self) -> str:
        """Name of the formula that checks its figures, or ""."""
        return self.formula.name if self.formula else ""

    def applies_to(self, vendor_slug: str, kind: str) -> bool:
        """Whether products of this vendor and kind can have the field at all; what cannot be is not missing."""
        product = {vendor_slug, kind, f"{vendor_slug}/{kind}"}
        return not product & self.never and (not self.only or bool(product & self.only))

    @property
    def is_text(self) -> bool:
        return not self.unit

    @property
    def is_date(self) -> bool:
        """Whether the text is a date, as precise as its source."""
        return self.name.endswith("_date")

    @property
    def words(self) -> tuple[str, str]:
        """(title, meaning) in the reader's language."""
        return _words_of(self, get_language() or "")

    def is_plausible(self, value: float) -> bool:
        """Whether `value`, in the field's unit, can be true."""
        return self.plausible is None or self.plausible[0] <= value <= self.plausible[1]


@lru_cache(maxsize=1024)
def _words_of(field: Field, _language: str) -> tuple[str, str]:
    return str(field.title), str(field.meaning)

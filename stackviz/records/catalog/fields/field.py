"""What a field is: its name, unit, meaning, which way is better, for which products it can be; values as amounts."""

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from stackviz.base.units import UNITS, to_si
from stackviz.base.units import unit as unit_named
from stackviz.records.catalog.formula import Formula

Words = str | Promise

DENSE = "sparsity=dense"
DENSE_FP32_ACCUMULATE = "sparsity=dense; accumulate=fp32"

APPLE, NVIDIA, SOC = frozenset({"apple"}), frozenset({"nvidia"}), frozenset({"soc"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Field:
    """One thing a sheet says about an accelerator.

    `group`: the heading of the sheet it belongs to. `unit`: the printed unit symbol of its values, or "" for text.
    `higher_is_better`: None where neither way is. `plausible`: (least, most) in `unit`; a value outside is a mistake.
    `is_headline`: a sheet without it shows it as missing. `usual`: conditions under which the headline figure is looked
    for, the first that is published wins. `glossary`: anchor of the entry of /learn/ that says more, or "". `formula`:
    what holds its figures against others of the same sheet.

    `only`, `never`: the products it applies to: a vendor (`apple`), a kind (`soc`) or both (`nvidia/soc`); `only`
    empty: all. List only what is impossible: a value that a vendor could publish but does not is missing, and the sheet
    says so.

    `is_memory_size`: bytes of memory chips or caches, of which sources print 2^30 as GB or as GiB; see `compared_unit`.

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
    is_memory_size: bool = False
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


# --- printed values ---

# Memory is built in powers of two: 32 GB and 32 GiB of data sheets are the same 2^35 bytes.
_SAME_SIZE = {"KiB": "kB", "MiB": "MB", "GiB": "GB", "TiB": "TB"}

_DATE = re.compile(r"(?:19|20)\d\d(?:-\d\d){0,2}")


def compared_unit(field: Field, unit: str) -> str:
    """The unit a figure printed in `unit` is compared in: a memory size in GiB counts as that many GB."""
    return _SAME_SIZE.get(unit, unit) if field.is_memory_size else unit


def amount_of(field: Field, value: str, unit: str) -> float | None:
    """A printed value in base units, of `compared_unit`; None for text.

    Raises ValueError, in words, when value and unit do not fit the field.
    """
    if field.is_text:
        if unit:
            raise ValueError(_("%(field)s is text and has no unit, not %(unit)r") % {"field": field.name, "unit": unit})
        if field.is_date and not _is_date(value):
            problem = _("%(field)s is written 2022, 2022-10 or 2022-10-13, not %(value)r")
            raise ValueError(problem % {"field": field.name, "value": value})
        return None
    if not unit:
        raise ValueError(_("%(field)s needs a unit, such as %(unit)s") % {"field": field.name, "unit": field.unit})
    try:
        number = float(value if value.isascii() and "_" not in value else "")  # Python reads ١２ and 1_000, nobody else
    except ValueError:
        problem = _("%(field)s is a number, not %(value)r")
        raise ValueError(problem % {"field": field.name, "value": value}) from None
    return _checked_amount(field, number, unit)


def _is_date(text: str) -> bool:
    """A year, a month or a day, as precise as the source says."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(f"{text}-01-01"[:10])
    except ValueError:
        return False
    return True


def _checked_amount(field: Field, number: float, unit: str) -> float:
    if unit not in UNITS:
        problem = _("unknown unit %(unit)r: use one of %(units)s")
        raise ValueError(problem % {"unit": unit, "units": ", ".join(sorted(filter(None, UNITS)))})
    try:
        amount = to_si(number, compared_unit(field, unit))
    except ValueError:
        problem = _("%(value)r %(unit)s is not a finite quantity")
        raise ValueError(problem % {"value": number, "unit": unit}) from None
    scale = to_si(1.0, field.unit)
    if unit_named(unit).si != unit_named(field.unit).si:
        problem = _("%(field)s is measured in %(unit)s; %(other)s measures something else")
        raise ValueError(problem % {"field": field.name, "unit": field.unit, "other": unit})
    if amount < 0:
        raise ValueError(_("%(field)s cannot be negative") % {"field": field.name})
    if not field.is_plausible(amount / scale):
        least, most = field.plausible or (0, 0)
        problem = _("%(field)s lies between %(least)s and %(most)s; %(value)s does not")
        bounds = {"least": f"{least:g}", "most": f"{most:g} {field.unit}", "value": f"{number:g} {unit}"}
        raise ValueError(problem % {"field": field.name, **bounds})
    return amount

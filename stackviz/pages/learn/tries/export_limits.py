"""Total processing performance and performance density, as the export rules of October 2022 and 2023 count them.

TPP is the dense rate in tera-operations a second times the bits of an operand, the largest over the data types; density
is TPP by the area of the die in mm² (15 CFR 774, ECCN 3A090, items and technical notes, as of 88 FR 73458). 3A090.a
needs a licence; 3A090.b, the second class, may use an exception that asks for a notice for countries under an arms
embargo (15 CFR 740.8). Under a TPP of 4,800 both are about data centres alone (note 2 to 3A090).
"""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_number, quantity_label
from stackviz.pages.learn.quantities import peak
from stackviz.pages.learn.spec_figures import SpecName, amount_of_spec
from stackviz.pages.learn.trying import AnswerRow, Try, TryAnswer, TryValues, accelerator_input
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.records.cited.benchmark import RATE_FIELDS

__all__ = ["BITS", "TRY", "performance"]

BITS = {"fp64": 64, "fp32": 32, "tf32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8}
TPP_LIMIT, LOWER_TPP, DENSE_LIMIT = 4_800, 1_600, 5.92  # 3A090.a: TPP >= 4800, or TPP >= 1600 and density >= 5.92
SECOND_CLASS = ((2_400, 1.6), (1_600, 3.2))  # 3A090.b: TPP and density at least one of these pairs
LINK_LIMIT = 600e9  # B/s, both directions: the rule of October 2022


def performance(catalogue: PublicCatalogue, slug: str) -> dict[str, float]:
    """Data type -> TPP, of those whose dense rate is published."""
    rates = {dtype: peak(catalogue, slug, dtype) for dtype in BITS if dtype in RATE_FIELDS}
    return {dtype: rate / 1e12 * BITS[dtype] for dtype, rate in rates.items() if rate}


def _answer(values: TryValues, catalogue: PublicCatalogue) -> TryAnswer:
    slug = str(values["accelerator"])
    name = catalogue.by_slug[slug].name
    by_dtype = performance(catalogue, slug)
    if not by_dtype:
        return TryAnswer(_("No dense rate of the %(name)s is published.") % {"name": name}, ())
    largest = max(by_dtype.values())
    link = amount_of_spec(SpecName(slug, "interconnect_gb_s"), catalogue)
    area = amount_of_spec(SpecName(slug, "die_area_mm2"), catalogue)
    density = largest / (area * 1e6) if area else None
    rows = [
        AnswerRow(
            _("TPP in %(dtype)s") % {"dtype": dtype},
            format_number(tpp),
            f"{format_number(tpp / BITS[dtype])} × {BITS[dtype]}",
            min(1.0, tpp / max(largest, TPP_LIMIT)),
        )
        for dtype, tpp in by_dtype.items()
    ]
    rows.append(_density_row(largest, area))
    rows.append(
        AnswerRow(_("Links"), quantity_label(link, "B/s") if link else _("not published"), _("limit of 2022: 600 GB/s"))
    )
    return TryAnswer(_sentence(name, largest, link, density), tuple(rows))


def _density_row(largest: float, area: float | None) -> AnswerRow:
    if not area:
        return AnswerRow(_("Performance density"), _("cannot tell"), _("the area of the die is not published"))
    formula = f"{format_number(largest)} ÷ {format_number(area * 1e6)} mm²"
    return AnswerRow(_("Performance density"), format_number(largest / (area * 1e6), 3), formula)


def _sentence(name: str, largest: float, link: float | None, density: float | None) -> str:
    words = {"name": name, "tpp": format_number(largest)}
    if largest >= TPP_LIMIT and link is not None and link < LINK_LIMIT:
        text = _("%(name)s: a TPP of %(tpp)s, over the limit of 2023; its links kept it under that of 2022.")
    elif largest >= TPP_LIMIT:
        text = _("%(name)s: a TPP of %(tpp)s, over the limit of 4,800.")
    elif density is not None and largest >= LOWER_TPP and density >= DENSE_LIMIT:
        text = _("%(name)s: a TPP of %(tpp)s, but as dense as the rule of 2023 limits for data centres.")
    elif density is None and largest >= LOWER_TPP:
        text = _("%(name)s: a TPP of %(tpp)s, under 4,800; the area of its die would have to be known.")
    elif density is not None and any(largest >= tpp and density >= least for tpp, least in SECOND_CLASS):
        text = _("%(name)s: a TPP of %(tpp)s, in the second class of 2023: for data centres it asks for a notice.")
    else:
        text = _("%(name)s: a TPP of %(tpp)s, under the limits of both years.")
    return text % words


TRY = Try(
    key="export-limits",
    title=gettext_lazy("What export rules count"),
    question=gettext_lazy("How far is an accelerator from the limits of 2022 and 2023?"),
    inputs=(accelerator_input("nvidia-h20", "interconnect_gb_s"),),
    answer=_answer,
)

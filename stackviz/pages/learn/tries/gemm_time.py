"""The least time of a matrix product from its sides and the published peaks: 2·m·n·k FLOP (LAPACK Working Note 41)."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_number, quantity_label
from stackviz.pages.learn.quantities import BYTES, DTYPE, WITH_PEAK, bandwidth, bound_rows, peak
from stackviz.pages.learn.trying import AnswerRow, NumberInput, Try, TryAnswer, TryValues
from stackviz.records.catalog.queries import PublicCatalogue

__all__ = ["TRY", "product_bytes", "product_flop"]

LONGEST_SIDE = 1_000_000


def product_flop(m: float, n: float, k: float) -> float:
    """A multiplication and an addition for each of the m·n·k terms."""
    return 2 * m * n * k


def product_bytes(m: float, n: float, k: float, item_bytes: float) -> float:
    """A, B and C, each moved once: the least there can be."""
    return (m * k + k * n + m * n) * item_bytes


def _answer(values: TryValues, catalogue: PublicCatalogue) -> TryAnswer:
    slug, dtype = str(values["accelerator"]), str(values["dtype"])
    m, n, k = (float(values[side]) for side in "mnk")
    rate, speed = peak(catalogue, slug, dtype), bandwidth(catalogue, slug)
    work, moved = product_flop(m, n, k), product_bytes(m, n, k, BYTES[dtype])
    counted = (
        AnswerRow(_("Operations"), quantity_label(work, "FLOP"), f"2 × {m:,.0f} × {n:,.0f} × {k:,.0f}"),
        AnswerRow(
            _("Bytes, each matrix moved once"), quantity_label(moved, "B"), f"(m·k + k·n + m·n) × {BYTES[dtype]:g} B"
        ),
        AnswerRow(_("Arithmetic intensity"), f"{format_number(work / moved)} FLOP/B"),
    )
    words = {"dtype": dtype, "name": catalogue.by_slug[slug].name}
    if rate is None or speed is None:
        return TryAnswer(
            _("No %(dtype)s peak of the %(name)s is published; choose another data type.") % words, counted
        )
    words["time"] = quantity_label(max(work / rate, moved / speed), "s")
    sentence = (
        _("At least %(time)s on the %(name)s; memory bounds it.")
        if moved / speed > work / rate
        else _("At least %(time)s on the %(name)s; arithmetic bounds it.")
    )
    return TryAnswer(sentence % words, (*counted, *bound_rows(work, moved, rate, speed)))


TRY = Try(
    key="gemm-time",
    title=gettext_lazy("Time of a matrix product"),
    question=gettext_lazy("How long does a product of m×k and k×n numbers take at least?"),
    inputs=(
        WITH_PEAK,
        DTYPE,
        *(
            NumberInput(name=side, label=side, default=default, low=1, high=LONGEST_SIDE)
            for side, default in (("m", 4096), ("n", 4096), ("k", 4096))
        ),
    ),
    answer=_answer,
)

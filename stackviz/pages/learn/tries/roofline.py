"""What bounds an operator on an accelerator, and the rate that allows (Williams, Waterman, Patterson 2009)."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_number, quantity_label
from stackviz.pages.learn.quantities import DTYPE, WITH_PEAK, bandwidth, bound_rows, peak
from stackviz.pages.learn.trying import AnswerRow, NumberInput, Try, TryAnswer, TryValues
from stackviz.records.catalog.queries import PublicCatalogue

__all__ = ["TRY"]


def _answer(values: TryValues, catalogue: PublicCatalogue) -> TryAnswer:
    slug, dtype = str(values["accelerator"]), str(values["dtype"])
    work, moved = float(values["flop"]) * 1e9, float(values["bytes"]) * 1e6
    rate, speed = peak(catalogue, slug, dtype), bandwidth(catalogue, slug)
    words = {"dtype": dtype, "name": catalogue.by_slug[slug].name}
    if rate is None or speed is None:
        return TryAnswer(_("No %(dtype)s peak of the %(name)s is published; choose another data type.") % words, ())
    computing, moving = work / rate, moved / speed
    least = max(computing, moving)
    words |= {"time": quantity_label(least, "s"), "share": f"{format_number(100 * computing / least, 3)} %"}
    sentence = (
        _("On the %(name)s it is bound by memory: at best %(time)s, %(share)s of the %(dtype)s peak.")
        if moving > computing
        else _("On the %(name)s it is bound by arithmetic: at best %(time)s, %(share)s of the %(dtype)s peak.")
    )
    rows = (
        *_intensities(work, moved, rate, speed),
        *bound_rows(work, moved, rate, speed),
        AnswerRow(_("Rate it can reach"), quantity_label(work / least, "FLOP/s")),
    )
    return TryAnswer(sentence % words, rows)


def _intensities(work: float, moved: float, rate: float, speed: float) -> tuple[AnswerRow, AnswerRow]:
    """In FLOP/B: of the operator, and where the roof of the accelerator bends."""
    return (
        AnswerRow(
            _("Arithmetic intensity"),
            f"{format_number(work / moved)} FLOP/B",
            f"{quantity_label(work, 'FLOP')} ÷ {quantity_label(moved, 'B')}",
        ),
        AnswerRow(
            _("Intensity from which arithmetic bounds"),
            f"{format_number(rate / speed)} FLOP/B",
            f"{quantity_label(rate, 'FLOP/s')} ÷ {quantity_label(speed, 'B/s')}",
        ),
    )


TRY = Try(
    key="roofline",
    title=gettext_lazy("Roofline of my operator"),
    question=gettext_lazy("What bounds an operator on an accelerator, memory or arithmetic?"),
    inputs=(
        WITH_PEAK,
        DTYPE,
        NumberInput(
            name="flop", label=gettext_lazy("Operations"), unit="GFLOP", default=4.3, low=1e-9, high=1e15,
            is_whole=False,
        ),
        NumberInput(
            name="bytes", label=gettext_lazy("Bytes read and written"), unit="MB", default=64, low=1e-6, high=1e15,
            is_whole=False,
        ),
    ),
    answer=_answer,
)  # fmt: skip

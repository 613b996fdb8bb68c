"""Sizes and rates of the catalogue that things to try compute with. Pure of queries."""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import quantity_label
from stackviz.pages.learn.spec_figures import SpecName, amount_of_spec
from stackviz.pages.learn.trying import AnswerRow, ChoiceInput, Text, accelerator_input
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.records.cited.benchmark import MEMORY_BANDWIDTH, RATE_FIELDS

__all__ = ["BYTES", "DTYPE", "WITH_PEAK", "bandwidth", "bound_rows", "dtype_input", "peak"]

BYTES: Mapping[str, float] = {"fp64": 8, "fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "int4": 0.5}
PEAK_DTYPES = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8")
WITH_PEAK = accelerator_input("nvidia-h100-sxm5-80gb", *MEMORY_BANDWIDTH)


def dtype_input(dtypes: tuple[str, ...], default: str) -> ChoiceInput:
    def options(_catalogue: PublicCatalogue) -> Mapping[str, Text]:
        return {dtype: dtype for dtype in dtypes}

    return ChoiceInput(name="dtype", label=gettext_lazy("Data type"), default=default, options=options)


DTYPE = dtype_input(PEAK_DTYPES, "bf16")


def bandwidth(catalogue: PublicCatalogue, slug: str) -> float | None:
    """Published memory bandwidth in B/s, of several variants the largest."""
    return amount_of_spec(SpecName(slug, MEMORY_BANDWIDTH[0]), catalogue)


def peak(catalogue: PublicCatalogue, slug: str, dtype: str) -> float | None:
    """Published dense peak in FLOP/s (or op/s) of the units PyTorch uses for this data type; None without one."""
    amounts = (amount_of_spec(SpecName(slug, field), catalogue) for field in RATE_FIELDS[dtype])
    return next((amount for amount in amounts if amount), None)


def bound_rows(work: float, moved: float, rate: float, speed: float) -> tuple[AnswerRow, AnswerRow]:
    """The least time of `work` FLOP at `rate` FLOP/s, and of `moved` bytes at `speed` B/s; bars against the longer."""
    computing, moving = work / rate, moved / speed
    least = max(computing, moving)
    return (
        AnswerRow(
            _("Time to compute"),
            quantity_label(computing, "s"),
            f"{quantity_label(work, 'FLOP')} ÷ {quantity_label(rate, 'FLOP/s')}",
            computing / least,
        ),
        AnswerRow(
            _("Time to move the bytes"),
            quantity_label(moving, "s"),
            f"{quantity_label(moved, 'B')} ÷ {quantity_label(speed, 'B/s')}",
            moving / least,
        ),
    )

"""The size of a tensor from its shape and data type."""

import math

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_number, quantity_label
from stackviz.pages.learn.quantities import BYTES, dtype_input
from stackviz.pages.learn.trying import AnswerRow, NumberInput, Try, TryAnswer, TryValues
from stackviz.records.catalog.queries import PublicCatalogue

__all__ = ["TRY"]

AXES = {
    "a": (gettext_lazy("First dimension"), 32),
    "b": (gettext_lazy("Second dimension"), 3),
    "c": (gettext_lazy("Third dimension"), 256),
    "d": (gettext_lazy("Fourth dimension"), 256),
}


def _answer(values: TryValues, _catalogue: PublicCatalogue) -> TryAnswer:
    dtype, sides = str(values["dtype"]), [int(float(values[axis])) for axis in AXES]
    count = math.prod(sides)
    size = count * BYTES[dtype]
    shape = " × ".join(format_number(side, 12) for side in sides if side > 1) or "1"
    sentence = _("%(shape)s numbers of %(dtype)s take %(decimal)s, which is %(binary)s.") % {
        "shape": shape,
        "dtype": dtype,
        "decimal": quantity_label(size, "B"),
        "binary": quantity_label(size, "B", binary=True),
    }
    largest = count * max(BYTES.values())
    rows = tuple(
        AnswerRow(
            name,
            quantity_label(count * item, "B"),
            f"{format_number(count, 15)} × {item:g} B",
            count * item / largest,
        )
        for name, item in BYTES.items()
        if name != "tf32"
    )
    return TryAnswer(sentence, rows)


TRY = Try(
    key="tensor-size",
    title=gettext_lazy("Size of a tensor"),
    question=gettext_lazy("How much memory does a tensor take?"),
    inputs=(
        dtype_input(tuple(name for name in BYTES if name != "tf32"), "fp32"),
        *(
            NumberInput(name=axis, label=label, default=default, low=1, high=1_000_000_000)
            for axis, (label, default) in AXES.items()
        ),
    ),
    answer=_answer,
)

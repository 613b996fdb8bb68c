"""Parameters, operations and bytes of one layer: linear, convolution, attention.

A multiply-add counts as two operations. Convolution: a product for each output number (Dumoulin and Visin 2016 for the
size of the output); attention: Q·Kᵀ and the product with V, 4·B·H·S²·D (Dao et al. 2022, section 2).
"""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_number, quantity_label
from stackviz.pages.learn.quantities import BYTES, dtype_input
from stackviz.pages.learn.trying import AnswerRow, ChoiceInput, NumberInput, Text, Try, TryAnswer, TryValues
from stackviz.records.catalog.queries import PublicCatalogue

__all__ = ["TRY"]


def _answer(values: TryValues, _catalogue: PublicCatalogue) -> TryAnswer:
    batch, width, out = float(values["batch"]), float(values["in"]), float(values["out"])
    side, kernel, item = float(values["side"]), float(values["kernel"]), BYTES[str(values["dtype"])]
    match values["layer"]:
        case "conv":
            points = batch * side * side
            parameters, formula = out * width * kernel * kernel + out, "out·in·k² + out"
            work, worked = 2 * points * out * width * kernel * kernel, "2·B·side²·out·in·k²"
            numbers = points * (width + out) + parameters
        case "attention":
            parameters, formula = 4 * width * width, _("4·in² (Q, K, V and the projection after them)")
            work = 8 * batch * side * width * width + 4 * batch * side * side * width
            worked = "8·B·S·in² + 4·B·S²·in"
            numbers = 2 * batch * side * width + parameters
        case _linear:
            parameters, formula = width * out + out, "in·out + out"
            work, worked = 2 * batch * width * out, "2·B·in·out"
            numbers = batch * (width + out) + parameters
    moved = numbers * item
    sentence = _("%(parameters)s parameters, %(work)s for one pass, %(intensity)s FLOP a byte.") % {
        "parameters": format_number(parameters, 12),
        "work": quantity_label(work, "FLOP"),
        "intensity": format_number(work / moved, 3),
    }
    rows = (
        AnswerRow(_("Parameters"), format_number(parameters, 12), formula),
        AnswerRow(_("Memory of the parameters"), quantity_label(parameters * item, "B"), f"× {item:g} B"),
        AnswerRow(_("Operations of one pass"), quantity_label(work, "FLOP"), worked),
        AnswerRow(_("Bytes: input, output, parameters"), quantity_label(moved, "B"), _("each moved once")),
    )
    return TryAnswer(sentence, rows)


def _layers(_catalogue: PublicCatalogue) -> Mapping[str, Text]:
    return {"linear": _("linear"), "conv": _("convolution, 2 dimensions"), "attention": _("self-attention, one layer")}


TRY = Try(
    key="layer",
    title=gettext_lazy("Bytes and operations of a layer"),
    question=gettext_lazy("How many parameters, operations and bytes has a layer?"),
    inputs=(
        ChoiceInput(name="layer", label=gettext_lazy("Layer"), default="conv", options=_layers),
        dtype_input(("fp32", "bf16", "fp16", "fp8", "int8"), "fp32"),
        NumberInput(name="batch", label=gettext_lazy("Batch, B"), default=32, low=1, high=1_000_000),
        NumberInput(name="in", label=gettext_lazy("Channels or width in"), default=64, low=1, high=1_000_000),
        NumberInput(name="out", label=gettext_lazy("Channels or width out"), default=64, low=1, high=1_000_000),
        NumberInput(
            name="side", label=gettext_lazy("Side of the output, or tokens S"), default=56, low=1, high=1_000_000
        ),
        NumberInput(name="kernel", label=gettext_lazy("Kernel, k"), default=3, low=1, high=1_000),
    ),
    answer=_answer,
)

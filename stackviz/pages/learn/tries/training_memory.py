"""The memory of one training step of a stack of linear layers, tensor by tensor.

Parameters, gradients and states of the optimizer: Rajbhandari et al. 2020, ZeRO, section 3.1. Kept for the backward
pass: the output of each layer. What the driver and the allocator add is left out (`/fit/` has it for language models).
"""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_number, quantity_label
from stackviz.pages.learn.trying import AnswerRow, ChoiceInput, NumberInput, Text, Try, TryAnswer, TryValues
from stackviz.records.catalog.queries import PublicCatalogue

__all__ = ["TRY"]

FP32 = 4
STATES = {"sgd": 0, "momentum": 1, "adam": 2}  # numbers of fp32 for each parameter


def _answer(values: TryValues, _catalogue: PublicCatalogue) -> TryAnswer:
    batch, width, layers = float(values["batch"]), float(values["width"]), float(values["layers"])
    states = STATES[str(values["optimizer"])]
    parameters = layers * (width * width + width)
    parts = (
        (_("Parameters"), parameters, _("layers × (width² + width) × 4 B")),
        (_("Gradients"), parameters, _("one number for each parameter")),
        (_("States of the optimizer"), states * parameters, _("%(n)d numbers for each parameter") % {"n": states}),
        (_("Input"), batch * width, _("batch × width × 4 B")),
        (_("Activations kept for the backward pass"), batch * width * layers, _("the output of each layer")),
    )
    total = sum(numbers for _label, numbers, _formula in parts) * FP32
    rows = tuple(
        AnswerRow(label, quantity_label(numbers * FP32, "B"), formula, numbers * FP32 / total)
        for label, numbers, formula in parts
    )
    sentence = _("One step holds %(total)s: %(parameters)s parameters, and %(rest)s for each sample of the batch.") % {
        "total": quantity_label(total, "B"),
        "parameters": format_number(parameters, 12),
        "rest": quantity_label((layers + 1) * width * FP32, "B"),
    }
    return TryAnswer(sentence, (*rows, AnswerRow(_("Together"), quantity_label(total, "B"), f"{total:,.0f} B")))


def _optimizers(_catalogue: PublicCatalogue) -> Mapping[str, Text]:
    return {"sgd": "SGD", "momentum": _("SGD with momentum"), "adam": "Adam"}


TRY = Try(
    key="training-memory",
    title=gettext_lazy("Memory of a training step"),
    question=gettext_lazy("Where does the memory of training go?"),
    inputs=(
        NumberInput(name="width", label=gettext_lazy("Width of each layer"), default=1000, low=1, high=1_000_000),
        NumberInput(name="layers", label=gettext_lazy("Linear layers"), default=1, low=1, high=10_000),
        NumberInput(name="batch", label=gettext_lazy("Batch"), default=10_000, low=1, high=100_000_000),
        ChoiceInput(name="optimizer", label=gettext_lazy("Optimizer"), default="sgd", options=_optimizers),
    ),
    answer=_answer,
)

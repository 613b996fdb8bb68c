"""A chain of element-wise operators, one kernel each against one fused kernel: the bytes each moves."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_factor, format_number, quantity_label
from stackviz.pages.learn.quantities import BYTES, WITH_PEAK, bandwidth, dtype_input
from stackviz.pages.learn.trying import AnswerRow, NumberInput, Try, TryAnswer, TryValues
from stackviz.records.catalog.queries import PublicCatalogue

__all__ = ["TRY"]

LAUNCH_S = 5e-6  # host time of one kernel launch, order of magnitude; NVIDIA: CUDA Graphs, "overheads of a few µs"


def _answer(values: TryValues, catalogue: PublicCatalogue) -> TryAnswer:
    slug, count = str(values["accelerator"]), float(values["numbers"]) * 1e6
    operators, item = int(float(values["operators"])), BYTES[str(values["dtype"])]
    speed = bandwidth(catalogue, slug)
    one_by_one, fused = 2 * operators * count * item, 2 * count * item
    name = catalogue.by_slug[slug].name
    if speed is None:
        return TryAnswer(_("No memory bandwidth of the %(name)s is published.") % {"name": name}, ())
    apart = max(one_by_one / speed, operators * LAUNCH_S)
    together = max(fused / speed, LAUNCH_S)
    sentence = _("Fused it moves %(factor)s fewer bytes: %(together)s in place of %(apart)s on the %(name)s.") % {
        "factor": format_factor(one_by_one / fused),
        "together": quantity_label(together, "s"),
        "apart": quantity_label(apart, "s"),
        "name": name,
    }
    formula = _("%(n)s numbers × %(item)s B, read and written")
    rows = (
        AnswerRow(
            _("One kernel for each operator"),
            quantity_label(one_by_one, "B"),
            f"{operators} × " + formula % {"n": format_number(count), "item": f"{item:g}"},
            1.0,
        ),
        AnswerRow(
            _("One fused kernel"),
            quantity_label(fused, "B"),
            formula % {"n": format_number(count), "item": f"{item:g}"},
            fused / one_by_one,
        ),
        AnswerRow(_("Time one by one, at the published bandwidth"), quantity_label(apart, "s"), "", 1.0),
        AnswerRow(_("Time fused"), quantity_label(together, "s"), "", together / apart),
        AnswerRow(
            _("Launches"),
            f"{operators} → 1",
            _("each costs about %(time)s on the host; below that no kernel gets faster")
            % {"time": quantity_label(LAUNCH_S, "s")},
        ),
    )
    return TryAnswer(sentence, rows)


TRY = Try(
    key="fusion",
    title=gettext_lazy("Fused and not fused"),
    question=gettext_lazy("What does one kernel for a whole chain of element-wise operators save?"),
    inputs=(
        WITH_PEAK,
        dtype_input(("fp32", "bf16", "fp16"), "fp32"),
        NumberInput(
            name="numbers", label=gettext_lazy("Numbers in the tensor"), unit="10⁶", default=64, low=1e-6, high=1e9,
            is_whole=False,
        ),
        NumberInput(name="operators", label=gettext_lazy("Operators in the chain"), default=4, low=1, high=1_000),
    ),
    answer=_answer,
)  # fmt: skip

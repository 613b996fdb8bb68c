"""Amdahl's law: what more cores give where a part of the work runs on one."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.base.units import format_factor, format_number
from stackviz.pages.learn.trying import AnswerRow, NumberInput, Try, TryAnswer, TryValues
from stackviz.records.catalog.queries import PublicCatalogue

__all__ = ["TRY", "speedup"]

STEPS = (1, 4, 16, 64, 256, 1_024, 16_384)


def speedup(parallel: float, cores: float) -> float:
    """How many times as fast: 1 / ((1 − p) + p / n), with p as a share and n cores (Amdahl, 1967)."""
    return 1 / ((1 - parallel) + parallel / cores)


def _answer(values: TryValues, _catalogue: PublicCatalogue) -> TryAnswer:
    parallel, cores = float(values["parallel"]) / 100, float(values["cores"])
    reached = speedup(parallel, cores)
    words = {"cores": format_number(cores, digits=9), "factor": format_factor(reached)}
    if parallel < 1:
        words["most"] = format_factor(1 / (1 - parallel))
        sentence = _("%(cores)s cores make it %(factor)s as fast; no number of cores makes it more than %(most)s.")
    else:
        sentence = _("%(cores)s cores make it %(factor)s as fast: with nothing left for one alone, each counts.")
    steps = sorted({*STEPS, int(cores)})
    best = speedup(parallel, steps[-1])
    rows = tuple(
        AnswerRow(
            ngettext("%(n)s core", "%(n)s cores", step) % {"n": format_number(step, digits=9)},
            format_factor(speedup(parallel, step)),
            f"1 ÷ ({1 - parallel:.4g} + {parallel:.4g} ÷ {step})",
            speedup(parallel, step) / best,
        )
        for step in steps
    )
    return TryAnswer(sentence % words, rows)


TRY = Try(
    key="amdahl",
    title=gettext_lazy("Amdahl's law"),
    question=gettext_lazy("How much faster with more cores, if some of the work cannot be divided?"),
    inputs=(
        NumberInput(
            name="parallel", label=gettext_lazy("Work that can be divided"), unit="%", default=95, low=0, high=100,
            is_whole=False,
        ),
        NumberInput(name="cores", label=gettext_lazy("Cores"), default=64, low=2, high=10_000_000),
    ),
    answer=_answer,
)  # fmt: skip

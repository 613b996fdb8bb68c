"""The questions at the top of a comparison, and each subject's answer: its figure, another one, or why there is none.

No database. Order of evidence: published or derived under the row's condition, another figure of the same meaning,
then what was measured or cited (`stackviz.pages.compare.reached`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.light import light_dataclass
from stackviz.base.units import quantity_label
from stackviz.pages.compare.subjects import Head, Loaded
from stackviz.records.catalog.fields import COMPUTE_RATE, POWER, PRICE, Meaning
from stackviz.records.catalog.models import SpecValue
from stackviz.records.catalog.spec_table import MissingValue, SpecCell, SpecRow
from stackviz.web.i18n.words import KINDS, missing_text

Words = str | Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`fields`: catalogue fields that answer it, the first that anybody publishes wins.

    `noun`: of what a subject has so many times as much. `meaning`: whose fields answer beside for a subject that
    publishes none of these. `matmul`: data type of the matrix product that answers where nothing is published.
    """

    key: str
    title: Words
    noun: Words
    fields: tuple[str, ...]
    higher_is_better: bool
    meaning: Meaning | None = None
    matmul: str = ""


QUESTIONS = (
    Question(
        key="memory",
        title=gettext_lazy("Memory"),
        noun=gettext_lazy("memory"),
        fields=("memory_gb", "memory_gb_max"),
        higher_is_better=True,
    ),
    Question(
        key="bandwidth",
        title=gettext_lazy("Memory bandwidth"),
        noun=gettext_lazy("memory bandwidth"),
        fields=("memory_bandwidth_gb_s",),
        higher_is_better=True,
    ),
    Question(
        key="bf16",
        title=COMPUTE_RATE.title,
        noun=gettext_lazy("bf16 matrix rate"),
        fields=("bf16_tensor_tflops",),
        higher_is_better=True,
        meaning=COMPUTE_RATE,
        matmul="bf16",
    ),
    Question(
        key="fp32",
        title=gettext_lazy("fp32"),
        noun=gettext_lazy("fp32 rate"),
        fields=("fp32_tflops",),
        higher_is_better=True,
        matmul="fp32",
    ),
    Question(
        key="power",
        title=POWER.title,
        noun=gettext_lazy("power"),
        fields=("tdp_w", "power_w"),
        higher_is_better=False,
        meaning=POWER,
    ),
    Question(
        key="price",
        title=PRICE.title,
        noun=gettext_lazy("price"),
        fields=(),  # see prices.py
        higher_is_better=False,
    ),
)

DECODE = Question(
    key="decode",
    title=gettext_lazy("Decode rate"),
    noun=gettext_lazy("decode rate"),
    fields=(),
    higher_is_better=True,
)


@light_dataclass(slots=True, kw_only=True)
class SubjectFigure:
    """What one subject says to a question. `amount`: SI, None when unknown; `text`: as shown, with its unit.

    `condition`: what it holds under, in words; `kind`: how it came about, "" for published. `why`: the reason where
    nothing is published. `is_beside`: it answers in place of the row's own figure; it is shown and never compared.
    `is_bound`: the subject reaches at most this, and its `text` says so: `≤ 14.131 TFLOPS`.
    `has_bar`: it may be drawn to the scale of the others. `slot`: place of the subject; `url`: where a measured or
    cited figure stands.
    """

    subject: str
    slot: int
    amount: float | None = None
    text: str = ""
    condition: str = ""
    kind: str = ""
    why: str = ""
    is_beside: bool = False
    is_bound: bool = False
    has_bar: bool = True
    url: str = ""

    @property
    def is_compared(self) -> bool:
        return self.amount is not None and self.amount > 0 and not self.is_beside

    @property
    def marks(self) -> str:
        """`dense, derived`"""
        return ", ".join(filter(None, (self.condition, self.kind)))


def figures_of(
    question: Question,
    chosen: Sequence[Loaded],
    heads: Sequence[Head],
    rows: Sequence[SpecRow],
) -> list[SubjectFigure]:
    """The answers of the table's columns, from the row (field and condition) in which most of them have a figure.

    A machine's memory is what it reported: its sheet may be of a chip that is sold with several.
    """
    candidates = [row for field in question.fields for row in rows if row.field == field]
    if not candidates:
        return [SubjectFigure(subject=head.title, slot=head.slot) for head in heads]

    def known(row: SpecRow) -> int:
        return sum(cell is not None and cell.amount is not None for cell in row.cells)

    fullest = max(candidates, key=known)
    figures = [_figure(head, column, fullest) for column, head in enumerate(heads)]
    figures = [_with_stand_in(figure, column, fullest, question.meaning, rows) for column, figure in enumerate(figures)]
    if question.key != "memory":
        return figures
    return [
        _memory_of(chosen[head.slot], figure, is_sold_in_sizes=_has_sizes(cell))
        for head, figure, cell in zip(heads, figures, fullest.cells, strict=True)
    ]


def _memory_of(loaded: Loaded, figure: SubjectFigure, *, is_sold_in_sizes: bool) -> SubjectFigure:
    """A machine's own memory in place of its sheet's, which may be of a chip that is sold with several sizes.

    A chip that shares the machine's memory has all of it; how much of that its GPU may use is said beside it.
    """
    if loaded.snapshot is None:
        return figure
    card = next((card for card in loaded.snapshot.cards.all() if card.public_sheet == loaded.accelerator), None)
    if card is not None and card.memory_bytes:
        return _reported(figure, card.memory_bytes, "")
    facts = loaded.snapshot.facts
    total, limit = facts.get("memory.total_bytes"), facts.get("memory.gpu_limit_bytes")
    if card is not None and card.facts.get("unified_memory") is True and total:
        shared = _("shared by processor and GPU")
        if limit:
            shared = _("shared by processor and GPU, which may use %(limit)s") % {"limit": _memory(limit)}
        return _reported(figure, total, shared)
    if is_sold_in_sizes:
        return replace(figure, amount=None, text="", condition="", kind="", why=_("not reported"))
    return figure


def _reported(figure: SubjectFigure, size: float, condition: str) -> SubjectFigure:
    """`size` in bytes."""
    return replace(figure, amount=size, text=_memory(size), condition=condition, kind=str(KINDS["probed"]))


def _memory(size: float) -> str:
    return quantity_label(size, "B", binary=True, digits=3)


def _figure(head: Head, column: int, row: SpecRow) -> SubjectFigure:
    cell = row.cells[column]
    if cell is None or cell.amount is None:
        return SubjectFigure(subject=head.title, slot=head.slot, why=_why(row.missing[column]))
    figure = _shown(SubjectFigure(subject=head.title, slot=head.slot), cell, row.unit, row.condition)
    if not _has_sizes(cell):
        return figure
    # Where a product is sold in variants the largest is what is compared.
    others, _slash, largest = cell.text.rpartition(" / ")
    sizes = _("the largest; also %(sizes)s") % {"sizes": others}
    return replace(
        figure, text=_with_unit(largest, row.unit), condition=", ".join(filter(None, (sizes, figure.condition)))
    )


def _with_stand_in(
    figure: SubjectFigure, column: int, row: SpecRow, meaning: Meaning | None, rows: Sequence[SpecRow]
) -> SubjectFigure:
    """Return the substitute for a figure that is not published: from its row, or the first of the other fields.

    What ordinary cores reach at most where there are no matrix units bounds the same work: that is compared.
    """
    why = row.missing[column]
    if figure.amount is not None or why is None:
        return figure
    if why.instead is not None:
        is_other = bool(row.joined) or why.reason == "other_condition"
        shown = _shown(figure, why.instead, row.unit, why.condition or _("condition not stated"))
        if is_other or not why.field:
            return replace(shown, is_beside=is_other, why=figure.why if why.field else "")
        return replace(shown, text=f"≤ {shown.text}", is_bound=True, why=figure.why)
    for member in meaning.members if meaning else ():
        for other in rows:
            cell = other.cells[column] if other.field == member.field else None
            if cell is not None and cell.amount is not None:
                condition = ", ".join(filter(None, (str(member.label), other.condition)))
                return replace(_shown(figure, cell, other.unit, condition), is_beside=True)
    return figure


def _shown(figure: SubjectFigure, cell: SpecCell, unit: str, condition: str) -> SubjectFigure:
    kind = "" if cell.basis == SpecValue.Basis.PUBLISHED else str(SpecValue.Basis(cell.basis).label)
    return replace(figure, amount=cell.amount, text=_with_unit(cell.text, unit), condition=condition, kind=kind)


def _with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}".rstrip()


def _has_sizes(cell: SpecCell | None) -> bool:
    """Whether the product is sold in several: `48 / 64 / 128`."""
    return cell is not None and " / " in cell.text


def _why(missing: MissingValue | None) -> str:
    """Why there is no figure, where it is not simply that none is published."""
    if missing is None or missing.reason == "not_published":
        return ""
    return missing.detail or missing_text(missing.reason)

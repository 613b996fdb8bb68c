"""What each subject of a comparison answers to the questions at its top: its figure, or one beside it, or why none.

No database.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from stackviz.catalog.fields import Meaning
from stackviz.catalog.models import SpecValue
from stackviz.catalog.spec_table import MissingValue, SpecCell, SpecRow
from stackviz.compare.subjects import Head, Loaded
from stackviz.units import quantity_label
from stackviz.web.words import missing_text


@dataclass(frozen=True, slots=True)
class SubjectFigure:
    """What one subject says to a question. `amount`: SI, None when unknown; `text`: as shown, empty when unknown.

    `why`: the reason when unknown; "" is that nothing is published. `beside`: then another figure that answers, with
    what it is and its kind; it is shown and never compared. `brief`: `text` without its condition and kind.
    """

    subject: str
    amount: float | None
    text: str = ""
    why: str = ""
    beside: str = ""
    brief: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """`fields`: catalogue fields that answer it, the first that anybody publishes wins.

    `noun`: of what a subject has so many times as much. `meaning`: whose fields answer beside for a subject that
    publishes none of these.
    """

    key: str
    title: str | Promise
    noun: str | Promise
    fields: tuple[str, ...]
    higher_is_better: bool
    meaning: Meaning | None = None


def figures_of(
    question: Question,
    chosen: Sequence[Loaded],
    heads: Sequence[Head],
    columns: Sequence[int],
    rows: Sequence[SpecRow],
) -> list[SubjectFigure]:
    """The answers of these columns, from the row (field and condition) in which most of them have a figure.

    A machine's memory is what it reported: its sheet may be of a chip that is sold with several.
    """
    candidates = [row for field in question.fields for row in rows if row.field == field]
    if not candidates:
        return [SubjectFigure(heads[column].title, None) for column in columns]

    def known(row: SpecRow) -> int:
        return sum(cell is not None and cell.amount is not None for cell in (row.cells[column] for column in columns))

    fullest = max(candidates, key=known)
    figures = [_figure(heads[column], column, fullest) for column in columns]
    if question.meaning is not None:
        figures = [
            _with_beside(figure, column, fullest, question.meaning, rows)
            for figure, column in zip(figures, columns, strict=True)
        ]
    if question.key != "memory":
        return figures
    return [
        _memory_of(chosen[heads[column].slot], figure, is_sold_in_sizes=_has_sizes(fullest.cells[column]))
        for column, figure in zip(columns, figures, strict=True)
    ]


def _memory_of(loaded: Loaded, figure: SubjectFigure, *, is_sold_in_sizes: bool) -> SubjectFigure:
    """A machine's own memory in place of its sheet's, which may be of a chip that is sold with several sizes.

    A chip that shares the machine's memory has all of it; how much of that its GPU may use is said beside it.
    """
    if loaded.snapshot is None:
        return figure
    card = next((card for card in loaded.snapshot.cards.all() if card.public_sheet == loaded.accelerator), None)
    if card is not None and card.memory_bytes:
        return _reported(figure.subject, card.memory_bytes, _("%(memory)s (reported)"))
    facts = loaded.snapshot.facts
    total, limit = facts.get("memory.total_bytes"), facts.get("memory.gpu_limit_bytes")
    if card is not None and card.facts.get("unified_memory") is True and total:
        shared = _("%(memory)s shared by processor and GPU (reported)")
        if limit:
            shared = _("%(memory)s shared by processor and GPU, which may use %(limit)s (reported)")
        return _reported(figure.subject, total, shared, limit or 0)
    return SubjectFigure(figure.subject, None, why=_("not reported")) if is_sold_in_sizes else figure


def _reported(subject: str, size: float, text: str, limit: float = 0) -> SubjectFigure:
    """`size` and `limit` in bytes."""
    shown, of_gpu = (quantity_label(amount, "B", binary=True, digits=3) for amount in (size, limit))
    return SubjectFigure(subject, size, text % {"memory": shown, "limit": of_gpu}, brief=shown)


def _figure(head: Head, column: int, row: SpecRow) -> SubjectFigure:
    cell = row.cells[column]
    if cell is None or cell.amount is None:
        return SubjectFigure(head.title, None, why=_why(row.missing[column]))
    text = _marked(cell, row.unit, row.condition)
    # Where a product is sold in variants the largest is what is compared.
    return SubjectFigure(
        head.title,
        cell.amount,
        _("%(figures)s; the largest is compared") % {"figures": text} if _has_sizes(cell) else text,
        brief=_with_unit(cell.text.rpartition(" / ")[2], row.unit),
    )


def _with_beside(
    figure: SubjectFigure, column: int, row: SpecRow, meaning: Meaning, rows: Sequence[SpecRow]
) -> SubjectFigure:
    """With what stands in for a figure that is not published: in its row, or the first of the other fields."""
    why = row.missing[column]
    if figure.amount is not None or why is None:
        return figure
    if why.field and why.instead is not None:
        return replace(figure, why=why.detail, beside=_marked(why.instead, row.unit, why.condition))
    for member in meaning.members:
        for other in rows:
            cell = other.cells[column] if other.field == member.field else None
            if cell is not None and cell.amount is not None:
                beside = _marked(cell, other.unit, ", ".join(filter(None, (str(member.label), other.condition))))
                return replace(figure, beside=beside)
    return figure


def _marked(cell: SpecCell, unit: str, condition: str) -> str:
    """`16.159 TFLOPS (dense, derived)`: with its condition, and its kind where that is not published."""
    kind = "" if cell.basis == SpecValue.Basis.PUBLISHED else str(SpecValue.Basis(cell.basis).label)
    marks = ", ".join(filter(None, (condition, kind)))
    return _with_unit(cell.text, unit) + (f" ({marks})" if marks else "")


def _with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}".rstrip()


def _has_sizes(cell: SpecCell | None) -> bool:
    """Whether the product is sold in several: `48 / 64 / 128`."""
    return cell is not None and " / " in cell.text


def _why(missing: MissingValue | None) -> str:
    """Why there is no figure, where it is not simply that none is published."""
    if missing is None or missing.reason == "not_published":
        return ""
    if missing.reason == "other_condition":
        return _("only %(condition)s") % {"condition": missing.condition or _("condition not stated")}
    return missing.detail or missing_text(missing.reason)

"""Rows of a comparison whose fields mean the same, as one row: each figure with its own name and condition."""

from collections.abc import Sequence
from dataclasses import replace

from stackviz.records.catalog.fields import MEANING_OF, Meaning, Member
from stackviz.records.catalog.spec_table import MissingValue, SpecCell, SpecRow

# Conditions that say what is counted: a figure under one stands without the name of its field.
_NAMING = ("counted=", "clock=")


def join_rows(rows: Sequence[SpecRow]) -> tuple[SpecRow, ...]:
    """The rows with those of one meaning joined where several of its fields are there, at the place of the first.

    | sm_count | H100 132 | M3 Max: does not apply |  ->  | Compute units | 132 SM | 40 GPU cores |
    """
    by_meaning: dict[Meaning, list[SpecRow]] = {}
    for row in rows:
        if row.field in MEANING_OF:
            by_meaning.setdefault(MEANING_OF[row.field], []).append(row)
    joined: list[SpecRow] = []
    for row in rows:
        of_meaning = by_meaning.get(MEANING_OF[row.field], []) if row.field in MEANING_OF else []
        if len({other.field for other in of_meaning}) < 2:
            joined.append(row)
        elif row is of_meaning[0]:
            joined += _joined(MEANING_OF[row.field], of_meaning)
    return tuple(joined)


def _joined(meaning: Meaning, rows: Sequence[SpecRow]) -> list[SpecRow]:
    """The row in which most accelerators answer, with the answers of the others; then rows with further figures.

    Of several, one in which nobody has a figure that is not the answer: for an MI300X the L2 is not the last cache.
    """
    answers = [_answer(meaning, rows, index) for index in range(len(rows[0].cells))]
    leading = max(rows, key=lambda row: (sum(answer is row for answer in answers), _is_answered(row, answers)))
    joined: list[SpecRow] = []
    shown: set[int] = set()
    for row in [leading, *(row for row in rows if row is not leading)]:
        if all(id(cell) in shown for cell in row.cells if cell is not None):
            continue
        with_answers = _with_answers(meaning, row, answers, rows[0])
        shown.update(id(cell) for cell in with_answers.shown)
        joined.append(with_answers)
    return joined


def _is_answered(row: SpecRow, answers: Sequence[SpecRow | None]) -> bool:
    """Whether every figure of the row is what its accelerator answers."""
    return all(cell is None or answer is row for cell, answer in zip(row.cells, answers, strict=True))


def _answer(meaning: Meaning, rows: Sequence[SpecRow], index: int) -> SpecRow | None:
    """The row from which this accelerator answers: of the first field that it publishes, under the first condition."""
    having = [row for row in rows if row.cells[index] is not None]
    return min(having, key=lambda row: _rank(meaning, row), default=None)


def _rank(meaning: Meaning, row: SpecRow) -> tuple[int, int]:
    member = meaning.member(row.field)
    conditions = member.conditions
    return meaning.members.index(member), conditions.index(row.under) if row.under in conditions else len(conditions)


def _with_answers(meaning: Meaning, row: SpecRow, answers: Sequence[SpecRow | None], first: SpecRow) -> SpecRow:
    """In the group of the meaning's `first` row, and with its unit where every figure is an answer."""
    member = meaning.member(row.field)
    missing: list[MissingValue | None] = []
    labels, kinds = [], []
    for index, (cell, answer) in enumerate(zip(row.cells, answers, strict=True)):
        why = row.missing[index]
        if why is not None and why.instead is None and answer is not None and answer.field != row.field:
            other = meaning.member(answer.field)
            why = _stand_in(why, answer, other, answer.cells[index])
            kinds.append(f"{other.counts} {answer.condition}")
        else:  # what is under another condition of this field stands beside, as in any row
            kinds.append(f"{member.counts} {row.condition}" if cell is not None else str(index))
        missing.append(why)
        labels.append(_name(member, row.under, "") if cell is not None else "")
    is_answered = _is_answered(row, answers)
    return replace(
        row,
        group=first.group,
        title=str(meaning.title) if is_answered else row.title,
        unit=first.unit if is_answered else row.unit,
        missing=tuple(missing),
        joined=meaning.name,
        labels=tuple(labels),
        kinds=tuple(kinds),
    )


def _stand_in(why: MissingValue, answer: SpecRow, member: Member, cell: SpecCell | None) -> MissingValue:
    return replace(why, condition=_name(member, answer.under, answer.condition), instead=cell, field=answer.field)


def _name(member: Member, stored: str, condition: str) -> str:
    """`observed, GPU alone`; of figures whose condition says what is counted, the condition alone."""
    is_named = any(key in stored for key in _NAMING)
    return ", ".join(filter(None, ("" if is_named else str(member.label), condition)))

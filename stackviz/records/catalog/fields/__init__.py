"""The fields of a spec sheet: one place says what each is called, measured in, means, and which way is better.

Names are those of the curated files and the API. Needs no database.
"""

from stackviz.records.catalog.fields.field import (
    DENSE,
    DENSE_FP32_ACCUMULATE,
    Field,
    Words,
    amount_of,
    compared_unit,
)
from stackviz.records.catalog.fields.meanings import COMPUTE_RATE, MEANING_OF, MEANINGS, POWER, PRICE, Meaning, Member
from stackviz.records.catalog.fields.registry import (
    ACCUMULATE_MATTERS,
    FIELDS,
    FORMULAS,
    GROUPS,
    HEADLINES,
    POSITION,
    Group,
    grouped,
)

__all__ = [
    "ACCUMULATE_MATTERS", "COMPUTE_RATE", "DENSE", "DENSE_FP32_ACCUMULATE", "FIELDS", "FORMULAS", "GROUPS", "HEADLINES",
    "MEANINGS", "MEANING_OF", "POSITION", "POWER", "PRICE", "UNNAMED_ACCUMULATE", "Field", "Group", "Meaning", "Member",
    "Words", "amount_of", "compared_unit", "grouped",
]  # fmt: skip

# What a rate of these is read as where its source does not name the type (`figures.join_unnamed`).
UNNAMED_ACCUMULATE = {
    DENSE: DENSE_FP32_ACCUMULATE,
    "sparsity=sparse": "sparsity=sparse; accumulate=fp32",
}

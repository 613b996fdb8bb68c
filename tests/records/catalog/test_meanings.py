"""Meanings and absences are rules over the registry: they name fields that exist and units that fit."""

import pytest

from stackviz.base.units import to_si
from stackviz.records.catalog.absences import RULES
from stackviz.records.catalog.conditions import canonical
from stackviz.records.catalog.fields import COMPUTE_RATE, FIELDS, MEANING_OF, MEANINGS

ALL = (*MEANINGS, COMPUTE_RATE)


@pytest.mark.parametrize("meaning", ALL, ids=lambda meaning: meaning.name)
def test_members_are_fields_of_one_scale(meaning):
    fields = [FIELDS[member.field] for member in meaning.members]
    assert len(fields) > 1
    assert len({to_si(1.0, field.unit) for field in fields if field.unit}) <= 1
    assert all(canonical(condition) == condition for member in meaning.members for condition in member.conditions)


def test_a_field_has_one_meaning():
    assert len(MEANING_OF) == sum(len(meaning.members) for meaning in MEANINGS)
    assert len({meaning.name for meaning in ALL}) == len(ALL)


def test_members_of_one_kind_have_one_unit():
    for meaning in ALL:
        kinds = {(member.counts, bool(FIELDS[member.field].unit)) for member in meaning.members}
        assert len(kinds) == len({kind for kind, _unit in kinds})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.words))
def test_rules_name_fields_and_what_proves_them(rule):
    assert {*rule.fields, rule.proof[0]} <= {*FIELDS}
    assert rule.bounded <= {*rule.fields}
    assert rule.proof[0] not in rule.fields

"""The table of error messages: each row is whole, finds its own message, and can be tried on any text."""

import re
from re import _constants, _parser  # the parser of `re`: no other way to see how often a pattern repeats

import pytest

from stackviz.base.discovery import modules_of
from stackviz.report.dumps import machines
from stackviz.report.format import ABSENT_REASONS, COMPONENTS, FACTS
from stackviz.report.importers import read_all
from stackviz.report.messages import FAMILIES, SYMPTOMS, messages
from stackviz.report.rules import judge, packaged_tables
from stackviz.report.rules.registry import RULES

OF_FAMILIES = {symptom.key for family in FAMILIES for symptom in (*family.members.values(), family.unlisted) if symptom}
BY_THEMSELVES = {symptom.key for module in modules_of(messages) for symptom in getattr(module, "SYMPTOMS", ())}
FOUND_BY_PATTERNS = [
    symptom for symptom in SYMPTOMS if symptom.patterns or symptom.key in OF_FAMILIES.difference(BY_THEMSELVES)
]
READ_BY_OTHERS = [symptom for symptom in SYMPTOMS if symptom not in FOUND_BY_PATTERNS]
each_symptom = pytest.mark.parametrize("symptom", SYMPTOMS, ids=lambda symptom: symptom.key)


@pytest.mark.parametrize("symptom", FOUND_BY_PATTERNS, ids=lambda symptom: symptom.key)
def test_a_message_is_found_by_its_own_patterns(symptom):
    found = [str(reading.facts.get("message.symptoms")).split() for reading in read_all(symptom.message).readings]
    assert any(symptom.key in keys for keys in found)


@pytest.mark.parametrize("symptom", READ_BY_OTHERS, ids=lambda symptom: symptom.key)
def test_a_message_of_another_importer_is_explained(symptom):
    [machine] = machines(read_all(symptom.message))
    assert {finding.rule for finding in judge(machine.report(), packaged_tables())} & set(symptom.rules)


@each_symptom
def test_a_row_names_facts_rules_and_components_that_exist(symptom):
    groups = {name.replace("__", ".") for pattern in symptom.patterns for name in re.compile(pattern).groupindex}
    assert groups | symptom.states.keys() | symptom.lacks.keys() <= {*FACTS, "card", "capability", "detail"}
    excluding = {rule for cause in symptom.causes for rule in cause.excluded_by}
    assert {*symptom.rules, *excluding} <= {rule.id for rule in RULES}
    assert set(symptom.lacks.values()) <= set(ABSENT_REASONS)
    assert symptom.component in COMPONENTS


@each_symptom
def test_a_row_says_what_causes_the_message_and_what_to_run_next(symptom):
    assert symptom.causes
    assert symptom.ask
    assert symptom.source_url.startswith("https://")
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", symptom.key)


@pytest.mark.parametrize("wording", [*SYMPTOMS, *FAMILIES], ids=lambda wording: str(getattr(wording, "key", "")))
def test_a_pattern_takes_bounded_time_on_any_text(wording):
    """It is tried near an anchor only, and repeats nothing without a bound."""
    assert all(anchor == anchor.lower() and anchor.strip() == anchor for anchor in wording.anchors)
    for pattern in (*wording.patterns, getattr(wording, "each_code", "")):
        assert _most_repeats(_parser.parse(pattern)) <= 4_000, pattern


def _most_repeats(parsed):
    """The largest number of times any part of a pattern repeats; `*` and `+` count as infinite."""
    most = 0
    for operator, argument in parsed:
        if operator in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            highest = argument[1]
            most = max(most, 10**9 if highest is _constants.MAXREPEAT else int(highest), _most_repeats(argument[2]))
        elif operator is _constants.SUBPATTERN:
            most = max(most, _most_repeats(argument[3]))
        elif operator is _constants.BRANCH:
            most = max([most, *map(_most_repeats, argument[1])])
        elif operator in (_constants.ASSERT, _constants.ASSERT_NOT):
            most = max(most, _most_repeats(argument[1]))
    return most


def test_keys_are_unique():
    """A message that two modules have under one key would be the later one alone."""
    written = [symptom for module in modules_of(messages) for symptom in getattr(module, "SYMPTOMS", ())]
    written += [symptom for family in FAMILIES for symptom in family.members.values()]
    keys = [symptom.key for symptom in {id(symptom): symptom for symptom in written}.values()]
    assert len(keys) == len(set(keys))


def test_the_codes_of_a_family_are_as_they_are_looked_up():
    for family in FAMILIES:
        assert [code for code in family.members if code != " ".join(code.lower().split())] == []

"""A report that was read, written and read again is the same report."""

import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackviz.report.format import FACTS, FactType, ReportError, json_schema, parse_report, to_json
from tests.report.format.reports import apple_report_body, gemm_result, h100_card, large_report_body, report_body

NOT_IN_SCHEMA = (
    r"among the facts too|as of an earlier card|no card of the report has that index|not a time that exists"
    r"|a key that is over|a name that is empty|NUL character|beyond 64 bits|of ordinary size|nested deeper"
    r"|characters long|values inside unknown fields|is not a slug|the format read here|a number, not an integer"
)
"""What a schema cannot say; all the rest both refuse."""
VALIDATOR = jsonschema.Draft202012Validator(json_schema())

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
names = texts.filter(bool)
finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)
integers = st.integers(-(2**63) + 1, 2**63 - 1)
scalars = texts | st.booleans() | integers | finite
trees = st.recursive(
    scalars | st.none(), lambda t: st.lists(t, max_size=3) | st.dictionaries(names, t, max_size=3), max_leaves=6
)
KINDS = {
    FactType.TEXT: texts,
    FactType.TRUTH: st.booleans(),
    FactType.INTEGER: st.integers(1, 2**63 - 1),
    FactType.NUMBER: st.floats(1, 1e300) | st.integers(1, 2**53),
}


@st.composite
def facts(draw: st.DrawFn) -> dict[str, Any]:
    known = draw(st.lists(st.sampled_from(sorted(FACTS)), unique=True, max_size=8))
    stated = {name: draw(KINDS[FACTS[name].kind]) for name in known}
    return stated | draw(st.dictionaries(names.map(lambda name: f"lab.{name}"), scalars, max_size=3))


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    """Whole reports with random facts, samples, params and unknown fields."""
    extra = {f"x-{name}": value for name, value in draw(st.dictionaries(names, trees, max_size=3)).items()}
    ok = gemm_result(
        samples=draw(st.lists(st.floats(1e-12, 1e300), min_size=1, max_size=8)),
        params=draw(st.dictionaries(names, scalars, max_size=3)),
        **extra,
    )
    failed = gemm_result(state="failed", reason=draw(names), samples=[], started_at=None, duration_s=None)
    body = report_body(
        id=str(draw(st.uuids())),
        created_at=draw(st.datetimes().map(lambda moment: moment.isoformat() + "Z")),
        facts=draw(facts()),
        cards=[h100_card(**extra)],
        results=[ok, failed],
        **extra,
    )
    body["absent"] = {name: why for name, why in body["absent"].items() if name not in body["facts"]}
    return body


@given(bodies())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_a_report_survives_writing_and_reading(body):
    report = parse_report(json.dumps(body))
    written = to_json(report)
    assert parse_report(written) == report
    assert to_json(parse_report(written)) == written
    assert set(body) <= set(json.loads(written))
    VALIDATOR.validate(body)
    VALIDATOR.validate(json.loads(written))


@given(bodies(), st.data())
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
def test_parser_and_schema_agree_on_mutations(body, data):
    """One value anywhere is replaced by anything: no other exception, and what is read the schema takes too."""
    place: Any = body
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(trees)
    refusal = ""
    try:
        parse_report(json.dumps(body))
    except ReportError as error:
        refusal = error.problem
    assert VALIDATOR.is_valid(body) or refusal
    assert not (refusal and VALIDATOR.is_valid(body)) or re.search(NOT_IN_SCHEMA, refusal)


@pytest.mark.parametrize(
    "body", [report_body(), apple_report_body(), large_report_body()], ids=["h100", "mac", "large"]
)
def test_the_examples_fit_the_schema(body):
    jsonschema.Draft202012Validator.check_schema(json_schema())
    VALIDATOR.validate(body)


def test_writing_refuses_what_json_does_not_have():
    report = parse_report(report_body())
    report.extra["note"] = float("nan")  # type: ignore[index]
    with pytest.raises(ValueError, match="Out of range"):
        to_json(report)

"""What format 1.1 added: rounds, energy, several cards, interference, the time of sending. Older reports stay as they
were."""

import json
from pathlib import Path

import jsonschema
import pytest

from stackviz.report.format import LIMITS, ReportError, json_schema, parse_report, to_json
from tests.report.format.reports import gemm_result, h100_card, report_body, rounds_result

RECORDED = sorted((Path(__file__).parents[2] / "fixtures" / "reports").glob("*.json"))
CARDS = [h100_card(index=number, uuid_hash=f"{number:064x}") for number in range(8)]
NEW = {"rounds", "energy_j", "enqueue_s", "framework", "cards", "interference"}


def refused(**changes) -> tuple[str, str]:
    with pytest.raises(ReportError) as caught:
        parse_report(report_body(cards=CARDS, results=[rounds_result(**changes)]))
    return caught.value.path, caught.value.problem


def test_a_report_of_1_1_is_understood_and_written_as_it_came():
    body = report_body(results=[rounds_result()], sent_at="2026-11-20T12:59:30Z")
    report = parse_report(body)
    assert report.unknown_fields == ()
    assert report.results[0].rounds == (0, 0, 1, 1, 2, 2)
    assert report.results[0].interference.foreign_cpu_ratio == 0.01
    assert json.loads(to_json(report)) == body
    jsonschema.Draft202012Validator(json_schema()).validate(body)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_report_of_1_0_is_read_and_written_as_before(path):
    text = path.read_text(encoding="utf-8")
    report = parse_report(text)
    assert (report.sent_at, report.unknown_fields) == (None, ())
    for result in report.results:
        assert (result.rounds, result.energy_j, result.enqueue_s, result.cards) == ((), (), (), ())
        assert (result.framework, result.interference) == (None, None)
    assert json.loads(to_json(report)) == json.loads(text)


def test_unknown_fields_inside_the_new_ones_are_kept_and_listed():
    result = rounds_result(interference={"foreign_cpu_ratio": 0.2, "fan_rpm": 4000})
    report = parse_report(report_body(results=[result]))
    assert report.unknown_fields == ("results[0].interference.fan_rpm",)
    assert json.loads(to_json(report))["results"][0]["interference"]["fan_rpm"] == 4000


@pytest.mark.parametrize(
    "rounds", [[0, 0, 1, 1, 2], [0, 0, 1, 1, 3, 3], [1, 1, 2, 2, 3, 3], [2, 2, 1, 1, 0, 0], [0, 0, 1, 1, 2, 10**9]]
)
def test_rounds_that_do_not_match_the_samples_are_refused(rounds):
    assert refused(rounds=rounds)[0] == "results[0].rounds"


@pytest.mark.parametrize("number", [True, 1.0, "1", None])
def test_a_round_is_an_integer(number):
    assert refused(rounds=[0, number, 1, 1, 2, 2])[0] == "results[0].rounds[1]"


def test_a_negative_energy_is_refused_by_place():
    assert refused(energy_j=[1.0, -1, 1.0, 1.0, 1.0, 1.0]) == (
        "results[0].energy_j[1]",
        "is not a finite number, 0 or more",
    )
    assert refused(energy_j=[1.0]) == ("results[0].energy_j", "has 1 entries, and there are 6 samples")
    assert refused(enqueue_s=[1.0] * 7)[0] == "results[0].enqueue_s"


def test_a_million_samples_are_refused():
    million = [0.001] * 10**6
    assert refused(samples=million) == ("results[0].samples", f"has 1000000 entries, over {LIMITS.samples}")


def test_eight_cards_are_not_one():
    several = list(range(8))
    report = parse_report(report_body(cards=CARDS, results=[gemm_result(card=None, cards=several)]))
    assert report.results[0].cards == tuple(several)
    assert refused(cards=several) == ("results[0].card", "is 0, and cards has 8: it must be null")
    assert refused(cards=[0] * 8) == ("results[0].cards[1]", "is 0, as an earlier one")
    assert refused(card=None, cards=[0, 8]) == (
        "results[0].cards[1]",
        "is 8, and no card of the report has that index",
    )
    assert refused(card=1, cards=[0])[0] == "results[0].card"


@pytest.mark.parametrize(
    ("field", "value"),
    [("foreign_cpu_ratio", 1.5), ("steal_ratio", -0.1), ("processes", ["x"] * 21), ("processes", [7]), ("reruns", -1)],
)
def test_impossible_interference_is_refused(field, value):
    path, _problem = refused(interference={field: value})
    assert path.startswith(f"results[0].interference.{field}")


def test_a_framework_is_one_of_four():
    assert refused(framework="keras")[1] == "is 'keras', not one of llama.cpp, mlx, other, torch"


def test_a_time_of_sending_has_its_zone():
    with pytest.raises(ReportError, match=r"sent_at: is not a time with its zone"):
        parse_report(report_body(sent_at="2026-11-20T12:59:30"))


def test_the_schema_says_which_fields_came_later():
    fields = json_schema()["properties"]["results"]["items"]["properties"]
    assert {name for name, field in fields.items() if "$comment" in field} == NEW

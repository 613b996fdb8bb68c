"""What format 1.1 added: rounds, energy, several cards, interference, the time of sending. Older reports stay as they
were."""

import json

import jsonschema
import pytest

from stackviz.report.format import ReportError, json_schema, parse_report, to_json
from tests.report.format.reports import gemm_result, h100_card, report_body, rounds_result

CARDS = [h100_card(index=number, uuid_hash=f"{number:064x}") for number in range(8)]
NEW = {"rounds", "energy_j", "enqueue_s", "framework", "cards", "interference"}


def test_a_report_of_1_1_is_understood_and_written_as_it_came():
    body = report_body(results=[rounds_result()], sent_at="2026-11-20T12:59:30Z")
    report = parse_report(body)
    assert report.unknown_fields == ()
    assert report.results[0].rounds == (0, 0, 1, 1, 2, 2)
    assert report.results[0].interference.foreign_cpu_ratio == 0.01
    assert json.loads(to_json(report)) == body
    jsonschema.Draft202012Validator(json_schema()).validate(body)


def test_unknown_fields_inside_the_new_ones_are_kept_and_listed():
    result = rounds_result(interference={"foreign_cpu_ratio": 0.2, "fan_rpm": 4000})
    report = parse_report(report_body(results=[result]))
    assert report.unknown_fields == ("results[0].interference.fan_rpm",)
    assert json.loads(to_json(report))["results"][0]["interference"]["fan_rpm"] == 4000


def test_a_time_of_sending_has_its_zone():
    with pytest.raises(ReportError, match=r"sent_at: is not a time with its zone"):
        parse_report(report_body(sent_at="2026-11-20T12:59:30"))


def test_the_schema_says_which_fields_came_later():
    fields = json_schema()["properties"]["results"]["items"]["properties"]
    assert {name for name, field in fields.items() if "$comment" in field} == NEW


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        *(({"rounds": [0, number, 1, 1, 2, 2]}, "rounds[1]") for number in (True, 1.0, "1", None)),
        *(
            ({"rounds": rounds}, "rounds")
            for rounds in (
                [0, 0, 1, 1, 2], [0, 0, 1, 1, 3, 3], [1, 1, 2, 2, 3, 3], [2, 2, 1, 1, 0, 0], [0, 0, 1, 1, 2, 10**9]
            )
        ),
        ({"energy_j": [1.0, -1, 1.0, 1.0, 1.0, 1.0]}, "energy_j[1]"),
        ({"energy_j": [1.0]}, "energy_j"),
        ({"enqueue_s": [1.0] * 7}, "enqueue_s"),
        ({"samples": [0.001] * 10**6}, "samples"),
        ({"cards": list(range(8))}, "card"),
        ({"cards": [0] * 8}, "cards[1]"),
        ({"cards": [0, 8], "card": None}, "cards[1]"),
        ({"cards": [0], "card": 1}, "card"),
        ({"framework": "keras"}, "framework"),
        ({"interference": {"foreign_cpu_ratio": 1.5}}, "interference.foreign_cpu_ratio"),
        ({"interference": {"steal_ratio": -0.1}}, "interference.steal_ratio"),
        ({"interference": {"processes": ["x"] * 21}}, "interference.processes"),
        ({"interference": {"processes": [7]}}, "interference.processes[0]"),
        ({"interference": {"reruns": -1}}, "interference.reruns"),
    ],
)  # fmt: skip
def test_a_new_field_that_is_wrong_is_refused_by_place(changes, path):
    with pytest.raises(ReportError) as caught:
        parse_report(report_body(cards=CARDS, results=[rounds_result(**changes)]))
    assert caught.value.path == f"results[0].{path}"


def test_eight_cards_are_not_one():
    report = parse_report(report_body(cards=CARDS, results=[gemm_result(card=None, cards=list(range(8)))]))
    assert report.results[0].cards == tuple(range(8))

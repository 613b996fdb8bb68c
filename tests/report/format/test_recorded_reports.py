"""The reports under tests/fixtures/reports are whole, understood to the last field, and hold nothing that identifies."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from stackviz.report.format import json_schema, parse_report, to_json

REPORTS = sorted((Path(__file__).parents[2] / "fixtures" / "reports").glob("*.json"))


@pytest.fixture(params=REPORTS, ids=lambda path: path.stem)
def text(request):
    return request.param.read_text(encoding="utf-8")


def test_there_is_a_machine_of_each_kind():
    assert [path.stem for path in REPORTS] == ["cpu-linux", "h100-linux", "m3-max-macos"]


def test_it_is_understood_to_the_last_field(text):
    report = parse_report(text)
    assert (report.sent_at, report.unknown_fields) == (None, ())
    for result in report.results:  # they are of format 1.0
        assert (result.rounds, result.energy_j, result.enqueue_s, result.cards) == ((), (), (), ())
        assert (result.framework, result.interference) == (None, None)
    assert json.loads(to_json(report)) == json.loads(text)
    jsonschema.Draft202012Validator(json_schema()).validate(json.loads(text))


def test_it_has_results_of_both_benchmarks(text):
    assert {result.benchmark for result in parse_report(text).results if result.state == "ok"} == {
        "gemm",
        "memory-copy",
    }


def test_it_holds_no_path_of_a_home_no_uuid_and_no_address(text):
    told = json.dumps({name: value for name, value in json.loads(text).items() if name != "id"})
    private = r"/home/|/Users/|/root\b|GPU-[0-9a-f]{8}|[0-9a-f]{8}-[0-9a-f]{4}-|(?:[0-9a-f]{2}:){5}"
    assert not re.search(private, told)

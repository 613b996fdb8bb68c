"""What is not understood is kept and listed, never a reason to refuse."""

import json

from stackviz.report.format import LIMITS, parse_report, to_document
from tests.report.format.reports import gemm_result, h100_card, report_body


def test_an_unknown_field_is_kept_and_listed_wherever_it_is():
    body = report_body(mood="good", machine={"identity": "0" * 64, "colour": {"r": 1}})
    body["agent"]["licence"] = "MIT"
    body["absent"]["rocm.version"]["since"] = 2019
    body["cards"][0]["weight_kg"] = 1.2
    body["software"][0]["path"] = "/usr"
    body["results"][1]["fan_rpm"] = [3, 4]
    body["probes"][0]["calls"] = 12
    report = parse_report(json.dumps(body))
    assert report.unknown_fields == (
        "mood",
        "agent.licence",
        "machine.colour",
        "absent.rocm.version.since",
        "cards[0].weight_kg",
        "software[0].path",
        "results[1].fan_rpm",
        "probes[0].calls",
    )
    assert to_document(report) == body | {"created_at": "2026-11-20T12:59:00Z"} | {
        "machine": {"identity": "0" * 64, "name": None, "colour": {"r": 1}}
    }


def test_unknown_names_are_listed():
    body = report_body(
        facts={"os.name": "Ubuntu", "os.mood": "calm"},
        absent={"gpu.smell": {"reason": "not_reported"}},
        cards=[h100_card(facts={"tentacles": 8}, absent={"horns": {"reason": "not_supported"}})],
        software=[{"component": "quantum-runtime", "version": "1", "found_by": "x"}],
        results=[gemm_result(conditions={"moon_phase": "full"})],
    )
    assert parse_report(body).unknown_fields == (
        "facts.os.mood",
        "absent.gpu.smell",
        "cards[0].facts.tentacles",
        "cards[0].absent.horns",
        "software[0].component=quantum-runtime",
        "results[0].conditions.moon_phase",
    )


def test_a_field_many_results_share_is_listed_once():
    report = parse_report(report_body(results=[gemm_result(fan_rpm=n) for n in range(50)]))
    assert report.unknown_fields == ("results[0].fan_rpm",)


def test_the_list_is_bounded_and_says_how_many_more():
    report = parse_report(report_body(**{f"new_{n:03}": n for n in range(150)}))
    assert len(report.unknown_fields) == LIMITS.unknown_listed
    assert report.unknown_fields[-1] == "... and 51 more"
    assert len(report.extra) == 150

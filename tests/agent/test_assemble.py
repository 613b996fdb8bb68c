"""One report out of all that was told; a slip in one place costs that place and not the measurements."""

import pytest

from stackviz.agent.assemble import parse_mended, report_document
from stackviz.agent.privacy import mask_of
from stackviz.agent.probing.gather import Gathered
from stackviz.report.format import ReportError, parse_report, to_json
from tests.report.format.reports import gemm_result, h100_card, memory_copy_result, report_body


def test_a_report_is_assembled_masked_and_whole(tmp_path):
    gathered = Gathered(
        facts={"os.name": "Ubuntu", "machine.model": "box of wilhelmina"},
        probes=[{"probe": "torch", "state": "failed", "detail": "/home/wilhelmina/venv is broken"}],
    )
    report = parse_report(report_document(gathered, tmp_path, name="rack-7", mask=mask_of(["wilhelmina"], [], [])))
    assert report.machine.name == "rack-7"
    assert "wilhelmina" not in to_json(report)
    assert report.probes[0].detail == "~/venv is broken"
    assert parse_report(to_json(report)) == report


def test_reports_have_own_ids_and_one_identity(tmp_path):
    first, second = (parse_report(report_document(Gathered(), tmp_path)) for _ in range(2))
    assert first.id != second.id
    assert first.machine.identity == second.machine.identity
    body = report_body()
    assert parse_mended(body) == parse_report(body)
    with pytest.raises(ReportError):  # what no mending can help
        parse_mended(report_body(id="nonsense"))


def test_wrongly_typed_fact_is_dropped_alone():
    report = parse_mended(report_body(facts={"memory.total_bytes": "lots", "os.name": "Ubuntu"}))
    assert report.facts == {"os.name": "Ubuntu"}
    assert report.absent["memory.total_bytes"].detail == "what was read is text, not an integer"


def test_invalid_result_is_sent_as_failed_or_dropped():
    wrong = [memory_copy_result(samples=[0.001, 0.0]), gemm_result(params={"dtype": []})]
    report = parse_mended(report_body(results=[gemm_result(), *wrong, gemm_result()]))
    assert [result.state for result in report.results] == ["ok", "failed", "ok"]
    assert "results[1].samples[1]: is not a positive finite number" in report.results[1].reason
    assert report.results[1].params == {"bytes": 1073741824}


def test_a_figure_that_is_refused_costs_itself_and_not_its_card():
    body = report_body(cards=[h100_card(memory_bytes=2**64 - 1)])
    body["cards"][0]["facts"] |= {"power_limit_w": -1, "ecc": "perhaps"}
    (card,) = parse_mended(body).cards
    assert (card.memory_bytes, card.facts["compute_capability"]) == (None, "9.0")
    assert card.facts.keys().isdisjoint({"power_limit_w", "ecc"})
    assert card.absent["power_limit_w"].detail.startswith("what was read is -1")


def test_invalid_card_detaches_its_results():
    report = parse_mended(report_body(cards=[h100_card(reported_name="")]))
    assert report.cards == ()
    assert [result.card for result in report.results] == [None, None]
    assert report.results[0].samples


def test_invalid_software_and_probes_are_dropped():
    body = report_body(
        software=[{"component": "Not A Slug", "version": None, "found_by": "x"}],
        probes=[{"probe": "torch", "state": "ok", "detail": 3}, {"probe": "", "state": "ok"}],
        absent={"os.build": {"reason": "because"}},
    )
    report = parse_mended(body)
    assert (report.software, report.absent) == ((), {})
    assert [(probe.probe, probe.state) for probe in report.probes] == [("torch", "failed")]

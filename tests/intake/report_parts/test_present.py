"""A report is presented whole: as the answer to a dump has it, as it was sent, and on the page of a machine."""

from dataclasses import replace

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from stackviz.draw.diagrams.boxes import StackColumn
from stackviz.intake.ingest.interpret import interpret
from stackviz.intake.report_parts.cards import MatchedCard, by_columns, by_name, card_facts, card_rows
from stackviz.intake.report_parts.present import (
    JudgedReport,
    PresentedReport,
    ResultTable,
    present,
    result_tables,
    sort_findings,
    stored_report,
)
from stackviz.records.labs.models import Lab, Machine, Report
from stackviz.records.labs.queries import latest_snapshots
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report import format as wire
from stackviz.report.dumps import answer, machines
from stackviz.report.dumps.verdict import judge_dump
from stackviz.report.importers import read_all
from stackviz.report.rules import Finding, Severity, judge, packaged_tables
from tests.report.format.reports import gemm_result, report_body
from tests.report.importers.own_dump import fixture, own_dumps
from tests.responses import words_of

DUMPS = own_dumps()
COLUMN = StackColumn(key="cpu", title="", subtitle="", url="", boxes=())
TABLES = packaged_tables()
SENT = ("cpu-linux", "h100-linux", "m3-max-macos")


def presented(report: wire.Report, findings, sheets=None) -> PresentedReport:
    cards = [MatchedCard(card, (sheets or {}).get(card.index)) for card in report.cards]
    return present(JudgedReport(report, tuple(findings), tuple(cards)), COLUMN, names={})


def listed(shown: PresentedReport) -> list[Finding]:
    found = shown.findings
    return [*found.faults, *found.notes, *found.open_questions]


def results_of(text: str) -> list[ResultTable]:
    (machine,) = machines(read_all(text))
    return list(result_tables(machine.report().results))


def test_a_time_is_shown_as_the_rate_that_follows():
    (table,) = results_of(fixture("dumps/tools/nccl_tests.txt"))
    assert table.columns == ("bytes", "place", "time")
    assert ("dtype", "fp32") in table.common
    assert [(dict(row.settings)["time"], row.value, row.unit) for row in table.rows[4:]] == [
        ("17.61 ms", "91.45 GB/s", ""), ("17.58 ms", "91.6 GB/s", "")
    ]  # fmt: skip


def test_a_rate_is_shown_in_a_readable_unit_and_without_a_time():
    (table,) = results_of(fixture("dumps/tools/nvbandwidth.txt"))
    assert "time" not in (*table.columns, *dict(table.common))
    assert (table.rows[0].value, table.rows[0].unit) == ("24.61 GB/s", "")
    (table,) = results_of("| model | test | t/s |\n|---|---|---|\n| llama 7B | tg128 | 189.50 ± 0.40 |\n")
    (row,) = table.rows  # no rate follows from it: it stays as it was printed
    assert (row.value, row.spread, row.unit) == ("189.5", "0.4", "t/s")
    (table,) = result_tables([replace(result("launch"), params={"op": "queued"}, samples=(4e-6,), unit="s")])
    assert dict(table.common) == {"op": "queued", "device": "cuda:0"}
    assert (table.rows[0].value, table.rows[0].unit) == ("4 µs", "")


def result(benchmark: str) -> wire.Result:
    (parsed,) = wire.parse_report(report_body(results=[gemm_result(benchmark=benchmark)])).results
    return parsed


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.kind)
def test_page_api_and_agent_agree_on_a_dump(dump):
    paste = read_all(dump.text)
    [machine] = machines(paste)
    document = answer([machine], TABLES)
    report = machine.report()
    shown = presented(report, judge_dump(report, machine.kinds, TABLES))
    assert [(finding.rule, finding.severity, finding.title) for finding in listed(shown)] == [
        (finding["rule"], finding["severity"], finding["title"]) for finding in document["findings"]
    ]
    assert {card.reported.index: row.reported_name for row in shown.cards for card in row.cards} == {
        card["index"]: card["reported_name"] for card in document["cards"]
    }
    assert {(name, item.version or None) for item, name, _url in shown.software} <= {
        (row["component"], row["version"]) for row in document["components"]
    }
    facts = {fact.name for fact in shown.facts}
    assert facts == set(report.facts) <= {name for name, value in document["facts"].items() if value is not None}
    assert {fact.name for fact in shown.missing} == set(report.absent)
    assert set(report.absent) - facts <= {*document["reasons"], *document["facts"]}
    assert len(report.results) == sum(len(table.rows) for table in shown.results) == len(document["results"])


@pytest.fixture
def sent(curated, db):
    """Stores a recorded report as a machine's, reads it -> (the report as it was sent, what is presented of it)."""

    def send(name: str) -> tuple[Machine, wire.Report, JudgedReport]:
        body = fixture(f"reports/{name}.json").encode()
        lab, _made = Lab.objects.get_or_create(slug="north", name="North lab", is_public=True)
        machine = Machine.objects.create(lab=lab, slug=name, name=name)
        report = wire.parse_report(body)
        Report.objects.create(id=report.id, machine=machine, body=body, received_at=timezone.now())
        assert interpret(report.id) == "read"
        machine.refresh_from_db()
        return machine, report, stored_report(latest_snapshots([machine])[machine.pk])

    return send


@pytest.mark.parametrize("name", SENT)
def test_a_stored_report_is_presented_as_it_was_sent(sent, name):
    _machine, report, stored = sent(name)
    sheets = {card.reported.index: card.sheet for card in stored.cards}
    shown, as_sent = (
        presented(stored.report, stored.findings, sheets),
        presented(replace(report, results=()), judge(report, rule_tables()), sheets),
    )
    assert [row.label for row in shown.cards] == [row.label for row in as_sent.cards]
    for part in ("card_facts", "software", "facts", "missing", "findings"):
        assert getattr(shown, part) == getattr(as_sent, part), part
    assert shown.facts
    assert shown.software


@pytest.mark.parametrize("name", SENT)
def test_the_page_of_a_machine_leaves_nothing_out(sent, client, name):
    machine, _report, stored = sent(name)
    shown = presented(stored.report, stored.findings)
    words = words_of(client.get(machine.get_absolute_url()))
    texts = [fact.text for fact in shown.facts] + [fact.missing for fact in shown.missing]
    texts += [fact.name for fact in (*shown.facts, *shown.missing)] + [name for name, *_ in shown.card_facts]
    texts += [finding.title for finding in listed(shown)] + [row.reported_name for row in shown.cards]
    texts += [item.version or "" for item, *_ in shown.software]
    assert [text for text in texts if " ".join(text.split()) not in words] == []


def finding(rule: str, severity: str) -> Finding:
    return Finding(rule=rule, severity=severity, component="pytorch", title="")


def test_every_severity_reaches_the_pages(sent, client):
    machine, _report, _stored = sent("h100-linux")
    for severity in Severity:
        machine.latest_snapshot.findings.create(rule="rule", severity=severity, title=f"a finding: {severity}.")
    words = words_of(client.get(machine.get_absolute_url()))
    assert [severity for severity in Severity if f"a finding: {severity}." in words] == [*Severity][:-1]
    words = words_of(client.get("/compare/", {"a": ["apple-m3-max-40", machine.subject]}))
    assert [severity for severity in Severity if f"a finding: {severity}." in words] == [*Severity][:3]


severities = st.sampled_from([severity.value for severity in Severity])


@given(st.lists(severities))
def test_every_finding_is_in_one_group(given_severities):
    findings = [finding(f"rule-{n}", severity) for n, severity in enumerate(given_severities)]
    found = sort_findings(findings)
    sorted_ones = [*found.faults, *found.notes, *found.open_questions, *found.fits]
    assert sorted(finding.rule for finding in sorted_ones) == sorted(finding.rule for finding in findings)
    assert {finding.severity for finding in found.faults} <= {"broken", "warning"}
    assert [finding.severity for finding in found.faults] == sorted(finding.severity for finding in found.faults)


def test_a_severity_that_no_rule_gives_is_not_dropped():
    with pytest.raises(KeyError):
        sort_findings([finding("rule", "unheard-of")])


def card(index: int, **facts: wire.Scalar) -> MatchedCard:
    reported = wire.Card(
        index=index, kind="gpu", vendor="nvidia", reported_name="NVIDIA H100 80GB HBM3", memory_bytes=85_899_345_920,
        facts=facts,
    )  # fmt: skip
    return MatchedCard(reported, None)


def test_differing_cards_split_by_columns():
    cards = [card(0, power_limit_w=700.0), card(1, power_limit_w=700.0), card(2, power_limit_w=500.0)]
    assert [(row.label, row.indexes_label) for row in card_rows(cards, by_columns)] == [
        ("2 × NVIDIA H100 80GB HBM3", "0–1"),
        ("NVIDIA H100 80GB HBM3", "2"),
    ]
    assert [row.label for row in card_rows(cards, by_name)] == ["3 × NVIDIA H100 80GB HBM3"]


def test_card_fact_has_one_value_per_group():
    cards = [card(0, temperature_c=41.0), card(1, temperature_c=41.0), card(2)]
    [(_name, _meaning, values)] = card_facts(cards)
    assert [(places, fact.text or fact.missing) for places, _indexes, fact in values] == [
        ("0–1", "41 °C"),
        ("2", "not reported"),
    ]
    [(_name, _meaning, common)] = card_facts(cards[:2])
    assert [(places, fact.text) for places, _indexes, fact in common] == [("", "41 °C")]

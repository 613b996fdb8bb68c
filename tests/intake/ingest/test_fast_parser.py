"""The quick yes: it may not know a good report, it must never say yes to a bad one."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackviz.intake.ingest.fast_parser import fast_check, fast_parse
from stackviz.report.format import LIMITS, ReportError, parse_report, to_json
from tests.report.format.reports import (
    apple_report_body,
    gemm_result,
    h100_card,
    large_report_body,
    report_body,
    rounds_result,
)

HOSTILE = [
    None, True, False, 0, -1, 1, 1.5, -0.0, 1e-320, 1e300, 1e301, 2**53, 2**63 - 1, 2**63, -(2**63), 10**30, "", " ",
    "ok", "failed", "gemm", "GEMM", "gemm\n", "a--b", "x" * 200, "x" * 201, "x" * 4096, "x" * 4097, "\u2028", "\U0001f600",
    "2026-11-20T12:59:00Z", "2026-11-20 12:59:00Z", "2026-11-20t12:59:00z", "2026-02-30T00:00:00Z", "2026-11-20T12:59:00",
    "2026-11-20T12:59:60Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "2026-11-20T12:59:00.1234567Z",
    "٢٠٢٦-11-20T12:59:00Z", "00000000-0000-0000-0000-000000000000", "0" * 32, "0" * 64, "A" * 64, "0" * 65, [], {}, [1],
    [0.1], [0.1, "x"], [True], {"a": 1}, {"a": None}, {"reason": "failed"}, {"reason": "failed", "detail": None}, [[]],
]  # fmt: skip
BODIES = [
    report_body,
    apple_report_body,
    lambda: report_body(cards=[], results=[gemm_result(card=None)]),
    lambda: report_body(results=[rounds_result(cards=[0])], sent_at="2026-11-20T12:59:30Z"),
]


def verdict(body: bytes):
    """What the parser makes of it, None where it refuses."""
    try:
        return parse_report(body)
    except ReportError:
        return None


def gate(body: bytes):
    """The whole report as the gate reads it; None: it does not know. Both of its answers must agree."""
    known, report = fast_check(body), fast_parse(body)
    assert (known is None) == (report is None)
    if known and report:
        assert (known[0], known[1]) == (report.id, report.machine)
    return report


def places(value, path=()):
    """The path of every value in a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def change(document, path, how):
    """A copy in which `how(container, key)` was done at this place."""
    changed = copy.deepcopy(document)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    how(inner, path[-1])
    return changed


@pytest.mark.parametrize("make", [*BODIES, lambda: large_report_body(60, 10)])
def test_what_our_agent_writes_is_recognised(make):
    body = to_json(parse_report(make())).encode()
    assert gate(body) == verdict(body) != None  # noqa: E711 (both, and something)


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: repr(value)[:30])
def test_no_value_anywhere_gets_past_that_the_parser_refuses(value):
    document = json.loads(to_json(parse_report(report_body(results=[gemm_result()]))))
    for path in places(document):
        if path:
            body = json.dumps(change(document, path, lambda inner, key: inner.__setitem__(key, value))).encode()
            known = gate(body)
            assert known is None or known == verdict(body), (path, value)


def test_fast_parser_accepts_nothing_the_parser_refuses():
    document = json.loads(to_json(parse_report(report_body(results=[gemm_result()]))))
    for path in places(document):
        if path and isinstance(path[-1], str):
            for how in (lambda inner, key: inner.pop(key), lambda inner, key: inner.__setitem__(key + "x", 1)):
                body = json.dumps(change(document, path, how)).encode()
                known = gate(body)
                assert known is None or known == verdict(body), path


def test_no_key_named_twice_gets_past():
    document = json.loads(to_json(parse_report(report_body())))
    text = json.dumps(document)
    for path in places(document):
        if path and isinstance(path[-1], str):
            key = json.dumps(path[-1]) + ":"
            for place in range(text.count(key)):
                at = -1
                for _ in range(place + 1):
                    at = text.index(key, at + 1)
                for repeated in (f"{key} null, ", f"{key} 1,"):
                    body = (text[:at] + repeated + text[at:]).encode()
                    assert gate(body) is None, body[at - 50 : at + 80]


@pytest.mark.parametrize("blank", [" ", "\t", "\n"])
def test_a_key_named_twice_behind_a_blank_does_not_get_past(blank):
    text = json.dumps(report_body())
    body = text.replace('"format":', f'"format"{blank}: 1, "format"{blank}:', 1).encode()
    assert gate(body) is None


@pytest.mark.parametrize("blank", [" ", "\t", "\r\n"])
def test_blank_key_does_not_hide_duplicates(blank):
    """Counted as one key, the two would be as many as were understood."""
    text = to_json(parse_report(report_body(facts={"os.name": "A"})))
    assert gate(text.encode()) is not None
    body = text.replace('"os.name":', f'"os.name":"B","os.name"{blank}:', 1).encode()
    assert verdict(body) is None
    assert gate(body) is None


@pytest.mark.parametrize("place", ["samples", "duration_s"])
def test_integers_beyond_64_bits_do_not_get_past_as_floats(place):
    result = gemm_result(**{place: [0.5, 10**25] if place == "samples" else 10**25})
    body = json.dumps(report_body(results=[result])).encode()
    assert verdict(body) is None
    assert gate(body) is None


def test_an_escape_sends_a_report_the_slow_way():
    body = json.dumps(report_body(machine={"identity": "0" * 64, "name": "b\u00fcro"})).encode()
    assert b"\\u00fc" in body
    assert gate(body) is None
    assert verdict(body) is not None


def test_text_that_is_not_ascii_is_recognised():
    body = json.dumps(
        report_body(machine={"identity": "0" * 64, "name": "b\u00fcro 北京"}), ensure_ascii=False
    ).encode()
    assert gate(body) == verdict(body)
    assert gate(body).machine.name == "b\u00fcro 北京"


@pytest.mark.parametrize(
    "body",
    [
        report_body(cards=[h100_card(), h100_card()]),
        report_body(results=[gemm_result(card=1)]),
        report_body(results=[gemm_result(samples=[])]),
        report_body(results=[gemm_result(started_at=None)]),
        report_body(results=[gemm_result(state="skipped", samples=[])]),
        report_body(absent={"os.name": {"reason": "failed", "detail": None}}),
        report_body(cards=[h100_card(absent={"ecc": {"reason": "failed", "detail": None}})]),
        report_body(probes=[{"probe": "x", "state": "ok", "duration_s": None, "detail": None}] * (LIMITS.probes + 1)),
        report_body(results=[gemm_result(samples=[1.0] * (LIMITS.samples + 1))]),
        report_body(results=[rounds_result(rounds=[0, 0, 1, 1, 2])]),
        report_body(results=[rounds_result(rounds=[0, 0, 2, 2, 3, 3])]),
        report_body(results=[rounds_result(energy_j=[1.0])]),
        report_body(results=[gemm_result(card=None, cards=[0, 1])]),
        report_body(sent_at="2026-11-20T12:59:30"),
    ],
)
def test_fields_that_do_not_fit_together_do_not_get_past(body):
    raw = json.dumps(body).encode()
    assert verdict(raw) is None
    assert gate(raw) is None


def test_a_body_over_the_limit_does_not_get_past():
    body = to_json(parse_report(report_body())).encode()
    assert gate(body + b" " * LIMITS.body_bytes) is None


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_mutated_bytes_pass_only_with_parser(data):
    body = bytearray(to_json(parse_report(data.draw(st.sampled_from(BODIES))())).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(body) - 1))
        piece = data.draw(
            st.one_of(st.binary(max_size=3), st.sampled_from([b'"', b":", b",", b"0", b"e", b"-", b"{}"]))
        )
        body[at : at + data.draw(st.integers(0, 2))] = piece
    known = gate(bytes(body))
    assert known is None or known == verdict(bytes(body))

"""What arrives from outside is hostile until parsed."""

import json
import time

import pytest

from stackviz.report.format import LIMITS, ReportError, parse_report
from tests.report.format.reports import gemm_result, report_body


def refused(body: bytes | str) -> ReportError:
    with pytest.raises(ReportError) as caught:
        parse_report(body)
    return caught.value


def with_text(place: str, text: str) -> str:
    """A report's JSON in which one value is written by hand."""
    return json.dumps(report_body(**{place: "PUT HERE"})).replace('"PUT HERE"', text)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"report"',
        b"7",
        b"\xff\xfe{}",
        b"{}\x00",
        b'{"a": "\x00"}',
        b"{'format': 1}",
        "{}\ud800",
        json.dumps(report_body(note="caf")).encode().replace(b"caf", b"caf\xe9"),
    ],
)
def test_what_is_no_json_object_is_refused(body):
    assert refused(body).path in {"body", "format"}


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_json_does_not_have_is_refused_by_place(constant):
    error = refused(with_text("note", f'[1, {{"deep": {constant}}}]'))
    assert (error.path, error.problem) == ("note[1].deep", f"is {constant}, which JSON does not have")
    text = json.dumps(report_body(results=[gemm_result(samples=[0.5, 0.25])])).replace("0.25", constant)
    assert refused(text).path == "results[0].samples[1]"


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1e301"])
def test_numbers_that_overflow_are_refused(number):
    assert refused(with_text("note", number)).path == "note"
    text = json.dumps(report_body(results=[gemm_result(samples=[0.25])])).replace("0.25", number)
    assert refused(text).path == "results[0].samples[0]"
    text = json.dumps(report_body(facts={"lab.number": 0.25})).replace("0.25", number)
    assert refused(text).path == "facts.lab.number"


@pytest.mark.parametrize("digits", [20, 4000, 5000, 3_000_000])
def test_huge_integers_are_refused_quickly(digits):
    started = time.monotonic()
    error = refused(with_text("note", "9" * digits))
    assert error.path in {"note", "body"}
    assert time.monotonic() - started < 20  # read digit by digit it would take minutes


@pytest.mark.parametrize("number", [2**63, 10**25])
def test_integers_beyond_64_bits_are_refused(number):
    assert refused(json.dumps(report_body(results=[gemm_result(duration_s=number)]))).path == "results[0].duration_s"
    results = [gemm_result(), gemm_result(samples=[0.5, number, 1])]
    assert refused(json.dumps(report_body(results=results))).path == "results[1].samples[1]"


def test_large_floats_among_integers_are_samples():
    report = parse_report(report_body(results=[gemm_result(samples=[1, 2**63 - 1, 1e300])]))
    assert report.results[0].samples == (1, 2**63 - 1, 1e300)


def test_a_key_named_twice_is_refused_by_place():
    text = json.dumps(report_body()).replace('"facts": {', '"facts": {"os.arch": "x86_64", ')
    error = refused(text)
    assert (error.path, error.problem) == ("facts.os.arch", "is named twice")


@pytest.mark.parametrize("escape", ["\\u0000", "\\ud800", "\\uDFFF", "a\\ud83d", "\\udc00\\ud83d"])
def test_characters_postgresql_cannot_store_are_refused_by_place(escape):
    assert refused(with_text("note", f'"{escape}"')).path == "note"
    assert refused(with_text("note", f'{{"a{escape}": 1}}')).path == "note"
    text = json.dumps(report_body(facts={"os.name": "PUT HERE"})).replace("PUT HERE", escape)
    assert refused(text).path == "facts.os.name"


def test_text_that_only_looks_like_such_an_escape_is_kept():
    report = parse_report(with_text("note", r'"\\u0000 \\ud800 \ud83d\ude00"'))
    assert report.extra["note"] == "\\u0000 \\ud800 \N{GRINNING FACE}"


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def test_unknown_fields_nest_to_the_limit():
    assert parse_report(json.dumps(report_body(note=nested(LIMITS.depth - 1)))).extra
    error = refused(json.dumps(report_body(note=nested(LIMITS.depth))))
    assert (error.path, error.problem) == ("note" + "[0]" * (LIMITS.depth - 1), f"is nested deeper than {LIMITS.depth}")


@pytest.mark.parametrize(
    ("put", "own_depth"),
    [
        (lambda v: report_body(machine={"identity": "0" * 64, "note": v}), 2),
        (lambda v: report_body(results=[gemm_result(note=v)]), 3),
        (lambda v: report_body(absent={"os.build": {"reason": "failed", "note": v}}), 3),
    ],
)
def test_depth_counts_from_the_report_wherever_the_field_is(put, own_depth):
    for shape in (json.dumps, lambda body: body):
        assert parse_report(shape(put(nested(LIMITS.depth - own_depth))))
        with pytest.raises(ReportError):
            parse_report(shape(put(nested(LIMITS.depth - own_depth + 1))))


@pytest.mark.parametrize("opener", ["[", '{"a":'])
def test_a_tower_of_brackets_is_refused_quickly(opener):
    started = time.monotonic()
    assert refused(opener * 200_000).path == "body"
    assert refused(with_text("note", "[" * 900 + "]" * 900)).problem == f"is nested deeper than {LIMITS.depth}"
    assert time.monotonic() - started < 20


ZEROS = "[" + ",".join(["0"] * 2_000_000) + "]"


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("note", "[" + ",".join(["0"] * 2_000_000) + "]"),
        ("note", "{" + ",".join(f'"f{n}":[{n}]' for n in range(200_000)) + "}"),
        ("note", "[" + ",".join(["[]"] * 1_300_000) + "]"),
        ("results[0].note", f"[{ZEROS}]"),
        ("cards[0].absent.os.note", ZEROS),
    ],
    ids=["zeros", "objects", "empty lists", "of a result", "of a reason"],
)
def test_4_mb_of_unknown_values_are_refused_cheaply(text, place):
    body = report_body(results=[gemm_result()])
    holders = {"note": body, "results[0].note": body["results"][0]}
    holder = holders.get(place) or body["cards"][0]["absent"].setdefault("os", {"reason": "failed"})
    holder["note"] = "PUT HERE"
    raw = json.dumps(body).replace('"PUT HERE"', text).encode()
    started = time.process_time()
    error = refused(raw)
    assert time.process_time() - started < 4
    assert (error.path, str(LIMITS.unknown_values) in error.problem) == (place, True)


def test_an_escape_does_not_make_them_dear():
    """Half a character somewhere has the whole document looked at closely, twice two million values included."""
    started = time.process_time()
    assert refused(with_text("note", f'{{"a": "\\ud83d\\ude00", "b": {ZEROS}}}')).path == "note"
    assert refused(with_text("note", f'{{"b": {ZEROS}, "c": "\\ud83d"}}')).path == "note.c"
    assert time.process_time() - started < 4


def test_a_wrong_number_among_many_is_found_by_place():
    zeros = ",".join(["0"] * 1000)
    assert refused(with_text("note", f"[[{zeros}, 1e301, {zeros}]]")).path == "note[0][1000]"
    assert refused(with_text("note", f"[{zeros}, {2**63}]")).path == "note[1000]"
    assert refused(with_text("note", f"[{zeros}, -{2**64}]")).path == "note[1000]"


def test_unknown_values_are_counted_over_the_whole_report():
    most = LIMITS.unknown_values
    assert parse_report(json.dumps(report_body(note=[0] * (most - 1)))).extra
    assert refused(json.dumps(report_body(note=[0] * most))).path == "note"
    results = [gemm_result(fan_rpm=[1.5] * 999) for _ in range(most // 1000)]
    assert parse_report(json.dumps(report_body(results=results)))
    results.append(gemm_result(fan_rpm=0))
    assert refused(json.dumps(report_body(results=results))).path == f"results[{most // 1000}].fan_rpm"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        *(({"note": value}, "note") for value in (float("nan"), float("inf"), {1, 2}, b"bytes", {3: "number as key"})),
        *(({"facts": {"os.name": text}}, "facts.os.name") for text in ("\x00", "\ud800")),
    ],
)
def test_a_document_with_what_json_does_not_have_is_refused(changes, path):
    with pytest.raises(ReportError) as caught:
        parse_report(report_body(**changes))
    assert caught.value.path == path

"""What arrives is hostile until parsed: each fault names its field, and leaves the database as it was."""

import gzip
import io
import json
import tracemalloc
import zlib

import pytest

from stackviz.records.labs.models import AgentKey, Machine, Report
from stackviz.report.format import LIMITS
from tests.report.format.reports import gemm_result, h100_card, report_body, sha256


@pytest.fixture
def refused(post):
    """Posts, sees that nothing was written, -> (status, field, words)."""

    def check(body, **headers):
        before = (Report.objects.count(), Machine.objects.count(), AgentKey.objects.get(pk=post.key.pk).last_used_at)
        response = post(body, **headers)
        after = (Report.objects.count(), Machine.objects.count(), AgentKey.objects.get(pk=post.key.pk).last_used_at)
        assert before == after
        answer = response.json()
        assert set(answer) == {"error", "field"}
        return response.status_code, answer["field"], answer["error"]

    return check


def nested(levels):
    return json.loads("[" * levels + "]" * levels)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "body"),
        (b"{", "body"),
        (b"[]", "body"),
        (b"null", "body"),
        (b"\xff\xfe", "body"),
        (b'{"format": 1}\x00', "body"),
        (json.dumps(report_body(machine={"identity": sha256("x"), "name": "caf\u00e9"}), ensure_ascii=False).encode("latin-1"), "body"),
        (json.dumps(report_body()).replace("0.00158", "NaN").encode(), "results[0].samples[0]"),
        (json.dumps(report_body()).replace("0.00158", "Infinity").encode(), "results[0].samples[0]"),
        (json.dumps(report_body()).replace("0.00158", "1e999").encode(), "results[0].samples[0]"),
        (json.dumps(report_body()).replace('"Ubuntu"', '"\\u0000"').encode(), "facts.os.name"),
        (json.dumps(report_body()).replace('"Ubuntu"', '"\\ud800"').encode(), "facts.os.name"),
        (json.dumps(report_body()).replace('"os.arch":', '"os.name":').encode(), "facts.os.name"),
        (report_body(format=2), "format"),
        (report_body(format="1"), "format"),
        (report_body(format=True), "format"),
        (report_body(id="nonsense"), "id"),
        (report_body(id=7), "id"),
        (report_body(created_at="yesterday"), "created_at"),
        (report_body(created_at="2026-02-30T00:00:00Z"), "created_at"),
        (report_body(created_at="2026-11-20T12:59:00"), "created_at"),
        (report_body(machine={"identity": "rack-7", "name": None}), "machine.identity"),
        (report_body(machine=None), "machine"),
        (report_body(facts=[]), "facts"),
        (report_body(facts={"memory.total_bytes": 0}), "facts.memory.total_bytes"),
        (report_body(facts={"memory.total_bytes": 2**63}), "facts.memory.total_bytes"),
        (report_body(facts={"cuda.available": "yes"}), "facts.cuda.available"),
        (report_body(cards=[h100_card(memory_bytes="80 GB")]), "cards[0].memory_bytes"),
        (report_body(cards=[h100_card(memory_bytes=-1)]), "cards[0].memory_bytes"),
        (report_body(cards=[h100_card(), h100_card()]), "cards[1].index"),
        (report_body(results=[gemm_result(samples=[])]), "results[0].samples"),
        (report_body(results=[gemm_result(), gemm_result(samples=[0.1, -0.1])]), "results[1].samples[1]"),
        (report_body(results=[gemm_result(samples=["fast"])]), "results[0].samples[0]"),
        (report_body(results=[gemm_result(card=3)]), "results[0].card"),
        (report_body(results=[gemm_result(state="great")]), "results[0].state"),
        (report_body(results=[gemm_result(state="failed", samples=[])]), "results[0].reason"),
        (report_body(results={}), "results"),
        (report_body(note=nested(LIMITS.depth)), "note" + "[0]" * (LIMITS.depth - 1)),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "body"),
        (report_body(probes=[{"probe": "x", "state": "ok"}] * 101), "probes"),
        (report_body(results=[gemm_result()] * 2001), "results"),
        (report_body(facts={"x" * 201: 1}), "facts"),
        (report_body(facts={"os.name": "x" * 4097}), "facts.os.name"),
    ],
)  # fmt: skip
def test_a_broken_report_names_its_field(refused, body, field):
    status, found, error = refused(body)
    assert (status, found) == (422, field), error


def test_a_body_over_the_limit_is_413(refused):
    status, field, _ = refused(json.dumps(report_body(padding=["x" * 4000] * 1100)).encode())
    assert (status, field) == (413, "body")


def test_a_body_announced_over_the_limit_is_not_read(post):
    unreadable = io.BytesIO(b"")
    unreadable.read = lambda *_: pytest.fail("it was read")
    response = post(b"", CONTENT_LENGTH=str(LIMITS.body_bytes + 1), **{"wsgi.input": unreadable})
    assert response.status_code == 413


def test_a_gzip_bomb_is_413_and_costs_little(refused):
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packing.compress(bytes(1024 * 1024)) for _ in range(300)) + packing.flush()
    tracemalloc.start()
    status, field, error = refused(bomb, HTTP_CONTENT_ENCODING="gzip")
    _now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (status, field) == (413, "body")
    assert "inflates" in error
    assert most < 8 * LIMITS.body_bytes  # of 300 MiB


def test_a_bomb_inside_a_bomb_is_no_json(refused):
    inner = gzip.compress(bytes(3_000_000))
    assert refused(gzip.compress(inner), HTTP_CONTENT_ENCODING="gzip")[:2] == (422, "body")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda packed: packed[:-9], "truncated"),
        (lambda packed: packed + b"more", "after the end"),
        (lambda packed: packed + gzip.compress(b"{}"), "after the end"),
        (lambda packed: b"{}" + packed, "not gzip"),
        (lambda packed: packed[:-8] + b"\0\0\0\0" + packed[-4:], "not gzip"),
    ],
)
def test_a_spoiled_gzip_stream_says_what_is_wrong(refused, spoil, words):
    packed = gzip.compress(json.dumps(report_body()).encode())
    status, field, error = refused(spoil(packed), HTTP_CONTENT_ENCODING="gzip")
    assert (status, field) == (422, "body")
    assert words in error


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("Content-Encoding", ["br", "deflate", "gzip, gzip", "zstd"]),
        (
            "Content-Type",
            [
                "application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x",
                "application/json; charset=latin-1",
            ],
        ),
    ],
)  # fmt: skip
def test_packings_and_types_we_do_not_know_are_415(refused, header, values):
    name = "CONTENT_TYPE" if header == "Content-Type" else "HTTP_CONTENT_ENCODING"
    for value in values:
        assert refused(report_body(), **{name: value})[:2] == (415, header), value


@pytest.mark.parametrize("length", ["", "many", "-5"])
def test_a_body_without_a_length_is_refused(refused, length):
    status, field, error = refused(report_body(), CONTENT_LENGTH=length)
    assert (status, field) == (422, "body")
    assert "Content-Length" in error


def test_a_body_that_ends_early_is_refused(refused):
    body = json.dumps(report_body()).encode()
    status, field, error = refused(body, **{"wsgi.input": io.BytesIO(body[:100])})
    assert (status, field) == (422, "body")
    assert f"100 of {len(body)}" in error


def test_unknown_fields_and_no_type_are_no_reason_to_refuse(client, post):
    body = report_body(energy={"joules": 5}, results=[gemm_result(fan_rpm=5)])
    assert post(body, CONTENT_TYPE="").status_code == 202
    assert post(report_body(), CONTENT_TYPE="application/json; charset=UTF-8").status_code == 202
    assert client.put("/api/v1/reports/").status_code == client.get("/api/v1/reports/").status_code == 405


def test_hostile_text_gives_inert_json(refused, post):
    evil = "<script>alert(1)</script>"
    response = post(report_body(results=[gemm_result(state=evil)]))
    assert response.headers["Content-Type"].startswith("application/json")
    assert response.headers["X-Content-Type-Options"] == "nosniff"

"""The receipt of an upload, for people and as JSON."""

import json
from html import unescape

import pytest
from django.contrib.auth.models import User

from stackviz.intake.ingest.interpret import interpret
from stackviz.records.labs.models import Lab, Membership, Report
from tests.report.format.reports import gemm_result, h100_card, report_body

EVIL = "<script>alert('x')</script>\"'><img src=x onerror=alert(1)>"


@pytest.fixture
def sent(post, client):
    """Posts a report, reads it unless told otherwise -> its receipt's address and its status address."""

    def send(body=None, *, read=True, sender=post):
        answer = sender(body or report_body()).json()
        if read:
            interpret(answer["id"])
        return answer["receipt_url"], answer["status_url"]

    return send


def test_a_report_that_waits_shows_its_stages_and_asks_again(sent, client):
    receipt = sent(read=False)[0]
    answer = client.get(receipt)
    for text in ('hx-trigger="every 1s"', '<meta http-equiv="refresh" content="3">', 'data-state="active"', 'aria-live="polite"'):  # fmt: skip
        assert text in answer.content.decode()
    assert ("no-store" in answer.headers["Cache-Control"], "HX-Request" in answer.headers["Vary"]) == (True, True)
    part = client.get(receipt, headers={"HX-Request": "true"}).content.decode()
    assert ("<html" in part, 'class="stages"' in part) == (False, True)


def test_a_report_that_was_read_shows_it_and_stops_asking(sent, client):
    page = client.get(sent()[0]).content.decode()
    assert 'hx-trigger="every' not in page
    assert "http-equiv" not in page
    assert page.count('data-state="done"') == 4
    assert "/machines/north/rack-7/" in page
    assert "2 results" in page


def test_receipt_lists_warnings_and_unknowns(sent, client):
    body = report_body(
        cards=[h100_card(reported_name="NVIDIA Z9000")],
        results=[gemm_result(benchmark="fft"), gemm_result(state="failed", reason="no memory", samples=[])],
        energy=5,
    )
    page = unescape(client.get(sent(body)[0]).content.decode())
    for text in ("Unknown benchmark fft v1;", "NVIDIA Z9000", "energy", "2 results, 1 failed"):
        assert text in page


def test_a_failed_report_says_why(sent, client):
    receipt, status = sent(read=False)
    Report.objects.update(status="failed", error="results: too strange", read_at="2026-11-20T13:00:00Z")
    page = client.get(receipt).content.decode()
    assert "results: too strange" in page
    assert 'data-state="failed"' in page
    assert client.get(status).json()["error"] == "results: too strange"


def test_markup_in_every_text_is_shown_as_text(sent, client):
    def poisoned(value):
        if isinstance(value, dict):
            return {name: poisoned(inner) for name, inner in value.items()} | {EVIL: EVIL}
        if isinstance(value, list):
            return [poisoned(inner) for inner in value]
        return value

    body = poisoned(report_body())
    body |= {"created_at": report_body()["created_at"], "absent": {}}
    for name in ("facts", "absent"):
        body[name].pop(EVIL, None)
    body["facts"]["os.name"] = EVIL
    body["machine"]["name"] = EVIL
    for card in body["cards"]:
        card |= {"reported_name": EVIL, "absent": {}}
    for result in body["results"]:
        result |= {"device": EVIL, "state": "failed", "reason": EVIL, "samples": []}
        result["conditions"] = {EVIL: EVIL}
    for probe in body["probes"]:
        probe |= {"probe": EVIL, "state": "failed", "detail": EVIL}
    receipt, status = sent(body)
    page = client.get(receipt)
    assert page.status_code == 200
    assert EVIL in unescape(page.content.decode())
    for raw in (b"<script>alert", b"<img src=x"):
        assert raw not in page.content
    answer = client.get(status)
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json()["status"] == "read"
    machine_page = client.get("/machines/north/" + Report.objects.get().machine.slug + "/")
    assert b"<script>alert" not in machine_page.content
    assert b"<img src=x" not in machine_page.content


def test_the_status_says_all_the_page_does(sent, client):
    _, status = sent(report_body(energy=5, cards=[h100_card(reported_name="NVIDIA Z9000")]))
    answer = client.get(status).json()
    assert answer["status"] == "read"
    assert [stage["name"] for stage in answer["stages"]] == ["received", "stored", "read", "charted"]
    assert {stage["state"] for stage in answer["stages"]} == {"done"}
    url = "http://testserver/machines/north/rack-7/"
    assert answer["machine"] == {"lab": "north", "slug": "rack-7", "name": "rack-7", "url": url}
    assert (answer["unknown_fields"], answer["unmatched"]) == (["energy"], ["NVIDIA Z9000"])
    assert answer["results"] == {"ok": 2}


def test_receipt_queries_do_not_grow(sent, client, django_assert_max_num_queries):
    receipts = [sent(report_body(results=[gemm_result()] * count))[0] for count in (1, 60)]
    for receipt in receipts:
        with django_assert_max_num_queries(3):
            client.get(receipt)


@pytest.mark.parametrize("report_id", ["00000000-0000-4000-8000-000000000000", "nonsense"])
def test_a_receipt_that_does_not_exist_is_404(db, client, report_id):
    assert client.get(f"/receipts/{report_id}/").status_code == 404
    response = client.get(f"/api/v1/reports/{report_id}/")
    assert (response.status_code, response.json()["field"]) == (404, "id")


# --- private labs ---


@pytest.fixture
def dark(sender_with):
    return sender_with(lab=Lab.objects.create(slug="dark", name="Dark", is_public=False))


def bare(address):
    return address.partition("?")[0]


def test_a_private_receipt_is_there_for_its_people_only(sent, dark, post, client):
    receipt, status = sent(read=False, sender=dark)
    assert f'hx-get="{receipt.removeprefix("http://testserver")}"' in client.get(receipt).content.decode()
    other, _ = sent(sender=dark)
    assert client.get(f"{bare(other)}?{receipt.partition('?')[2]}").status_code == 404  # a signature fits one only
    for secret, expected in ((dark.secret, 200), (post.secret, 404), ("aw_nonsense", 404)):
        assert client.get(bare(status), headers={"Authorization": f"Bearer {secret}"}).status_code == expected
    client.force_login(User.objects.create_user("stranger"))
    absent = client.get("/api/v1/reports/00000000-0000-4000-8000-000000000000/")
    assert client.get(bare(receipt)).status_code == client.get(bare(status)).status_code == 404
    assert client.get(bare(status)).content == absent.content
    member = User.objects.create_user("member")
    Membership.objects.create(lab=dark.key.lab, user=member)
    client.force_login(member)
    assert client.get(bare(receipt)).status_code == client.get(bare(status)).status_code == 200


# --- the documents of the API ---


def test_the_schema_is_served_and_accepts_a_report(client, db):
    import jsonschema

    schema = client.get("/api/v1/schema/report.json").json()
    jsonschema.validate(report_body(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report_body(format=2), schema)


def test_the_api_document_describes_the_upload(client, db):
    document = client.get("/api/v1/openapi.json").json()
    upload = document["paths"]["/api/v1/reports/"]["post"]
    assert set(upload["responses"]) >= {"200", "202", "401", "403", "409", "413", "422", "429", "503"}
    assert "cards" in upload["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert upload["security"] == [{"AgentKeyAuth": []}]
    assert document["components"]["securitySchemes"]["AgentKeyAuth"] == {"type": "http", "scheme": "bearer"}
    assert json.dumps(document)

"""`POST /api/v1/diagnose/`: any text is answered as JSON or refused in words, within bounds and at a pace."""

import json

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from stackviz.intake.report_parts.pasted import read_pasted
from stackviz.pages.diagnose.api import DiagnosisOut
from stackviz.pages.diagnose.diagnosis import diagnose
from stackviz.records.catalog.models import Accelerator, Alias
from stackviz.report.dumps.markdown import escape_text
from stackviz.report.importers.deadline import NEVER
from stackviz.web.http import rate_limit
from tests.pages.diagnose.conftest import CPU_WHEEL, HOSTILE, MAC_JSON, MIG_XML, TWO_MACHINES

ADDRESS = "/api/v1/diagnose/"
FACTS = [
    "os.name", "os.version", "python.version", "torch.version", "torch.cuda_version", "cuda.runtime_version",
    "cuda.driver_api_version", "nvidia.driver_version", "cudnn.version", "rocm.version", "cpu.model", "mps.built",
    "mps.available",
]  # fmt: skip
MB = 1024 * 1024
BENCH = (
    "| model | size | params | backend | ngl | test | t/s |\n"
    "| --- | ---: | ---: | --- | --: | ---: | ---: |\n"
    "| llama 7B Q4_0 | 3.56 GiB | 6.74 B | CUDA | 99 | pp512 | 5432.10 ± 12.30 |\n"
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9000 MiB on device 0: cudaMalloc failed: out of memory\n"
)


@pytest.fixture
def send(client, curated, db):
    def go(body, content_type="text/plain", **headers):
        return client.post(ADDRESS, body, content_type=content_type, headers=headers)

    return go


def test_dump_gives_facts_cards_and_findings(send):
    answer = send(CPU_WHEEL)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    told = answer.json()
    assert told["kinds"] == ["collect-env"]
    assert set(FACTS) <= set(told["facts"])
    assert told["facts"]["torch.version"] == "2.12.0+cpu"
    assert told["facts"]["rocm.version"] is None
    assert told["reasons"]["rocm.version"]["reason"]
    assert [card["accelerator"] for card in told["cards"][:2]] == ["nvidia-h100-sxm5-80gb"] * 2
    worst = told["findings"][0]
    assert (worst["rule"], worst["severity"]) == ("cpu-wheel", "broken")
    assert worst["evidence"]
    assert worst["advice"]
    assert {"layer": "framework", "component": "pytorch", "version": "2.12.0+cpu", "state": "broken"}.items() <= next(
        one for one in told["components"] if one["component"] == "pytorch"
    ).items()
    assert {"results", "not_understood"} <= set(told)


@pytest.mark.parametrize(
    "text", [CPU_WHEEL, MIG_XML, MAC_JSON, TWO_MACHINES, BENCH], ids=["env", "xml", "mac", "two", "bench"]
)
def test_every_field_of_the_answer_is_in_its_description(send, text):
    told = send(text).json()
    assert DiagnosisOut.model_validate(told).model_dump(exclude_unset=True) == told


def test_results_have_a_deviation_and_torn_dumps_have_problems(send):
    done, failed = send(BENCH).json()["results"]
    assert (done["value"], done["stddev"], "state" in done) == (5432.1, 12.3, False)
    assert (failed["value"], failed["state"], "out of memory" in failed["reason"]) == (None, "failed", True)
    told = send("<nvidia_smi_log><gpu>").json()
    assert told["kinds"] == ["nvidia-smi-xml"]
    assert told["problems"]
    assert set(told["facts"].values()) == {None}


def file(name, text=CPU_WHEEL, encoding="utf-8"):
    return SimpleUploadedFile(name, text.encode(encoding))


def test_a_few_files_are_taken_under_any_name(client, curated, db):
    told = client.post(ADDRESS, {"files": [file("a.txt"), file("b.json", MAC_JSON)]}).json()
    assert told["facts"]["torch.version"] == "2.12.0+cpu"
    assert [one["facts"]["apple.chip"] for one in told["machines"]] == ["Apple M3 Max"]
    assert told["machines"][0]["differs"]
    told = client.post(ADDRESS, {"text": CPU_WHEEL, "upload": file("a.xml", MIG_XML)}).json()
    assert set(told["kinds"]) == {"collect-env", "nvidia-smi-xml"}
    for many in (21, 101):  # the latter more than Django reads
        files = [file(f"{number}.txt", "x") for number in range(many)]
        assert client.post(ADDRESS, {"files": files}).status_code == 413


def test_a_sheet_that_is_not_public_is_told_of_in_no_way(send):
    sheet = Accelerator.objects.get(slug="nvidia-t4")
    Accelerator.objects.filter(pk=sheet.pk).update(is_public=False)
    secret = {"name": "Hush Chip 9000", "kind": Alias.Kind.UNDECIDED, "note": "note of a secret sheet"}
    Alias.objects.create(accelerator=sheet, **secret)
    listed = "GPU 0: Hush Chip 9000 (UUID: GPU-00000000-0000-0000-0000-000000000000)\n"
    answered, unknown = (send(text).content.decode() for text in (listed, listed.replace("Hush", "Mush")))
    assert answered == unknown.replace("Mush", "Hush")
    page, other = (diagnose(read_pasted(text, NEVER)).first.cards for text in (listed, listed.replace("Hush", "Mush")))
    assert [card.needs for card in page] == [card.needs for card in other]


def test_diagnosis_needs_no_key_stores_nothing_and_is_not_shared(curated, db):
    Accelerator.objects.filter(slug="nvidia-h100-sxm5-80gb").update(is_public=False)
    stored = {model: model._default_manager.count() for model in apps.get_models()}
    origin = {"Origin": "https://elsewhere.example"}
    answer = Client(enforce_csrf_checks=True).post(ADDRESS, CPU_WHEEL, content_type="text/plain", headers=origin)
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    assert "Access-Control-Allow-Origin" not in answer
    assert not answer.cookies
    assert [card["accelerator"] for card in answer.json()["cards"][:2]] == [None, None]  # the sheet is not public
    assert {model: model._default_manager.count() for model in apps.get_models()} == stored


@pytest.mark.parametrize(
    ("body", "content_type", "status", "field", "says"),
    [
        (b"", "text/plain", 422, "text", "nothing to read"),
        (b" \n ", "text/plain", 422, "text", "nothing to read"),
        (b"hello", "text/plain", 422, "text", "not the output of a supported tool"),
        (b"\x00\x01\x02", "text/plain", 422, "text", "NUL bytes"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "text/plain", 422, "text", "NUL bytes"),
        (b"x" * (10 * MB), "text/plain", 413, "text", "larger than 1024 KB"),
        (b"x" * (2 * MB), "text/plain", 413, "text", "larger than 1024 KB"),
        (json.dumps({"text": CPU_WHEEL}).encode(), "application/json", 415, "Content-Type", "text/plain"),
        (b"text=x", "application/x-www-form-urlencoded", 415, "Content-Type", "text/plain"),
        (b"x", "text/plain; charset=utf-7", 415, "Content-Type", "UTF-8"),
        (b"--x\r\nno end", "multipart/form-data; boundary=x", 422, "text", "nothing to read"),
        (b"x", "multipart/form-data", 400, "body", "could not be read"),
    ],
    ids=["empty", "blank", "junk", "binary", "png", "10-MB", "2-MB", "json", "form", "charset", "torn-form", "no-boundary"],
)  # fmt: skip
def test_what_cannot_be_diagnosed_is_refused_in_words(send, body, content_type, status, field, says):
    answer = send(body, content_type)
    assert answer.status_code == status
    told = answer.json()
    assert (told["field"], says in told["error"]) == (field, True), told


def test_a_body_packed_or_of_unknown_length_is_refused_in_words(send, client):
    answer = send(CPU_WHEEL, **{"Content-Encoding": "gzip"})
    assert (answer.status_code, answer.json()["field"]) == (415, "Content-Encoding")
    answer = client.generic("POST", ADDRESS, b"", content_type="text/plain", HTTP_TRANSFER_ENCODING="chunked")
    assert (answer.status_code, answer.json()["field"]) == (400, "Content-Length")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_a_file_is_read_however_it_was_written(client, curated, db, encoding):
    """PowerShell's `>` writes UTF-16, Notepad a mark in front, old consoles a code page."""
    text = CPU_WHEEL.replace("Ubuntu 22.04.5 LTS", "Ubuntu 22.04.5 LTS é")
    told = client.post(ADDRESS, {"files": [file("env.txt", text, encoding)]}).json()
    assert told["facts"]["torch.version"] == "2.12.0+cpu"


def test_html_in_a_dump_is_text_in_json(send):
    answer = send(CPU_WHEEL.replace("NVIDIA H100 80GB HBM3", HOSTILE))
    assert answer["Content-Type"] == "application/json"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert any(HOSTILE[:20] in card["reported_name"] for card in answer.json()["cards"])


@pytest.mark.parametrize(
    "text",
    [
        (
            '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
            "<nvidia_smi_log><driver_version>&b;</driver_version></nvidia_smi_log>"
        ),
        (
            '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><nvidia_smi_log><driver_version>&f;</driver_version>'
            "</nvidia_smi_log>"
        ),
        "<nvidia_smi_log>" + "<a>" * 50_000,
        "[" * 100_000,
        "PyTorch version: 2.1.0\n" * 40_000,
        "GPU 0: x\n" * 100_000,
        MIG_XML[: len(MIG_XML) // 2],
    ],
    ids=["entity-bomb", "outer-entity", "deep-xml", "deep-json", "same-line", "100000-lines", "half"],
)
def test_hostile_and_torn_texts_have_an_answer(send, text):
    answer = send(text)
    assert answer.status_code in (200, 422)
    assert b"root:" not in answer.content
    assert len(answer.content) < MB


def test_more_than_a_client_s_share_waits(send, settings, monkeypatch):
    settings.DIAGNOSES_PER_MINUTE = 2
    monkeypatch.setattr(rate_limit, "clock", lambda: 6_000_015.0)
    assert [send("x").status_code for _ in range(3)] == [422, 422, 429]
    answer = send("x")
    assert (answer["Retry-After"], answer.json()["error"]) == ("45", "too many requests from this address; wait 45 s")
    monkeypatch.setattr(rate_limit, "clock", lambda: 6_000_060.0)
    assert send("x").status_code == 422
    settings.DIAGNOSES_PER_MINUTE = 4  # a long text counts as several
    monkeypatch.setattr(rate_limit, "clock", lambda: 6_000_120.0)
    assert [send("x" * (200 * 1024)).status_code, send("x").status_code] == [422, 429]


def test_the_answer_keeps_to_its_description(send, client):
    schemas = client.get("/api/v1/openapi.json").json()["components"]["schemas"]
    described = set(schemas["DiagnosisOut"]["properties"])
    told = send(TWO_MACHINES).json()
    assert set(told) <= described
    assert set(told["cards"][0]) <= set(schemas["DiagnosedCard"]["properties"])
    assert set(told["findings"][0]) == set(schemas["FindingOut"]["properties"]) - {"similar"}
    [line] = send("RuntimeError: HIP error 1234 of tomorrow").json()["findings"]
    assert set(line) == set(schemas["FindingOut"]["properties"])
    assert set(line["similar"][0]) == set(schemas["SimilarMessage"]["properties"])


# --- Markdown ---


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("text/markdown", "text/markdown; charset=utf-8"),
        ("text/markdown, application/json;q=0.5", "text/markdown; charset=utf-8"),
        ("text/*", "text/markdown; charset=utf-8"),
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("text/html", "application/json"),
        ("nonsense", "application/json"),
    ],
)
def test_the_answer_is_markdown_where_it_is_asked_for(send, accept, kind):
    answer = send(CPU_WHEEL, Accept=accept)
    assert (answer.status_code, answer["Content-Type"]) == (200, kind)
    assert "Accept" in answer["Vary"]


def test_the_markdown_tells_no_secret_and_nobody_s_name(send):
    """It is written to be published; lines that no importer reads are in it."""
    told = (
        "hf token: hf_abcdefghijklmnopqrstuvwx1234",
        "password: hunter2hunter2",
        "connecting to 192.0.2.23 from /home/alice/secret",
        "host name: alices-box",
    )
    text = "\n".join([*told, CPU_WHEEL])
    markdown = send(text, Accept="text/markdown").content.decode()
    assert "password: [redacted]" in markdown
    for word in ("hf_abc", "hunter2", "192.0.2.23", "alice"):
        assert word not in markdown


def test_the_markdown_has_the_findings_of_the_json(send):
    text = send(CPU_WHEEL, Accept="text/markdown").content.decode()
    for finding in send(CPU_WHEEL).json()["findings"]:
        assert escape_text(finding["title"]) in text
    assert text.startswith("## Diagnosis: 1 broken")
    answer = send("hello", Accept="text/markdown")  # a refusal is JSON
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/json; charset=utf-8")
    assert answer.json()["error"]

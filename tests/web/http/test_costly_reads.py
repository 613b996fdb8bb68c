"""Files, pages of the API and pages with parameters: so many a minute for a client, and only so many at once."""

import threading

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from stackviz.web.http import at_once, costly_reads
from stackviz.web.http.at_once import AtOnce
from stackviz.web.http.costly_reads import CostlyReads, cost_of

FILE = "/accelerators/?format=csv"


@pytest.fixture(autouse=True)
def counted(settings, tmp_path):
    settings.VAR_DIR, settings.REDIS_URL, settings.READS_PER_MINUTE = tmp_path, "", 20
    return settings


def statuses(client, path, times, **named):
    return [client.get(path, **named).status_code for _ in range(times)]


@pytest.mark.parametrize(
    ("path", "cost"),
    [
        ("/", 0), ("/accelerators/", 0), ("/accelerators/?", 0), ("/accelerators/nvidia-t4/", 0), ("/changes/?_=1", 1),
        ("/search/?q=h100", 1), ("/accelerators/?format=", 1), (FILE, 10), ("/zh-hans/compare/?a=x&format=svg", 10),
        ("/sitemap-accelerators.xml", 10), ("/api/v1/accelerators/nvidia-t4/", 1), ("/api/v1/values/", 1),
        ("/api/v1/values/?limit=99", 1), ("/api/v1/values/?limit=1000", 11), ("/api/v1/values/?limit=999999999", 11),
        ("/api/v1/values/?limit=x", 11), ("/api/v1/values/?limit=" + "9" * 5000, 11), ("/api/v1/values/?limit=", 1),
        ("/api/v1/values/?limit=%2B1_000", 11), ("/api/v1/values/?limit=1000.0", 11),
        ("/api/v1/reports/5/", 0), ("/api/v1/key/", 0), ("/admin/catalog/accelerator/?q=h100", 0),
    ],
)  # fmt: skip
def test_what_a_read_counts_as(path, cost):
    assert cost_of(RequestFactory().get(path)) == cost


def test_what_is_sent_is_no_read():
    assert cost_of(RequestFactory().post(FILE)) == 0


def test_a_client_who_read_too_much_waits_and_others_do_not(client, db):
    assert statuses(client, FILE, 4) == [200, 200, 429, 429]
    assert client.get("/search/?q=h100").status_code == 429
    assert client.get("/").status_code == 200
    assert client.get(FILE, REMOTE_ADDR="192.0.2.9").status_code == 200


def test_each_reader_is_told_in_its_form_when_to_ask_again(client, db, settings):
    settings.READS_PER_MINUTE = 1
    client.get("/search/?q=h100")
    answers = {
        "text/html": client.get("/search/?q=h100"),
        "text/plain": client.get(FILE),
        "application/json": client.get("/api/v1/values/?limit=1000"),
    }
    for kind, answer in answers.items():
        assert (answer.status_code, answer.headers["Content-Type"].partition(";")[0]) == (429, kind)
        assert 0 < int(answer.headers["Retry-After"]) <= 60
    body = answers["application/json"].json()
    assert body["error"].startswith("too many requests from this address; wait ")
    assert body["field"] is None
    assert answers["application/json"].headers["Access-Control-Allow-Origin"] == "*"
    assert (
        client.get("/search/?q=h100", headers={"HX-Request": "true"}).headers["Content-Type"].startswith("text/plain")
    )


def test_of_files_at_once_one_too_many_is_refused(settings, monkeypatch):
    settings.READS_PER_MINUTE = 1_000
    monkeypatch.setattr(costly_reads, "COSTLY", AtOnce("test", 1, "busy"))
    making, made = threading.Event(), threading.Event()

    def view(request):
        if request.path == "/slow/":
            making.set()
            made.wait(60)
        return HttpResponse()

    read, requests = CostlyReads(view), RequestFactory()
    thread = threading.Thread(target=read, args=(requests.get("/slow/?format=csv"),))
    thread.start()
    try:
        assert making.wait(60)
        refused = read(requests.get(FILE))
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, str(at_once.AGAIN_AFTER_S))
        assert read(requests.get("/api/v1/values/?limit=1000")).status_code == 429
        assert read(requests.get("/api/v1/values/")).status_code == 200
        assert read(requests.get("/search/?q=h100")).status_code == 200
    finally:
        made.set()
        thread.join()
    assert read(requests.get(FILE)).status_code == 200

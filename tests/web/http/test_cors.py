"""CORS: what is public is open for reading, everything else stays closed."""

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from stackviz.web.http.cors import OpenReading

ORIGIN = {"Origin": "https://else.example"}


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/accelerators/",
        "/api/v1/reports/",
        "/api/v1/machines/",
        "/admin/login/",
        "/api/v1/docs/",
        "/login/",
        "/health/",
    ],
)
@pytest.mark.parametrize("method", ["get", "options", "head"])
def test_what_is_not_open_says_nothing_to_other_sites(client, db, path, method):
    response = getattr(client, method)(path, headers=ORIGIN)
    assert not [name for name in response.headers if name.startswith("Access-Control")]


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_can_be_written_from_another_site(client, db, method):
    response = getattr(client, method)("/api/v1/accelerators/", headers=ORIGIN)
    assert response.status_code == 405
    assert "Access-Control-Allow-Origin" not in response.headers


def test_credentials_are_never_allowed(client, db):
    for response in (client.get("/api/v1/fields/", headers=ORIGIN), client.options("/api/v1/fields/", headers=ORIGIN)):
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in response.headers
        assert "authorization" not in response.headers.get("Access-Control-Allow-Headers", "").casefold()


def test_a_preflight_costs_no_query(client, db, django_assert_num_queries):
    with django_assert_num_queries(0):
        client.options("/api/v1/values/", headers=ORIGIN)


def test_a_head_is_that_of_the_whole_answer():
    def view(request):
        assert request.method == "GET"
        return HttpResponse("twelve bytes")

    request = RequestFactory().head("/api/v1/fields/")
    response = OpenReading(view)(request)
    assert (response.content, response.headers["Content-Length"]) == (b"", "12")
    assert request.method == "HEAD"


def test_a_refusal_can_be_read_too(client, db):
    response = client.get("/api/v1/values/?sort=beauty", headers=ORIGIN)
    assert (response.status_code, response.headers["Access-Control-Allow-Origin"]) == (422, "*")

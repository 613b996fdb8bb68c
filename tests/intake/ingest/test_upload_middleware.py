"""Uploads take the short way through the middlewares, and are answered as on the long one."""

import pytest
from django.contrib.auth.models import User

from stackviz.records.labs.models import Report
from tests.report.format.reports import report_body

SHORTCUT = "stackviz.intake.ingest.upload_middleware.UploadShortcut"


@pytest.fixture(params=["short", "long"])
def way(request, settings):
    if request.param == "long":
        settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if name != SHORTCUT]
    return request.param


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (report_body(), {}, 202),
        (report_body(format=2), {}, 422),
        (b"{", {}, 422),
        (report_body(), {"HTTP_AUTHORIZATION": "Bearer x"}, 401),
        (report_body(), {"HTTP_CONTENT_ENCODING": "br"}, 415),
    ],
)
def test_both_ways_answer_the_same(post, way, body, headers, status):
    response = post(body, **headers)
    assert response.status_code == status
    assert response.headers["Content-Type"].startswith("application/json")
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Length"] == str(len(response.content))


def test_a_host_that_is_not_ours_is_refused_and_nothing_stored(post, way):
    assert post(report_body(), HTTP_HOST="evil.example").status_code == 400
    assert Report.objects.count() == 0


def test_plain_http_is_sent_to_https_where_that_is_asked_for(post, way, settings):
    settings.SECURE_SSL_REDIRECT = True
    assert post(report_body()).status_code == 301
    assert Report.objects.count() == 0


def test_the_short_way_uses_no_session(post, client):
    client.force_login(User.objects.create_user("somebody"))
    response = post(report_body())
    assert response.status_code == 202
    assert not response.cookies
    assert "Cookie" not in response.headers.get("Vary", "")


def test_everything_else_goes_the_long_way(post, client):
    post(report_body())
    assert client.get("/api/v1/reports/").status_code == 405
    page = client.post(f"/receipts/{Report.objects.get().pk}/")
    assert page.status_code == 405
    assert "Content-Security-Policy" in page.headers


def test_upload_shortcut_follows_the_guard(settings):
    ids = "stackviz.web.http.request_id_middleware.RequestIds"  # before all others
    assert settings.MIDDLEWARE[:3] == [ids, "django.middleware.security.SecurityMiddleware", SHORTCUT]

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


@pytest.mark.parametrize(
    ("is_https_asked", "host", "status"), [(False, "evil.example", 400), (True, "testserver", 301)]
)
def test_other_hosts_and_plain_http_store_nothing(post, way, settings, is_https_asked, host, status):
    settings.SECURE_SSL_REDIRECT = is_https_asked
    assert post(report_body(), HTTP_HOST=host).status_code == status
    assert Report.objects.count() == 0


def test_only_uploads_go_the_short_way_without_a_session(post, client, settings):
    ids = "stackviz.web.http.request_id_middleware.RequestIds"  # before all others
    assert settings.MIDDLEWARE[:3] == [ids, "django.middleware.security.SecurityMiddleware", SHORTCUT]
    client.force_login(User.objects.create_user("somebody"))
    response = post(report_body())
    assert (response.status_code, dict(response.cookies)) == (202, {})
    assert "Cookie" not in response.headers.get("Vary", "")
    assert client.get("/api/v1/reports/").status_code == 405
    page = client.post(f"/receipts/{Report.objects.get().pk}/")
    assert (page.status_code, "Content-Security-Policy" in page.headers) == (405, True)

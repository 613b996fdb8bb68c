"""What a reader sees when something is wrong: what, where, what to do; programs get JSON."""

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import DatabaseError, connection
from django.test import RequestFactory

from stackviz.pages.home import views


def test_an_unknown_address_says_so_and_offers_a_search(client, db):
    for address in ("/no/such/page/", "/<script>alert(1)</script>/"):
        response = client.get(address)
        text = response.content.decode()
        assert response.status_code == 404
        assert "This page does not exist." in text
        assert 'action="/search/"' in text.partition("<main")[2]
        assert "<script>alert" not in text
    response = client.get("/api/v9/none/")
    assert (response.status_code, response["Content-Type"]) == (404, "application/json")
    assert set(response.json()) == {"error", "field"}
    robots = client.get("/robots.txt").content.decode()
    assert "Disallow: /receipts/" in robots
    assert "Disallow: /admin/" in robots
    assert "Allow: /api/v1/\n" in robots  # /llms.txt sends programs there


@pytest.mark.parametrize(
    ("view", "error", "status"),
    [(views.bad_request, SuspiciousOperation(), 400), (views.forbidden, PermissionDenied(), 403)],
)
def test_a_refusal_is_a_whole_page(view, error, status, db):
    response = view(RequestFactory().get("/"), error)
    assert response.status_code == status
    assert b"<h1>" in response.content


def test_the_error_page_needs_no_database():
    # no `db` fixture: a query would fail this test
    response = views.server_error(RequestFactory().get("/"))
    assert response.status_code == 500
    assert "Something went wrong on our side." in response.content.decode()
    assert views.server_error(RequestFactory().get("/api/v1/machines/"))["Content-Type"] == "application/json"


def test_a_form_without_its_token_is_explained(db):
    from django.test import Client

    response = Client(enforce_csrf_checks=True).post("/login/", {"username": "a", "password": "b"})
    assert response.status_code == 403
    assert "cookie" in response.content.decode()


def test_health_reads_the_database(client, monkeypatch, db, django_assert_num_queries):
    def lost(*_args, **_kwargs):
        raise DatabaseError("password=hunter2 host=db.internal")

    with django_assert_num_queries(1):
        response = client.get("/health/")
    assert (response.status_code, response.json()["database"]) == (200, "ok")
    assert "no-store" in response["Cache-Control"]
    with monkeypatch.context() as patched:
        patched.setattr(connection, "cursor", lost)
        response = client.get("/health/")
    assert response.status_code == 503
    assert "hunter2" not in response.content.decode()


def test_the_version_shown_is_the_projects_own(settings):
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(settings.BASE_DIR) / "pyproject.toml").read_text())["project"]
    assert project["version"] == settings.VERSION


def test_login_comes_back_to_the_page_it_was_asked_from(client, django_user_model, db):
    django_user_model.objects.create_user("mei", password="correct horse")
    form = {"username": "mei", "password": "correct horse", "next": "/machines/add/"}
    assert client.post("/login/", form)["Location"] == "/machines/add/"
    form["next"] = "https://evil.example/"
    assert client.post("/login/", form)["Location"] == "/"

"""The passive scanner finds what it looks for; a login and plain http give it nothing to find."""

import pytest
from django.test import Client

from tests.web.passive_scan import Page, header_faults


@pytest.fixture
def behind_https(settings):
    settings.HTTPS = settings.SECURE_SSL_REDIRECT = settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.SECURE_HSTS_SECONDS = 3600


def test_the_cookies_of_a_login(db, client, behind_https, django_user_model):
    django_user_model.objects.create_user("mina", password="a-password-nobody-guesses")
    form = {"username": "mina", "password": "a-password-nobody-guesses"}
    answer = client.post("/login/", form, secure=True)
    assert {"sessionid", "csrftoken"} <= set(answer.cookies)
    assert header_faults(answer) == []


def test_plain_http_leads_to_https(db, behind_https):
    for address in ("/", "/login/", "/admin/", "/api/v1/accelerators/"):
        answer = Client().get(address)
        assert (answer.status_code, answer.headers["Location"]) == (301, f"https://testserver{address}")


@pytest.mark.parametrize(
    ("markup", "fault"),
    [
        ("<script>x</script>", "inline script"),
        ("<style>p{}</style>", "inline style"),
        ('<p onclick="x()">', "script in p onclick"),
        ('<a href=" JavaScript:x()">', "script in a href"),
        ('<p style="background: URL(//x.example)">', "style of p: background: URL(//x.example)"),
        ('<img src="http://x.example/a.png">', "mixed content: http://x.example/a.png"),
        ('<a target="_blank" href="/x/">', "a new window with its opener: /x/"),
        ('<form method="POST"></form>', "a form that posts without a token"),
        ('<script src="//x.example/a.js"></script>', "a script of another site: //x.example/a.js"),
    ],
)
def test_the_scanner_finds(markup, fault):
    assert Page(markup).faults == [fault]


@pytest.mark.parametrize(
    "markup",
    [
        '<script src="/static/a.js"></script>',
        '<script type="application/json">{}</script>',
        '<p style="--p: 79; --q: 1%">',
        '<a href="http://x.example/">',
        '<form method="post"><input name="csrfmiddlewaretoken" value="x"></form><form></form>',
    ],
)
def test_the_scanner_lets_pass(markup):
    assert Page(markup).faults == []

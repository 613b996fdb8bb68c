"""What a passive scanner looks for, on every page that links lead to: as a visitor, an owner of a lab, and in the admin.

Behind https, as the site is deployed. What the pages say is nobody's matter here: headers, cookies, forms, scripts.
"""

import re
from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import User
from django.test import Client

from stackviz.labs.models import Membership
from tests.web.crawl import body_of, crawl
from tests.web.test_private_lab import SEEDS, orchard

__all__ = ["orchard"]

pytestmark = pytest.mark.django_db
OF_A_KIND = 1
MORE_SEEDS = (
    "/api/v1/docs/",
    "/login/",
    "/password/",
    "/labs/join/",
    "/no-such-page/",
    "/zh-hans/",
    "/account/",
    "/diagnose/?example=nvidia-smi",
)
LOADING_STYLE = re.compile(r"url\(|image\(|import|expression|behavior", re.IGNORECASE)
TOLD = (
    "Traceback (most recent call last):\n  File", "site-packages/", "django.core", "DJANGO_SETTINGS_MODULE", "Request Method:",
    "sqlite3.", "psycopg.", "OperationalError at", "/usr/lib/python", "SECRET_KEY",
)  # fmt: skip
TOLD_IN_HEADERS = {"server", "x-powered-by", "x-runtime", "x-debug-toolbar", "x-aspnet-version", "via"}
REFERRER = {"same-origin", "no-referrer", "strict-origin", "strict-origin-when-cross-origin"}


@pytest.fixture
def behind_https(settings):
    settings.HTTPS = settings.SECURE_SSL_REDIRECT = settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.SECURE_HSTS_SECONDS = 3600


class Page(HTMLParser):
    """What a scanner reads of a page; `faults`: what is wrong with its markup."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self._form: dict[str, bool] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self._check_attributes(tag, named)
        if tag == "style" or (tag == "script" and not named.get("src") and "json" not in named.get("type", "")):
            self.faults.append(f"inline {tag}")
        if tag == "form":
            self._form = {"posts": named.get("method", "").lower() == "post", "has a token": False}
        if tag == "input" and named.get("name") == "csrfmiddlewaretoken" and self._form:
            self._form["has a token"] = bool(named.get("value"))

    def _check_attributes(self, tag: str, named: dict[str, str]) -> None:
        for name, value in named.items():
            if name.startswith("on") or value.strip().lower().startswith(("javascript:", "vbscript:", "data:text")):
                self.faults.append(f"script in {tag} {name}")
            if name == "style" and LOADING_STYLE.search(value):
                self.faults.append(f"style of {tag}: {value}")
            is_loaded = name in {"src", "srcset", "action", "formaction", "data", "poster"} or (name, tag) == (
                "href",
                "link",
            )
            if is_loaded and value.startswith("http://") and named.get("rel") != "canonical":
                self.faults.append(f"mixed content: {value}")
        if named.get("target") == "_blank" and not {"noopener", "noreferrer"} & set(named.get("rel", "").split()):
            self.faults.append(f"a new window with its opener: {named.get('href')}")
        if tag in {"script", "link"} and re.match("(https?:)?//", named.get("src", "")):
            self.faults.append(f"a script of another site: {named['src']}")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._form:
            if self._form["posts"] and not self._form["has a token"]:
                self.faults.append("a form that posts without a token")
            self._form = None


def policy_of(answer) -> dict[str, list[str]]:
    rules = (rule.split() for rule in answer.headers.get("Content-Security-Policy", "").split(";") if rule.strip())
    return {name: values for name, *values in rules}


def header_faults(answer) -> list[str]:
    """Of any answer, whatever is in it."""
    faults = [f"header {name}" for name in answer.headers if name.lower() in TOLD_IN_HEADERS]
    if answer.headers.get("X-Content-Type-Options") != "nosniff":
        faults.append("types are guessed")
    if answer.headers.get("Referrer-Policy") not in REFERRER:
        faults.append(f"referrer: {answer.headers.get('Referrer-Policy')}")
    if "max-age" not in answer.headers.get("Strict-Transport-Security", ""):
        faults.append("no HSTS")
    stored = (cookie for cookie in answer.cookies.values() if cookie["max-age"] != 0)  # 0: it is deleted
    open_cookies = (cookie for cookie in stored if not is_guarded(cookie))
    return faults + [f"cookie {cookie.OutputString()}" for cookie in open_cookies]


def is_guarded(cookie) -> bool:
    return bool(cookie["secure"] and cookie["httponly"] and cookie["samesite"] in {"Lax", "Strict"})


def page_faults(answer, address: str) -> list[str]:
    """Of an HTML page besides."""
    text, policy = body_of(answer), policy_of(answer)
    scripts = policy.get("script-src", policy.get("default-src", ["nothing said"]))
    faults = [f"script-src {scripts}"] if set(scripts) - {"'self'", "'none'"} else []
    faults += [f"{name} {values}" for name, values in policy.items() if "'unsafe-eval'" in values or "*" in values]
    if "'unsafe-inline'" in policy.get("default-src", []):
        faults.append("everything may be inline")
    faults += [f"no rule for {name}" for name in ("base-uri", "form-action", "frame-ancestors") if name not in policy]
    if policy.get("object-src", policy.get("default-src")) != ["'none'"]:
        faults.append("objects may be loaded")
    is_embed = address.startswith("/embed/")
    wanted = ("SAMEORIGIN", ["'self'"]) if is_embed else ("DENY", ["'none'"])
    if (answer.headers.get("X-Frame-Options"), policy.get("frame-ancestors")) != wanted:
        faults.append(f"frames: {answer.headers.get('X-Frame-Options')}, {policy.get('frame-ancestors')}")
    faults += Page(text).faults
    return faults + [f"told: {words}" for words in TOLD if words in text]


def faults_of(address: str, answer, *, name: str = "") -> list[str]:
    faults = header_faults(answer)
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        faults += page_faults(answer, address)
        cache = answer.headers.get("Cache-Control", "")
        if name and name in body_of(answer) and not {"private", "no-store"} & set(re.split(r",\s*", cache)):
            faults.append(f"cached though it names {name}: {cache}")
    return faults + [f"status {answer.status_code}"] * (answer.status_code >= 500)


def scan(client, seeds, name: str = "", left_out: tuple[str, ...] = ()) -> tuple[int, dict]:
    """How many addresses were asked for, and the faults of those that have any."""
    left_out += ("accounts:logout", "admin:logout")
    found = {
        address: faults_of(address, answer, name=name)
        for address, answer in crawl(client, seeds, lambda _address: OF_A_KIND, left_out, secure=True)
    }
    return len(found), {address: faults for address, faults in found.items() if faults}


def test_pages_of_a_visitor(orchard, client, behind_https):
    number, faults = scan(client, (*SEEDS, *MORE_SEEDS))
    assert faults == {}
    assert number > 80


def test_pages_of_an_owner_of_a_lab(orchard, client, behind_https):
    owner = User.objects.create_user("mina-of-orchard")
    Membership.objects.create(lab=orchard, user=owner, role=Membership.Role.OWNER)
    client.force_login(owner)
    number, faults = scan(client, (*SEEDS, *MORE_SEEDS), name=owner.username)
    assert faults == {}
    assert number > 80


def test_pages_of_the_admin(orchard, client, behind_https):
    root = User.objects.create_superuser("root-of-orchard")
    client.force_login(root)
    seeds = ["/admin/", "/admin/state/", "/admin/catalog/price/add/", "/admin/no-such-page/"]
    number, faults = scan(client, seeds, name=root.username, left_out=("pages:", "catalog:", "machines:"))
    assert faults == {}
    assert number > 60


def test_the_cookies_of_a_login(client, behind_https, django_user_model):
    django_user_model.objects.create_user("mina", password="a-password-nobody-guesses")
    form = {"username": "mina", "password": "a-password-nobody-guesses"}
    answer = client.post("/login/", form, secure=True)
    assert {"sessionid", "csrftoken"} <= set(answer.cookies)
    assert header_faults(answer) == []


def test_plain_http_leads_to_https(behind_https):
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

"""What strangers put into addresses and headers: nothing of it gets into a header, a file, or another site's hands."""

import ast
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.core import mail

from stackviz.pages.data.dump import write_dump
from tests.live import ROOT

pytestmark = pytest.mark.django_db
PASSWORD = "a-password-nobody-guesses"
ELSEWHERE = (
    "https://evil.example/", "//evil.example/", "/\\evil.example", "\\\\evil.example", "///evil.example", "javascript:alert(1)",
    "https:evil.example", "\thttps://evil.example/", "http:///evil.example", "//evil.example@testserver/",
    "https://testserver@evil.example/", "https://testserver.evil.example/",
)  # fmt: skip
BROKEN = ("/\r\nSet-Cookie: session=evil", "/%0d%0aSet-Cookie:%20session=evil", "/\nLocation: https://evil.example/")


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", "ada@example.org", PASSWORD)


def leads_here(answer) -> bool:
    location = answer.headers.get("Location", "/")
    parts = urlsplit(location)
    return parts.netloc in {"", "testserver"} and parts.scheme in {"", "http"} and location.startswith("/")


# --- open redirects ---


@pytest.mark.parametrize("address", [*ELSEWHERE, *BROKEN])
def test_nothing_that_takes_an_address_leads_elsewhere(client, ada, address):
    answers = [
        client.post("/login/", {"username": "ada", "password": PASSWORD, "next": address}),
        client.get("/account/second-factor/", {"next": address}),
        client.get("/language/zh-hans/", {"next": address}),
        client.get("/admin/login/", {"next": address}),
        client.post("/logout/", {"next": address}),
    ]
    assert all(answer.status_code < 500 for answer in answers)
    assert [answer.headers.get("Location") for answer in answers if not leads_here(answer)] == []
    assert not any("session=evil" in answer.cookies.output() for answer in answers)


@pytest.mark.parametrize("address", ["//evil.example/", "//evil.example/%2e%2e", "/\\evil.example/x"])
def test_an_address_without_its_slash_is_not_completed_elsewhere(client, address):
    answer = client.generic("GET", "/", PATH_INFO=f"{address}accelerators")
    assert answer.status_code in {404, 400} or leads_here(answer)


# --- header injection ---


@pytest.mark.parametrize("text", ["a\r\nSet-Cookie: x=1", "a\nb", "ü", "a" * 65, "", "a b"])
def test_the_id_of_a_request_is_taken_over_only_where_it_is_one(client, text):
    answer = client.get("/healthz", HTTP_X_REQUEST_ID=text)
    assert answer["X-Request-ID"] != text
    assert answer["X-Request-ID"].isalnum() or set(answer["X-Request-ID"]) <= set("0123456789abcdef-")


@pytest.mark.parametrize(
    "address",
    [
        "/accelerators/?q=%0d%0aSet-Cookie:%20x=1",
        "/compare/?of=%0d%0aSet-Cookie:%20x=1&format=csv",
        "/accelerators/?q=%0d%0aX&format=csv",
        "/search/?q=%0aLocation:%20//evil.example",
        "/diagnose/?example=%0d%0aX",
        "/%0d%0aSet-Cookie:%20x=1/",
    ],
)
def test_line_ends_in_an_address_get_into_no_header(client, address):
    answer = client.get(address)
    assert answer.status_code < 500
    assert not [value for value in answer.headers.values() if "\n" in value or "\r" in value]
    assert "x" not in answer.cookies


# --- the host ---


@pytest.mark.parametrize(
    "host",
    ["evil.example", "testserver.evil.example", "testserver:80@evil.example", "evil.example:80", " ", "a\r\nb", "../"],
)
def test_another_host_is_refused(client, settings, host):
    settings.ALLOWED_HOSTS = ["testserver"]
    for address in ("/", "/accelerators/", "/api/v1/accelerators/", "/login/", "/robots.txt"):
        assert client.get(address, HTTP_HOST=host).status_code == 400, address


@pytest.mark.parametrize("name", ["HTTP_X_FORWARDED_HOST", "HTTP_X_HOST", "HTTP_FORWARDED", "HTTP_X_ORIGINAL_URL"])
def test_a_host_in_other_headers_is_in_no_page(client, name):
    value = "host=evil.example" if name == "HTTP_FORWARDED" else "evil.example"
    for address in ("/", "/machines/add/", "/robots.txt", "/llms.txt"):
        assert b"evil.example" not in client.get(address, **{name: value}).content, address


def test_no_mail_about_a_password_names_another_host(client, ada, settings):
    settings.EMAIL_HOST, settings.CELERY_TASK_ALWAYS_EAGER = "mail.example", True
    settings.ALLOWED_HOSTS, settings.SITE_URL = ["testserver"], "https://site.example"
    assert client.post("/password/", {"email": "ada@example.org"}, HTTP_HOST="evil.example").status_code == 400
    client.post("/password/", {"email": "ada@example.org"}, HTTP_X_FORWARDED_HOST="evil.example")
    assert not [message for message in mail.outbox if "evil.example" in message.body]


# --- files ---


@pytest.fixture
def beside(settings, tmp_path):
    """A dump, a secret beside the folder of dumps, and a file that links to it."""
    settings.VAR_DIR, settings.DATA_DIR = tmp_path, tmp_path / "data"
    (tmp_path / "secret_key").write_text("the-secret-of-this-site")
    dump = write_dump()
    (dump.folder / "linked.csv").symlink_to(tmp_path / "secret_key")
    return dump


PLACES = ("..%2fsecret_key", "%2e%2e%2fsecret_key", "..%5csecret_key", "....%2f%2fsecret_key", "%2fetc%2fpasswd", "..%00", ".lock",
          "latest", ".reports", "linked.csv", "manifest.json%00.csv", "..%252fsecret_key", "%c0%ae%c0%ae%2fsecret_key")  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_only_files_of_the_list_are_served(client, beside, place):
    for folder in ("", f"{beside.name}/", "..%2fdata/", "%2e%2e/"):
        address = f"/data/{folder}{place}"
        answer = client.get(address)
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        assert answer.status_code in {400, 404}, address
        assert b"the-secret-of-this-site" not in content


@pytest.mark.parametrize("place", [*PLACES, "..%2f..%2f..%2fmanage.py", "css%2f..%2f..%2fmanage.py"])
def test_no_other_address_leads_into_folders(client, place):
    for folder in ("static", "picture/sheet", "badge", "embed", "agent", "short"):
        assert client.get(f"/{folder}/{place}").status_code in {400, 404}, folder


# --- formulas ---

# Files of our own, which no spreadsheet opens: the table of cards that an agent carries.
NO_DOWNLOAD = {"stackviz/records/catalog/match.py"}


def test_every_csv_file_is_written_with_safe_cells():
    """`csv.writer` stands only where `safe_cell` does; tests of each file show that it is used."""
    writers = set()
    for path in (ROOT / "stackviz").rglob("*.py"):
        text = path.read_text()
        if "csv." not in text:
            continue
        calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)}
        if calls & {"csv.writer", "csv.DictWriter"}:
            writers.add((str(path.relative_to(ROOT)), "safe_cell" in text))
    assert {path for path, is_safe in writers if not is_safe} == NO_DOWNLOAD
    assert len(writers) >= 4

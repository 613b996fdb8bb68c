"""Who is sent to which language: once by the browser's wish, then by the cookie, and never what a program fetches."""

import re
import xml.etree.ElementTree as ET
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import resolve, set_script_prefix
from django.utils.translation import get_language, override

from stackviz.pages.sharing import sitemap
from stackviz.web.http.addresses import address_by_name
from stackviz.web.i18n.languages import address_in, language_of, local_address, page_in
from tests.languages import chinese
from tests.pages.diagnose.conftest import CPU_WHEEL

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8", "accept-language": "zh-CN,zh;q=0.9,en;q=0.8"}
H100 = "nvidia-h100-sxm5-80gb"
XHTML = "{http://www.w3.org/1999/xhtml}"
MAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def language_cookie(response) -> str:
    cookie = response.cookies.get("django_language")
    return cookie.value if cookie else ""


# --- the first visit ---


def test_a_chinese_browser_is_sent_to_chinese_once(client, db):
    first = client.get("/accelerators/?vendor=nvidia&q=h%20100", headers=BROWSER)
    assert (first.status_code, first["Location"]) == (302, "/zh-hans/accelerators/?vendor=nvidia&q=h%20100")
    assert first["Cache-Control"] == "private, no-store"
    assert {"Accept-Language", "Cookie"} <= {name.strip() for name in first["Vary"].split(",")}
    assert language_cookie(first) == "zh-hans"
    assert first.cookies["django_language"]["samesite"] == "Lax"
    shown = client.get(first["Location"], headers=BROWSER)
    assert (shown.status_code, language_cookie(shown)) == (200, "")
    sent = client.post("/diagnose/", {"text": "no dump"}, headers=BROWSER)  # a form is answered where it was sent
    assert (sent.status_code, sent["Content-Language"]) == (422, "en")
    again = client.get("/learn/", headers={**BROWSER, "accept-language": "en"})
    assert again["Location"] == "/zh-hans/learn/"
    assert language_cookie(again) == ""


@pytest.mark.parametrize("wanted", ["zh-CN", "zh-Hans", "zh-SG", "zh", "fr;q=0.9,zh;q=0.8,en;q=0.7"])
def test_each_way_to_ask_for_chinese_is_understood(client, db, wanted):
    assert client.get("/learn/", headers={**BROWSER, "accept-language": wanted})["Location"] == "/zh-hans/learn/"


@pytest.mark.parametrize("wanted", ["en", "fr-FR", "en-US,en;q=0.9,zh;q=0.8", "", "*", "x" * 600, "\x00,zh!"])
def test_others_stay_in_english(client, db, wanted):
    response = client.get("/learn/", headers={**BROWSER, "accept-language": wanted})
    assert (response.status_code, response["Content-Language"]) == (200, "en")
    assert {"Accept-Language", "Cookie"} <= {name.strip() for name in response["Vary"].split(",")}


@pytest.mark.parametrize(
    ("cookie", "leads_to"),
    [("en", ""), ("EN", ""), ("Zh-Hans", "/zh-hans/learn/"), ("ZH-HANS", "/zh-hans/learn/"), ("../../de", "/zh-hans/learn/")],
)  # fmt: skip
def test_a_cookie_in_any_case_is_a_choice(client, db, cookie, leads_to):
    for ask in (client.get, client.head):
        client.cookies["django_language"] = cookie
        answer = ask("/learn/", headers=BROWSER)
        assert answer.headers.get("Location", "") == leads_to
        assert language_cookie(answer) == ("zh-hans" if leads_to else "")


@pytest.mark.parametrize("cookie", ["", "en"])
def test_the_address_alone_decides_below_a_prefix(client, db, cookie):
    client.cookies["django_language"] = cookie
    response = client.get("/zh-hans/learn/", headers={**BROWSER, "accept-language": "en"})
    assert '<html lang="zh-hans">' in response.content.decode()
    assert response["Content-Language"] == "zh-hans"
    assert "Accept-Language" not in response.get("Vary", "")


@pytest.mark.parametrize(
    ("address", "more"),
    [
        *(("/learn/", more) for more in ({"accept": "*/*"}, {"accept": ""}, {"hx-request": "true"})),
        *((address, {}) for address in ("/accelerators/?format=csv", "/api/v1/accelerators/", "/robots.txt")),
        *(
            (address, {})
            for address in ("/llms.txt", "/sitemap.xml", "/health/", "/data/nothing.csv", "/embed/compare/")
        ),
        ("/badge/nvidia-h100-sxm5-80gb/fp32_tflops.svg", {}),
        ("/oembed?url=http://testserver/learn/", {}),
        ("/no/such/page/", {}),
    ],
)
def test_what_a_program_fetches_is_sent_nowhere(client, db, address, more):
    client.cookies["django_language"] = "zh-hans"
    response = client.get(address, headers={**BROWSER, **more})
    assert response.status_code != 302
    assert response["Content-Language"] == "en"


def test_a_cached_copy_is_not_shown_in_another_language(client, curated, db):
    sheet = f"/accelerators/{H100}/"
    tag = client.get(sheet)["ETag"]
    assert client.get(sheet, headers={"if-none-match": tag}).status_code == 304
    moved = client.get(sheet, headers={**BROWSER, "if-none-match": tag})
    assert moved.status_code == 302
    translated = client.get(chinese(sheet))
    assert translated["ETag"] != tag
    assert client.get(chinese(sheet), headers={"if-none-match": tag}).status_code == 200


def test_the_admin_follows_the_browser_at_one_address(client, db):
    client.force_login(User.objects.create_superuser("root"))
    response = client.get("/admin/", headers=BROWSER)
    assert 'lang="zh-hans"' in response.content.decode()
    assert client.get("/zh-hans/admin/").status_code == 404


def test_a_language_does_not_outlive_its_request(client, curated, db):
    """One process serves both: what an agent is sent to is English, whoever came before."""
    client.get("/zh-hans/")
    assert get_language() == "en"
    document = client.get("/api/v1/accelerators/?vendor=nvidia", headers={"accept-language": "zh"}).content.decode()
    assert "testserver/accelerators/" in document
    assert "zh-hans" not in document


# --- addresses ---


OTHER_PREFIXES = [
    "/zh-hans/zh-hans/",
    "/de/",
    "/de/learn/",
    "/en/",
    "/zh/learn/",
    "/ZH-HANS/learn/",
    "/zh-hansel/",
    "/zh-hans//",
]
PROGRAMS = [
    "health/",
    "robots.txt",
    "llms.txt",
    "sitemap.xml",
    "oembed",
    "embed/compare/",
    "api/v1/accelerators/",
    "api/v1/nothing/",
]


@pytest.mark.parametrize("address", [*OTHER_PREFIXES, *(f"/zh-hans/{name}" for name in PROGRAMS)])
def test_no_other_prefix_exists_and_programs_have_none(client, db, address):
    response = client.get(address)
    assert response.status_code == 404
    if "/api/" in address:
        assert response.json()["error"]


def test_a_prefix_without_a_slash_leads_to_the_front_page(client, db):
    assert client.get("/zh-hans")["Location"] == "/zh-hans/"
    assert client.get("/zh-hans/learn")["Location"] == "/zh-hans/learn/"


def test_an_address_has_one_prefix_whatever_it_had():
    for path in ("/learn/?q=1#kinds", "/zh-hans/learn/?q=1#kinds"):
        assert address_in("zh-hans", path) == "/zh-hans/learn/?q=1#kinds"
        assert address_in("en", path) == "/learn/?q=1#kinds"
    languages = {"/zh-hans/": "zh-hans", "/zh-hans": "zh-hans", "/zh-hansel/": "en", "/": "en", "": "en"}
    assert {path: language_of(path) for path in languages} == languages
    assert page_in("zh-hans", "//evil.example/") == "/zh-hans/"
    assert page_in("en", "/zh-hans//evil.example/") == "/"


def test_the_site_may_stand_below_a_folder():
    set_script_prefix("/site/")
    try:
        assert address_in("zh-hans", "/site/learn/") == "/site/zh-hans/learn/"
        assert address_in("en", "/site/zh-hans/learn/") == "/site/learn/"
        assert page_in("zh-hans", "//evil.example/") == "/site/zh-hans/"
        with override("zh-hans"):
            assert address_by_name("learn:index") == "/site/zh-hans/learn/"
    finally:
        set_script_prefix("/")


def test_a_text_names_pages_as_in_english_and_leads_to_its_own():
    with override("zh-hans"):
        assert local_address("/glossary/#kinds") == "/zh-hans/glossary/#kinds"
        assert local_address("/data/values.csv") == "/data/values.csv"
        assert local_address("/api/v1/openapi.json") == "/api/v1/openapi.json"
    assert local_address("/glossary/#kinds") == "/glossary/#kinds"


# --- the menu ---


def menu(client, address) -> dict[str, str]:
    """Language -> where its link leads."""
    text = client.get(address).content.decode()
    links = [unescape(link) for link in re.findall(r'<a href="(/language/[^"]*)"', text)]
    return {urlsplit(link).path.split("/")[2]: link for link in links}


@pytest.mark.parametrize(
    "address", ["/", f"/accelerators/{H100}/?at=2026-11-20", "/accelerators/?vendor=nvidia&q=a%26b", "/login/"]
)
def test_the_menu_leads_to_the_same_page_and_remembers(client, curated, db, address):
    links = menu(client, address)
    assert list(links) == ["en", "zh-hans"]
    there = client.get(links["zh-hans"])
    assert (there.status_code, there["Location"]) == (302, chinese(address))
    assert there["Cache-Control"] == "private, no-store"
    assert language_cookie(there) == "zh-hans"
    back = client.get(menu(client, there["Location"])["en"])
    assert (back["Location"], language_cookie(back)) == (address, "en")
    assert client.get(address, headers=BROWSER).status_code == 200


@pytest.mark.parametrize(
    "elsewhere",
    [
        "//evil.example/", "https://evil.example/", "/\\evil.example/", "\\\\evil.example", "/zh-hans//evil.example/", "/\t/evil.example",
        "javascript:alert(1)", "evil.example", "", "///evil.example", "/zh-hans/\\evil.example/", "/zh-hans/zh-hans//evil.example",
    ],
)  # fmt: skip
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_menu_leads_to_no_other_site(client, db, elsewhere, language):
    target = client.get(f"/language/{language}/", {"next": elsewhere})["Location"]
    assert re.match(r"/(?![/\\])", target), target
    assert urlsplit(target).netloc == ""


def test_the_menu_answers_only_what_its_page_asks(client, db):
    response = client.get("/language/en/", {"next": "/learn/\r\nSet-Cookie: a=b"})
    assert "\n" not in response["Location"]
    assert list(response.cookies) == ["django_language"]
    assert client.get("/language/de/").status_code == 404
    assert client.post("/language/en/").status_code == 405
    client.cookies.clear()
    response = client.get("/language/zh-hans/?next=/learn/", headers={"sec-fetch-site": "cross-site"})
    assert (response["Location"], language_cookie(response)) == ("/zh-hans/learn/", "")


def test_a_diagnosis_is_made_again_in_the_other_language(curated, db):
    """What was pasted is in no address: the menu sends the form of the page again."""
    client = Client(enforce_csrf_checks=True)
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get("/diagnose/").content.decode())[1]
    page = client.post("/diagnose/", {"text": CPU_WHEEL, "csrfmiddlewaretoken": token}).content.decode()
    button = re.search(r'<button form="paste" formaction="([^"]+)" lang="zh-hans">', page)
    assert button is not None
    text = unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.DOTALL)[1])
    translated = client.post(button[1], {"text": text, "csrfmiddlewaretoken": token})
    assert "结论" in translated.content.decode()


def test_who_saved_a_text_may_delete_it_in_either_language(client, curated, db):
    from tests.pages.diagnose.test_links import save

    address = save(client)["Location"]
    for page in (address, chinese(address)):
        assert 'type="hidden" name="word"' in client.get(page).content.decode()


# --- for search engines ---


@pytest.mark.parametrize(
    ("address", "is_introduced"),
    [
        ("/", True),
        ("/learn/", True),
        (f"/accelerators/{H100}/", True),
        ("/coverage/", False),
        ("/machines/?q=box", False),
    ],
)
def test_a_page_names_itself_in_each_language(client, curated, db, address, is_introduced):
    expected = [
        ("en", f"http://testserver{address}"),
        ("zh-Hans", f"http://testserver{chinese(address)}"),
        ("x-default", f"http://testserver{address}"),
    ]
    for path in (address, chinese(address)):
        text = client.get(path).content.decode()
        assert re.findall(r'<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">', text) == expected
        canonical = re.findall(r'<link rel="canonical" href="([^"]+)">', text)
        assert canonical == ([f"http://testserver{path}"] if is_introduced else [])
        locales = ["en_GB", "zh_CN"] if path == address else ["zh_CN", "en_GB"]
        named = re.findall(r'<meta property="og:locale(?::alternate)?" content="([^"]+)">', text)
        assert named == (locales if is_introduced else [])


def test_the_head_and_robots_of_pages_without_translation(client, db):
    assert 'rel="alternate" hreflang' not in client.get("/zh-hans/no/such/page/").content.decode()
    text = client.get("/machines/", {"q": '"><script>alert(1)</script>'}).content.decode()
    assert "<script>alert" not in text
    text = client.get("/robots.txt").content.decode()
    assert "Disallow: /receipts/\nDisallow: /zh-hans/receipts/\n" in text
    assert "Disallow: /language/\n" in text


def test_the_map_lists_both_languages(client, curated, db):
    root = ET.fromstring(client.get("/sitemap-accelerators.xml").content)
    urls = {
        url.findtext(f"{MAP}loc"): {link.get("hreflang"): link.get("href") for link in url.iter(f"{XHTML}link")}
        for url in root.iter(f"{MAP}url")
    }
    english = f"http://testserver/accelerators/{H100}/"
    translated = f"http://testserver/zh-hans/accelerators/{H100}/"
    assert urls[english] == urls[translated] == {"en": english, "zh-Hans": translated, "x-default": english}
    assert len([url for url in urls if "/zh-hans/" in url]) * 2 == len(urls) > 400
    assert all(part.limit * 2 <= sitemap.MOST_ADDRESSES for part in sitemap.SECTIONS.values())


def test_oembed_knows_a_page_by_its_address_in_either_language(client, curated, db):
    answers = [
        client.get("/oembed", {"url": f"http://testserver{path}"})
        for path in (f"/accelerators/{H100}/", f"/zh-hans/accelerators/{H100}/")
    ]
    assert answers[0].status_code == 200
    assert answers[0].json() == answers[1].json()
    text = client.get(f"/zh-hans/accelerators/{H100}/").content.decode()
    frames = parse_qs(urlsplit(unescape(re.search(r'json\+oembed" href="([^"]+)"', text)[1])).query)["url"]
    assert frames == [f"http://testserver/zh-hans/accelerators/{H100}/"]
    assert f"http://testserver/embed/accelerators/{H100}/" in text
    assert resolve(f"/embed/accelerators/{H100}/").url_name == "embed-sheet"

"""Sitemap, llms.txt, badges, embeds, oEmbed: right for strangers, nothing of a private lab, every other page unframed."""

import re
import xml.etree.ElementTree as ET
from html import unescape

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from stackviz.pages.sharing import sitemap
from stackviz.pages.sharing.hosts import check_embed_hosts

H100, M3_MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"
NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
IN_A_FRAME = {"Sec-Fetch-Dest": "iframe"}


def locations(client, path) -> list[str]:
    answer = client.get(path)
    assert answer.status_code == 200
    return [element.text for element in ET.fromstring(answer.content).iter(f"{NAMESPACE}loc")]


def mapped(client) -> list[str]:
    return [
        page
        for part in locations(client, "/sitemap.xml")
        for page in locations(client, part.removeprefix("http://testserver"))
    ]


# --- the map ---


def test_every_page_of_the_map_exists(client, dgx):
    pages = [page.removeprefix("http://testserver") for page in mapped(client)]
    assert len(pages) == len(set(pages)) > 300
    known = {"/", f"/accelerators/{H100}/", "/stacks/nvidia-cuda/", "/benchmarks/gemm/", "/machines/north/dgx-07/"}
    assert known <= set(pages)
    for page in (*pages[:24], *pages[24::40]):
        assert client.get(page).status_code == 200, page


def test_the_map_is_split_and_dated(client, curated, db, monkeypatch):
    text = client.get("/sitemap-accelerators.xml").content.decode()
    assert text.count("<lastmod>20") == text.count("<loc>")
    monkeypatch.setattr(sitemap._Accelerators, "limit", 100)
    parts = [part for part in locations(client, "/sitemap.xml") if "accelerators" in part]
    assert len(parts) >= 2
    assert parts[1].endswith("?p=2")
    assert sitemap.MOST_ADDRESSES == 50_000


def test_the_map_holds_no_private_machine(client, sealed, dgx, member):
    client.force_login(member)
    assert not [page for page in mapped(client) if "cellar" in page]


def test_the_map_of_machines_costs_the_same_for_many(client, dgx, django_assert_max_num_queries):
    with django_assert_max_num_queries(5):
        client.get("/sitemap-machines.xml")
    with django_assert_max_num_queries(2):
        client.get("/sitemap-machines.xml?_=1")


def test_robots_and_language_models_are_led_to_it(client, curated, db):
    assert "Sitemap: http://testserver/sitemap.xml\n" in client.get("/robots.txt").content.decode()
    text = client.get("/llms.txt").content.decode()
    assert text.startswith("# accelweb\n\n> ")
    links = [link.removeprefix("http://testserver") for link in re.findall(r"\]\((.*?)\)", text)]
    assert len(links) > 15
    for link in links:
        assert client.get(link).status_code == 200, link


# --- badges ---


@pytest.mark.parametrize("field", ["memory_bandwidth_gb_s", "bf16_tensor_tflops", "tdp_w"])
def test_the_rank_of_a_badge_is_the_place_on_the_sheet(client, curated, db, field):
    badge = client.get(f"/badge/{H100}/{field}/rank.svg").content.decode()
    sheet = unescape(client.get(f"/accelerators/{H100}/").content.decode())
    places = re.findall(rf'field={field}[^"]*"[^>]*>\s*place (\d+ of \d+)', sheet)
    assert places
    assert f": {places[0]}<" in badge


def test_a_badge_shows_figures_gaps_and_the_best_of_a_machine(client, dgx, curated, db):
    figure = client.get(f"/badge/{H100}/memory_bandwidth_gb_s.svg")
    assert figure["Content-Type"].startswith("image/svg+xml")
    assert "3,350 GB/s" in figure.content.decode()
    assert "780 TFLOP/s" in client.get("/badge/machine/north/dgx-07/best.svg").content.decode()
    ET.fromstring(figure.content)
    assert "not published" in client.get(f"/badge/{M3_MAX}/bf16_tensor_tflops.svg").content.decode()
    page = unescape(client.get(f"/accelerators/{M3_MAX}/").content.decode())
    badge, target = re.search(r"\[!\[[^\]]*\]\(([^)]+\.svg)\)\]\(([^)]+)\)", page).groups()
    assert "400 GB/s" in client.get(badge.removeprefix("http://testserver")).content.decode()
    assert target == f"http://testserver/accelerators/{M3_MAX}/"
    path = f"/badge/{H100}/memory_gb.svg"
    first = client.get(path)
    assert first["Cache-Control"] == "public, max-age=3600"
    assert client.get(path, headers={"If-None-Match": first["ETag"]}).status_code == 304


def test_badges_of_machines_are_public_and_escaped(client, sealed, dgx, member):
    dgx.name = '"><script>alert(1)</script>\x00\u202e'
    dgx.save()
    text = client.get("/badge/machine/north/dgx-07/best.svg").content.decode()
    assert "<script" not in text
    ET.fromstring(text)
    unknown = client.get("/badge/machine/cellar/no-such-box/best.svg")
    client.force_login(member)
    private = client.get("/badge/machine/cellar/sealed-box/best.svg")
    assert private.status_code == unknown.status_code == 404
    assert private.content == unknown.content


# --- embeds ---

EMBEDS = (
    f"/embed/accelerators/{H100}/",
    f"/embed/compare/?a={H100}&a={M3_MAX}",
    f"/embed/compare/stacks/?a={H100}&a={M3_MAX}",
    "/embed/benchmarks/llama-bench/",
)


@pytest.mark.parametrize("path", EMBEDS)
@pytest.mark.usefixtures("curated", "cited")
def test_an_embed_has_no_script_form_or_cookie(client, db, path):
    client.cookies["sessionid"] = "a-session-that-is-over"  # it is neither read nor deleted
    answer = client.get(path, headers={**IN_A_FRAME, "Referer": "https://anywhere.example/"})
    assert answer.status_code == 200
    assert not answer.cookies
    assert "Cookie" not in answer.get("Vary", "")
    text = answer.content.decode()
    assert not re.search(r"<(script|form|input|button)|\son\w+=|csrf", text)
    assert 'rel="noopener"' in text
    policy = answer["Content-Security-Policy"]
    assert re.search(r"frame-ancestors \*(;|$)", policy)
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "X-Frame-Options" not in answer


@pytest.mark.parametrize("path", EMBEDS)
@pytest.mark.usefixtures("curated", "cited")
def test_hosts_that_may_embed_can_be_narrowed(client, db, settings, path):
    settings.EMBED_HOSTS = ["example.org", "*.lab.example"]
    answer = client.get(path)
    assert "frame-ancestors 'self' example.org *.lab.example" in answer["Content-Security-Policy"]
    assert "X-Frame-Options" not in answer
    settings.EMBED_HOSTS = ["self"]
    closed = client.get(path)
    assert closed["X-Frame-Options"] == "SAMEORIGIN"
    assert re.search("frame-ancestors 'self'(;|$)", closed["Content-Security-Policy"])


@pytest.mark.parametrize("path", ["/", "/compare/", f"/accelerators/{H100}/", "/login/", "/oembed"])
@pytest.mark.usefixtures("curated")
def test_no_other_page_can_be_framed(client, db, settings, path):
    settings.EMBED_HOSTS = ["example.org"]
    answer = client.get(path)
    assert answer["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("referer", "status"),
    [
        ("https://example.org/page", 200), ("https://a.lab.example/", 200), ("http://testserver/", 200), ("", 200),
        ("https://evil.example/", 403), ("https://example.org.evil.example/", 403), ("https://lab.example.evil/", 403),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("curated")
def test_a_forbidden_host_is_told_so(client, db, settings, referer, status):
    settings.EMBED_HOSTS = ["example.org", "*.lab.example"]
    answer = client.get(EMBEDS[0], headers={**IN_A_FRAME, "Referer": referer})
    assert answer.status_code == status
    if status == 403:
        assert "EMBED_HOSTS" in answer.content.decode()
        assert answer["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    "host", ["**", "example.org; script-src *", "'none'", "https://", "exa mple.org", "javascript:alert(1)"]
)
def test_what_is_no_host_is_refused_at_check_and_never_sent(client, curated, db, settings, host):
    settings.EMBED_HOSTS = [host]
    assert [problem.id for problem in check_embed_hosts()] == ["accelweb.E011"]
    with pytest.raises(SystemCheckError):
        call_command("check")
    assert re.search("frame-ancestors 'self'(;|$)", client.get(EMBEDS[0])["Content-Security-Policy"])


@pytest.mark.parametrize(
    ("hosts", "shown", "absent"),
    [
        (["*"], ["&lt;iframe src="], ["Works on"]),
        (["example.org"], ["&lt;iframe src=", "Works on: example.org"], []),
        (["self"], [], ["&lt;iframe"]),
    ],
)
@pytest.mark.usefixtures("curated")
def test_the_code_to_copy_is_one_that_works(client, db, settings, hosts, shown, absent):
    settings.EMBED_HOSTS = hosts
    page = client.get(f"/compare/?a={H100}&a={M3_MAX}").content.decode()
    assert all(text in page for text in shown)
    assert not any(text in page for text in absent)
    source = re.search(r"&lt;iframe src=&#34;(.*?)&#34;|&lt;iframe src=&quot;(.*?)&quot;", page)
    if source:
        address = unescape(unescape(source[1] or source[2])).removeprefix("http://testserver")
        assert client.get(address, headers=IN_A_FRAME).status_code == 200


# --- oEmbed ---


@pytest.mark.parametrize(
    "page", [f"/accelerators/{H100}/", f"/compare/?a={H100}&a={M3_MAX}", "/benchmarks/llama-bench/"]
)
@pytest.mark.usefixtures("curated", "cited")
def test_a_page_names_its_oembed_answer(client, db, page):
    link = re.search(
        '<link rel="alternate" type="application/json\\+oembed" href="(.*?)"', client.get(page).content.decode()
    )
    answer = client.get(unescape(link[1]).removeprefix("http://testserver"))
    described = answer.json()
    assert described["version"] == "1.0"
    assert described["type"] == "rich"
    frame = unescape(re.search('src="(.*?)"', described["html"])[1])
    assert client.get(frame.removeprefix("http://testserver")).status_code == 200
    assert client.get(described["thumbnail_url"].removeprefix("http://testserver"))["Content-Type"] == "image/png"
    assert answer["Access-Control-Allow-Origin"] == "*"


def ask(client, **parameters):
    return client.get("/oembed", parameters)


def test_sizes_are_held_and_without_hosts_the_answer_is_a_link(client, curated, db, settings):
    url = f"http://testserver/accelerators/{H100}/"
    settings.EMBED_HOSTS = ["self"]
    described = ask(client, url=url).json()
    assert described["type"] == "link"
    assert "html" not in described
    settings.EMBED_HOSTS = ["example.org"]
    small = ask(client, url=url, maxwidth="300", maxheight="200").json()
    assert (small["width"], small["height"]) == (300, 200)
    assert ask(client, url=url, maxwidth="9" * 6).json()["width"] == 640
    refused = ask(client, url=url, maxwidth="wide")
    assert (refused.status_code, refused.json()["field"]) == (400, "maxwidth")


def test_other_formats_and_addresses_are_refused_with_words(client, curated, db):
    url = f"http://testserver/accelerators/{H100}/"
    assert ask(client, url=url, format="xml").status_code == 501
    for bad in ("", "x", "//", "http://[", f"http://evil.example/accelerators/{H100}/", "http://testserver/admin/",
                "http://testserver/accelerators/none/", "http://testserver/embed/compare/", "http://testserver/" + "x" * 9000):  # fmt: skip
        answer = ask(client, url=bad)
        assert answer.status_code == 404, bad
        assert answer.json()["field"] == "url"


def test_a_private_machine_is_embedded_nowhere(client, sealed, dgx, member):
    client.force_login(member)
    paths = ("/embed/compare/?", "/embed/compare/stacks/?", "/oembed?url=http://testserver/compare/%3F")
    for path in paths:
        private, unknown = (client.get(f"{path}a=machine:cellar/{name}") for name in ("sealed-box", "no-such-box"))
        assert private.status_code == unknown.status_code == 404
        assert private.content == unknown.content
        assert "sealed" not in private.content.decode()
    assert "dgx-07" in client.get("/embed/compare/?a=machine:north/dgx-07").content.decode()

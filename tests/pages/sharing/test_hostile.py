"""What hostile visitors ask of pictures, embeds, badges, oEmbed and the map: answered, bounded, and no figure too many."""

import io
import re
from html import unescape

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from PIL import Image

from stackviz.pages.sharing import subjects
from stackviz.records.series.decide_standing import record_decision, withdraw_report
from stackviz.records.series.merge_machines import merge_machines
from stackviz.records.series.models import Result
from stackviz.records.series.standing import Standing
from tests.pages.machines.factories import START, days, gemm, h100, make_machine, make_report

H100, M3_MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"
DGX = "/picture/compare.png?a=machine:north/dgx-07"
EMBED = f"/embed/compare/?a={H100}&a={M3_MAX}"
NOBODY = AnonymousUser()


def pixels(answer) -> bytes:
    assert answer.status_code == 200
    return Image.open(io.BytesIO(answer.content)).tobytes()


# --- figures that were taken back ---


def test_a_picture_shows_nothing_that_was_withdrawn(client, dgx):
    fast = make_report(dgx, at=START - days(1), cards=[h100()], results=[gemm("bf16", [0.01] * 8, side=16384)])
    before, newest = client.get(DGX), dgx.latest_snapshot_id
    withdraw_report(fast, "a broken clock", NOBODY)
    dgx.refresh_from_db()
    assert dgx.latest_snapshot_id == newest
    after = client.get(DGX, headers={"If-None-Match": before["ETag"]})
    assert after.status_code == 200
    assert pixels(after) != pixels(before)
    for result in Result.objects.exclude(report=fast):
        record_decision(result, Standing.WITHDRAWN, "a broken clock", NOBODY)
    assert pixels(client.get(DGX)) != pixels(after)


def test_what_is_shared_of_a_merged_machine_is_of_the_other(client, dgx, sealed, member):
    merge_machines(make_machine(dgx.lab, "old-box"), dgx, "one computer", NOBODY)
    merge_machines(make_machine(sealed.lab, "old-box"), sealed, "one computer", NOBODY)
    badge = client.get("/badge/machine/north/old-box/best.svg")
    assert (badge.status_code, "780 TFLOP/s" in badge.content.decode()) == (200, True)
    assert "dgx-07" in client.get(f"/embed/compare/?a=machine:north/old-box&a={H100}").content.decode()
    page = client.get("/compare/?a=machine:north/old-box&a=machine:north/dgx-07").content.decode()
    assert 'href="http://testserver/compare/?a=machine:north/dgx-07"' in page
    for path in ("/badge/machine/cellar/old-box/best.svg", "/compare/?a=machine:cellar/old-box"):
        assert client.get(path).status_code == 404
    client.force_login(member)
    assert client.get("/badge/machine/cellar/old-box/best.svg").status_code == 404
    assert "sealed-box" in client.get("/compare/?a=machine:cellar/old-box").content.decode()


# --- work ---


@pytest.mark.parametrize("path", [EMBED, f"/oembed?url=http://testserver/compare/?a={H100}%26a={M3_MAX}"])
@pytest.mark.usefixtures("curated")
def test_what_an_embed_shows_is_worked_out_once(client, db, monkeypatch, path):
    made = []
    picture = subjects.comparison_picture
    monkeypatch.setattr(subjects, "comparison_picture", lambda chosen: made.append(chosen) or picture(chosen))
    first, second = client.get(path), client.get(path)
    assert (first.status_code, first.content) == (200, second.content)
    assert len(made) == 1


@pytest.mark.usefixtures("curated")
def test_new_embeds_are_limited_for_each_client(client, db, settings):
    settings.PICTURES_PER_MINUTE = 2
    url = "http://testserver/accelerators/{}/"
    assert client.get(f"/embed/accelerators/{H100}/").status_code == 200
    assert client.get("/oembed", {"url": url.format(M3_MAX)}).status_code == 200
    embed = client.get("/embed/accelerators/nvidia-t4/")
    described = client.get("/oembed", {"url": url.format("nvidia-t4")})
    for refused in (embed, described):
        assert refused.status_code == 429
        assert int(refused["Retry-After"]) > 0
    assert described.json()["field"] is None
    assert client.get(f"/embed/accelerators/{H100}/").status_code == 200


def test_the_map_reads_no_machine_that_it_does_not_list(client, dgx):
    for number in range(3):
        make_report(make_machine(dgx.lab, f"node-{number}"), at=START + days(number))
    with CaptureQueriesContext(connection) as queries:
        text = client.get("/sitemap.xml").content.decode()
    of_machines = [query["sql"] for query in queries if 'FROM "labs_machine"' in query["sql"]]
    assert of_machines
    for sql in of_machines:
        assert re.match(r"SELECT (COUNT|MAX)\(", sql), sql
    assert f"<lastmod>{(START + days(2)).isoformat()[:10]}" in text


# --- other sites ---


def test_no_other_sites_script_reads_what_a_lab_measured(client, dgx):
    """A lab's site may stand behind a wall that the visitor's browser is inside of."""
    url = "http://testserver/compare/?a=machine:north/dgx-07"
    described = client.get("/oembed", {"url": url})
    assert "dgx-07" in described.json()["title"]
    for answer in (described, client.get("/badge/machine/north/dgx-07/best.svg")):
        assert answer.status_code == 200
        assert "Access-Control-Allow-Origin" not in answer
    for answer in (client.get("/oembed", {"url": f"http://testserver/accelerators/{H100}/"}),
                   client.get(f"/badge/{H100}/memory_gb.svg")):  # fmt: skip
        assert answer["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("referer", ["http://[", "http://[::1", "https://a\u2100.example/"])
@pytest.mark.usefixtures("curated")
def test_a_referer_that_is_no_address_is_refused(client, db, settings, referer):
    settings.EMBED_HOSTS = ["example.org"]
    headers = {"Sec-Fetch-Dest": "iframe", "Referer": referer.encode().decode("latin-1")}
    assert client.get(EMBED, headers=headers).status_code == 403


# --- words ---


@pytest.mark.usefixtures("curated")
def test_oembed_names_what_it_refuses_and_embeds_are_english(client, db, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 100
    sheet = f"http://testserver/accelerators/{H100}/"
    for query, status, field in (
        ({"url": sheet, "maxwidth": "300", "maxheight": "tall"}, 400, "maxheight"),
        ({"url": "http://testserver/compare/?" + "&" * 500}, 404, "url"),
    ):
        refused = client.get("/oembed", query)
        assert (refused.status_code, refused.json()["field"]) == (status, field)
    answer = client.get(f"/embed/accelerators/{H100}/", headers={"Accept-Language": "zh-hans"})
    assert 'lang="en"' in answer.content.decode()
    assert answer["Content-Language"] == "en"


@pytest.mark.usefixtures("curated")
def test_a_copied_link_holds_no_link_of_somebody_else(client, db):
    text = client.get("/ladder/?q=)%20[click](https://evil.example/").content.decode()
    link, markdown = (unescape(found) for found in re.findall(r'id="share-(?:link|markdown)">(.*?)<', text))
    assert "(https://evil" not in link
    assert re.fullmatch(r"\[[^\]]*\]\([^()\s]*\)", markdown)

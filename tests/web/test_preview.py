"""What a page says of itself where it is linked to."""

import json
import re
from html import unescape

import pytest
from django.test import RequestFactory

from stackviz.web.parts import render_part
from stackviz.web.preview import Introduction, json_ld, make_preview

HOSTILE = '</script><script>alert(1)</script>"><img src=x onerror=alert(2)>\u2028&'


def test_structured_data_cannot_end_its_element():
    text = json_ld({"name": HOSTILE})
    assert "<" not in text
    assert ">" not in text
    assert json.loads(text) == {"name": HOSTILE}


def test_everything_in_the_head_is_escaped(rf):
    preview = make_preview(rf.get("/"), Introduction(HOSTILE, HOSTILE), "/x/?a=<b>", picture="x.png", can_embed=True, data={"name": HOSTILE})  # fmt: skip
    html = render_part("web/_preview.jinja", preview=preview)
    assert "<img" not in html
    assert html.count("<script") == html.count("</script>") == 1


def test_addresses_are_absolute_and_texts_are_cut_between_words(rf: RequestFactory):
    preview = make_preview(
        rf.get("/"), Introduction("word " * 100, "word " * 200), "/x/", picture="x.png", can_embed=True
    )
    assert preview.url == "http://testserver/x/"
    assert preview.picture == "http://testserver/picture/x.png"
    assert preview.oembed.startswith("http://testserver/oembed?url=http%3A%2F%2Ftestserver%2Fx%2F")
    assert len(preview.title) <= 200
    assert preview.title.endswith("word…")
    assert len(preview.description) <= 400


PAGES = {
    "/accelerators/nvidia-t4/": ("NVIDIA T4: 16 GB, 320 GB/s", "Board power 70 W", "/picture/sheet/nvidia-t4.png"),
    "/accelerators/apple-m6/": ("170 GB/s, Released 2026-09-22", "Released 2026-09-22", "/picture/sheet/apple-m6.png"),
    "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40": ("8.4× the memory bandwidth", "side by side", "/picture/compare.png?a="),
    "/plan/?accelerator=nvidia-t4": ("NVIDIA T4: torch 2.15.0", "NVIDIA driver", "/picture/plan.png?accelerator=nvidia-t4"),
    "/benchmarks/llama-bench/": ("is first with", "Higher is better", "/picture/benchmark/llama-bench.png"),
}  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.usefixtures("curated", "cited")
def test_a_page_gives_its_answer_to_who_links_to_it(client, db, path):
    text = client.get(path).content.decode()
    tags = {
        name: unescape(value)
        for name, value in re.findall(r'<meta (?:property|name)="([\w:]+)" content="(.*?)">', text)
    }
    title, answer, picture = PAGES[path]
    assert title in tags["og:title"]
    assert answer in tags["og:description"]
    assert tags["description"] == tags["og:description"]
    assert tags["og:url"].startswith("http://testserver/")
    assert tags["og:image"].startswith(f"http://testserver{picture}")
    assert client.get(tags["og:image"].removeprefix("http://testserver")).status_code == 200
    assert (tags["og:image:width"], tags["og:image:height"]) == ("1200", "630")
    assert tags["og:image:alt"]
    assert tags["twitter:card"] == "summary_large_image"
    assert f'<link rel="canonical" href="{tags["og:url"].replace("&", "&amp;")}">' in text
    assert title in unescape(re.search("<title>(.*?)</title>", text)[1])

"""The pages of stacks and components, and the API: queries, filters, languages, hostile text."""

import re

import pytest
from django.core.cache import cache
from django.urls import reverse

from stackviz.pages.stacks.component_page import component_page
from stackviz.records.catalog.models import Source
from stackviz.records.stacks.models import Component, Counterpart, Placement, Release, Stack
from stackviz.report.rules import packaged_tables
from tests.languages import chinese
from tests.sampled import sampled

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def warm(client, stacks):
    """A visit has filled what is kept per edition."""
    for path in ("/stacks/", "/stacks/cpu/", "/components/pytorch/"):
        client.get(path)
    return client


def test_the_list_draws_stacks_and_shows_more_on_request(warm):
    html = warm.get("/stacks/").content.decode()
    assert html.count('<article class="panel"') == Stack.objects.count()
    assert all(name in html for name in ("cuDNN", "MPSGraph", "oneDNN", "done by MPSGraph"))
    assert "?a=stack:nvidia-cuda&amp;a=stack:apple-metal&amp;a=stack:cpu" in html
    assert 'href="?only=differences#layers"' in warm.get("/stacks/").content.decode()
    folded = warm.get("/stacks/?only=differences").content.decode()
    assert 'href="?#layers"' in folded
    assert "Your program, Transformers, Python" in folded
    assert "?words=all#words" in warm.get("/stacks/").content.decode()
    assert "pinned memory" in warm.get("/stacks/?words=all").content.decode()


def test_a_stack_explains_every_component(warm):
    html = warm.get("/stacks/nvidia-cuda/").content.decode()
    assert html.count('<article class="component"') == 40
    for part in ('id="memory"', "MPSGraph", "nvidia-smi", "cuDNN frontend README, NVIDIA", 'href="support/"'):
        assert part in html
    install = Component.objects.get(slug="cudnn").install
    assert html.count("comes with the torch wheel; alone <code>sudo apt install cudnn9-cuda-13</code>") == 1
    components = warm.get("/api/v1/stacks/nvidia-cuda/").json()["components"]
    assert [row["install"] for row in components if row["component"] == "cudnn"] == [install]


def words(response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_a_component_is_drawn_in_a_stack_one_chooses(warm):
    first = warm.get("/components/pytorch/").content.decode()
    assert "PyTorch in NVIDIA CUDA on Linux: ↓ calls it, ↳ is called by it" in first
    assert '<a href="/components/cudnn/" tabindex="-1">' in first
    chosen = warm.get("/components/pytorch/?stack=apple-metal").content.decode()
    assert "PyTorch in Apple Metal on macOS" in chosen
    assert '<a href="/components/mpsgraph/" tabindex="-1">' in chosen
    assert chosen.count("<small>in the picture</small>") == 1
    for unknown in ("no-such", "cpu%00", "x" * 5000):
        page = warm.get(f"/components/cudnn/?stack={unknown}")
        assert "cuDNN in NVIDIA CUDA on Linux" in page.content.decode()


def test_a_component_that_no_stack_draws_has_no_picture(client, stacks):
    Placement.objects.filter(component__slug="cudnn").delete()
    page = client.get("/components/cudnn/")
    assert page.status_code == 200
    assert "<figure" not in page.content.decode()


@sampled(10)
def test_every_component_has_a_page(warm, sample):
    slugs = list(Component.objects.values_list("slug", flat=True))
    assert len(slugs) > 50
    for slug in sample(slugs):
        assert warm.get(reverse("stacks:component", args=[slug])).status_code == 200


def test_all_releases_are_one_click_away(warm):
    few, all_of_them = warm.get("/components/pytorch/"), warm.get("/components/pytorch/?releases=all")
    assert "show all" in words(few)
    assert "1.8.0" not in words(few)
    assert "1.8.0" in words(all_of_them)


@pytest.mark.parametrize(
    ("path", "first", "again"), [("/stacks/", 1, 1), ("/stacks/cpu/", 1, 1), ("/components/cudnn/", 10, 1)]
)
def test_a_page_costs_a_fixed_number_of_queries(warm, django_assert_num_queries, path, first, again):
    cache.clear()
    for queries, address in ((first, path), (again, path), (again, f"{path}?_=1")):
        with django_assert_num_queries(queries):
            assert warm.get(address).status_code == 200


def test_hostile_text_from_an_import_stays_text(client, stacks):
    source = Source.objects.create(key="evil", title=EVIL, url="https://example.org/" + EVIL)
    component = Component.objects.get(slug="cudnn")
    for name in ("name", "maker", "what_it_is", "what_it_does", "see_version"):
        setattr(component, name, EVIL)
    component.docs_url = "javascript:alert(1)"
    component.source = source
    component.save()
    Release.objects.create(component=component, version=EVIL, variant=EVIL, line=EVIL, note=EVIL, source=source)
    Counterpart.objects.filter(component=component).update(differs=EVIL)
    Stack.objects.filter(slug="cpu").update(name=EVIL, summary=EVIL)
    component.save()
    for path in ("/stacks/", "/stacks/nvidia-cuda/", "/stacks/cpu/", "/components/cudnn/?releases=all"):
        html = client.get(path).content.decode()
        assert EVIL not in html, path
        assert 'href="javascript' not in html, path
        assert "&lt;script&gt;" in html, path


@pytest.mark.parametrize("path", ["/stacks/", "/stacks/nvidia-cuda/", "/stacks/apple-metal/", "/components/pytorch/"])
def test_a_page_is_light_read_only_and_without_scripts(warm, path):
    content = warm.get(path).content
    assert len(content) < 101_000
    assert not re.search(rb"\son\w+\s*=|<script(?![^>]*\ssrc=)", content)
    assert warm.post(path).status_code == 405


# --- the API ---


def test_the_api_lists_stacks_from_top_to_bottom_in_english(warm):
    body = warm.get("/api/v1/stacks/").json()
    assert (body["count"], body["items"][0]["slug"]) == (15, "nvidia-cuda")
    body = warm.get("/api/v1/stacks/apple-metal/").json()
    layers = [component["layer"] for component in body["components"]]
    assert layers == sorted(
        layers, key=["application", "framework", "compiler", "library", "platform", "driver", "os", "hardware"].index
    )
    assert all(component["source"]["url"].startswith("https://") for component in body["components"])
    text = warm.get("/api/v1/stacks/apple-metal/", headers={"Accept-Language": "zh-CN"}).content.decode()
    assert "Unified memory" in text
    assert "统一内存" not in text


@pytest.mark.parametrize(
    ("query", "stack", "other"),
    [
        ("vendor=nvidia", "nvidia-cuda", "nvidia-jetson"),
        ("vendor=nvidia&accelerator=nvidia-jetson-nano", "nvidia-jetson", "nvidia-cuda"),
        ("vendor=apple", "apple-metal", "apple-mlx"),
    ],
)
def test_a_spec_sheet_leads_to_the_stack_of_its_accelerator(warm, query, stack, other):
    assert warm.get(f"/stacks/?{query}").headers["Location"] == f"/stacks/{stack}/"
    part = warm.get(f"/stacks/?{query}", headers={"HX-Request": "true"}).content.decode()
    assert f'<a href="/stacks/{stack}/"><b>' in part
    assert f'<a href="/stacks/{other}/"><b>' not in part
    assert "<html" not in part


def test_an_undescribed_vendor_has_an_empty_part(warm):
    part = warm.get("/stacks/?vendor=hailo", headers={"HX-Request": "true"}).content.decode()
    assert 'class="miss"' in part
    assert warm.get("/stacks/?vendor=nobody").status_code == 200


def test_support_dates_are_a_page_and_a_part(warm):
    page = warm.get("/stacks/nvidia-cuda/support/").content.decode()
    part = warm.get("/stacks/nvidia-cuda/support/", headers={"HX-Request": "true"}).content.decode()
    assert ("<html" in page, "<html" in part) == (True, False)
    for shown in ("NVIDIA driver", "Python", "2028-06"):
        assert shown in part
    assert "10.0." in warm.get("/stacks/nvidia-windows/support/").content.decode()


def test_a_component_lists_counterparts_and_releases(stacks, django_assert_num_queries):
    page = component_page("nvidia-driver")
    newest = packaged_tables().releases_of("nvidia-driver", "linux")[-1].version
    assert [standing.placed.stack.slug for standing in page["standings"]] == [
        "nvidia-cuda", "nvidia-windows", "nvidia-wsl2", "nvidia-jetson", "nvidia-dgx-spark",
    ]  # fmt: skip
    assert "cuda-driver-api" in [component.slug for component in page["standings"][0].called_by]
    assert {"metal-driver", "cpu-power-driver", "libtpu"} < {
        other.slug for _row, other in page["counterparts"] if other
    }
    assert [release.version for release, *_ in page["releases"]][:4] == [newest, newest, "615", "615"]
    assert page["release_count"] > len(page["releases"]) == 12
    with django_assert_num_queries(8):
        everything = component_page("nvidia-driver", all_releases=True)
    assert len(everything["releases"]) == everything["release_count"]
    assert component_page("no-such") is None
    rows = [row for *_, needs in component_page("cuda-runtime")["releases"] for row in needs]
    assert ("needs", "NVIDIA driver", "≥ 525.60.13") in [(row.relation, row.subject, row.how_much) for row in rows]


@pytest.mark.parametrize(
    ("path", "shown", "english"),
    [
        ("/stacks/", "Apple Metal（macOS）", "Apple Metal on macOS"),
        ("/stacks/apple-metal/", "统一内存", ">Unified memory<"),
        ("/stacks/nvidia-cuda/?format=svg", "张量核心", "Tensor cores"),
        ("/components/nvidia-driver/", "<title>NVIDIA 驱动", "<title>NVIDIA driver"),
        ("/operators/matmul/", "矩阵乘法", "Matrix product"),
    ],
)
def test_chinese_pages_and_drawings_have_chinese_names(warm, path, shown, english):
    text = warm.get(chinese(path)).content.decode()
    assert shown in text
    assert english not in text


def test_unknown_stacks_and_components_are_404(client, stacks):
    for path in (
        "stacks/no-such",
        "components/no-such",
        "stacks/NVIDIA CUDA",
        "stacks/no-such/support",
        "api/v1/stacks/x",
    ):
        assert client.get(f"/{path}/").status_code == 404, path

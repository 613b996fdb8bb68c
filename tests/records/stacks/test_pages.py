"""The pages: list, stack, component; their queries, their words, hostile text, addresses that lead nowhere."""

import re

import pytest
from django.core.cache import cache
from django.urls import reverse

from stackviz.records.catalog.models import Source
from stackviz.records.stacks.models import Component, Counterpart, Placement, Release, Stack
from stackviz.records.stacks.queries import described_column
from tests.sampled import sampled

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def warm(client, stacks):
    """A visit has filled what is kept per edition."""
    for path in ("/stacks/", "/stacks/cpu/"):
        client.get(path)
    return client


def words(response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_the_list_shows_the_stacks_side_by_side(warm):
    response = warm.get("/stacks/")
    text = words(response)
    for name in ("NVIDIA CUDA on Linux", "Apple Metal on macOS", "Plain CPU", "cuDNN", "MPSGraph", "oneDNN"):
        assert name in text
    assert "no counterpart of NCCL" in text
    assert response.content.decode().count("<h1") == 1


def test_only_differences_folds_what_is_the_same(warm):
    response = warm.get("/stacks/?only=differences")
    assert "the same in all columns: Your program, Transformers, Python" in words(response)
    assert 'href="?#layers"' in response.content.decode()


def test_a_stack_explains_every_component_with_its_source(warm):
    response = warm.get("/stacks/nvidia-cuda/")
    text = words(response)
    assert "NVIDIA's library of convolution" in text.replace("&#x27;", "'")
    assert "MPSGraph" in text
    assert "nvidia-smi" in text
    assert "comes with the torch wheel, or with the CUDA toolkit" in text
    assert "Where the data lives" in text
    assert "cuDNN frontend README, NVIDIA" in text
    assert response.content.decode().count('<article class="component"') == 40


def test_component_shows_stacks_and_requirements(warm):
    text = words(warm.get("/components/cuda-runtime/"))
    assert "Counterparts on other stacks" in text
    assert "needs NVIDIA driver ≥ 525.60.13" in text


def test_a_component_is_drawn_where_it_stands_in_a_stack_one_chooses(warm):
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
    ("path", "first", "again"), [("/stacks/", 2, 2), ("/stacks/cpu/", 2, 1), ("/components/cudnn/", 9, 1)]
)
def test_a_page_costs_a_fixed_number_of_queries(warm, django_assert_num_queries, path, first, again):
    cache.clear()
    for queries, address in ((first, path), (again, path), (again, f"{path}?_=1")):
        with django_assert_num_queries(queries):
            assert warm.get(address).status_code == 200


@pytest.mark.parametrize("path", ["/stacks/no-such/", "/components/no-such/", "/stacks/NVIDIA CUDA/"])
def test_an_address_that_leads_nowhere_is_404(client, stacks, path):
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/stacks/", "/stacks/cpu/", "/components/cudnn/"])
def test_pages_are_read_only(warm, path):
    assert warm.post(path).status_code == 405


def test_an_empty_site_says_that_nothing_is_described_yet(client, db):
    assert "No stack is described yet." in words(client.get("/stacks/"))


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


def test_the_pages_answer_without_a_script(warm):
    for path in ("/stacks/", "/stacks/cpu/", "/components/cudnn/"):
        html = warm.get(path).content.decode()
        assert not re.search(r"\son\w+\s*=", html)
        assert not re.search(r"<script(?![^>]*\ssrc=)", html)


@pytest.mark.parametrize("path", ["/stacks/", "/stacks/nvidia-cuda/", "/stacks/apple-metal/", "/components/pytorch/"])
def test_a_page_is_light(warm, path):
    assert len(warm.get(path).content) < 100_000


def test_words_of_one_stack_on_another_are_a_click_away(warm):
    assert "?words=all#words" in warm.get("/stacks/").content.decode()
    text = words(warm.get("/stacks/?words=all"))
    assert "pinned memory" in text
    assert "no equivalent" in text


# --- the API ---


def test_the_api_lists_the_stacks(warm):
    body = warm.get("/api/v1/stacks/").json()
    assert (body["count"], body["items"][0]["slug"]) == (15, "nvidia-cuda")


def test_the_api_gives_one_stack_top_to_bottom(warm):
    body = warm.get("/api/v1/stacks/apple-metal/").json()
    layers = [component["layer"] for component in body["components"]]
    assert layers == sorted(
        layers, key=["application", "framework", "compiler", "library", "platform", "driver", "os", "hardware"].index
    )
    assert all(component["source"]["url"].startswith("https://") for component in body["components"])


def test_the_api_answers_an_unknown_stack_with_the_usual_error(warm):
    response = warm.get("/api/v1/stacks/no-such/")
    assert (response.status_code, response.json()["field"]) == (404, None)


def test_a_makers_accelerators_lead_to_the_stack_they_run(warm):
    response = warm.get("/stacks/?vendor=nvidia")
    assert (response.status_code, response.headers["Location"]) == (302, "/stacks/nvidia-cuda/")
    assert warm.get("/stacks/?vendor=nobody").status_code == 200


def test_a_spec_sheet_can_include_that_stack_in_short(warm):
    part = warm.get("/stacks/?vendor=apple", headers={"HX-Request": "true"}).content.decode()
    assert '<a href="/stacks/apple-metal/">' in part
    assert "<html" not in part
    none = warm.get("/stacks/?vendor=hailo", headers={"HX-Request": "true"}).content.decode()
    assert "No stack for this vendor's accelerators is described yet." in none


# --- until when ---


def test_stack_links_to_support_dates(warm):
    assert 'href="support/"' in warm.get("/stacks/nvidia-cuda/").content.decode()
    page = warm.get("/stacks/nvidia-cuda/support/").content.decode()
    part = warm.get("/stacks/nvidia-cuda/support/", headers={"HX-Request": "true"}).content.decode()
    assert ("<html" in page, "<html" in part) == (True, False)
    for shown in ("NVIDIA driver", "Python", "2028-06"):
        assert shown in part


def test_the_driver_of_windows_has_dates_of_its_own(warm):
    assert "10.0." in words(warm.get("/stacks/nvidia-windows/support/"))


def test_no_stack_no_dates(warm):
    assert warm.get("/stacks/nothing/support/").status_code == 404


def test_install_command_is_in_its_box(client, stacks):
    component = Component.objects.get(slug="cudnn")
    page = client.get("/stacks/nvidia-cuda/").content.decode()
    assert component.install == "comes with the torch wheel; alone sudo apt install cudnn9-cuda-13"
    assert page.count("comes with the torch wheel; alone <code>sudo apt install cudnn9-cuda-13</code>") == 1
    box = next(box for box in described_column("nvidia-cuda").boxes if box.component == "cudnn")
    told = client.get("/api/v1/stacks/nvidia-cuda/").json()["components"]
    said = next(one["install"] for one in told if one["component"] == "cudnn")
    assert box.install == said == component.install != ""

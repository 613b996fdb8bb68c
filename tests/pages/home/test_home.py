"""The front page: what it is, what is in it, where to start; nothing private, nothing that grows with the store."""

import html
import re
from collections import defaultdict
from datetime import timedelta

import pytest

from stackviz.pages.fit.language_models import language_models
from stackviz.pages.home.home import STARTING_POINTS, starting_points
from stackviz.pages.home.well_known import MODELS, well_known
from stackviz.records.catalog.models import Accelerator, CatalogueEdition, SpecValue, Vendor
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.stacks.models import Stack
from tests.curated import copy_curated
from tests.pages.machines.factories import START, h100, make_lab, make_machine, make_report

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_cache")]


def page(client, **kwargs):
    return client.get("/", **kwargs).content.decode()


def test_the_newest_machines_are_listed_with_what_is_in_them(client):
    make_report(make_machine(make_lab(), "dgx-07"), cards=[h100(0), h100(1)])
    text = page(client)
    for shown in ("dgx-07", "2 × NVIDIA H100 80GB HBM3", "Ubuntu 22.04 · torch 2.8.0+cu128"):
        assert shown in text
    assert '<a href="/machines/">machine</a>' in text
    make_report(make_machine(make_lab("south"), "dgx-08"))
    assert '<a href="/machines/">machines</a>' in page(client)


def test_a_private_machine_is_shown_to_members_alone(client, django_user_model):
    lab = make_lab("secret", is_public=False)
    make_report(make_machine(lab, "hidden-01"))
    response = client.get("/")
    assert "hidden-01" not in response.content.decode()
    assert response.context["front"]["machines"] == "0"
    member = django_user_model.objects.create_user("mei")
    lab.memberships.create(user=member)
    client.force_login(member)
    assert "hidden-01" in page(client)


def test_machine_list_query_count_is_constant(client, django_assert_max_num_queries):
    lab = make_lab()
    for number in range(8):
        machine = make_machine(lab, f"m-{number}")
        for day in range(3):
            make_report(machine, at=START + timedelta(days=day), cards=[h100(0), h100(1)])
    page(client)  # described stacks are kept in memory after the first page
    with django_assert_max_num_queries(12):
        page(client)


def test_a_hostile_report_is_text(client):
    evil = "<script>alert(1)</script>"
    card = {**h100(), "reported_name": evil}
    make_report(make_machine(make_lab(), "m"), facts={"os.name": evil, "torch.version": evil}, cards=[card])
    assert evil not in page(client)


def test_comparison_needs_all_its_subjects():
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    for slug in ("nvidia-h100-sxm5-80gb", "nvidia-a100-sxm4-80gb", "nvidia-b200-hgx"):
        Accelerator.objects.create(slug=slug, name=slug.removeprefix("nvidia-"), vendor=vendor, is_public=True)
    found = starting_points({})
    names = [[name for name, _css in point["subjects"]] for point in found]
    assert names == [["a100-sxm4-80gb", "h100-sxm5-80gb", "b200-hgx"]]
    assert found[0]["query"] == "a=nvidia-a100-sxm4-80gb&a=nvidia-h100-sxm5-80gb&a=nvidia-b200-hgx"


def test_the_newest_machine_is_offered_against_its_sheet(client):
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    sheet = Accelerator.objects.create(slug="nvidia-h100", name="NVIDIA H100", vendor=vendor, is_public=True)
    make_report(make_machine(make_lab(), "dgx-07"), cards=[h100(0, sheet)])
    assert 'href="/compare/?a=machine:north/dgx-07&amp;a=nvidia-h100"' in page(client)
    Accelerator.objects.update(is_public=False)
    assert "a=nvidia-h100" not in page(client)


def test_comparisons_and_models_offered_are_known():
    copy_curated("catalog_", "stacks_")
    stacks = {stack.slug: stack for stack in Stack.objects.all()}
    assert len(starting_points(stacks)) == len(STARTING_POINTS)
    assert {slug for slug, _name in MODELS} <= language_models().keys()
    assert {name for _slug, name in MODELS} <= {model.name for model in language_models().values()}


def test_a_vendor_has_one_colour_on_the_whole_page(client):
    """In the stacks, in the picture of decode rates and its legend, and in the suggested comparisons."""
    copy_curated("catalog_", "stacks_", "cited_")
    text = page(client)
    names = re.findall(r'<(?:th scope="col"|b|li) class="(s\d)">(?:<a [^>]*>|<svg.*?</svg>)?([^<]+)<', text)
    colours = defaultdict(set)
    for css, name in names:
        colours[name.split()[0]].add(css)
    assert {"NVIDIA", "Apple", "AMD", "Intel"} <= colours.keys()
    assert all(len(css) == 1 for css in colours.values())
    assert len({*colours["NVIDIA"], *colours["Apple"], *colours["AMD"], *colours["Intel"]}) == 4


def test_bars_show_bandwidth_and_cited_rates_with_macs():
    copy_curated("catalog_", "cited_")
    rows = {row["name"]: row for row in well_known(public_catalogue())["rows"]}
    macs = [name for name, row in rows.items() if row["url"].startswith("/accelerators/apple-")]
    assert macs[:2] == ["M3 Ultra 80", "M4 Max 40"]
    assert (rows["H100 SXM5 80GB"]["bandwidth"], rows["H100 SXM5 80GB"]["rate"]) == ("3,350", "")
    assert float(rows["M4 Max 40"]["rate"]) > float(rows["M3 Max 40"]["rate"]) > 0
    assert max(float(row["bandwidth_length"]) for row in rows.values()) == 100


def test_the_sentence_is_computed_and_leads_to_the_comparison(client):
    copy_curated("catalog_", "cited_")
    text = page(client)
    assert "H100 SXM5 80GB has 8.4× the memory bandwidth of M3 Max (40-core GPU)" in text
    SpecValue.objects.filter(accelerator__slug="apple-m3-max-40", field="memory_bandwidth_gb_s").delete()
    CatalogueEdition.renew()
    assert "the memory bandwidth of" not in page(client)


def test_does_a_70b_model_run_is_one_link_from_home(client):
    copy_curated("catalog_", "cited_")
    (address,) = re.findall(r'<a href="(/fit/\?[^"]*)">Llama 3.1 70B in 4 bits', page(client))
    answer = html.unescape(client.get(html.unescape(address)).content.decode())
    assert "Apple M4 Max (40-core GPU)" in answer
    assert "NVIDIA GeForce RTX 5090" in answer
    assert re.search(r"\d tokens/s", answer)


def test_an_empty_front_page_leads_to_every_part(client):
    text = page(client)
    assert "No machine has reported yet." in text
    assert text.count('action="/search/"') == 1
    for address in ("/plan/", "/operators/", "/ladder/", "/explore/", "/benchmarks/"):
        assert f'<li><a href="{address}">' in text
    assert '<form action="/diagnose/" method="post">' in text
    assert "简体中文" in text

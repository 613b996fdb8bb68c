"""The front page: what it is, what is in it, where to start; nothing private, nothing that grows with the store."""

import re
from collections import defaultdict
from datetime import timedelta

import pytest

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
    assert "real hosts, and 1 of labs" in text


def test_a_private_machine_is_shown_to_members_alone(client, django_user_model):
    lab = make_lab("secret", is_public=False)
    make_report(make_machine(lab, "hidden-01"))
    response = client.get("/")
    assert "hidden-01" not in response.content.decode()
    assert "of labs" not in response.content.decode()
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


def test_a_vendor_has_one_colour_on_the_whole_page(client):
    """In the stacks, in the picture of decode rates and its legend, and in the suggested comparisons."""
    copy_curated("catalog_", "stacks_", "cited_")
    text = page(client)
    names = re.findall(r'<(?:th scope="col"|b|li) class="(v-\w+)">(?:<a [^>]*>|<svg.*?</svg>)?([^<]+)<', text)
    colours = defaultdict(set)
    for css, name in names:
        colours[name.split()[0]].add(css)
    assert {"NVIDIA", "Apple", "AMD", "Intel"} <= colours.keys()
    assert all(len(css) == 1 for css in colours.values())
    assert len({*colours["NVIDIA"], *colours["Apple"], *colours["AMD"], *colours["Intel"]}) == 4


def test_an_empty_front_page_leads_to_every_part(client):
    text = page(client)
    assert text.count('action="/search/"') == 1
    for address in ("/accelerators/", "/stacks/", "/benchmarks/", "/compare/", "/machines/", "/learn/"):
        assert f'<a href="{address}"><b>' in text
    assert '<form action="/diagnose/" method="post">' in text
    assert "简体中文" in text

"""`/api/v1/hosts/`: filters, pages by slug, one host, refusals with the field."""

import pytest

from stackviz.records.catalog.models import Vendor
from stackviz.records.cited.models import CitedResult, CitedSource
from stackviz.records.hosts.models import Host
from tests.records.hosts.factories import SOURCE, add_host, card_fields

HOSTS = "/api/v1/hosts/"


@pytest.fixture
def host(rtx_4090):
    return add_host(
        rtx_4090.vendor,
        title="Two cards",
        form="desktop",
        cpu="AMD Ryzen 9 9950X",
        cards=[card_fields(rtx_4090, power_limit_w=450.0), {"reported_name": "NVIDIA card", "driver_version": "580.1"}],
        components={"pytorch": "2.10.0+cu128", "triton": None, "vllm": ""},
    )


def slugs(client, query: str) -> list[str]:
    return [item["slug"] for item in client.get(f"{HOSTS}?{query}").json()["items"]]


def test_a_host_is_given_with_cards_and_components(client, host):
    answer = client.get(f"{HOSTS}{host.slug}/").json()
    assert answer["url"] == "http://testserver/hosts/two-cards/"
    assert f'<a href="{HOSTS}{host.slug}/">JSON</a>' in client.get(answer["url"]).content.decode()
    assert (answer["vendor"], answer["form"], answer["cpu"]) == ("nvidia", "desktop", "AMD Ryzen 9 9950X")
    assert (answer["system"], answer["memory_bytes"]) == ("", None)
    assert (answer["seen_on"], answer["source_url"], answer["source_kind"]) == ("2026-07-01", SOURCE, "issue")
    first, second = answer["cards"]
    assert (first["accelerator"], first["power_limit_w"]) == ("nvidia-geforce-rtx-4090", 450.0)
    assert (second["accelerator"], second["driver_version"], second["power_limit_w"]) == (None, "580.1", None)
    assert [(each["name"], each["value"], each["state"]) for each in answer["components"]] == [
        ("pytorch", "2.10.0+cu128", "installed"),
        ("triton", "", "absent"),
        ("vllm", "", "unknown"),
    ]
    assert client.get(HOSTS).json() == {"next": None, "items": [answer]}


def test_a_host_leads_to_its_cited_results(client, host, rtx_4090):
    source = CitedSource.objects.create(key="board", title="A scoreboard", url="https://example.org/board")
    same = {"accelerator": rtx_4090, "reported_name": "RTX 4090", "benchmark": "gemm", "unit": "TFLOP/s"}
    setting = {"params": {"dtype": "bf16", "m": 8192}, "source": source, "state": "public"}
    its_own = CitedResult.objects.create(**same, **setting, value="160", host=host)
    CitedResult.objects.create(**same, **setting, value="161")
    address = client.get(f"{HOSTS}{host.slug}/").json()["results"]
    assert [item["id"] for item in client.get(address).json()["items"]] == [its_own.pk]


def test_filters_choose_by_vendor_accelerator_and_form(client, host):
    apple = Vendor.objects.create(slug="apple", name="Apple")
    add_host(apple, title="A laptop", form="laptop", cards=[{"reported_name": "Apple M3 Max"}])
    assert slugs(client, "") == ["a-laptop", "two-cards"]
    assert slugs(client, "vendor=apple") == ["a-laptop"]
    assert slugs(client, "accelerator=nvidia-geforce-rtx-4090") == ["two-cards"]
    assert slugs(client, "form=laptop") == ["a-laptop"]
    assert slugs(client, "vendor=apple&form=desktop") == []


@pytest.mark.parametrize("state", ["proposed", "withdrawn"])
def test_only_public_hosts_are_given(client, host, state):
    Host.objects.filter(pk=host.pk).update(state=state, reason="its owner asked")
    assert client.get(f"{HOSTS}{host.slug}/").status_code == 404
    assert client.get(f"/api/v1/cited/?host={host.slug}").status_code == 404
    assert slugs(client, "") == []


def test_a_card_does_not_name_a_hidden_sheet(client, host, rtx_4090):
    rtx_4090.is_public = False
    rtx_4090.save()
    assert [card["accelerator"] for card in client.get(f"{HOSTS}{host.slug}/").json()["cards"]] == [None, None]
    assert client.get(f"{HOSTS}?accelerator={rtx_4090.slug}").status_code == 404


def test_pages_follow_each_other_and_cost_the_same(client, host, rtx_4090, django_assert_num_queries):
    for number in range(30):
        add_host(rtx_4090.vendor, title=f"Host {number}", cards=[card_fields(rtx_4090)], components={"pytorch": "2.9"})
    client.get(f"{HOSTS}?limit=1")
    seen, address = [], f"{HOSTS}?limit=12"
    while address:
        with django_assert_num_queries(4):  # the editions, hosts, cards, components
            page = client.get(address).json()
        seen += [item["slug"] for item in page["items"]]
        address = page["next"]
    assert seen == sorted(Host.objects.values_list("slug", flat=True))
    assert len(seen) == 31


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("?vendor=acme", 422, "vendor"),
        ("?form=phone", 422, "form"),
        ("?accelerator=nvidia-h900", 404, "accelerator"),
        ("?limit=0", 422, "limit"),
        ("?limit=201", 422, "limit"),
        ("?colour=red", 422, "colour"),
        ("nobody/", 404, "slug"),
    ],
)
def test_unknown_values_are_refused_with_the_field(client, db, query, status, field):
    response = client.get(f"{HOSTS}{query}")
    assert (response.status_code, response.json()["field"]) == (status, field)


def test_an_answer_that_is_still_right_is_not_sent_again(client, host):
    tag = client.get(HOSTS)["ETag"]
    assert client.get(HOSTS, headers={"if-none-match": tag}).status_code == 304
    host.cards.first().save()
    assert client.get(HOSTS, headers={"if-none-match": tag}).status_code == 200

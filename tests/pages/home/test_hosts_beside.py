"""Public hosts on the front page: which are shown beside each other, and what stays away."""

import pytest

from stackviz.pages.home.hosts_beside import hosts_beside
from stackviz.records.catalog.models import Accelerator, Vendor
from stackviz.records.cited.models import CitedResult, CitedSource
from tests.records.hosts.factories import add_host, card_fields

pytestmark = pytest.mark.django_db


def add_measured(vendor: Vendor, name: str, rate: float, cards: int = 1, **params: str) -> None:
    """A host that decodes at this rate on one card."""
    sheet, _new = Accelerator.objects.get_or_create(
        slug=name.lower().replace(" ", "-"), name=name, vendor=vendor, kind="gpu", is_public=True
    )
    rows = [{**card_fields(sheet), "index": index} for index in range(cards)]
    host = add_host(vendor, title=f"{name}, somewhere at {rate:g}", system="Linux", cards=rows)
    source, _new = CitedSource.objects.get_or_create(key="a-source", title="A source", url="https://example.org/a")
    case = {"model": "Llama 2 7B", "quant": "Q4_0", "test": "tg128", **params}
    CitedResult(
        host=host, accelerator=sheet, reported_name=name, benchmark="llama-bench", params=case, value=str(rate),
        unit="token/s", source=source,
    ).save()  # fmt: skip


@pytest.fixture
def vendors(db) -> dict[str, Vendor]:
    return {slug: Vendor.objects.create(slug=slug, name=slug.title()) for slug in ("nvidia", "apple", "amd")}


def test_nvidia_stands_beside_apple_in_one_test(client, vendors):
    add_measured(vendors["nvidia"], "RTX 4090", 180.0)
    add_measured(vendors["nvidia"], "RTX 5090", 900.0, model="Another")
    add_measured(vendors["nvidia"], "RTX 3090", 400.0, cards=2)
    add_measured(vendors["apple"], "M4 Max", 80.0)
    add_measured(vendors["amd"], "RX 7900", 100.0)
    shown = hosts_beside()
    assert [(beside.name, beside.percent) for beside in shown.hosts] == [
        ("RTX 4090", 100),
        ("RX 7900", 56),
        ("M4 Max", 44),
    ]
    page = " ".join(client.get("/").content.decode().split())
    assert "180 token/s" in page
    assert "All 5 public hosts" in page
    assert "No machine has reported yet." not in page


def test_without_a_mac_in_the_test_none_is_shown(client, vendors):
    add_measured(vendors["nvidia"], "RTX 4090", 180.0)
    add_measured(vendors["apple"], "M4 Max", 80.0, quant="F16")
    assert hosts_beside().hosts == ()
    assert "No machine has reported yet." in client.get("/").content.decode()


def test_a_third_host_is_of_another_card(vendors):
    for rate in (180.0, 170.0):
        add_measured(vendors["nvidia"], "RTX 4090", rate)
    add_measured(vendors["nvidia"], "RTX 3090", 90.0)
    add_measured(vendors["apple"], "M4 Max", 80.0)
    assert [beside.amount for beside in hosts_beside().hosts] == [180.0, 90.0, 80.0]


def test_hosts_are_read_once_an_edition(client, vendors, django_assert_max_num_queries):
    for number in range(20):
        add_measured(vendors["nvidia"], "RTX 4090", 100.0 + number)
        add_measured(vendors["apple"], "M4 Max", 50.0 + number)
    hosts_beside()
    with django_assert_max_num_queries(3):  # the editions: outside a request each is read alone
        assert len(hosts_beside().hosts) == 2

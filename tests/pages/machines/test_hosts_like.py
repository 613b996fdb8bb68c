"""Public hosts like the reader's machine: which come first, and where pages lead to them."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.http import QueryDict

from stackviz.intake.report_parts.cards import MatchedCard
from stackviz.intake.report_parts.like_hosts import like_hosts_address
from stackviz.pages.machines.hosts_like import hosts_like, read_my_machine
from stackviz.pages.machines.hosts_rows import known_hosts
from stackviz.records.catalog.models import Accelerator, Vendor
from stackviz.records.hosts.reported import host_report
from tests.pages.machines.factories import h100, make_lab, make_machine, make_report
from tests.records.hosts.factories import add_host, card_fields, new_host

pytestmark = pytest.mark.django_db


@pytest.fixture
def sheets() -> dict[str, Accelerator]:
    vendors = {slug: Vendor.objects.create(slug=slug, name=slug.title()) for slug in ("nvidia", "apple")}
    names = {"rtx-4090": "nvidia", "rtx-3090": "nvidia", "m4-max": "apple"}
    return {
        slug: Accelerator.objects.create(slug=slug, name=slug, vendor=vendors[vendor], kind="gpu", is_public=True)
        for slug, vendor in names.items()
    }


@pytest.fixture
def hosts(sheets) -> None:
    for slug, card, system, driver, torch in (
        ("old-driver", "rtx-4090", "Ubuntu 22.04", "535.183.01", "2.4.0"),
        ("same-all", "rtx-4090", "Ubuntu 24.04", "580.126.09", "2.8.0+cu128"),
        ("on-windows", "rtx-4090", "Windows 11", "580.88", "2.8.0"),
        ("other-card", "rtx-3090", "Ubuntu 24.04", "580.126.09", "2.8.0"),
    ):
        card_of_host = card_fields(sheets[card], driver_version=driver)
        add_host(
            sheets[card].vendor,
            slug=slug,
            title=slug,
            system=system,
            cards=[card_of_host],
            components={"pytorch": torch},
        )
    add_host(
        sheets["m4-max"].vendor, slug="a-mac", title="a-mac", system="macOS", cards=[card_fields(sheets["m4-max"])]
    )


def test_the_same_card_system_and_software_come_first(hosts):
    mine, notes = read_my_machine(
        QueryDict("like=rtx-4090&like_system=linux&like_driver=580.65.06&like_torch=2.8.0%2Bcu128")
    )
    assert notes == ()
    ranked = hosts_like(known_hosts(), mine)
    assert [row.slug for row, _same in ranked] == ["same-all", "old-driver", "on-windows", "other-card"]
    assert ranked[0][1] == "the same accelerator · Linux · driver 580 · PyTorch 2.8"
    assert ranked[3][1].startswith("the same vendor · Linux")


def test_the_page_shows_them_above_the_list(client, hosts):
    page = client.get("/machines/?like=RTX-4090&like_driver=580").content.decode()
    assert 'id="like" open' in page
    assert page.index("the same accelerator · driver 580") < page.index('id="hosts"')
    assert 'id="like" open' not in client.get("/machines/").content.decode()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("like=nonsense", "Unknown accelerator “nonsense”"),
        ("like=rtx-4090&like_system=beos", "Unknown system “beos”"),
        ("like=rtx-4090&like_torch=new", "“new” is not a version"),
    ],
)
def test_what_cannot_be_read_is_named(client, hosts, query, text):
    page = client.get(f"/machines/?{query}").content.decode()
    assert page.count(text) == 1


def test_a_report_leads_to_its_like_hosts(sheets):
    card = {"reported_name": "NVIDIA GeForce RTX 4090", "driver_version": "580.126.09"}
    report = host_report(new_host(system="Ubuntu 24.04", cards=[card], components={"pytorch": "2.8.0"}))
    address = urlsplit(like_hosts_address(report, [MatchedCard(report.cards[0], sheets["rtx-4090"])]))
    assert (address.path, address.fragment) == ("/machines/", "like")
    assert parse_qs(address.query) == {
        "like": ["rtx-4090"], "like_system": ["linux"], "like_driver": ["580.126.09"], "like_torch": ["2.8.0"],
    }  # fmt: skip
    assert like_hosts_address(report, [MatchedCard(report.cards[0], None)]) == ""


def test_the_page_of_a_lab_machine_leads_to_them(client, sheets):
    machine = make_machine(make_lab(), "dgx-07")
    make_report(machine, cards=[h100(0, sheets["rtx-4090"])])
    assert 'href="/machines/?like=rtx-4090' in client.get(machine.get_absolute_url()).content.decode()

import pytest

from stackviz.records.hosts.load import load_hosts
from stackviz.records.hosts.models import Host
from stackviz.records.hosts.queries import host_named, public_hosts
from tests.records.hosts.conftest import CARD, COMPONENT, HOST

pytestmark = pytest.mark.django_db


@pytest.fixture
def twelve(folder, rtx_4090):
    hosts = [HOST | {"host": f"rig-{n}", "seen_on": f"2026-07-{n:02}"} for n in range(1, 13)]
    cards = [CARD | {"host": host["host"]} for host in hosts]
    load_hosts(folder(hosts, cards, [COMPONENT | {"host": host["host"]} for host in hosts]))


def test_newest_come_first_in_three_queries(twelve, django_assert_num_queries):
    with django_assert_num_queries(3):
        read = [
            (host.slug, host.vendor.name, host.cards.all()[0].accelerator.vendor.name, host.components.all()[0].value)
            for host in public_hosts()
        ]
    assert len(read) == 12
    assert read[0] == ("rig-12", "NVIDIA", "NVIDIA", "2.10.0+cu128")


@pytest.mark.parametrize("state", ["proposed", "withdrawn"])
def test_host_that_is_not_public_is_not_found(twelve, state):
    Host.objects.filter(slug="rig-3").update(state=state, reason="its source was deleted")
    assert host_named("rig-3") is None
    assert host_named("rig-4").slug == "rig-4"
    assert len(public_hosts()) == 11

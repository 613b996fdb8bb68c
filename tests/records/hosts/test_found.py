"""Public hosts in the search and in the site's map."""

import pytest

from stackviz.pages.search.prepared import search_index
from stackviz.records.hosts.load import load_hosts
from stackviz.records.hosts.models import Host
from tests.records.hosts.conftest import HOST

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("query", ["rtx 4090 ubuntu", "driver 580 rtx 4090", "torch 2.10 rtx 4090"])
def test_host_is_found_by_card_system_and_driver(folder, rtx_4090, query):
    load_hosts(folder())
    found = [hit.entry.title for hit in search_index().search(query)]
    assert HOST["title"] in found


def test_map_of_the_site_has_public_hosts_only(folder, rtx_4090, client):
    load_hosts(folder())
    assert f"/hosts/{HOST['host']}/" in client.get("/sitemap-hosts.xml").text
    host = Host.objects.get()
    host.state, host.reason = "withdrawn", "its source is gone"
    host.save()
    assert HOST["host"] not in client.get("/sitemap-hosts.xml").text

"""Two hosts of the reviewed pairs on the front page, an NVIDIA one and a Mac; else the two stacks."""

import pytest

from stackviz.draw.diagrams.layers import Layer
from stackviz.pages.compare.pairs import answered_pairs
from stackviz.pages.home.two_machines import two_stacks
from stackviz.records.hosts.models import Host, HostEdition
from tests.curated import copy_curated

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_cache")]


def test_an_nvidia_host_has_a_mac_beside_it(client):
    copy_curated("catalog_", "stacks_", "cited_", "hosts_")
    shown = two_stacks()
    assert [Host.objects.get(slug=column.url.split("/")[-2]).vendor.slug for column in shown.columns] == [
        "nvidia",
        "apple",
    ]
    assert max(column.percent for column in shown.columns) == 100
    pair = next(pair for pair in answered_pairs() if pair.title == shown.question)
    assert shown.url.endswith(pair.url)
    assert all(column.figure in pair.line for column in shown.columns)
    text = client.get("/").content.decode()
    assert all(column.figure in text for column in shown.columns)


def test_what_an_owner_named_is_told_from_what_belongs_to_the_stack():
    copy_curated("catalog_", "stacks_", "cited_", "hosts_")
    first, _second = two_stacks().columns
    by_layer = dict(zip(Layer, first.layers, strict=True))
    assert [(name.text, name.is_known) for name in by_layer[Layer.FRAMEWORK]] == [("PyTorch 2.8.0+cu128", True)]
    assert not any(name.is_known for name in by_layer[Layer.LIBRARY])


def test_without_hosts_the_described_stacks_are_shown():
    copy_curated("catalog_", "stacks_")
    shown = two_stacks()
    assert shown.question == ""
    assert [column.url for column in shown.columns] == ["/stacks/nvidia-cuda/", "/stacks/apple-metal/"]
    assert all(name.is_known for column in shown.columns for names in column.layers for name in names)


def test_a_withdrawn_host_leaves_the_front_page():
    copy_curated("catalog_", "stacks_", "cited_", "hosts_")
    slug = two_stacks().columns[0].url.split("/")[-2]
    Host.objects.filter(slug=slug).update(state=Host.State.WITHDRAWN, reason="sold")
    HostEdition.renew()
    shown = two_stacks()
    assert slug not in {column.url.split("/")[-2] for column in shown.columns}


def test_an_empty_site_has_none():
    assert two_stacks() is None

"""Which hosts are most alike."""

from datetime import date

from stackviz.records.catalog.models import Accelerator, Vendor
from stackviz.records.hosts.alike import (
    HostTraits,
    Likeness,
    hosts_that_may_be_alike,
    likeness,
    most_alike,
    traits_of,
)
from tests.records.hosts.factories import add_host, card_fields, new_host


def _traits(accelerator, vendor="nvidia", *, family="", cards=1, **more):
    families = frozenset({family or accelerator})
    return HostTraits(
        accelerators=frozenset({accelerator}), families=families, vendors=frozenset({vendor}), cards=cards, **more
    )


def test_accelerator_counts_before_family_and_vendor():
    mine = _traits("m3-max-40", "apple", family="m3-max", system="macos")
    others = {
        "vendor": _traits("m4", "apple", system="macos"),
        "family": _traits("m3-max-30", "apple", family="m3-max", system="macos"),
        "accelerator": _traits("m3-max-40", "apple", family="m3-max"),
        "stranger": _traits("rtx-5090", system="macos"),
    }
    assert most_alike(mine, others) == ["accelerator", "family", "vendor"]
    assert likeness(mine, others["stranger"]) is Likeness.NOTHING


def test_of_one_accelerator_the_like_system_comes_first():
    mine = _traits("rtx-5090", cards=2, system="linux", software=frozenset({"vllm"}))
    others = {
        "windows": _traits("rtx-5090", cards=2, system="windows", software=frozenset({"vllm"})),
        "wsl": _traits("rtx-5090", cards=2, system="linux", is_wsl=True, software=frozenset({"vllm"})),
        "engine": _traits("rtx-5090", cards=2, system="linux", software=frozenset({"vllm"})),
        "one card": _traits("rtx-5090", cards=1, system="linux", software=frozenset({"vllm"})),
    }
    assert most_alike(mine, others, most=4) == ["engine", "windows", "wsl", "one card"]


def test_traits_are_those_the_source_states():
    sheet = Accelerator(slug="m3-max-40", family="m3-max", vendor=Vendor(slug="apple"))
    host = new_host(
        "apple",
        system="macOS 26.5",
        form="laptop",
        cards=[{"reported_name": "Apple M3 Max", "accelerator": sheet}],
        components={"mlx": "0.31", "pytorch": None},
    )
    expected = _traits(
        "m3-max-40", "apple", family="m3-max", system="macos", form="laptop", software=frozenset({"mlx"})
    )
    assert traits_of(host) == expected


def test_of_many_hosts_the_closest_and_newest_are_read(db, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr("stackviz.records.hosts.alike.MOST_READ", 3)
    nvidia, apple = (Vendor.objects.create(slug=slug, name=slug) for slug in ("nvidia", "apple"))
    sheets = {
        slug: Accelerator.objects.create(slug=slug, name=slug, family=family, vendor=nvidia)
        for slug, family in (("rtx-5090", "gb202"), ("rtx-pro-6000", "gb202"), ("t4", "tu104"))
    }
    for number, slug in enumerate(("t4", "t4", "rtx-pro-6000", "rtx-5090"), 1):
        add_host(nvidia, title=f"{slug} {number}", seen_on=date(2026, 7, number), cards=[card_fields(sheets[slug])])
    add_host(apple, title="A Mac")
    with django_assert_num_queries(3):
        read = list(hosts_that_may_be_alike(_traits("rtx-5090", family="gb202")))
    assert [host.title for host in read] == ["rtx-5090 4", "rtx-pro-6000 3", "t4 2"]

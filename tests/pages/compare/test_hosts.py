"""Public hosts are subjects of a comparison beside sheets, stacks and machines of labs."""

import pytest
from django.core.cache import cache

from tests.curated import copy_curated
from tests.responses import words_of

ROCM, VULKAN = "host:strix-halo-cachyos-rocm-2026-04", "host:strix-halo-arch-vulkan-2026-04"
PAIR = f"/compare/?a={ROCM}&a={VULKAN}"
SIX = (
    "strix-halo-cachyos-rocm-2026-04", "strix-halo-arch-vulkan-2026-04", "rtx-3080-ti-wsl2-2026-07",
    "rtx-a5000-ubuntu-22-2026-07", "m4-pro-64gb-mini-macos-26-5-2026-07", "m5-pro-64gb-macos-26-5-2026-07",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def hosts(curated, django_db_blocker):
    with django_db_blocker.unblock():
        copy_curated("hosts_", "cited_")


def test_hosts_are_columns_with_stack_sheet_and_facts(client, db):
    comparison = client.get(PAIR).context["comparison"]
    assert [head.subtitle for head in comparison.heads] == ["public host", "public host"]
    assert [column.key for column in comparison.stacks.drawing.columns] == [ROCM, VULKAN]
    assert [head.name for head in comparison.sheets.heads] == [ROCM]
    assert [head.name for head in comparison.sheets.also[0]] == [VULKAN]
    facts = {row.title: [cell.text for cell in row.cells] for row in comparison.probed}
    assert facts["Operating system"] == ["CachyOS", "Arch Linux"]
    assert not comparison.machines


def test_host_stands_beside_sheet_stack_and_machine(client, dgx):
    url = f"/compare/?a={ROCM}&a=apple-m4-max-40&a=stack:nvidia-cuda&a=machine:north/dgx-07"
    response = client.get(url)
    comparison = response.context["comparison"]
    assert len(comparison.heads) == 4
    assert [(item.head.name, item.is_host) for item in comparison.computers] == [
        (ROCM, True),
        ("machine:north/dgx-07", False),
    ]
    assert [head.name for head in comparison.machines] == ["machine:north/dgx-07"]
    assert "not stated" in words_of(response)


def test_cards_of_two_sheets_have_no_spec_column(client, db):
    url = f"/compare/?a=host:rtx-5090-rtx-3090-ti-ubuntu-24-2026-07&a={ROCM}"
    comparison = client.get(url).context["comparison"]
    assert [head.name for head in comparison.sheets.heads] == [ROCM]
    assert len(comparison.stacks.drawing.columns) == 2


def test_findings_of_a_host_are_those_of_the_rules(client, db):
    url = f"/compare/?a=host:rtx-3080-ti-wsl2-2026-07&a={ROCM}"
    [faults] = client.get(url).context["comparison"].faults
    assert faults.head.name == "host:rtx-3080-ti-wsl2-2026-07"
    assert faults.findings


def test_unknown_host_is_left_out_with_a_note(client, db):
    response = client.get(f"/compare/?a={ROCM}&a=host:nobodys")
    assert "Unknown subject “host:nobodys”" in words_of(response)
    assert len(response.context["comparison"].heads) == 1


@pytest.mark.parametrize("form", ["csv", "json", "md", "svg"])
def test_files_hold_hosts(client, db, form):
    response = client.get(f"{PAIR}&format={form}")
    assert response.status_code == 200
    assert "CachyOS" in response.content.decode()


@pytest.mark.parametrize(("count", "queries"), [(2, 14), (6, 10)])  # two are explained: with four more
def test_query_count_is_constant_with_hosts(client, db, count, queries, django_assert_num_queries):
    url = "/compare/?" + "&".join(f"a=host:{slug}" for slug in SIX[:count])
    client.get(url)  # what the rules know is read from now on
    cache.clear()
    # Editions, hosts, cards, components; results; of each of two charts, and of watts, the test and its results.
    with django_assert_num_queries(queries):
        assert client.get(url).status_code == 200


def test_figures_of_a_sheet_are_named_as_those_of_each_card(client, db):
    one = "host:rtx-5090-torch-2-8-2025-09"
    tiles = words_of(client.get(f"/compare/?a=host:8x-h100-sxm-driver-580-2026-04&a={one}")).partition("The stack")[0]
    assert "8x H100 SXM 80 GB, driver 580, torch 2.10, each card" in tiles
    assert tiles.count(", each card") == tiles.count("torch 2.10, each card")

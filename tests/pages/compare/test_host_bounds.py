"""A host's page and a comparison say the same of each result: how much of its bound it reached."""

import pytest

from stackviz.pages.compare.host_rows import host_results
from stackviz.pages.compare.query import Address
from stackviz.pages.compare.subjects import heads_of, loaded_host
from stackviz.pages.machines.host_results import host_result_groups, results_of
from stackviz.records.cited.host_bounds import host_share_text, peaks_of_results
from stackviz.records.hosts.queries import host_named, public_hosts
from tests.curated import copy_curated


@pytest.fixture(scope="module", autouse=True)
def hosts(curated, django_db_blocker):
    with django_db_blocker.unblock():
        copy_curated("hosts_", "cited_")


def on_its_page(host):
    results, _doubtful = results_of(host)
    groups = host_result_groups(results, peaks_of_results(results))
    return {row.url: row.share for group in groups for row in (*group.rows, *group.folded)}


def in_a_comparison(host):
    chosen = [loaded_host(host)]
    results = host_results(chosen, heads_of(chosen, Address((chosen[0].subject,))), None)
    cells = [cell for row in results.rows for cell in row.cells] if results else []
    return {figure.url: figure.share for cell in cells for figure in (cell.best, *cell.others)}


def test_every_share_is_that_of_the_hosts_page(db):
    compared, differing = {}, []
    for host in public_hosts():
        page, comparison = on_its_page(host), in_a_comparison(host)
        differing += [url for url, share in comparison.items() if page[url] != share]
        compared |= comparison
    assert differing == []
    assert len(compared) > 700
    assert sum(share != "" for share in compared.values()) > 150


@pytest.mark.parametrize(
    ("host", "amount", "share"),
    [
        ("rtx-4070-ti-super-windows-11-2026-07", 69.59, "74 %"),  # 69.59 x 7.151 GB of the file of 672.3 GB/s
        ("m4-mac-mini-16gb-2026-03", 20.87, "70 %"),  # 20.87 x 8e9 parameters of 4 bits of 120 GB/s
        ("8x-h100-sxm-driver-580-2026-04", None, ""),  # nothing published bounds a training step
    ],
)
def test_share_is_right_by_hand(db, host, amount, share):
    results, _doubtful = results_of(host_named(host))
    result = next(result for result in results if amount in (None, result.amount))
    assert host_share_text(result, peaks_of_results(results)) == share

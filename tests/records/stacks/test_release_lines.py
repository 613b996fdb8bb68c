"""Releases as people name them: which line a version is of, and what else names it. No database."""

import pytest

from stackviz.records.stacks.release_lines import find_line, line_of, nearest_lines, release_lines, siblings, uses_of
from stackviz.report.rules import packaged_tables

TABLES = packaged_tables()


def test_every_release_of_the_tables_is_of_one_line():
    lines = release_lines(TABLES)
    placed = [release for line in lines.values() for release in line.releases]
    assert len(placed) == len(set(placed))
    assert set(placed) == {release for release in TABLES.releases if release.version != "0.0"}
    assert len(lines) == len({line.slug for line in lines.values()}) > 300


@pytest.mark.parametrize(
    ("product", "version", "slug"),
    [
        ("cuda", "12.8", "cuda-12.8"), ("cuda", "12.8.1", "cuda-12.8"), ("cuda", "13", "cuda-13"),
        ("cuda", "12.7", "cuda-12"), ("torch", "2.15.0", "torch-2.15"), ("torch", "2.1", "torch-2.1"),
        ("driver", "580.65.06", "driver-580"), ("driver", "535", "driver-535"), ("macos", "26.1", "macos-26"),
        ("windows", "11", "windows-11"), ("windows", "10.0.26100", "windows-11"), ("ubuntu", "24.04", "ubuntu-24.04"),
        ("xformers", "0.0.35", "xformers-0.0.35"), ("torch", "9.9", None), ("driver", "999", None), ("nobody", "1", None),
    ],
)  # fmt: skip
def test_a_version_belongs_to_a_line(product, version, slug):
    line = line_of(TABLES, product, version)
    assert (line.slug if line else None) == slug


@pytest.mark.parametrize(
    ("address", "slug"),
    [
        ("pytorch-2.14.1", "torch-2.14"), ("cuda-toolkit-12.8.1", "cuda-12.8"), ("cuda-12.7", None), ("torch-2", None),
        ("nvidia-driver-570", "driver-570"), ("", None), ("-", None), ("cuda-", None),
    ],
)  # fmt: skip
def test_an_address_with_a_release_leads_to_its_line(address, slug):
    line = find_line(TABLES, address)
    assert (line.slug if line else None) == slug


def test_what_is_not_on_record_has_neighbours():
    nearest = {
        slug: [line.slug for line in nearest_lines(TABLES, slug)] for slug in ("cuda-12.7", "driver-600", "tortch-2.8")
    }
    assert {"cuda-12.6", "cuda-12.8"} < set(nearest["cuda-12.7"])
    assert {"driver-595", "driver-610"} < set(nearest["driver-600"])
    assert "torch-2.8" in nearest["tortch-2.8"]
    assert nearest_lines(TABLES, "x" * 500) == ()


def test_a_minor_release_has_other_neighbours_than_its_family():
    lines = release_lines(TABLES)
    assert [line.version for line in siblings(TABLES, lines["cuda-12"])] == ["11", "12", "13"]
    around = [line.version for line in siblings(TABLES, lines["cuda-12.8"])]
    assert around[around.index("12.8") - 1 : around.index("12.8") + 2] == ["12.6", "12.8", "12.9"]


def test_what_names_a_release_is_found_from_it():
    lines = release_lines(TABLES)
    uses = {(use.component, use.relation, use.is_least): use for use in uses_of(TABLES, lines["driver-580"])}
    assert [line.version for line in uses["cuda-runtime", "needs", True].lines] == ["13"]
    assert {"5.0", "6.1", "7.0"} <= {line.version for line in uses["compute-capability", "ends-with", False].lines}
    builds = {(use.component, use.relation): use for use in uses_of(TABLES, lines["cuda-12.8"])}
    assert [line.version for line in builds["pytorch", "offers"].lines] == ["2.7", "2.8", "2.9", "2.10", "2.11"]

"""On a real PostgreSQL the dump is written too, and its rows are read through cursors that other queries do not end."""

from datetime import UTC, datetime

import pytest

from stackviz.pages.data import tables
from stackviz.pages.data.dump import is_due, write_dump
from stackviz.pages.data.schema import TABLES
from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.models import CitedResult, CitedSource
from stackviz.records.stacks.load import load_stacks
from tests.pages.data.conftest import make_hosts
from tests.pages.data.readers import read
from tests.pages.machines.factories import gemm, h100, make_lab, make_machine, make_report


def cite(slug: str, value: str) -> None:
    source = CitedSource.objects.create(key="board", title="A score board", url="https://example.org/board")
    params = {"model": "Llama 2 7B", "quant": "Q4_0", "test": "tg128"}
    CitedResult.objects.create(
        accelerator=Accelerator.objects.get(slug=slug), reported_name="H100", benchmark="llama-bench", params=params,
        value=value, unit="token/s", source=source,
    )  # fmt: skip


@pytest.fixture
def filled(on_postgres):
    load_catalogue()
    load_stacks()
    machine = make_machine(make_lab("north"), "dgx-07")
    cite("nvidia-h100-sxm5-80gb", "148.2")
    make_hosts(Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb"))
    results = [gemm("bf16", [0.002] * 8, side=side) for side in range(256, 256 + 64 * 7, 64)]
    make_report(machine, at=datetime(2026, 11, 20, tzinfo=UTC), cards=[h100(0)], results=results)


def test_dump_formats_have_equal_content(filled, monkeypatch):
    monkeypatch.setattr(tables, "CHUNK", 3)
    dump = write_dump()
    assert not is_due()
    for table in TABLES:
        rows = read("jsonl", table, dump.folder)
        assert rows == read("csv", table, dump.folder) == read("parquet", table, dump.folder), table.name
        assert rows, table.name
    assert next(table.rows for table in dump.tables if table.name == "results") == 7

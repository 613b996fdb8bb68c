"""The same on PostgreSQL: what is loaded, counted, ranked and refused."""

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection

from stackviz.records.catalog.models import Accelerator, Alias, Vendor
from stackviz.records.catalog.table_imports import Unconfirmed, store_import
from stackviz.records.cited.cases import benchmark_cases
from stackviz.records.cited.files import HEADER
from stackviz.records.cited.load import load_cited
from stackviz.records.cited.models import CitedImport, CitedResult
from stackviz.records.cited.queries import cited_counts, cited_of_accelerator, cited_of_benchmark
from stackviz.records.cited.table import import_upload, plan_results
from stackviz.records.cited.write import delete_results
from stackviz.web.table_file import Table, TableRow
from tests.records.cited.conftest import LINE, OTHER


@pytest.fixture
def loaded(on_postgres, folder):
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    sheet = Accelerator.objects.create(slug="nvidia-geforce-rtx-4090", name="RTX 4090", vendor=vendor, kind="gpu")
    Alias.objects.create(accelerator=sheet, name="NVIDIA GeForce RTX 4090")
    by_name = LINE | {"accelerator": "", "reported_name": "NVIDIA GeForce RTX 4090", "value": "185"}
    load_cited(folder([LINE, OTHER, by_name, OTHER | {"doubt": "printed twice"}]))
    return sheet


def test_loading_counting_and_ranking_work_on_postgres(loaded):
    assert connection.vendor == "postgresql"
    counted = cited_counts()
    assert (counted.results, counted.accelerators, counted.doubtful) == (3, 1, 1)
    ranking = cited_of_benchmark("llama-bench", {"test": "tg128"})
    assert [row.value for row in ranking.results] == ["189.05", "185"]
    tests = benchmark_cases("llama-bench").cited_facets({})[0]
    assert {option.value: option.results for option in tests.options} == {"tg128": 2, "pp512": 1}
    assert cited_of_accelerator(loaded)[0].total == 3


def test_a_load_of_other_files_and_a_correction_work_on_postgres(loaded, folder):
    row = CitedResult.objects.get(value="185")
    row.note = "checked"
    row.save()
    summary = load_cited(folder([LINE | {"value": "190"}]))
    assert str(summary.tables["results"]) == "1 updated, 2 deleted, 1 left as corrected here"
    assert [was.value for was in CitedResult.objects.get(value="190").history.all()] == ["190", "189.05"]


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), -1.0, 0.0])
def test_postgres_refuses_amounts_that_are_no_figures(loaded, amount):
    with pytest.raises(IntegrityError, match="citedresult_"):
        CitedResult.objects.filter(value="185").update(amount=amount)


def test_a_table_is_imported_once_and_wholly_on_postgres(loaded, monkeypatch):
    mira = User.objects.create_superuser("mira")
    lines = [LINE | {"value": "190"}, LINE | {"value": "201", "date": "2026-02-03"}]
    rows = Table(tuple(TableRow(n, tuple(line[name] for name in HEADER)) for n, line in enumerate(lines, start=2)))
    made = store_import(CitedImport, rows, file_name="t.csv", reason="read again", by=mira, benchmark="llama-bench")
    seen = plan_results(made).fingerprint
    with monkeypatch.context() as broken:
        broken.setattr("stackviz.records.cited.table.mark_confirmed", lambda *_a, **_k: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            import_upload(made.pk, by=mira, seen=seen, is_leaving_out=False)
    assert (CitedResult.objects.count(), CitedResult.history.count()) == (4, 0)
    assert import_upload(made.pk, by=mira, seen=seen, is_leaving_out=False) == {"added": 1, "changed": 1}
    assert [was.value for was in CitedResult.objects.get(value="190").history.all()] == ["190", "189.05"]
    with pytest.raises(Unconfirmed, match="already been imported"):
        import_upload(made.pk, by=mira, seen=seen, is_leaving_out=False)
    delete_results(list(CitedResult.objects.all()), by=mira, reason="all of them")
    assert CitedResult.history.filter(history_type="-", history_user=mira).count() == 5

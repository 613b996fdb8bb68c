"""The same on PostgreSQL: what is loaded, counted, ranked and refused."""

import pytest
from django.db import IntegrityError, connection

from stackviz.catalog.models import Accelerator, Alias, Vendor
from stackviz.cited.cases import benchmark_cases
from stackviz.cited.load import load_cited
from stackviz.cited.models import CitedResult
from stackviz.cited.queries import cited_counts, cited_of_accelerator, cited_of_benchmark
from tests.cited.conftest import LINE, OTHER


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

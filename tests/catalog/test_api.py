"""The API: accelerators by name, one with all its public values."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stackviz.catalog.models import Accelerator, SpecValue

API = "/api/v1/accelerators/"


def specs(client, slug: str) -> dict[tuple[str, str], dict]:
    return {(spec["field"], spec["condition"]): spec for spec in client.get(f"{API}{slug}/").json()["specs"]}


def test_accelerators_are_listed_by_name(loaded, client, db):
    answer = client.get(API, {"q": "m3 max"}).json()
    assert answer == {
        "count": 2,
        "items": [
            {"slug": "apple-m3-max-30", "name": "Apple M3 Max (30-core GPU)", "vendor": "apple", "kind": "soc"},
            {"slug": "apple-m3-max-40", "name": "Apple M3 Max (40-core GPU)", "vendor": "apple", "kind": "soc"},
        ],
    }


def test_a_list_is_cut_by_limit_and_offset_but_counted_whole(loaded, client, db):
    answer = client.get(API, {"vendor": "nvidia", "limit": 2, "offset": 1}).json()
    assert answer["count"] > 90
    assert [item["slug"] for item in answer["items"]] == ["nvidia-a100-pcie-40gb", "nvidia-a100-pcie-80gb"]


@pytest.mark.parametrize("query", [{"vendor": "acme"}, {"kind": "toaster"}, {"q": "zzz"}])
def test_what_does_not_exist_finds_nothing(loaded, client, db, query):
    assert client.get(API, query).json() == {"count": 0, "items": []}


@pytest.mark.parametrize(
    ("query", "field"),
    [({"limit": "many"}, "limit"), ({"limit": 0}, "limit"), ({"offset": -1}, "offset"), ({"q": "x" * 200}, "q")],
)
def test_a_parameter_that_cannot_be_is_refused_by_name(loaded, client, db, query, field):
    response = client.get(API, query)
    assert (response.status_code, response.json()["field"].split(".")[-1]) == (422, field)


@pytest.mark.parametrize(
    ("slug", "field", "condition", "value", "unit"),
    [
        ("nvidia-h100-sxm5-80gb", "bf16_tensor_tflops", "sparsity=dense", 989.4, "TFLOPS"),
        ("nvidia-geforce-rtx-4090", "fp16_tensor_tflops", "sparsity=dense; accumulate=fp32", 165.2, "TFLOPS"),
        ("nvidia-t4", "fp16_tensor_tflops", "sparsity=dense", 65, "TFLOPS"),
        ("apple-m3-max-40", "memory_bandwidth_gb_s", "", 400, "GB/s"),
        ("apple-m3-max-30", "memory_bandwidth_gb_s", "", 300, "GB/s"),
        ("apple-m4-10", "neural_engine_tops", "", 38, "TOPS"),
        ("apple-m3-10", "neural_engine_tops", "", 18, "TOPS"),
        ("google-tpu-v3", "memory_gb", "", 32, "GiB"),
        ("nvidia-h100-sxm5-80gb", "architecture", "", "Hopper", ""),
        ("nvidia-h100-sxm5-80gb", "compute_capability", "", "9.0", ""),
    ],
)
def test_a_value_comes_in_the_unit_named(loaded, client, db, slug, field, condition, value, unit):
    spec = specs(client, slug)[field, condition]
    assert (spec["value"], spec["unit"]) == (value, unit)
    assert type(spec["value"]) is type(value)


def test_every_value_has_its_source(loaded, client, db):
    answer = client.get(API + "nvidia-h100-sxm5-80gb/").json()
    assert set(answer) == {"slug", "name", "vendor", "kind", "aliases", "specs"}
    assert answer["aliases"] == ["NVIDIA H100", "NVIDIA H100 80GB HBM3"]
    assert len(answer["specs"]) > 30
    assert all(spec["source"]["title"] and spec["source"]["url"].startswith("http") for spec in answer["specs"])


def test_what_is_not_public_is_not_in_the_answer(loaded, client, db):
    wrong = SpecValue.objects.get(accelerator__slug="nvidia-geforce-rtx-4060", field="die_area_mm2", status="retired")
    assert specs(client, "nvidia-geforce-rtx-4060")["die_area_mm2", ""]["value"] != float(wrong.value)
    Accelerator.objects.filter(slug="nvidia-t4").update(is_public=False)
    assert client.get(API + "nvidia-t4/").status_code == 404


def test_an_unknown_accelerator_answers_what_was_wrong(loaded, client, db):
    response = client.get(API + "no-such-card/")
    assert (response.status_code, response.json()) == (
        404,
        {"error": "there is no accelerator 'no-such-card'", "field": "slug"},
    )


@pytest.mark.parametrize(("address", "queries"), [(API, 2), (API + "nvidia-h100-sxm5-80gb/", 3), (API + "hailo-8/", 3)])
def test_an_answer_costs_the_same_queries_whatever_is_in_it(
    loaded, client, db, django_assert_num_queries, address, queries
):
    with django_assert_num_queries(queries):
        client.get(address)


@pytest.mark.parametrize("query", [{"q": "\0"}, {"vendor": "\0nvidia"}, {"kind": "gpu\0"}])
def test_nul_which_postgresql_refuses_never_reaches_it(loaded, client, db, query):
    with CaptureQueriesContext(connection) as asked:
        assert client.get(API, query).status_code == 200
    assert [one["sql"] for one in asked if "\0" in one["sql"]] == []


def test_catalogue_and_stacks_refuse_in_one_form(client, db):
    document = client.get("/api/v1/openapi.json").json()
    refusals = {
        document["paths"][f"/api/v1/{path}/{{slug}}/"]["get"]["responses"]["404"]["content"]["application/json"][
            "schema"
        ]["$ref"]
        for path in ("accelerators", "stacks")
    }
    assert refusals == {"#/components/schemas/ErrorBody"}
    for path in ("accelerators", "stacks"):
        assert set(client.get(f"/api/v1/{path}/nothing/").json()) == {"error", "field"}

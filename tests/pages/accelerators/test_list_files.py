"""The list as a file: exactly the view, every value with its unit, condition and source."""

import csv
import io

import pytest

from stackviz.records.catalog.models import Accelerator, SpecValue

LIST = "/accelerators/"


def rows(response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def test_a_file_has_all_pages_of_the_view(curated, client, db):
    data = client.get(LIST + "?vendor=apple&sort=-tdp_w&format=json").json()
    assert data["without_figure"] == sum("tdp_w" in item["missing"] for item in data["items"])
    public = Accelerator.objects.count()
    assert len(rows(client.get(LIST + "?format=csv"))) == public > 600
    assert client.get(LIST + "?format=json&page=3").json()["count"] == public


def test_csv_row_has_unit_condition_basis_and_source(curated, client, db):
    (row,) = rows(client.get(LIST + "?q=H100+SXM5&format=csv"))
    assert row["address"] == "http://testserver/accelerators/nvidia-h100-sxm5-80gb/"
    assert (row["bf16_tensor_tflops"], row["bf16_tensor_tflops_unit"]) == ("989.4", "TFLOPS")
    assert row["bf16_tensor_tflops_condition"] == "sparsity=dense"
    assert row["bf16_tensor_tflops_basis"] == "published"
    assert row["bf16_tensor_tflops_source"].startswith("http")
    (row,) = rows(client.get(LIST + "?q=Google+TPU+v3&format=csv"))
    assert (row["memory_gb"], row["memory_gb_unit"]) == ("32", "GB")  # printed as 32 GiB


def test_json_item_has_sources_and_missing_reasons(curated, client, db):
    data = client.get(LIST + "?q=Mac15,9&cols=memory_gb,tdp_w,compute_capability&format=json").json()
    (item,) = data["items"]
    assert [value["value"] for value in item["values"]["memory_gb"]] == [48, 64, 128]
    assert all(value["unit"] == "GB" and value["source"]["url"] for value in item["values"]["memory_gb"])
    assert item["missing"] == {"tdp_w": "not published", "compute_capability": "does not apply"}
    assert data["address"] == "http://testserver/accelerators/?q=Mac15,9&cols=memory_gb,tdp_w,compute_capability"


@pytest.mark.parametrize("ending", ["csv", "json"])
@pytest.mark.parametrize(
    ("query", "field", "error"),
    [
        ("availability=soon", "availability", "Unknown availability “soon”; choose released, announced"),
        ("availability=released,soon", "availability", "Unknown availability “soon”; choose released, announced"),
        ("form=card", "form", "Unknown form factor “card”; choose pcie, sxm, oam, other"),
        ("sort=size", "sort", "Unknown sort key “size”"),
        ("year_from=soon", "year_from", "“soon” is not a year"),
        ("nonsense=1", "nonsense", "Unknown parameter “nonsense”"),
        ("vendor=acme", "vendor", "Unknown vendor “acme”"),  # those there are follow
    ],
)
def test_a_file_of_another_list_than_asked_for_is_refused(curated, client, db, ending, query, field, error):
    answer = client.get(f"{LIST}?{query}&format={ending}")
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert answer.json()["error"].startswith(error)


def test_no_cell_is_a_formula(client, card, sheet_source, db):
    formula = {"field": "architecture", "value": '=HYPERLINK("http://x.example","y")', "source": sheet_source}
    SpecValue.objects.create(accelerator=card, status="public", is_preferred=True, **formula)
    (row,) = rows(client.get(LIST + "?q=acme&cols=architecture&format=csv"))
    assert row["architecture"].startswith("'=HYPERLINK")


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_a_file_costs_the_same_queries_whatever_is_in_it(curated, client, db, django_assert_max_num_queries, ending):
    client.get(LIST)
    for query in ("", "&vendor=google", "&q=zzz", "&sort=-tdp_w&cols=tdp_w,chip,memory_gb"):
        with django_assert_max_num_queries(1):
            client.get(f"{LIST}?format={ending}{query}")


def test_what_is_not_public_is_in_no_file(curated, client, db):
    Accelerator.objects.filter(slug="nvidia-t4").update(is_public=False)
    SpecValue.objects.filter(accelerator__slug="hailo-8").update(status="draft", is_preferred=False)
    items = {item["slug"]: item for item in client.get(LIST + "?format=json").json()["items"]}
    assert "nvidia-t4" not in items
    assert items["hailo-8"]["values"] == {}

"""A sheet as a file: every value as printed and in SI, each with its condition and source."""

import csv
import io

import pytest

from stackviz.records.catalog.models import SpecValue

H100 = "/accelerators/nvidia-h100-sxm5-80gb/"


def rows_of(response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def test_the_csv_has_every_public_value_as_printed_and_in_si(curated, client, db):
    response = client.get(H100 + "?format=csv")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'attachment; filename="nvidia-h100-sxm5-80gb.csv"'
    row = next(row for row in rows_of(response) if row["field"] == "memory_bandwidth_gb_s")
    assert (row["value"], row["unit"], row["amount"], row["amount_unit"]) == ("3350", "GB/s", "3350000000000.0", "B/s")
    assert row["source_url"].startswith("https://")
    public = SpecValue.objects.filter(accelerator__slug="nvidia-h100-sxm5-80gb", status="public")
    assert len(rows_of(response)) == public.exclude(field="vendor").count()


def test_the_json_says_besides_what_follows_from_the_values(curated, client, db):
    body = client.get(H100 + "?format=json").json()
    assert (body["slug"], body["vendor"], body["at"]) == ("nvidia-h100-sxm5-80gb", "nvidia", None)
    dense = [row for row in body["values"] if row["field"] == "bf16_tensor_tflops" and row["is_preferred"]]
    assert [(row["value"], row["condition"]) for row in dense] == [
        ("989.4", "sparsity=dense"),
        ("1978.9", "sparsity=sparse"),
    ]
    derived = {item["name"]: item for item in body["derived"]}
    assert derived["ridge-point"]["amount"] == pytest.approx(295.343, abs=0.001)
    assert derived["flops-per-dollar"]["amount"] is None
    assert derived["flops-per-dollar"]["reason"] == "not published: Launch price"  # a shop's listing is none


def test_a_file_of_a_moment_holds_what_was_said_then(client, bandwidth):
    first = SpecValue.history.filter(id=bandwidth.pk)
    first.update(history_date="2024-03-01T00:00:00Z")
    type(bandwidth.accelerator).history.update(history_date="2024-03-01T00:00:00Z")
    bandwidth.value = "3352"
    bandwidth.save()
    then = client.get("/accelerators/acme-one/?format=json&at=2024-03-02T12:00:00Z").json()
    assert (then["values"][0]["value"], then["at"]) == ("3350", "2024-03-02T12:00:00Z")
    assert client.get("/accelerators/acme-one/?format=json").json()["values"][0]["value"] == "3352"


@pytest.mark.parametrize(("at", "status"), [("nonsense", 422), ("2999-01-01", 422), ("2001-01-01", 404)])
def test_a_file_of_a_moment_there_is_not_is_refused_by_field(client, bandwidth, at, status):
    response = client.get(f"/accelerators/acme-one/?format=csv&at={at}")
    assert (response.status_code, response.json()["field"]) == (status, "at")
    assert response.json()["error"]


def test_a_text_that_a_spreadsheet_would_compute_is_only_text(client, bandwidth):
    SpecValue.objects.filter(pk=bandwidth.pk).update(note="=1+1")
    assert rows_of(client.get("/accelerators/acme-one/?format=csv"))[0]["note"] == "'=1+1"


def test_drafts_are_in_no_file(client, bandwidth):
    SpecValue.objects.filter(pk=bandwidth.pk).update(status="draft", is_preferred=False)
    assert rows_of(client.get("/accelerators/acme-one/?format=csv")) == []
    assert client.get("/accelerators/acme-one/?format=json").json()["values"] == []

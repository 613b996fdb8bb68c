"""What the catalogue must show, by page and by API: the figures people ask for, and how much of it there is."""

import html
import re

import pytest
from django.urls import reverse

from stackviz.records.catalog.models import Accelerator, SpecValue

API = "/api/v1/accelerators/"
FP32_SUMS = "sparsity=dense; accumulate=fp32"
FIGURES = [
    ("nvidia-h100-sxm5-80gb", "bf16 tensor", "bf16_tensor_tflops", "sparsity=dense", 989.4, "TFLOPS"),
    ("nvidia-geforce-rtx-4090", "fp16 tensor", "fp16_tensor_tflops", FP32_SUMS, 165.2, "TFLOPS"),
    ("apple-m3-max-40", "Memory bandwidth", "memory_bandwidth_gb_s", "", 400, "GB/s"),
    ("apple-m3-max-30", "Memory bandwidth", "memory_bandwidth_gb_s", "", 300, "GB/s"),
    ("apple-m4-10", "Neural Engine", "neural_engine_tops", "", 38, "TOPS"),
    ("apple-m4-8", "Neural Engine", "neural_engine_tops", "", 38, "TOPS"),
    ("apple-m3-10", "Neural Engine", "neural_engine_tops", "", 18, "TOPS"),
    ("nvidia-t4", "fp16 tensor", "fp16_tensor_tflops", "sparsity=dense", 65, "TFLOPS"),
]
WORDS = {"sparsity=dense": "dense", FP32_SUMS: "dense, fp32 accumulate", "": ""}


def text_of(client, address: str) -> str:
    """What a reader sees, on one line."""
    response = client.get(address)
    assert response.status_code == 200
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", response.content.decode(), flags=re.DOTALL)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def specs_of(client, slug: str) -> dict[tuple[str, str], dict]:
    return {(spec["field"], spec["condition"]): spec for spec in client.get(f"{API}{slug}/").json()["specs"]}


@pytest.mark.parametrize(("slug", "title", "field", "condition", "figure", "unit"), FIGURES)
def test_page_and_api_have_the_figures_people_ask_for(curated, client, db, slug, title, field, condition, figure, unit):
    text = text_of(client, reverse("accelerators:sheet", args=[slug]))
    assert re.search(rf"{re.escape(title)} (?:\? )?{figure:g} {unit} {re.escape(WORDS[condition])}".rstrip(), text)
    spec = specs_of(client, slug)[field, condition]
    assert (spec["value"], spec["unit"]) == (figure, unit)
    assert spec["source"]["url"].startswith(("https://", "http://"))


def test_no_dense_rate_of_the_h100_is_the_sparse_one(curated, client, db):
    specs = specs_of(client, "nvidia-h100-sxm5-80gb")
    dense = {field: spec["value"] for (field, condition), spec in specs.items() if "dense" in condition}
    assert 1979 not in {round(value) for field, value in dense.items() if "16" in field}
    text = text_of(client, reverse("accelerators:sheet", args=["nvidia-h100-sxm5-80gb"]))
    assert not re.search(r"1,?97[89](?:\.\d+)? TFLOPS dense bf16", text)
    assert "1,978.9 TFLOPS with 2:4 sparsity" in text


def test_the_rtx_4090_keeps_its_two_accumulate_types_apart(curated, client, db):
    specs = specs_of(client, "nvidia-geforce-rtx-4090")
    fp16 = {condition: spec["value"] for (field, condition), spec in specs.items() if field == "fp16_tensor_tflops"}
    rates = {condition: value for condition, value in fp16.items() if "dense" in condition}
    assert rates == {"sparsity=dense; accumulate=fp16": 330.3, "sparsity=dense; accumulate=fp32": 165.2}


def test_the_two_m3_max_are_two_sheets_of_one_chip(curated, client, db):
    listed = client.get(API, {"q": "m3 max"}).json()["items"]
    assert {item["slug"] for item in listed} == {"apple-m3-max-30", "apple-m3-max-40"}
    assert {"apple-m3-max-30", "apple-m3-max-40"} <= set(
        re.findall(r"apple-m3-max-\d+", client.get("/accelerators/m3-max/", follow=True).content.decode())
    )


def test_at_least_190_accelerators_are_public_by_page_and_by_api(curated, client, db):
    assert Accelerator.objects.filter(is_public=True).count() >= 190
    assert client.get(API).json()["count"] >= 190
    numbers = [int(number) for number in re.findall(r"\b\d{3}\b", text_of(client, reverse("accelerators:list")))]
    assert Accelerator.objects.filter(is_public=True).count() in numbers


def test_at_least_4000_values_are_reviewed_with_a_source(curated, db):
    reviewed = SpecValue.objects.filter(status="public", accelerator__is_public=True)
    assert reviewed.count() >= 4000
    addresses = reviewed.values_list("source__url", flat=True)
    assert all(address and re.match(r"https?://[^/\s]+\.[^/\s]+", address) for address in addresses)

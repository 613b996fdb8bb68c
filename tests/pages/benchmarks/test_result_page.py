"""`/benchmarks/<benchmark>/<key>/`: one result at an address that stays."""

from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.words import result_address
from tests.responses import words_of


def test_a_result_says_who_when_with_what_and_what_bounds_it(client, make_result, django_assert_max_num_queries):
    address = result_address(make_result(value="190.5", note="power limit of 300 W"))
    text = words_of(client.get(address))
    for words in ("190.5 tokens/s", "NVIDIA GeForce RTX 4090", "llama.cpp", "b5000", "2025-07-01", "A bench", "Q4_0"):
        assert words in text
    assert "power limit of 300 W" in text
    assert "72 % Memory bandwidth: 1.008 TB/s ÷ 3.56 GiB" in text
    assert "Amount 190.5 tokens/s" in text
    assert "190.5 tokens/s 190.5 tokens/s" not in text  # once, where it reads the same unscaled
    assert "190500 tokens/s" in words_of(client.get(result_address(make_result(value="190500"))))
    with django_assert_max_num_queries(4):
        client.get(address)


def test_the_address_of_a_curated_result_is_its_key_alone(client):
    result = CitedResult.objects.filter(data_key__isnull=False).first()
    assert result_address(result) == f"/benchmarks/{result.data_key}/"
    assert client.get(f"/benchmarks/{result.data_key}/").status_code == 200
    assert client.get(f"/benchmarks/{result.benchmark}/row-{result.pk}/").status_code == 404
    assert client.get("/benchmarks/llama-bench/nothing/").status_code == 404


def test_a_result_that_is_not_ranked_says_why(client, make_result):
    result = make_result(state="withdrawn", reason="the author took it back")
    text = words_of(client.get(result_address(result)))
    assert "This result is not ranked: withdrawn. the author took it back" in text


def test_a_sheet_that_is_not_public_is_not_named(client, make_result):
    result = make_result()
    Accelerator.objects.filter(slug="nvidia-geforce-rtx-4090").update(is_public=False)
    text = words_of(client.get(result_address(result)))
    assert "NVIDIA GeForce RTX 4090" not in text
    assert "not in the catalogue" in text


def test_several_devices_show_the_share_of_one(client, make_result):
    params = {"model": "retinanet", "scenario": "Offline"}
    result = make_result(benchmark="mlperf-inference", params=params, value="800", unit="sample/s", count=8)
    text = words_of(client.get(result_address(result)))
    assert "For each device 100 sample/s derived" in text


def test_hostile_texts_are_escaped(client, make_result):
    hostile = "<img src=x onerror=alert(1)>"
    result = make_result(reported_name=hostile, note=hostile, software={hostile: hostile})
    assert hostile not in client.get(result_address(result)).content.decode()

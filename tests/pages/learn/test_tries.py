"""Calculations to try: the arithmetic by hand, and every bad input answered by name."""

import pytest

from stackviz.pages.learn.tries import amdahl, export_limits, gemm_time, transfer
from stackviz.pages.learn.try_page import places_of_tries
from stackviz.pages.learn.trying import NumberInput, all_tries, read_values
from stackviz.records.catalog.queries import public_catalogue

TRIES = all_tries()
keys = pytest.mark.parametrize("key", list(TRIES))


def answer(key, **parameters):
    catalogue = public_catalogue()
    values, notes = read_values(TRIES[key], parameters, catalogue)
    assert notes == ()
    return TRIES[key].answer(values, catalogue)


def row(found, label):
    return next(each.text for each in found.rows if each.label == label)


def test_arithmetic_by_hand():
    assert amdahl.speedup(0.95, 1) == 1
    assert amdahl.speedup(0.95, 20) == pytest.approx(1 / (0.05 + 0.0475))
    assert amdahl.speedup(0.95, 1e12) == pytest.approx(20)
    assert amdahl.speedup(1, 64) == 64
    assert amdahl.speedup(0, 64) == 1
    assert gemm_time.product_flop(2, 3, 4) == 48
    assert gemm_time.product_bytes(2, 3, 4, 2) == (8 + 12 + 6) * 2
    assert transfer.LINKS["pcie4-x16"][1] == pytest.approx(31.5e9, rel=0.001)
    assert transfer.LINKS["pcie3-x16"][1] == pytest.approx(15.75e9, rel=0.001)


@pytest.mark.django_db
def test_calculations_with_published_figures(curated):
    h100 = "nvidia-h100-sxm5-80gb"
    found = answer("roofline", accelerator=h100, dtype="bf16", flop="0.064", bytes="768")
    assert "bound by memory" in found.sentence
    assert row(found, "Time to move the bytes") == "229.3 µs"  # 768e6 / 3.35e12
    found = answer("roofline", accelerator=h100, dtype="bf16", flop="137.4", bytes="100")
    assert "bound by arithmetic" in found.sentence
    assert row(found, "Time to compute") == "138.9 µs"  # 137.4e9 / 989.4e12
    found = answer("gemm-time", accelerator="apple-m4-max-40", dtype="fp8")
    assert found.sentence.startswith("No fp8 peak of the ")
    assert row(found, "Operations") == "137.4 GFLOP"
    found = answer("tensor-size", dtype="fp32", a="32", b="3", c="256", d="256")
    assert "25.17 MB" in found.sentence
    assert "24 MiB" in found.sentence
    found = answer("fusion", accelerator="nvidia-h100-sxm5-80gb", dtype="fp32", numbers="64", operators="4")
    assert "4× fewer bytes" in found.sentence
    assert row(found, "One fused kernel") == "512 MB"


@pytest.mark.django_db
def test_the_worked_example_of_the_chapter_to_the_byte():
    found = answer("training-memory", width="1000", layers="1", batch="10000", optimizer="sgd")
    assert row(found, "Parameters") == "4.004 MB"
    assert row(found, "Gradients") == "4.004 MB"
    assert row(found, "Input") == "40 MB"
    assert found.rows[-1].formula == "88,008,000 B"
    found = answer("training-memory", width="1000", layers="1", batch="10000", optimizer="adam")
    assert row(found, "States of the optimizer") == "8.008 MB"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("layer", "parameters", "work"),
    [  # by hand: out·in + out; out·in·9 + out; 4·in²; and twice the multiply-adds
        ("linear", "1,056", "65.54 kFLOP"),
        ("conv", "9,248", "37.75 MFLOP"),
        ("attention", "4,096", "2.359 MFLOP"),
    ],
)
def test_layers_by_hand(layer, parameters, work):
    sizes = {"batch": "32", "in": "32", "out": "32", "side": "8", "kernel": "3"}
    found = answer("layer", layer=layer, dtype="fp32", **sizes)
    assert row(found, "Parameters") == parameters
    assert row(found, "Operations of one pass") == work


# --- bad input ---

BAD = ["0", "-1", "1e30", "1e999", "nan", "inf", "many", "1 2", "٣", "", "1" * 500, "\x00", "<script>"]


@pytest.mark.django_db
@keys
@pytest.mark.parametrize("text", BAD)
def test_bad_numbers_are_named_and_the_page_still_answers(client, curated, key, text):
    for each in TRIES[key].inputs:
        page = client.get(f"/learn/try/{key}/", {each.name: text})
        body = page.content.decode()
        assert page.status_code == 200
        assert 'class="answer"' in body
        assert "<script>alert" not in body
        if isinstance(each, NumberInput) and text.strip("\x00") and not _fits(each, text):
            assert f"{each.label} is a" in body or "Unknown" in body, (each.name, text)


def _fits(field, text):
    try:
        value = float(text)
    except ValueError:
        return False
    return field.low <= value <= field.high and (not field.is_whole or value == int(value))


@pytest.mark.django_db
@keys
def test_the_page_keeps_the_address_and_costs_one_query(client, curated, key, django_assert_num_queries):
    client.get(f"/learn/try/{key}/")
    with django_assert_num_queries(1):
        page = client.get(f"/learn/try/{key}/").content.decode()
    assert f'action="/learn/try/{key}/"' in page
    part = client.get(f"/learn/try/{key}/", headers={"hx-request": "true"}).content.decode()
    assert part.lstrip().startswith('<div class="try"')
    assert "<html" not in part


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("slug", "tpp", "words"),
    [  # dense rate times bits, from the sheets: 1,979 x 8; 624 x 8; 296 x 8
        ("nvidia-h100-sxm5-80gb", 15_832, "over the limit of 4,800"),
        ("nvidia-a100-sxm4-80gb", 4_992, "over the limit of 4,800"),
        ("nvidia-a800-sxm4-80gb", 4_992, "its links kept it under that of 2022"),
        ("nvidia-h20", 2_368, "under 4,800"),
        ("nvidia-a40", 2_395, "in the second class of 2023"),  # 149.7 x 16; 2,395 / 628 mm² = 3.8
        ("nvidia-p100-sxm2", 339, "under the limits of both years"),
    ],
)
def test_what_export_rules_count(curated, slug, tpp, words):
    assert max(export_limits.performance(public_catalogue(), slug).values()) == pytest.approx(tpp, rel=0.01)
    assert words in answer("export-limits", accelerator=slug).sentence


@pytest.mark.django_db
@keys
def test_an_empty_catalogue_has_an_answer_too(client, key):
    page = client.get(f"/learn/try/{key}/")
    assert page.status_code == 200
    assert 'class="answer"' in page.content.decode()


def test_calculations_and_chapters_lead_to_each_other(client, curated, db):
    text = client.get("/learn/try/roofline/").content.decode()
    crumbs = text[text.index('class="crumbs"') : text.index("<h1>")]
    assert 'href="/learn/memory-wall/#' in crumbs
    assert "Explained in:" in text
    assert 'href="/learn/the-neural-engine/#' in text
    for language, begin in (("en", "/learn/"), ("zh-hans", "/zh-hans/learn/")):
        places = places_of_tries(language)
        assert places.keys() == all_tries().keys()
        urls = [url for of_key in places.values() for _chapter, url in of_key]
        assert all(url.startswith(begin) and "#" in url for url in urls)

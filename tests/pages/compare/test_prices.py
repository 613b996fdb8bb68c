"""What a comparison says of prices: like with like, each with kind, day and seller."""

import pytest

from stackviz.records.catalog.costs import costs_now
from stackviz.records.catalog.queries import public_catalogue
from tests.responses import words_of

H100, H200, MI300X = "nvidia-h100-sxm5-80gb", "nvidia-h200-sxm", "amd-mi300x"
RTX_4090, RTX_3070, ARC = "nvidia-geforce-rtx-4090", "nvidia-geforce-rtx-3070", "intel-arc-b580"


def compare(client, *slugs: str, form: str = "") -> str:
    query = "&".join(f"a={slug}" for slug in slugs)
    response = client.get(f"/compare/?{query}{form and f'&format={form}'}")
    return response.json() if form == "json" else words_of(response)


def test_rents_are_compared_where_both_have_one(curated, client, db):
    page = compare(client, H100, MI300X)
    assert "Price: cannot tell" not in page
    assert "Price: rent per hour H100 SXM5 80GB has 2× the rent per hour of Instinct MI300X" in page
    assert "2.99 USD 2026-05-18, Lambda" in page
    assert "1.50 USD 2026-05-18, TensorWave" in page


def test_prices_of_two_kinds_are_shown_without_a_factor(curated, client, db):
    page = compare(client, RTX_3070, MI300X)
    price = page.split("Price not like for like")[1][:300]
    assert "499 USD launch price" in price
    assert "1.50 USD rent per hour, 2026-05-18, TensorWave" in price
    assert "×" not in price.split("TensorWave")[0]


def test_of_three_the_kind_that_two_have_is_compared(curated, client, db):
    page = compare(client, RTX_3070, ARC, MI300X)
    assert "Price: launch price, least first" in page
    assert "least launch price: Arc B580 (249 USD, 20" in page
    assert "1.50 USD rent per hour, 2026-05-18, TensorWave" in page


def test_an_undated_street_price_says_so(curated, client, db):
    data = compare(client, H100, H200, form="json")
    rows = {row["field"]: row for row in data["rows"]}
    street = rows["street_price"]
    assert [cell["value"] for cell in street["cells"]] == [30000.0, 32000.0]
    assert [cost["day"] for cost in street["costs"]] == ["undated", "undated"]
    assert [cell["name"] for cell in street["cells"]] == ["undated, shop not named, as Hugging Face lists it"] * 2
    rent = rows["rent_per_hour"]
    assert [(cost["amount"], cost["day"]) for cost in rent["costs"]] == [(2.99, "2026-05-18"), (4.54, "2026-03-17")]


def test_where_no_price_is_known_nobody_can_tell(curated, client, db):
    catalogue = public_catalogue()
    nvidia = [row for row in catalogue.accelerators if row.vendor.slug == "nvidia"]
    first, second, *_rest = [row.slug for row in nvidia if not costs_now(row.pk, catalogue)]
    assert "Price cannot tell no price known" in compare(client, first, second)


@pytest.mark.parametrize("form", ["csv", "md"])
def test_files_of_a_comparison_have_prices_with_their_day(curated, client, db, form):
    text = client.get(f"/compare/?a={H100}&a={MI300X}&format={form}").content.decode()
    row = next(line for line in text.splitlines() if "Rent of one per hour" in line)
    assert "2026-05-18, Lambda" in row
    assert "2026-05-18, TensorWave" in row


def test_the_sentence_names_the_size_that_a_lead_is_of(client, curated, db):
    page = words_of(client.get("/compare/?a=apple-m4-max-40&a=apple-m3-ultra-80&a=apple-m2-max-38"))
    assert "most memory: M3 Ultra (80-core GPU) (512 GB, the largest; also 96 / 256)" in page
    assert "M4 Max (40-core GPU) (2,499 USD, 48 GB model, in Mac Studio, 2025-03-12)" in page

"""What an accelerator costs is one answer: sheet, list, comparison, search and API give it alike."""

import csv
import io

import pytest

from stackviz.pages.accelerators.sheet import read_sheet
from stackviz.pages.search.prepared import search_index
from stackviz.records.catalog.costs import Cost, CostKind, costs_now, costs_sentence, dollars_to_buy, leading_cost
from stackviz.records.catalog.queries import public_catalogue
from tests.responses import words_of

LIST = "/accelerators/"
PRICED = 60  # accelerators at least of which a price is known


@pytest.fixture
def costs(curated, db) -> dict[str, tuple[Cost, ...]]:
    """What is known of every accelerator with a price."""
    catalogue = public_catalogue()
    known = {row.slug: costs_now(row.pk, catalogue) for row in catalogue.accelerators}
    priced = {slug: found for slug, found in known.items() if found}
    assert len(priced) >= PRICED
    return priced


def summary(cost: Cost) -> tuple[str, float, str, str]:
    return cost.kind.value, cost.amount, cost.currency, cost.day


def test_every_page_names_the_same_amount_kind_and_day(costs, client):
    catalogue = public_catalogue()
    listed = {item["slug"]: item for item in client.get(f"{LIST}?format=json").json()["items"]}
    table = csv.DictReader(io.StringIO(client.get(f"{LIST}?format=csv").content.decode()))
    rows = {row["slug"]: row for row in table}
    answered = {item["slug"]: item for item in client.get("/api/v1/accelerators/?limit=1000").json()["items"]}
    lines = {entry.url: entry.line for entry in search_index().entries}
    for slug, known in costs.items():
        expected = [summary(cost) for cost in known]
        leading = leading_cost(known)
        for item in (listed[slug], answered[slug]):
            assert [(one["kind"], one["amount"], one["currency"], one["day"]) for one in item["costs"]] == expected
        assert listed[slug]["costs"] == answered[slug]["costs"]
        row = rows[slug]
        assert (row["price_kind"], float(row["price"]), row["price_currency"], row["price_day"]) == summary(leading)
        prices = read_sheet(catalogue.by_slug[slug])["prices"]
        assert prices["answer"] == costs_sentence(known)
        assert f"{leading.text} ({leading.remark})" in lines[f"/accelerators/{slug}/"]
    unpriced = [slug for slug in listed if slug not in costs]
    assert not any(listed[slug]["costs"] or rows[slug]["price"] or answered[slug]["costs"] for slug in unpriced)


def test_comparisons_name_the_same_amount_kind_and_day(costs, client):
    slugs = sorted(costs)
    for start in range(0, len(slugs), 6):
        six = slugs[start : start + 6]
        six += [slug for slug in slugs[:1] if len(six) < 2]
        data = client.get(f"/compare/?{'&'.join(f'a={slug}' for slug in six)}&format=json").json()
        for slug in six:
            shown = [one for row in data["rows"] for one in row["costs"] if one["subject"] == f"{slug}"]
            found = {(one["kind"], one["amount"], one["currency"], one["day"]) for one in shown}
            assert found == {summary(cost) for cost in costs[slug]}, slug


def test_the_list_has_a_price_with_kind_and_day_by_default(costs, client):
    page = words_of(client.get(f"{LIST}?q=h100+sxm5"))
    assert "30,000 street, undated" in page
    assert "1.50 an hour, 2026-05" in words_of(client.get(f"{LIST}?q=mi300x"))


def test_the_list_finds_what_costs_at_most_so_much(costs, client):
    items = client.get(f"{LIST}?price_max=500&memory_min=12&sort=price&format=json").json()["items"]
    amounts = [dollars_to_buy(costs[item["slug"]]) for item in items]
    assert amounts == sorted(amounts)
    assert 0 < amounts[0] <= amounts[-1] <= 500
    assert all(item["costs"][0]["kind"] != CostKind.RENT for item in items)
    page = words_of(client.get(f"{LIST}?price_max=500"))
    assert "at most 500 USD" in page
    assert "have no published figure for this filter: Price" in page


def test_no_accelerator_costs_the_list_a_query(costs, client, django_assert_max_num_queries):
    client.get(f"{LIST}?sort=price")
    with django_assert_max_num_queries(4):
        client.get(f"{LIST}?sort=-price&page=2")

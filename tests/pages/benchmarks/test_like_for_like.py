"""`/benchmarks/like-for-like/`: every shared setting of two accelerators, from which a comparison's factors are made."""

import csv
import io
from statistics import geometric_mean

import pytest

from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.best import like_for_like

pytestmark = [pytest.mark.usefixtures("cited"), pytest.mark.django_db]
PAIR = "accelerator=nvidia-geforce-rtx-4090&accelerator=apple-m3-max-40"
URL = f"/benchmarks/like-for-like/?{PAIR}"


def test_the_file_gives_each_mean_again(client):
    rows = list(csv.DictReader(io.StringIO(client.get(f"{URL}&format=csv").content.decode("utf-8-sig"))))
    by_slug = public_catalogue().by_slug
    for item in like_for_like(by_slug["nvidia-geforce-rtx-4090"].pk, by_slug["apple-m3-max-40"].pk):
        of_work = [row for row in rows if row["work"] == item.label]
        names = dict.fromkeys(row["benchmark"] for row in of_work)
        means = [geometric_mean([float(row["ratio"]) for row in of_work if row["benchmark"] == name]) for name in names]
        assert geometric_mean(means) == pytest.approx(item.ratio)
    assert client.get(f"{URL}&format=json").json()[0].keys() == rows[0].keys()


def test_the_page_leads_to_the_ranking_of_each_setting(client):
    sections = client.get(URL).context["sections"]
    assert {row.setting for _item, _factor, rows in sections for row in rows} > {"tg128 · Llama 2 7B · Q4_0"}
    for _item, _factor, rows in sections:
        assert "nvidia-geforce-rtx-4090" in client.get(rows[0].url).content.decode()


@pytest.mark.parametrize("query", ["", "accelerator=nvidia-l4", "accelerator=x&accelerator=y"])
def test_what_is_no_pair_is_asked_for(client, query):
    answer = client.get(f"/benchmarks/like-for-like/?{query}")
    assert answer.status_code == 200
    assert "Choose two accelerators" in answer.content.decode()


def test_a_file_of_no_pair_is_refused(client):
    for query in ("accelerator=nvidia-l4&format=json", "accelerator=nvidia-l4&accelerator=none&format=csv"):
        answer = client.get(f"/benchmarks/like-for-like/?{query}")
        assert (answer.status_code, answer.json()["field"]) == (422, "accelerator")


def test_a_page_costs_the_editions_alone(client, django_assert_max_num_queries):
    client.get(URL)
    with django_assert_max_num_queries(3):
        client.get(URL)

"""The memory size of each accelerator: chosen in its tag, in the address, in old addresses; all where none is chosen."""

import csv
import html
import io
import re

import pytest

from tests.languages import chinese
from tests.responses import words_of

M1, RTX = "apple-m1-8", "nvidia-geforce-rtx-3060"
MODEL = "/fit/?model=llama-3.1-8b"
HTMX = {"HX-Request": "true"}


def answer_of(site, query):
    page = site.get(f"{MODEL}&{query}").content.decode()
    return html.unescape(re.search(r'<p class="answer" role="status">([^<]*)</p>', page)[1])


def notes_of(site, query):
    return [str(note) for note in site.get(f"{MODEL}&{query}").context["notes"]]


def test_without_a_size_every_size_has_its_verdict(fit_site):
    answer = answer_of(fit_site, f"accelerator={M1}&accelerator={RTX}")
    assert re.search(r"on Apple M1 \(8-core GPU\) with 8 GB: no, 16 GB: yes, [\d.]+–[\d.]+ tokens/s; ", answer)
    assert "fits NVIDIA GeForce RTX 3060 12GB, 12 GB (11.9 GiB usable), " in answer
    single = answer_of(fit_site, f"accelerator={M1}")
    assert re.match(r"Llama 3.1 8B in Q4_K_M needs [\d.]+ GiB: on Apple M1 \(8-core GPU\) with 8 GB: no, 16", single)


def test_each_accelerator_has_its_own_size(fit_site):
    answer = answer_of(fit_site, f"accelerator={M1}:8&accelerator={RTX}:12")
    assert "does not fit Apple M1 (8-core GPU), 8 GB (5.33 GiB usable)" in answer
    assert "fits NVIDIA GeForce RTX 3060 12GB, 12 GB" in answer
    assert notes_of(fit_site, f"accelerator={M1}:8&accelerator={RTX}:12") == []


def test_two_sizes_of_one_accelerator_go_together(fit_site):
    answer = answer_of(fit_site, f"accelerator={M1}:16&accelerator={RTX}&accelerator={M1}:8")
    assert "with 8 GB: no, 16 GB: yes" in answer
    rows = csv_of(fit_site, f"accelerator={M1}:16&accelerator={M1}:8&accelerator={M1}")
    assert [(row["slug"], row["memory_gb"], row["fits"]) for row in rows] == [
        (M1, "8.0", "False"),
        (M1, "16.0", "True"),
    ]


def csv_of(site, query):
    return list(csv.DictReader(io.StringIO(site.get(f"{MODEL}&{query}&format=csv").content.decode())))


def test_an_old_address_keeps_those_without_the_size(fit_site):
    old = f"accelerator={M1}&accelerator={RTX}&memory=8"
    assert answer_of(fit_site, old) == answer_of(fit_site, f"accelerator={M1}:8&accelerator={RTX}")
    assert csv_of(fit_site, old) == csv_of(fit_site, f"accelerator={M1}:8&accelerator={RTX}")
    assert notes_of(fit_site, old) == ["NVIDIA GeForce RTX 3060 12GB has 12 GB, not “8”; all its sizes are shown."]
    pushed = fit_site.get(f"{MODEL}&{old}", headers=HTMX)["HX-Push-Url"]
    assert pushed == f"/fit/?accelerator={M1}:8&accelerator={RTX}&model=llama-3.1-8b"


def test_without_an_accelerator_a_size_chooses_among_all(fit_site):
    rows = csv_of(fit_site, "memory=16")
    assert {row["memory_gb"] for row in rows} == {"16.0"}
    assert M1 in {row["slug"] for row in rows}
    assert 'name="memory"' in fit_site.get(f"{MODEL}&memory=16").content.decode()


@pytest.mark.parametrize(
    ("query", "note"),
    [
        (f"accelerator={M1}:12", "Apple M1 (8-core GPU) has 8 or 16 GB, not “12”; all its"),
        (f"accelerator={M1}:", "Apple M1 (8-core GPU) has 8 or 16 GB, not “”"),
        (f"accelerator={M1}:8:2", "Apple M1 (8-core GPU) has 8 or 16 GB, not “8:2”"),
        (f"accelerator={M1}:%3Cb%3E", "Apple M1 (8-core GPU) has 8 or 16 GB, not “<b>”"),
        (f"accelerator={M1}:{'9' * 99}", f"Apple M1 (8-core GPU) has 8 or 16 GB, not “{'9' * 40}”"),
        ("accelerator=nvidia-h999:8", "Unknown accelerator “nvidia-h999:8”; it was ignored."),
        ("accelerator=hailo-8:8", "No memory size is published for Hailo-8; all its"),
        (f"accelerator={M1}:8&memory=16", "Apple M1 (8-core GPU) is chosen with 8 GB; it was ignored."),
    ],
)
def test_a_size_that_cannot_be_used_is_named(fit_site, query, note):
    response = fit_site.get(f"{MODEL}&{query}")
    assert response.status_code == 200
    assert str(response.context["notes"][0]).startswith(note)
    assert "<b>”" not in response.content.decode()


def test_the_tag_has_the_sizes_and_works_as_a_form(fit_site):
    page = fit_site.get(f"{MODEL}&accelerator={M1}:8&accelerator={RTX}").content.decode()
    [tags] = re.findall(r'<ul class="chips chosen".*?</ul>', page, re.DOTALL)
    assert re.findall(r'<option value="([^"]*)"( selected)?>([^<]*)<', tags) == [
        (M1, "", "all sizes"), (f"{M1}:8", " selected", "8 GB"), (f"{M1}:16", "", "16 GB"),
    ]  # fmt: skip
    assert f'<input type="hidden" name="accelerator" value="{RTX}">' in tags
    assert re.findall(r'href="([^"]*)"', tags) == [
        f"/fit/?accelerator={RTX}&amp;model=llama-3.1-8b", f"/fit/?accelerator={M1}:8&amp;model=llama-3.1-8b"
    ]  # fmt: skip
    assert page.index("<form") < page.index(tags) < page.rindex("</form>")
    assert 'name="memory"' not in page


def test_verdicts_and_bars_share_one_scale(fit_site):
    page = fit_site.get(f"{MODEL}&accelerator={M1}&accelerator={RTX}").content.decode()
    figures = re.findall(r'<figure class="needs">.*?</figure>', page, re.DOTALL)
    assert [figure.count("<li>") for figure in figures] == [2, 1]
    verdicts = re.findall(r'<b class="st \w+">([^<]*)</b>', "".join(figures))
    assert re.fullmatch(r"[\d.]+ [KMG]iB short", verdicts[0])
    assert all(re.fullmatch(r"fits, [\d.]+–[\d.]+ tokens/s", verdict) for verdict in verdicts[1:])
    ticks = [float(share) for share in re.findall(r'<b style="--p:([\d.]+)"', "".join(figures))]
    assert ticks == pytest.approx([5.333 / 11.88 * 100, 10.667 / 11.88 * 100, 100], rel=0.001)


def test_the_answer_is_in_chinese_too(fit_site):
    text = words_of(fit_site.get(chinese(f"{MODEL}&accelerator={M1}&accelerator={RTX}&memory=8")))
    assert "NVIDIA GeForce RTX 3060 12GB 有 12 GB，没有“8”" in text
    text = words_of(fit_site.get(chinese(f"{MODEL}&accelerator={M1}")))
    assert "8 GB：否, 16 GB：是" in text
    assert "all sizes" not in text


def test_sizes_cost_no_more_queries(fit_site, django_assert_num_queries):
    for query in (f"accelerator={M1}:8&accelerator={RTX}", f"accelerator={M1}&accelerator={RTX}&memory=8"):
        with django_assert_num_queries(2):
            fit_site.get(f"{MODEL}&{query}")

"""The page /fit/: the answer stands in a sentence, the address is the question, bad input is explained."""

import html
import re

import pytest

from tests.languages import chinese
from tests.responses import words_of

HTMX = {"HX-Request": "true"}
TWO = "model=llama-3-70b&accelerator=apple-m4-max-40&accelerator=nvidia-geforce-rtx-5090"


def test_without_a_question_the_smallest_are_ranked(fit_site):
    text = words_of(fit_site.get("/fit/"))
    for shown in (
        "Llama 3.1 8B in Q4_K_M needs 5.",
        "The smallest that runs it, of those most asked for: ",
        "accelerators run it",
        "KV cache",
    ):
        assert shown in text


def test_chosen_accelerators_are_answered_in_one_sentence(fit_site):
    text = words_of(fit_site.get(f"/fit/?{TWO}"))
    assert (
        "Llama 3 70B in Q4_K_M: needs 41.2 GiB, on Apple M4 Max (40-core GPU) with 48 GB: no, 64 / 128 GB: yes, "
        in text
    )
    others = re.search(r"tokens/s; needs ([\d.]+) GiB, does not fit NVIDIA GeForce RTX 5090, 32 GB \(31.7 GiB", text)
    assert others[1] != "41.2"
    assert int(re.search(r"this accelerator, (\d+) cited rates", text)[1]) == 12
    # every part with its formula and numbers
    assert "2 × KV heads × head size × layers × tokens × batch × bits ÷ 8" in text
    assert "2 × 8 × 128 × 80 × 4,096 × 1 × 16 ÷ 8" in text
    assert "bytes read ÷ bandwidth" in text


def test_names_are_read_in_any_case_and_addresses_have_one_form(fit_site):
    written = "/fit/?model=Llama-3-70B&precision=Q4_K_M&cache=Q8_0&accelerator=Apple-M4-Max-40"
    text = words_of(fit_site.get(written))
    assert "Llama 3 70B in Q4_K_M" in text
    assert "Unknown" not in text
    address = "/fit/?accelerator=apple-m4-max-40&cache=q8_0&model=llama-3-70b&precision=q4_k_m"
    assert fit_site.get(written, headers=HTMX)["HX-Push-Url"] == address


@pytest.mark.parametrize(("name", "slug"), [("deepseek-r1", "deepseek-v3"), ("Llama%203.3%2070B", "llama-3.1-70b")])
def test_a_model_is_found_by_its_other_names_too(fit_site, name, slug):
    response = fit_site.get(f"/fit/?model={name}", headers=HTMX)
    assert response["HX-Push-Url"] == f"/fit/?model={slug}"
    assert "Unknown model" not in words_of(response)


def test_a_need_that_all_share_is_stated_once(fit_site):
    address = "/fit/?model=llama-3-70b&accelerator=nvidia-geforce-rtx-5090&accelerator=nvidia-geforce-rtx-4090"
    answer = words_of(fit_site.get(address)).partition("Llama 3 70B in Q4_K_M")[2].partition(" usable).")[0]
    assert re.match(r" needs [\d.]+ GiB: does not fit NVIDIA GeForce RTX 5090, ", answer)
    assert answer.count("needs") == 1


def test_the_form_repeats_the_question(fit_site):
    html = fit_site.get(f"/fit/?{TWO}&cache=q8_0").content.decode()
    assert '<option value="llama-3-70b" selected>' in html
    assert '<option value="q8_0" selected>' in html
    assert '<input type="hidden" name="accelerator" value="nvidia-geforce-rtx-5090">' in html
    assert "?accelerator=nvidia-geforce-rtx-5090&amp;cache=q8_0&amp;model=llama-3-70b" in html
    assert '<option value="apple-m4-max-40:64">64 GB</option>' in html


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("model=llama-9", "Unknown model “llama-9”; it was ignored."),
        ("context=0", "“0” is not a whole number from 1 to 4,194,304; it was ignored."),
        ("model=custom&layers=0", "“0” is not a whole number from 1 to 1,000"),
        ("model=custom&parameters=1e15", "A model has between 1 and 10,000,000,000,000 parameters"),
        ("task=full&precision=q4_0", "Full training cannot change weights stored as Q4_0"),
        ("accelerator=nvidia-h999", "Unknown accelerator “nvidia-h999”"),
        ("accelerator=hailo-8", "No memory size is published for Hailo-8."),
    ],
)
def test_what_cannot_be_used_is_explained_and_the_page_answers(fit_site, query, note):
    response = fit_site.get(f"/fit/?{query}")
    assert response.status_code == 200
    assert note in words_of(response)


def test_htmx_gets_the_answer_alone_and_text_stays_text(fit_site):
    response = fit_site.get("/fit/?model=llama-3-8b&context=0&page=1", headers=HTMX)
    assert "<html" not in response.content.decode()
    assert response.headers["HX-Push-Url"] == "/fit/?model=llama-3-8b"
    page = fit_site.get("/fit/?model=%3Cscript%3E&accelerator=%22%3E&context=%00&layers=" + "9" * 400).content.decode()
    assert "<script>" not in page.replace('<script src="', "").replace("<script defer", "")
    text = words_of(fit_site.get("/fit/?model=deepseek-v3&precision=fp32"))
    assert "fits none of these accelerators" in text


def test_the_note_of_a_model_is_in_chinese_too(fit_site):
    address = "/fit/?model=gpt-oss-120b&accelerator=apple-m4-max-40"
    assert "every second layer sees 128 tokens" in words_of(fit_site.get(address))
    text = words_of(fit_site.get(chinese(address)))
    assert "每隔一层只看 128 个 token" in text
    assert "every second layer" not in text


def test_the_cost_does_not_depend_on_what_is_asked(fit_site, django_assert_max_num_queries):
    for query in ("page=2", TWO, "model=custom&parameters=8B", "task=lora&precision=nf4&rank=8&page=3"):
        with django_assert_max_num_queries(3):
            fit_site.get(f"/fit/?{query}")


@pytest.mark.django_db
@pytest.mark.parametrize("also", ["", "accelerator=apple-m4-max-40&"], ids=["of one that does not", "of two, one does"])
def test_where_a_chosen_one_does_not_run_it_the_ways_on_do(client, curated, also):
    asked = f"/fit/?{also}accelerator=nvidia-geforce-rtx-5090&model=llama-3-70b&precision="
    text = client.get(f"{asked}q4_k_m").content.decode()
    assert ("It runs on none of them" in text) is (not also)
    ways = dict(re.findall(r'<a class="chip" href="(\?[^"]+)">([^<]+\?)</a>', text))
    assert list(ways.values()) == ["With 2 of each?", "Which accelerators run it?"]
    for address in ways:
        answer = client.get("/fit/" + html.unescape(address)).content.decode()
        assert "It runs on none of them" not in answer
    assert "With 2 of each?" not in client.get(f"{asked}q2_k").content.decode()

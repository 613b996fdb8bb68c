"""What a search finds first: in English, with typos, in Chinese, and of error messages."""

import re

import pytest
from django.contrib.auth.models import AnonymousUser
from django.urls import resolve
from django.utils import translation

from stackviz.pages.search.answers import question_subject, ranked_hits
from stackviz.pages.search.prepared import search_index
from stackviz.pages.search.text_entries import wordings
from stackviz.report.messages import SYMPTOMS
from stackviz.web.languages import address_in
from tests.pages.search.searches import CHINESE, ERRORS, QUESTIONS, SEARCHES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("curated", "cited")]


def addresses(query: str, most: int = 3) -> list[str]:
    return [hit.entry.url for hit in ranked_hits(AnonymousUser(), query)[:most]]


def test_there_are_sixty_searches_twenty_of_them_chinese_and_ten_each_of_messages_and_questions():
    assert (len(SEARCHES), len(CHINESE), len(ERRORS), len(QUESTIONS)) == (60, 20, 10, 10)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("query", SEARCHES)
def test_the_wanted_answer_is_among_the_first_three(query, language):
    with translation.override(language):
        first = addresses(query)
    assert any(SEARCHES[query] in address for address in first), first


@pytest.mark.parametrize(
    ("query", "stack"),
    [
        ("AWS Neuron", "aws-neuron"),
        ("ROCm on Windows", "amd-rocm-windows"),
        ("XPU Windows", "intel-xpu-windows"),
        ("DGX Spark stack", "nvidia-dgx-spark"),
        ("NVIDIA Jetson", "nvidia-jetson"),
        ("Apple MLX", "apple-mlx"),
    ],
)
def test_a_stack_is_found_by_its_name(query, stack):
    assert f"/stacks/{stack}/" in addresses(query, 6)


@pytest.mark.parametrize("title", ["Memory bandwidth", "显存带宽"])
def test_a_field_is_found_by_its_titles_in_both_languages(title):
    for language in ("en", "zh-hans"):
        with translation.override(language):
            assert "sort=-memory_bandwidth_gb_s" in " ".join(addresses(title))


def test_another_number_is_no_typo():
    names = [hit.entry.title for hit in ranked_hits(AnonymousUser(), "rtx 4091") if not hit.missing]
    assert names == []


def test_words_that_nothing_has_are_named():
    best = ranked_hits(AnonymousUser(), "RTX 4090 zzyzx")[0]
    assert (best.entry.title, best.missing) == ("NVIDIA GeForce RTX 4090", ("zzyzx",))


def test_the_name_that_matched_is_shown():
    best = ranked_hits(AnonymousUser(), "Mac15,9")[0]
    assert best.name == "Mac15,9"


@pytest.mark.parametrize(
    ("query", "slugs"),
    [
        ("4090 vs m3 max", ["nvidia-geforce-rtx-4090", "apple-m3-max-40"]),
        ("MI300X versus b200", ["amd-mi300x", "nvidia-b200-hgx"]),
        ("H100 SXM5 对比 昇腾 910B", ["nvidia-h100-sxm5-80gb", "huawei-ascend-910b"]),
    ],
)
def test_two_names_with_a_word_between_them_are_their_comparison(query, slugs):
    assert addresses(query)[0] == "/compare/?" + "&".join(f"a={slug}" for slug in slugs)


def test_no_comparison_is_made_of_a_name_that_nothing_has():
    for query in ("4090 vs zzyzx", "vs", "4090 vs", "4090 vs rtx 4090", " vs ".join(["h100"] * 9)):
        assert not [address for address in addresses(query, most=20) if address.startswith("/compare/?")], query


@pytest.mark.parametrize("query", QUESTIONS)
def test_a_question_about_software_leads_to_the_plan_and_then_to_the_sheet(query):
    leading = addresses(query, most=2)
    assert QUESTIONS[query] in leading[0]
    if leading[0].startswith("/plan/"):
        slug = re.search(r"accelerator=([\w-]+)", leading[0])[1]
        assert leading[1] == f"/accelerators/{slug}/"


@pytest.mark.parametrize(
    "query",
    [
        "cuda", "pytorch", "install pytorch", "driver", "安装驱动", "torch.cuda.is_available() returns False on my machine",
        "CUDA out of memory", "pytorch zzyzx", "cuda for rtx 4091", "mps", "rtx 4090",
    ],
)  # fmt: skip
def test_what_names_no_software_or_no_accelerator_is_no_such_question(query):
    assert not [address for address in addresses(query) if address.startswith("/plan/?accelerator=")]


def test_the_release_in_a_question_about_software_is_no_name_of_an_accelerator():
    for query in ("cuda 12.4 for rtx 3060", "pytorch 2.4.1 rtx 3060", "CUDA 12 rtx 3060", "cu126 rtx 3060"):
        assert addresses(query, most=1) == ["/plan/?accelerator=nvidia-geforce-rtx-3060"], query


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("api", "/api/v1/docs/"), ("add a machine", "/machines/add/"), ("install pytorch", "/plan/"),
        ("tokens per second", "/fit/"), ("download", "/data/"), ("热图", "/heatmap/"), ("ladder", "/ladder/"),
    ],
)  # fmt: skip
def test_the_pages_of_the_site_are_found_by_what_people_want_there(query, address):
    for language in ("en", "zh-hans"):
        with translation.override(language):
            assert address_in(language, address) in addresses(query)


@pytest.mark.parametrize(
    ("question", "address"),
    [
        ("what is MPS", "/components/mps/"), ("What's cuDNN?", "/components/cudnn/"), ("TF32 是什么？", "/learn/"),
        ("什么是统一内存", "unified-memory"), ("what does sm_90 mean?", "/accelerators/nvidia-h100"),
    ],
)  # fmt: skip
def test_a_question_finds_what_it_asks_about(question, address):
    for language in ("en", "zh-hans"):
        with translation.override(language):
            assert any(address in found for found in addresses(question)), addresses(question)


@pytest.mark.parametrize("text", ["what", "what is", "what is ?", "什么是", "?", "what is " + "x" * 5000, "nvidia"])
def test_what_is_no_question_stays_as_it_is(text):
    assert question_subject(text) == text


def test_nothing_is_found_of_nonsense():
    assert ranked_hits(AnonymousUser(), "qqqqxxxx") == []


def test_every_entry_leads_somewhere_and_says_what_it_is():
    entries = search_index().entries
    assert len(entries) > 600
    for entry in entries:
        resolve(entry.url.partition("?")[0].partition("#")[0])
        assert entry.title.strip(), entry
    assert not [entry.title for entry in entries if not entry.line]


def test_every_message_is_found_by_its_own_words():
    """First of all where the words are its own; two messages may share a wording that names no version."""
    missed = [
        (symptom.key, wording)
        for symptom in SYMPTOMS
        for wording in (symptom.message, *wordings(symptom))
        if f"/causes/{symptom.key}/" not in addresses(wording)
    ]
    assert missed == []


@pytest.mark.parametrize(
    ("query", "url"),
    [
        ("collectives", "/benchmarks/collectives/"), ("peer copy", "/benchmarks/peer-copy/"),
        ("accuracy", "/benchmarks/accuracy/"), ("nccl-tests", "/benchmarks/nccl-tests/"),
        ("nvbandwidth", "/benchmarks/nvbandwidth/"), ("train-step", "/benchmarks/train-step/"),
    ],
)  # fmt: skip
def test_a_benchmark_that_only_machines_measure_is_an_answer(client, query, url):
    assert url in addresses(query)
    assert client.get(url).status_code == 200

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
from tests.pages.search.searches import CHINESE, ERRORS, QUESTIONS, SEARCHES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("curated", "cited")]


def addresses(query: str, most: int = 3) -> list[str]:
    return [hit.entry.url for hit in ranked_hits(AnonymousUser(), query)[:most]]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("query", SEARCHES)
def test_the_wanted_answer_is_among_the_first_three(query, language):
    with translation.override(language):
        first = addresses(query)
    assert any(SEARCHES[query] in address for address in first), first


@pytest.mark.parametrize(
    ("query", "stack"),
    [
        ("AWS Neuron", "aws-neuron"), ("ROCm on Windows", "amd-rocm-windows"), ("XPU Windows", "intel-xpu-windows"),
        ("DGX Spark stack", "nvidia-dgx-spark"), ("NVIDIA Jetson", "nvidia-jetson"), ("Apple MLX", "apple-mlx"),
    ],
)  # fmt: skip
def test_a_stack_is_found_by_its_name(query, stack):
    assert f"/stacks/{stack}/" in addresses(query, 6)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize(
    ("query", "address"),
    [
        # fields by their titles in both languages
        ("Memory bandwidth", "sort=-memory_bandwidth_gb_s"), ("显存带宽", "sort=-memory_bandwidth_gb_s"),
        # pages of the site by what people want there
        ("api", "/api/v1/docs/"), ("add a machine", "/machines/add/"), ("install pytorch", "/plan/"),
        ("tokens per second", "/fit/"), ("download", "/data/"), ("热图", "/heatmap/"), ("ladder", "/ladder/"),
        # questions
        ("what is MPS", "/components/mps/"), ("What's cuDNN?", "/components/cudnn/"), ("TF32 是什么？", "/glossary/"),
        ("什么是统一内存", "unified-memory"), ("what does sm_90 mean?", "/accelerators/nvidia-h100"),
    ],
)  # fmt: skip
def test_fields_pages_and_questions_are_found_in_both_languages(query, address, language):
    with translation.override(language):
        assert any(address in found for found in addresses(query)), addresses(query)


def test_hits_name_what_matched_and_what_did_not():
    hits = {
        query: ranked_hits(AnonymousUser(), query) for query in ("RTX 4090 zzyzx", "Mac15,9", "rtx 4091", "qqqqxxxx")
    }
    best = hits["RTX 4090 zzyzx"][0]
    assert (best.entry.title, best.missing) == ("NVIDIA GeForce RTX 4090", ("zzyzx",))
    assert hits["Mac15,9"][0].name == "Mac15,9"
    assert [hit for hit in hits["rtx 4091"] if not hit.missing] == []  # another number is no typo
    assert hits["qqqqxxxx"] == []
    assert (len(SEARCHES), len(CHINESE), len(ERRORS), len(QUESTIONS)) == (60, 20, 10, 10)


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
def test_a_question_about_software_leads_to_plan_and_sheet(query):
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
def test_without_software_or_accelerator_no_plan_is_offered(query):
    assert not [address for address in addresses(query) if address.startswith("/plan/?accelerator=")]


def test_a_release_of_software_names_no_accelerator():
    for query in ("cuda 12.4 for rtx 3060", "pytorch 2.4.1 rtx 3060", "CUDA 12 rtx 3060", "cu126 rtx 3060"):
        assert addresses(query, most=1) == ["/plan/?accelerator=nvidia-geforce-rtx-3060"], query


@pytest.mark.parametrize("text", ["what", "what is", "what is ?", "什么是", "?", "what is " + "x" * 5000, "nvidia"])
def test_what_is_no_question_stays_as_it_is(text):
    assert question_subject(text) == text


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

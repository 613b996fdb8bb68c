"""The pairs worth seeing exist, name results that exist, and are answered by figures of those."""

import re

import pytest

from stackviz.pages.compare.pairs import answered_pairs, read_named_pairs
from stackviz.records.hosts.models import Host
from tests.curated import copy_curated


@pytest.fixture(scope="module", autouse=True)
def hosts(curated, django_db_blocker):
    with django_db_blocker.unblock():
        copy_curated("hosts_", "cited_")


def test_every_subject_is_a_public_host(db):
    named = {slug for pair in read_named_pairs() for slug in pair.slugs}
    assert named <= set(Host.objects.filter(state="public").values_list("slug", flat=True))
    assert all(subject.startswith("host:") for pair in read_named_pairs() for subject in pair.subjects)


def test_every_named_result_exists_and_is_the_answer(db):
    answered = {pair.title: pair.line for pair in answered_pairs()}
    assert [pair.title for pair in read_named_pairs() if pair.title not in answered] == []
    assert "96.1 tokens/s, 63.8 tokens/s; 1.5×" in answered["Strix Halo: ROCm on one, Vulkan on the other"]
    assert "so there is no factor" in answered["Mac mini M4 Pro: MLX and llama.cpp, one 27B model"]


@pytest.mark.parametrize(
    ("title", "factor", "share"),
    [
        ("Strix Halo with hipBLASLt and without", "3×", ("Settings", "3×")),
        ("Strix Halo: Vulkan and ROCm on one machine", "1.2×", ("Driver and framework", "1.2×")),
        ("Eight H100 and eight H200 train one program", "1.05×", ("Cannot tell", "1.05×")),
        ("MacBook Air M5 and M1 with MLX", "1.9×", ("What bounds the chips", "2.2×")),
        ("Strix Halo: ROCm on one, Vulkan on the other", "1.5×", ("Cannot tell", "1.5×")),
    ],
)
def test_difference_is_explained_that_the_pair_is_about(client, db, title, factor, share):
    pair = next(pair for pair in answered_pairs() if pair.title == title)
    first = client.get(f"/compare/{pair.url}").context["comparison"].explanations[0]
    assert first.factor == factor
    assert share in [(line.title, line.factor) for line in first.lines]


def test_row_leads_that_the_pair_is_about(client, db):
    pair = next(pair for pair in answered_pairs() if pair.title == "MacBook Air M5 and M1 with MLX")
    response = client.get(f"/compare/{pair.url}")
    assert response.context["comparison"].hosts.shared[0].setting == "tg128 · Qwen3-8B · 4bit"
    assert response.context["verdict"].startswith("MacBook Air M5")


def test_start_links_the_pairs_with_their_answers(client, db):
    page = client.get("/compare/").content.decode()
    assert page.count("?a=host:") == len(read_named_pairs()) > 10


def test_a_host_is_chosen_as_easily_as_a_sheet(client, db):
    answer = client.get("/search/subjects/", {"q": "5090 CachyOS", "q2": "NVIDIA H100 SXM5 80GB"})
    assert answer["Location"] == "/compare/?a=host:2x-rtx-5090-cachyos-2026-07&a=nvidia-h100-sxm5-80gb"


def test_file_has_titles_without_rates():
    titles = [pair.title for pair in read_named_pairs()]
    assert len(titles) == len(set(titles)) > 20
    assert not [title for title in titles if re.search(r"\d\s?(?:token|TFLOP|GB/s|×|%|ms)", title)]


def test_wrong_file_is_refused(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("subjects,title\nhost:a,A\n", encoding="utf-8")
    with pytest.raises(ValueError, match="the columns are"):
        read_named_pairs(file)
    file.write_text("subjects,title,first,second\nhost:a,A,nothing; x=1,\n", encoding="utf-8")
    with pytest.raises(ValueError, match="not a cited benchmark"):
        read_named_pairs(file)

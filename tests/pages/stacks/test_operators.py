"""The pages of operators: both GPUs without a query, fallbacks, and links to what each operator costs."""

import html
import re

import pytest
from django.urls import reverse

from stackviz.pages.stacks.operator_page import detours_of, operator_rows
from stackviz.records.stacks.operators import operators
from tests.sampled import sampled

pytestmark = pytest.mark.usefixtures("curated", "db")


def test_steps_that_fall_back_to_the_cpu_are_found():
    assert [(title, step.named) for title, step in detours_of("embedding")] == [("MPS", "embedding_renorm_")]
    gaps = {operator.slug: (to_cpu, failing) for operator, *_kernels, to_cpu, failing in operator_rows()}
    assert (gaps["embedding"][0], gaps["lstm"][1]) == (1, 2)
    assert gaps["matmul"] == (0, 0)


@pytest.mark.parametrize("slug", sorted(operators()))
def test_a_page_shows_both_gpus_without_a_query(client, slug, django_assert_num_queries):
    with django_assert_num_queries(0):
        answer = client.get(reverse("stacks:operator", args=[slug]))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert len(answer.content) < 100_000
    assert text.index('id="eager-cuda"') < text.index('id="eager-mps"') < text.index('id="compiled-cuda"')


def test_matmul_has_the_paths_of_rocm_xpu_and_mlx_with_sources(client):
    text = client.get("/operators/matmul/").content.decode()
    places = [text.index(f'id="eager-{device}"') for device in ("cuda", "mps", "rocm", "xpu", "mlx")]
    assert places == sorted(places)
    assert 'id="compiled-rocm"' not in text
    assert "onednn::matmul" in text
    assert "https://github.com/ml-explore/mlx/blob/" in text
    assert 'id="eager-rocm"' not in client.get("/operators/lstm/").content.decode()
    assert 'href="/operators/matmul/"' in client.get("/components/mlx-kernels/").content.decode()


def test_the_list_links_to_each_with_one_query(client, django_assert_num_queries):
    client.get(reverse("stacks:operators"))  # reads the days of the tables' last checks, once for each edition
    with django_assert_num_queries(1):  # the editions
        text = client.get(reverse("stacks:operators")).content.decode()
    assert all(reverse("stacks:operator", args=[slug]) in text for slug in operators())


def test_an_unknown_operator_is_404(client):
    assert client.get(reverse("stacks:operator", args=["teleport"])).status_code == 404


@sampled(3)
def test_timings_of_an_operator_are_linked(client, sample):
    for slug in sample(sorted(operators())):
        text = client.get(reverse("stacks:operator", args=[slug])).content.decode()
        section = text[text.index('aria-labelledby="timed"') :].partition("</section>")[0]
        links = re.findall(r'href="([^"]+)"', section)
        assert links[0] == reverse("benchmarks:operator", args=[slug])
        assert f'hx-get="{links[0]}"' in section
        for link in links:
            assert client.get(html.unescape(link)).status_code == 200


def test_a_component_names_the_operators_that_run_it(client):
    text = client.get(reverse("stacks:component", args=["cudnn"])).content.decode()
    section = text[text.index('aria-labelledby="used-by"') :].partition("</section>")[0]
    assert 'href="/operators/conv2d/"' in section


def test_only_matrix_products_link_to_their_calculation(client):
    assert reverse("learn:try", args=["gemm-time"]) in client.get("/operators/matmul/").content.decode()
    assert reverse("learn:try", args=["gemm-time"]) not in client.get("/operators/conv2d/").content.decode()

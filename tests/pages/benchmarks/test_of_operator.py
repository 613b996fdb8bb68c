"""What an operator costs on NVIDIA beside Apple: the best of each side in equal settings, with kind and source."""

import re

import pytest
from django.urls import reverse

from stackviz.pages.benchmarks.of_operator_page import AVERAGE, FIGURES, FRAMEWORKS, MEASURED, operator_groups
from stackviz.records.cited.models import CitedResult
from stackviz.records.stacks.operators import operators
from tests.pages.benchmarks.machines import A100, H100, run, seconds
from tests.pages.machines.factories import copy, gemm, make_lab

M3_MAX = "apple-m3-max-40"
CONV = {"op": "Conv2d", "shape": "dim=1x1x1x1 dim=1x1x1x1"}


def sides(group) -> dict[str, str]:
    return {figure.side: figure.value or figure.missing for figure in group.figures}


@pytest.fixture
def lab(db):
    return make_lab()


@pytest.mark.parametrize("slug", ["matmul", "linear", "conv2d", "softmax"])
def test_cuda_stands_beside_mps_and_mlx_with_sources(slug):
    groups = [group for group in operator_groups(slug) if group.lower_is_better]
    assert len(groups) == 3
    for group in groups:
        assert group.kind == "cited"
        assert AVERAGE not in group.setting
        assert tuple(figure.side for figure in group.figures) == FRAMEWORKS
        for figure in group.figures:
            assert figure.source_url.startswith("http")
            assert figure.made
        assert max(figure.at for figure in group.figures) == 100.0
        assert group.figures[0].factor == ""


def test_the_cost_of_a_product_has_a_type_and_torch_release():
    square, best, *timed = operator_groups("matmul")
    assert (square.setting, square.figures[0].value) == ("fp16 · 8000³", "66 TFLOP/s")
    assert "torch release not stated" in square.figures[0].details
    assert best.setting == "bf16 · size best"
    assert re.search(r"torch 2\.\d+\.\d", best.figures[0].made)
    for group in timed:
        assert group.dtype == "fp32"
        assert group.program.startswith("https://github.com/TristanBilot/mlx-benchmark/blob/")
        assert "dim=" not in group.setting
        for figure in group.figures:
            assert ("torch release not stated" in figure.made) == figure.side.startswith("PyTorch")


def test_the_best_of_a_side_counts_against_the_first(make_result):
    timed = {"benchmark": "operator-time", "unit": "ms", "software": {}}
    for slug, framework, value in (
        (H100, "PyTorch CUDA", "2"), (A100, "PyTorch CUDA", "4"), (M3_MAX, "PyTorch MPS", "8"), (M3_MAX, "MLX", "5"),
    ):  # fmt: skip
        make_result(slug=slug, params={**CONV, "framework": framework}, value=value, **timed)
    others = CitedResult.objects.filter(benchmark="operator-time").exclude(source__key="bench-of-mine")
    others.update(state="doubtful", reason="x")
    (group,) = [group for group in operator_groups("conv2d") if group.kind == "cited"]
    assert sides(group) == {"PyTorch CUDA": "2 ms", "PyTorch MPS": "8 ms", "MLX": "5 ms"}
    cuda, mps, mlx = group.figures
    assert (cuda.among, mps.factor, mlx.factor, cuda.at, mps.at) == (2, "4×", "2.5×", 25.0, 100.0)
    assert "H100" in cuda.name


def test_a_side_without_figures_says_why(client):
    assert FIGURES.keys() | MEASURED.keys() <= operators().keys()
    attention = operator_groups("attention")[0]
    assert sides(attention)["PyTorch CUDA"] == "no cited result: this suite was run on Macs alone"
    (all_reduce,) = operator_groups("all-reduce")
    assert sides(all_reduce)["Apple"] == "one GPU a machine: nothing to reduce between"
    text = client.get(reverse("benchmarks:operator", args=["lstm"])).content.decode()
    assert "Nobody has published what it costs on both" in text


@pytest.mark.parametrize("slug", ["softmax", "layer-norm", "embedding", "optimizer-step"])
def test_what_memory_bounds_has_the_bandwidth_both_reach(slug):
    group = operator_groups(slug)[-1]
    assert group.why.startswith("bound by memory")
    assert list(sides(group)) == ["NVIDIA", "Apple"]
    assert all(figure.value.endswith("B/s") for figure in group.figures)


def test_what_machines_here_measured_comes_first(lab):
    run(lab, "dgx", H100, [gemm("bf16", seconds(600)), gemm("fp32", seconds(50))])
    run(lab, "mac", M3_MAX, [gemm("fp32", seconds(12))])
    group = operator_groups("matmul")[0]
    assert (group.kind, group.setting) == ("measured", "fp32 8192³")
    assert {side: value.split()[0] for side, value in sides(group).items()} == {"NVIDIA": "50", "Apple": "12"}
    assert group.figures[1].factor == "0.24×"


def test_private_labs_are_left_out_and_empty_sides_say_so(lab):
    run(lab, "dgx", H100, [copy([0.003] * 7 + [0.0031])])
    run(make_lab("sealed", is_public=False), "mac", M3_MAX, [copy([0.02] * 7 + [0.021])])
    group = operator_groups("softmax")[0]
    assert group.kind == "measured"
    assert sides(group)["Apple"] == "no machine here has measured it"


@pytest.mark.parametrize("slug", ["matmul", "conv2d", "softmax", "all-reduce", "lstm"])
def test_the_page_costs_a_fixed_number_of_queries(client, slug, django_assert_max_num_queries):
    with django_assert_max_num_queries(14):
        assert client.get(reverse("benchmarks:operator", args=[slug])).status_code == 200


def test_htmx_gets_the_figures_and_others_a_page(client):
    url = reverse("benchmarks:operator", args=["conv2d"])
    part = client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert re.search(r"PyTorch MPS.*MLX", part, re.DOTALL)
    assert "cited" in part
    page = client.get(url).content.decode()
    assert 'href="/operators/conv2d/"' in page
    assert client.get("/operators/teleport/figures/").status_code == 404

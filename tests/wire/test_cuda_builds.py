"""cu128 is CUDA 12.8, and the other way round; what is neither is nothing."""

import re
from pathlib import Path

import pytest

from stackviz.wire.cuda_builds import cuda_of, variant_of

SOURCES = Path(__file__).parents[2] / "stackviz"


@pytest.mark.parametrize(("variant", "cuda"), [("cu128", "12.8"), ("cu92", "9.2"), ("cu130", "13.0")])
def test_a_build_names_its_cuda(variant, cuda):
    assert cuda_of(variant) == cuda
    assert variant_of(cuda) == variant


@pytest.mark.parametrize("text", ["", "cpu", "cu", "cu1", "custom", "cu128 ", "cu128x", "rocm6.4"])
def test_what_is_no_build_with_cuda_has_none(text):
    assert cuda_of(text) == ""


@pytest.mark.parametrize(("cuda", "variant"), [("12.8.1", "cu128"), ("13", ""), ("", ""), ("none", ""), ("x.y", "")])
def test_the_build_of_a_cuda_version_needs_both_numbers(cuda, variant):
    assert variant_of(cuda) == variant


def test_build_names_are_made_in_one_place():
    own = re.compile(r"""["']cu["'] ?\+|cu\(\\d""")
    found = [path.name for path in SOURCES.rglob("*.py") if own.search(path.read_text(encoding="utf-8"))]
    assert found == ["cuda_builds.py"]

"""The curated catalogue, and machines of a public and of a private lab that measured."""

import pytest
from django.core.cache import cache

from stackviz.records.catalog.models import Accelerator
from tests.pages.machines.factories import DGX_FACTS, copy, gemm, h100, make_lab, make_machine, make_report


@pytest.fixture(autouse=True)
def nothing_kept():
    """Primary keys are used again after a rolled back test; what was kept under them is not."""
    cache.clear()


@pytest.fixture
def sheet(curated, db):
    def find(slug: str) -> Accelerator:
        return Accelerator.objects.get(slug=slug)

    return find


@pytest.fixture
def lab(curated, db):
    return make_lab("north")


@pytest.fixture
def timed(lab, sheet):
    """Makes a machine with one card of this sheet that reported these results."""

    def make(name, slug, results, *, of=None, **facts):
        card = h100(0, sheet(slug), **facts)
        return make_report(make_machine(of or lab, name), facts=DGX_FACTS, cards=[card], results=results)

    return make


@pytest.fixture
def dgx(timed):
    """An H100 that measured 780 TFLOP/s in bf16 and 2.98 TB/s."""
    return timed("dgx-07", "nvidia-h100-sxm5-80gb", [gemm("bf16", [0.00141] * 8), copy([0.00288] * 8)])

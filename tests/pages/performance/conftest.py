"""All cited results, and a public machine that measured."""

import pytest
from django.core.cache import cache

from stackviz.records.catalog.models import Accelerator
from tests.pages.machines.factories import DGX_FACTS, copy, gemm, h100, make_lab, make_machine, make_report


@pytest.fixture(autouse=True)
def _loaded(db, cited):
    """All cited results; pages of earlier tests are forgotten."""
    cache.clear()


@pytest.fixture
def dgx():
    """An H100 of a public lab that measured 780 TFLOP/s in bf16 and 2.98 TB/s."""
    card = h100(0, Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb"))
    results = [gemm("bf16", [0.00141, 0.00142, 0.001405, 0.001415]), copy([0.00288, 0.00287, 0.00289, 0.002885])]
    return make_report(make_machine(make_lab("north"), "dgx-07"), facts=DGX_FACTS, cards=[card], results=results)

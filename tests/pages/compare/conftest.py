"""The curated catalogue and stacks, and a public and a private lab, for the tests of the comparison page."""

import pytest
from django.core.cache import cache

from stackviz.records.catalog.models import Accelerator
from tests.pages.machines.factories import DGX_FACTS, gemm, h100, make_lab, make_machine, make_report


@pytest.fixture(autouse=True)
def nothing_kept():
    """Primary keys are used again after a rolled back test; what was kept under them is not."""
    cache.clear()


@pytest.fixture
def lab(curated, db):
    return make_lab("north")


@pytest.fixture
def dgx(lab):
    """A machine with two H100 and a measured matrix product."""
    sheet = Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
    machine = make_machine(lab, "dgx-07")
    make_report(machine, facts=DGX_FACTS, cards=[h100(0, sheet), h100(1, sheet)], results=[gemm("bf16", [0.00141] * 8)])
    return machine

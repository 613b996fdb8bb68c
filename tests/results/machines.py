"""Machines of public and private labs that measured, with curated sheets: for tests of measured benchmarks."""

from stackviz.catalog.models import Accelerator
from tests.machines.factories import DGX_FACTS, START, days, h100, make_machine, make_report

H100, A100 = "nvidia-h100-sxm5-80gb", "nvidia-a100-sxm4-80gb"


def seconds(tflops, side=8192):
    """Samples of a product of this size at this rate, +-1 %."""
    middle = 2 * side**3 / (tflops * 1e12)
    return [middle * share for share in (0.99, 0.995, 0.998, 1.0, 1.0, 1.002, 1.005, 1.01)]


def run(lab, name, slug, results, *, machine=None, day=0):
    """A report of a machine with one card of this sheet."""
    card = h100(0, Accelerator.objects.get(slug=slug))
    made = machine or make_machine(lab, name)
    return make_report(made, at=START + days(day), facts=DGX_FACTS, cards=[card], results=results)

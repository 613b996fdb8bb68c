"""Machines of public and private labs that measured, with curated sheets: for tests of measured benchmarks."""

import json

from stackviz.intake.ingest.from_dump import add_machine
from stackviz.intake.ingest.interpret import interpret
from stackviz.records.catalog.models import Accelerator
from stackviz.records.labs.models import Lab, Report
from stackviz.report.dumps.machines import machines, telling
from stackviz.report.importers import read_all
from tests.pages.machines.factories import DGX_FACTS, START, days, h100, make_machine, make_report
from tests.report.dumps.test_llama_results import RUN

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


def paste_llama_bench(lab: Lab, user, *runs, name="desk", text="") -> Report:
    """What llama-bench printed as JSON, pasted by a member as the report of a machine. `runs`: what differs from RUN."""
    text = text or json.dumps([RUN | run for run in runs])
    (machine,) = telling(machines(read_all(text)))
    known = set(Report.objects.values_list("pk", flat=True))
    add_machine(lab, user, machine, name, text)
    (report,) = Report.objects.exclude(pk__in=known)
    assert interpret(report.pk) == "read"
    return report

"""What a saved diagnosis says of itself where its link is shared: how many faults, and the worst of them."""

from django.utils.translation import gettext as _

from stackviz.pages.diagnose.diagnosis import Diagnosis
from stackviz.report.rules import Severity
from stackviz.web.finding_text import finding_words
from stackviz.web.preview import Introduction

__all__ = ["introduce_diagnosis"]


def introduce_diagnosis(diagnosis: Diagnosis) -> Introduction:
    """`NVIDIA CUDA on Linux: 1 broken, 2 warnings`; the answer is the worst finding."""
    titles = [
        _("%(stack)s: %(faults)s")
        % {"stack": machine.stack or machine.title, "faults": machine.fault_counts or _("no problem found")}
        for machine in diagnosis.machines
    ]
    findings = [finding for machine in diagnosis.machines for finding in machine.report.findings.faults]
    worst = next((finding for finding in findings if finding.severity == Severity.BROKEN), next(iter(findings), None))
    if worst is None:
        return Introduction(
            " / ".join(titles), _("What tools printed about a machine: its stack drawn layer by layer.")
        )
    return Introduction(" / ".join(titles), finding_words(worst.title))

"""What a plan says of itself where it is linked to: what to install, or that it will not work."""

from django.utils.translation import gettext as _

from stackviz.pages.plan.answer import PlanAnswer
from stackviz.pages.plan.builds import PlanOutcome
from stackviz.pages.plan.page import Plan
from stackviz.web.curated_text import curated_words
from stackviz.web.finding_text import finding_words
from stackviz.web.preview import Introduction

__all__ = ["introduce_answer", "introduce_plan"]


def introduce_plan(plan: Plan) -> Introduction:
    """`NVIDIA T4: torch 2.9.0 (cu128) works`, and the driver and the Pythons in the answer."""
    query = plan.query
    words = {
        "name": plan.sheet.name if plan.sheet else query.title,
        "torch": query.machine.torch + (f" ({plan.build.name})" if plan.build else ""),
        "system": next((option.title for option in query.systems if option.is_chosen), query.machine.system.key),
    }
    title = {
        PlanOutcome.WORKS: _("%(name)s: torch %(torch)s works"),
        PlanOutcome.FAILS: _("%(name)s: torch %(torch)s will not work"),
    }.get(plan.outcome, _("%(name)s: cannot tell whether torch %(torch)s works"))
    return Introduction(title % words, _answer(plan, words))


def introduce_answer(answer: PlanAnswer) -> Introduction:
    """The sentence that answers, and the command or why there is none."""
    return Introduction(answer.sentence, " ".join(answer.commands) or curated_words(answer.way.note))


def _answer(plan: Plan, words: dict[str, str]) -> str:
    faults = [finding_words(finding.title) for finding in plan.findings.faults]
    if faults:
        sentence = _("On %(system)s: %(faults)s.")
        return sentence % {**words, "faults": "; ".join(fault.rstrip(".") for fault in faults)}
    driver = plan.query.driver or (plan.branches.chosen.driver if plan.branches.chosen else "")
    needs = [
        _("NVIDIA driver %(driver)s") % {"driver": driver} if driver and plan.query.takes_driver else "",
        *(f"macOS ≥ {need.low}" for need in plan.macos),
        f"Python {', '.join(plan.pythons)}" if plan.pythons else "",
    ]
    listed = ", ".join(filter(None, needs))
    if not listed:
        return _("On %(system)s: what fits, what to install, and what will not work.") % words
    return _("On %(system)s, with %(needs)s. What to install, and what will not work.") % {**words, "needs": listed}

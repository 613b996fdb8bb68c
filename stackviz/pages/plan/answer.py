"""What a plan answers first: what to type, or why there is nothing to type, and what runs instead. No queries."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from stackviz.pages.plan.builds import PlanOutcome
from stackviz.pages.plan.chosen_way import FrameworkLine, WayChoice
from stackviz.pages.plan.page import Plan
from stackviz.pages.plan.query import SYSTEM_TITLES, PlanQuery
from stackviz.pages.plan.way import InstallWay, driver_need, uv_command
from stackviz.pages.plan.ways import INSTALLERS, PYTORCH
from stackviz.report.importers.gpu_check import CHECK_SCRIPTS
from stackviz.web.i18n.curated_text import curated_words
from stackviz.web.i18n.finding_text import finding_words
from stackviz.web.preview import Introduction


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsOn:
    """A framework of the overview, where it runs, and the address of its plan."""

    title: str
    outcome: PlanOutcome
    systems: tuple[str, ...]
    url: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAnswer:
    """`sentence`: in one line; `commands`: to type in order, none where nothing can be; `needs`: besides Python.

    `check`: the command that shows whether it works; "" where there is none.
    """

    name: str
    sentence: str
    outcome: PlanOutcome
    commands: tuple[str, ...]
    check: str
    needs: tuple[str, ...]
    pythons: tuple[str, ...]
    way: InstallWay
    overview: tuple[RunsOn, ...]

    @property
    def pins(self) -> tuple[str, ...]:
        """The packages that come with a release that the tables decide: `torch 2.14.0`."""
        plan = self.way.package_plan
        return tuple(f"{package} {version}" for package, version in plan.release.pins) if plan and plan.release else ()

    @property
    def passed_over(self) -> tuple[str, ...]:
        """Why a newer release is not the one, or why none is."""
        return self.way.package_plan.passed_over if self.way.package_plan else ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the release is not known to run."""
        return self.way.package_plan.doubts if self.way.package_plan else ()


def answer_of(query: PlanQuery, plan: Plan | None) -> PlanAnswer | None:
    """Of an accelerator; None where none, or the CPU, is chosen."""
    choice = query.choice
    if choice is None:
        return None
    way = choice.way
    outcome = plan.outcome if plan else way.outcome
    return PlanAnswer(
        name=query.title,
        sentence=_sentence(query, choice, plan, outcome),
        outcome=outcome,
        commands=_commands(plan, choice) if plan else way.commands,
        check=_check(query, choice) if outcome == PlanOutcome.WORKS else "",
        needs=_needs(plan) if plan else way.needs,
        pythons=plan.pythons if plan else way.pythons,
        way=way,
        overview=tuple(_overview(query, choice)),
    )


def _sentence(query: PlanQuery, choice: WayChoice, plan: Plan | None, outcome: PlanOutcome) -> str:
    words = {
        "name": query.title,
        "framework": choice.title,
        "system": SYSTEM_TITLES[choice.system],
        "installer": str(INSTALLERS.get(choice.installer, "")),
    }
    if outcome == PlanOutcome.WORKS and choice.installer:
        return _("%(framework)s for %(name)s on %(system)s, with %(installer)s") % words
    if outcome == PlanOutcome.WORKS:
        return _("%(framework)s for %(name)s on %(system)s") % words
    if plan and outcome == PlanOutcome.FAILS:  # of the release, driver and Python that are chosen
        words["torch"] = plan.query.machine.torch
        return _("PyTorch %(torch)s does not run on %(name)s under %(system)s as chosen") % words
    if plan and outcome == PlanOutcome.UNKNOWN and plan.query.driver and plan.build and plan.build.carries_code:
        words |= {"torch": plan.query.machine.torch, "driver": plan.query.driver}
        return _("Cannot tell whether PyTorch %(torch)s runs on %(name)s under driver %(driver)s") % words
    if outcome == PlanOutcome.FAILS and (query.driver or not query.python_is_open or query.macos_is_old):
        return _("No release on record of %(framework)s runs on %(name)s under %(system)s as chosen") % words
    if outcome == PlanOutcome.FAILS:
        return _("No release on record of %(framework)s supports %(name)s on %(system)s") % words
    return _("Cannot tell whether %(framework)s supports %(name)s on %(system)s") % words


def _reasons(answer: PlanAnswer, plan: Plan | None) -> list[str]:
    """Why it does not run or nobody knows, or why a newer release is not the one; [] where the newest runs."""
    if plan:
        return list(plan.reasons)
    of_package = [finding_words(line) for line in (*answer.doubts, *answer.passed_over)]
    if of_package or answer.outcome == PlanOutcome.WORKS or not answer.way.note:
        return of_package
    return [curated_words(answer.way.note)]


def _commands(plan: Plan, choice: WayChoice) -> tuple[str, ...]:
    """Of a plan by the tables of torch's builds; none where it does not work."""
    if plan.outcome == PlanOutcome.FAILS:
        return ()
    return (uv_command(plan.command) if choice.installer == "uv" else plan.command,)


_TORCH_DEVICES = {"nvidia": "cuda", "amd": "cuda", "apple": "mps", "intel": "xpu"}


def _check(query: PlanQuery, choice: WayChoice) -> str:
    """Of a framework that is installed into a Python; the answer to what it prints is Diagnose's."""
    vendor = query.machine.card.vendor if query.machine.card else ""
    key = f"torch-{_TORCH_DEVICES.get(vendor)}" if choice.framework == PYTORCH else choice.framework
    script = CHECK_SCRIPTS.get(key, "")
    return f'python -c "{script}"' if script and choice.installer != "container" else ""


def _needs(plan: Plan) -> tuple[str, ...]:
    """The driver, with the last branch for the card, or the macOS."""
    driver = driver_need(plan.driver_low, plan.last_branch)
    return tuple(filter(None, [driver, f"macOS ≥ {plan.macos_low}" if plan.macos_low else ""]))


def _overview(query: PlanQuery, choice: WayChoice) -> list[RunsOn]:
    return [
        RunsOn(
            title=line.title,
            outcome=line.outcome,
            systems=tuple(SYSTEM_TITLES[key] for key in line.systems),
            url=query.with_framework(line.framework),
            is_chosen=line.framework == choice.framework,
        )
        for line in choice.lines
    ]


def answer_json(answer: PlanAnswer | None, choice: WayChoice, plan: Plan | None) -> dict[str, Any]:
    """The answer for programs: keys as in addresses, texts as the page has them."""
    if answer is None:
        return {}
    source = answer.way.source
    return {
        "accelerator": answer.name,
        "framework": choice.framework,
        "system": choice.system,
        "installer": choice.installer,
        "outcome": answer.outcome.value,
        "answer": answer.sentence,
        "commands": list(answer.commands),
        "needs": list(answer.needs),
        "pythons": list(answer.pythons),
        "pins": list(answer.pins),
        "reasons": _reasons(answer, plan),
        "note": curated_words(answer.way.note),
        "source": {"title": source.title, "url": source.url, "read_on": answer.way.read_on or None},
        "frameworks": {line.framework: _line_json(line) for line in choice.lines},
        "choices": {
            "framework": [line.framework for line in choice.lines],
            "system": list(choice.systems),
            "installer": [option.value for option in choice.installers],
        },
    }


def cpu_json(plan: Plan) -> dict[str, Any]:
    """The plan for the processor alone, with the keys of `answer_json` that it has."""
    machine = plan.query.machine
    return {
        "accelerator": "cpu",
        "framework": PYTORCH,
        "system": machine.system.key,
        "installer": "pip",
        "outcome": plan.outcome.value,
        "commands": [plan.command],
        "needs": list(_needs(plan)),
        "pythons": list(plan.pythons),
        "reasons": list(plan.reasons),
    }


def _line_json(line: FrameworkLine) -> dict[str, Any]:
    return {"outcome": line.outcome.value, "systems": list(line.systems)}


# Previews of plans.


def introduce_plan(plan: Plan) -> Introduction:
    """`NVIDIA T4: torch 2.9.0 (cu128) works`, and the driver and the Pythons in the answer."""
    query = plan.query
    words = {
        "name": plan.sheet.name if plan.sheet else query.title,
        "torch": query.machine.torch + (f" ({plan.build.name})" if plan.build else ""),
        "system": query.system_title,
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
    needs = [
        *_needs(plan),
        f"Python {', '.join(plan.pythons)}" if plan.pythons else "",
    ]
    listed = ", ".join(filter(None, needs))
    if not listed:
        return _("On %(system)s: what fits, what to install, and what will not work.") % words
    return _("On %(system)s, with %(needs)s. What to install, and what will not work.") % {**words, "needs": listed}

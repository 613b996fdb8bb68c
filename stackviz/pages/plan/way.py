"""One way to install a framework on an accelerator, and the words that every plan has for what it needs. No queries."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.pages.plan.builds import PlanOutcome
from stackviz.report.rules import RuleSource
from stackviz.report.rules.packages import PackagePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallWay:
    """How a framework gets onto an accelerator, or why it does not.

    `system` "": all of them. `commands`: what to type, in order; none where nothing can be, or where `is_planned`:
    then the tables of torch's builds decide, and the plan has the command. `package_plan`: of a framework whose release
    the tables decide. `source`: what says so.
    """

    framework: str
    system: str
    installer: str
    outcome: PlanOutcome
    commands: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    note: str = ""
    source: RuleSource
    read_on: str = ""
    is_planned: bool = False
    package_plan: PackagePlan | None = None


def driver_need(low: str, last: str) -> str:
    """`NVIDIA driver ≥ 525.60.13 (up to R580)`, with the last branch for the card; "" where no driver is needed."""
    if not low:
        return ""
    need = _("NVIDIA driver ≥ %(low)s (up to R%(last)s)") if last else _("NVIDIA driver ≥ %(low)s")
    return need % {"low": low, "last": last}


def uv_command(command: str) -> str:
    """`pip install torch` -> `uv pip install torch`."""
    return f"uv {command.removeprefix('python -m ')}"

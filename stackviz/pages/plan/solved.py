"""A framework whose release the tables decide, as a way to install it: for the driver, Python and macOS of a plan."""

from dataclasses import replace

from stackviz.pages.plan.builds import PlanOutcome
from stackviz.pages.plan.planned_machine import SYSTEMS
from stackviz.pages.plan.support import FrameworkSupport, PlanTarget
from stackviz.pages.plan.way import InstallWay, driver_need, uv_command
from stackviz.report.rules import Tables
from stackviz.report.rules.package_releases import PackageTarget
from stackviz.report.rules.packages import PackagePlan, plan_package


def solved_way(tables: Tables, target: PlanTarget, system: str, row: FrameworkSupport) -> InstallWay:
    """The way with the newest release that runs on the accelerator, with any driver and Python."""
    bare = InstallWay(
        framework=row.framework,
        system=system,
        installer=row.installer,
        outcome=PlanOutcome.UNKNOWN,
        note=row.note,
        source=row.guide.source,
        read_on=row.guide.read_on,
    )
    return _solved(bare, plan_package(tables, row.framework, _host(target, system)))


def settled_way(
    tables: Tables, target: PlanTarget, way: InstallWay, *, driver: str, python: str, macos: str
) -> InstallWay:
    """The same way for a plan that names some of these; "" for what it leaves open."""
    host = replace(_host(target, way.system), driver=driver, python=python, macos=macos)
    return _solved(way, plan_package(tables, way.framework, host))


def _host(target: PlanTarget, system: str) -> PackageTarget:
    where = SYSTEMS[system]
    return PackageTarget(where.wheel, where.platform, target.capability if target.vendor == "nvidia" else "")


def _solved(way: InstallWay, plan: PackagePlan) -> InstallWay:
    command = f"pip install {plan.spec}" if plan.release else ""
    commands = (uv_command(command) if way.installer == "uv" else command,) if command else ()
    return replace(
        way,
        outcome=PlanOutcome(plan.verdict.value),
        commands=commands,
        needs=_needs(plan),
        pythons=plan.release.pythons if plan.release else (),
        package_plan=plan,
    )


def _needs(plan: PackagePlan) -> tuple[str, ...]:
    release = plan.release
    if release is None:
        return ()
    listed = [
        driver_need(release.driver, release.driver_last),
        f"glibc ≥ {release.glibc}" if release.glibc else "",
        f"macOS ≥ {release.macos}" if release.macos else "",
    ]
    return tuple(filter(None, listed))

"""Pairs of statements about JAX, TensorFlow, vLLM and MLX: what a plan installs, and the diagnosis of that release."""

from collections.abc import Iterator
from dataclasses import replace

from stackviz.desk.contradictions.dumps import broken_findings_in
from stackviz.desk.contradictions.pairs import Known, Pair, PublicStatement
from stackviz.desk.contradictions.stacks import driver_before, planned_families
from stackviz.pages.plan.planned_machine import SYSTEMS
from stackviz.pages.plan.support import PlanTarget, may_run
from stackviz.pages.plan.targets import plan_address, target_card
from stackviz.report.rules.package_releases import PackageRelease, PackageTarget
from stackviz.report.rules.packages import PackagePlan, Verdict, plan_package

_SYSTEM = "linux-x86_64"
_FRAMEWORKS = ("jax", "tensorflow", "vllm", "mlx")
_BUILDS = {"jax": "jax-{extra}-plugin", "mlx": "mlx-cuda-{major}"}  # the package that a build for CUDA brings
_DUMP = """\
$ uname -a
Linux node 6.8.0-45-generic #45-Ubuntu SMP PREEMPT_DYNAMIC x86_64 x86_64 x86_64 GNU/Linux
$ python --version
Python {python}.1
$ pip freeze
{packages}
$ nvidia-smi -q

==============NVSMI LOG==============

Timestamp                                 : Sun Nov 29 10:00:00 2026
Driver Version                            : {driver}

Attached GPUs                             : 1
GPU 00000000:01:00.0
    Product Name                          : {card}
"""


def framework_plans_and_diagnoses(known: Known) -> Iterator[Pair]:
    """Each release that is planned for a family of NVIDIA's cards, under its oldest driver and under the one before."""
    system = SYSTEMS[_SYSTEM]
    for target in planned_families(known):
        if target.vendor != "nvidia" or not may_run(target, _SYSTEM):
            continue
        for component in _FRAMEWORKS:
            host = PackageTarget(system.wheel, system.platform, target.capability)
            plan = plan_package(known.tables, component, host)
            if plan.release is None or plan.verdict is not Verdict.WORKS:
                continue
            low = plan.release.driver
            for driver in (low, driver_before(low)):
                again = plan_package(known.tables, component, replace(host, driver=driver))
                yield _diagnosed(known, target, plan, driver, works=again.spec == plan.spec)


def _diagnosed(known: Known, target: PlanTarget, plan: PackagePlan, driver: str, *, works: bool) -> Pair:
    card = target_card(known.tables, target)
    text = _DUMP.format(
        python=plan.release.pythons[-1] if plan.release else "",
        packages="\n".join(_packages(plan.package.component, plan.release)) if plan.release else "",
        driver=driver,
        card=card.reported_name if card else target.name,
    )
    broken = broken_findings_in(text, known.tables, known.day)
    stack = f"{plan.spec} under driver {driver}, {target.name}"
    return Pair(
        PublicStatement(plan_address(target.slug, _SYSTEM), f"{stack}: {'works' if works else 'does not work'}"),
        PublicStatement("/diagnose/", "; ".join(str(finding.title) for finding in broken) or "nothing is broken"),
        agrees=works is not bool(broken),
    )


def _packages(component: str, release: PackageRelease) -> Iterator[str]:
    """As pip freeze lists them."""
    yield f"{component}=={release.version}"
    if component in _BUILDS:
        build = _BUILDS[component].format(extra=release.extra, major=release.extra.removeprefix("cuda"))
        yield f"{build}=={release.version}"
    for package, version in release.pins:
        yield f"{package}=={version}"

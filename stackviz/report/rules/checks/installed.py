"""Releases of JAX, TensorFlow, vLLM and MLX that are there: do they run under this driver, on these cards, this Python?

The judge is the planner's, so a release that a plan refuses here is broken here too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from stackviz.base.sentence import join_sentences, say
from stackviz.report.format.systems import is_cpu_build
from stackviz.report.rules.checks.branches import driver_range
from stackviz.report.rules.checks.builds import USUAL_PLATFORM, where_driver
from stackviz.report.rules.checks.cuda_start import compat_path, consumer_cards
from stackviz.report.rules.checks.driver import uses_nvidia
from stackviz.report.rules.checks.grouping import by_capability, indexes, named
from stackviz.report.rules.checks.places import is_jetson
from stackviz.report.rules.compatibility import RuleSource, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.package_releases import PACKAGES, PackageTarget
from stackviz.report.rules.packages import FaultKind, JudgedPackage, judge_installed, plan_package
from stackviz.report.rules.rule import Check, Conclusion, RuleSet, Severity
from stackviz.report.rules.versions import is_below, major_minor, numbers

RULES = RuleSet(order=121)

JAX_INSTALL = RuleSource("jax-install", "JAX, Installation", "https://docs.jax.dev/en/latest/installation.html")
TENSORFLOW_BUILDS = RuleSource(
    "tensorflow-linux-builds",
    "TensorFlow, tested build configurations for Linux",
    "https://www.tensorflow.org/install/source#gpu",
)
VLLM_INSTALL = RuleSource(
    "vllm-install",
    "vLLM, installation on NVIDIA cards",
    "https://github.com/vllm-project/vllm/blob/main/docs/getting_started/installation/gpu.cuda.inc.md",
)
MLX_INSTALL = RuleSource(
    "mlx-build", "MLX, Build and Install", "https://ml-explore.github.io/mlx/build/html/install.html"
)
_SOURCES = {"jax": JAX_INSTALL, "tensorflow": TENSORFLOW_BUILDS, "vllm": VLLM_INSTALL, "mlx": MLX_INSTALL}
_OF_DRIVER = {"driver-older-than-card", "driver-dropped-card"}
_WITHOUT_CARD = {
    "jax": say("Its CUDA plug-in does not start: JAX runs on the CPU, or stops where a program asks for the GPU."),
    "tensorflow": say("TensorFlow finds no GPU and runs on the CPU."),
    "vllm": say("torch sees no GPU, and vLLM stops when it starts."),
    "mlx": say("MLX cannot use the GPU."),
}


@dataclass(frozen=True, slots=True)
class _Installed:
    """A build for NVIDIA cards. `extra`: which of the package's; `cuda`: of the libraries that a list names."""

    version: str
    extra: str = ""
    cuda: str = ""


# --- which build is there ---


def _jax(look: Look) -> _Installed | None:
    """Of the plug-in, or of a jaxlib before there was one: it was built with CUDA and said so in its version."""
    return _named_build(look.software("jax-cuda-plugin")) or _named_build(look.software("jax"))


def _mlx(look: Look) -> _Installed | None:
    return _named_build(look.software("mlx"))


def _named_build(versions: Sequence[str]) -> _Installed | None:
    """The build for the oldest CUDA of those that versions name: `0.12.0+cuda13`, `0.4.13+cuda11.cudnn86`."""
    builds = []
    for public, _plus, build in (version.partition("+") for version in versions):
        cuda = numbers(build.removeprefix("cuda"))
        if numbers(public) and build.startswith("cuda") and cuda:
            builds.append(_Installed(public, f"cuda{cuda[0]}"))
    return min(builds, key=lambda each: numbers(each.extra.removeprefix("cuda")), default=None)


def _tensorflow(look: Look) -> _Installed | None:
    """Its package for Linux has code for cards; that for Windows has none, which `tf-windows` says."""
    versions = [version for version in look.software("tensorflow") if numbers(version) and not is_cpu_build(version)]
    is_native_windows = look.platform == "windows" and look.get("os.wsl") is None
    return _Installed(versions[0]) if versions and not is_native_windows else None


def _vllm(look: Look) -> _Installed | None:
    """Where torch's build is not stated: else the rules about torch judge it. The list may name its CUDA libraries."""
    versions = [version for version in look.software("vllm") if numbers(version)]
    is_stated = look.get("torch.cuda_version") or look.states_none("torch.cuda_version")
    if not versions or is_stated or "+" in versions[0] or "+" in (look.get("torch.version") or ""):
        return None
    return _Installed(versions[0], cuda=next(iter(look.packages("cuda-runtime")), ""))


_FINDERS: dict[str, Callable[[Look], _Installed | None]] = {
    "jax": _jax,
    "tensorflow": _tensorflow,
    "vllm": _vllm,
    "mlx": _mlx,
}


def _host(look: Look, platform: str) -> PackageTarget:
    wheel = look.wheel_platform
    return PackageTarget(
        wheel=wheel if wheel.startswith("linux") else USUAL_PLATFORM,
        platform=platform,
        driver=look.get("nvidia.driver_version") or "",
    )


def _judged(tables: Tables, component: str, installed: _Installed, host: PackageTarget) -> JudgedPackage:
    return judge_installed(tables, component, installed.version, host, extra=installed.extra, cuda=installed.cuda)


# --- the driver ---


def driver_check(component: str) -> Check:
    """The check of a framework that brings its own CUDA: whether the driver runs it."""

    def check(look: Look, tables: Tables) -> Iterator[Conclusion]:
        if not uses_nvidia(look) or is_jetson(look):
            return
        installed = _FINDERS[component](look)
        if installed is None or not look.broken_rules.isdisjoint(_OF_DRIVER) or _stands_in(look):
            return
        judged = [_judged(tables, component, installed, _host(look, system)) for system in look.driver_platforms]
        if not judged[0].release.driver:
            return
        look.need("nvidia.driver_version")
        lacking = [each for each in judged if each.lacks(FaultKind.DRIVER)]
        if lacking and len(lacking) < len(judged):
            look.need("os.name")
        yield _too_old(look, tables, component, judged[0]) if lacking else _new_enough(look, judged[0])

    return check


def _stands_in(look: Look) -> bool:
    """Whether a forward-compatibility library may serve in place of the driver's, as in NVIDIA's containers."""
    return bool(compat_path(look)) and not consumer_cards(look)


def _new_enough(look: Look, judged: JudgedPackage) -> Conclusion:
    title = say(
        "{name} needs driver {low} or newer: has {driver}",
        judged.name,
        judged.release.driver,
        look.need("nvidia.driver_version"),
    )
    return Conclusion(severity=Severity.FITS, title=title, source=judged.release.driver_source)


def _too_old(look: Look, tables: Tables, component: str, judged: JudgedPackage) -> Conclusion:
    [fault] = judged.lacks(FaultKind.DRIVER)
    cuda = look.get("torch.cuda_version") or ""
    if look.works("cuda") and not is_below(cuda, major_minor(judged.release.cuda)):
        return Conclusion(
            severity=Severity.WARNING,
            title=say("{title}, but torch uses the card with CUDA {cuda}", fault.reason, cuda),
            explanation=say(
                "Both cannot be true at the same time: the outputs are from different times or machines, or the "
                "driver was changed in between."
            ),
            advice=say("Compare: nvidia-smi; cat /proc/driver/nvidia/version"),
            source=fault.source,
        )
    return Conclusion(
        severity=Severity.BROKEN,
        title=fault.reason,
        explanation=_WITHOUT_CARD[component],
        advice=join_sentences([_update(look, tables, judged), _other_release(look, tables, component)]),
        source=fault.source,
    )


def _update(look: Look, tables: Tables, judged: JudgedPackage) -> str:
    span = driver_range(look, tables, judged.release.driver, look.driver_platforms[0])
    return say("Update the NVIDIA driver{where_driver} to {span}.", where_driver(look), span) if span else ""


def _other_release(look: Look, tables: Tables, component: str) -> str:
    """The release that a plan for this machine names, where there is one; for its weakest card."""
    capabilities = [card.get("compute_capability") for card in look.cards("nvidia")]
    known = [capability for capability in capabilities if capability]
    if not known or len(known) < len(capabilities):
        return ""
    python = major_minor(look.get("python.version") or "")
    host = replace(_host(look, look.driver_platforms[0]), capability=min(known, key=numbers), python=python)
    plan = plan_package(tables, component, host)
    if plan.release is None:
        return ""
    return say("A release for this driver: pip install {spec}", plan.spec)


# --- the cards ---


def card_check(component: str) -> Check:
    """The check of a framework's CUDA against the cards."""

    def check(look: Look, tables: Tables) -> Iterator[Conclusion]:
        cards = look.cards("nvidia")
        installed = _FINDERS[component](look) if cards and not is_jetson(look) else None
        if installed is None:
            return
        for capability, group in by_capability(cards):
            host = replace(_host(look, look.driver_platforms[0]), capability=capability)
            judged = _judged(tables, component, installed, host)
            for fault in judged.lacks(FaultKind.CARD):
                yield Conclusion(
                    severity=Severity.BROKEN,
                    title=say("{reason}: {named} has {capability}", fault.reason, named(group), capability),
                    explanation=_WITHOUT_CARD[component],
                    advice=_other_release(look, tables, component) or say("Use another card, or the CPU."),
                    cards=indexes(group),
                    source=fault.source,
                )
            for doubt in judged.doubts:
                yield Conclusion(severity=Severity.CANNOT_TELL, title=doubt, cards=indexes(group))

    return check


# --- Python ---


def python_check(component: str) -> Check:
    """The check of a release's wheels against the Python that is named with it."""

    def check(look: Look, tables: Tables) -> Iterator[Conclusion]:
        python, wheel = look.get("python.version") or "", look.wheel_platform or USUAL_PLATFORM
        versions = [version for version in look.software(component) if numbers(version)]
        if not versions or not numbers(python)[1:] or look.lists_packages or look.is_from_conda(component):
            return  # an agent lists what this Python imports
        host = PackageTarget(wheel=wheel, platform=wheel.partition("-")[0], python=major_minor(python))
        judged = judge_installed(tables, component, versions[0], host)
        if not judged.release.pythons:
            return
        for fault in judged.lacks(FaultKind.PYTHON):
            listed = ", ".join(judged.release.pythons)
            yield Conclusion(
                severity=Severity.NOTE,
                title=fault.reason,
                explanation=say(
                    "It has wheels for Python {listed}. The list and the Python are of two environments, or somebody "
                    "built it for this one.",
                    listed,
                ),
                advice=say("To check: python -m pip list, with the Python that runs it."),
                source=fault.source,
            )
        if not judged.lacks(FaultKind.PYTHON):
            title = say("{name} has wheels for Python {python}", judged.name, major_minor(python))
            yield Conclusion(severity=Severity.FITS, title=title, source=judged.release.source)

    return check


# --- the toolkit ---


def toolkit_check(component: str) -> Check:
    """The check of a framework whose CUDA libraries no package brings: whether the toolkit is of that CUDA."""

    def check(look: Look, tables: Tables) -> Iterator[Conclusion]:
        toolkit = look.get("cuda.toolkit_version")
        if not toolkit or not look.lists_packages or look.software("cuda-runtime") or not uses_nvidia(look):
            return
        installed = _FINDERS[component](look)
        judged = installed and _judged(tables, component, installed, _host(look, look.driver_platforms[0]))
        if not judged or not numbers(judged.release.cuda):
            return
        cuda = numbers(judged.release.cuda)[0]
        if numbers(toolkit)[:1] == (cuda,):
            title = say(
                "{name} loads the libraries of CUDA {cuda}: the toolkit is {toolkit}", judged.name, cuda, toolkit
            )
            yield Conclusion(severity=Severity.FITS, title=title)
            return
        yield Conclusion(
            severity=Severity.NOTE,
            title=say(
                "{name} loads the libraries of CUDA {cuda}, no package here brings them, and the toolkit is {toolkit}",
                judged.name,
                cuda,
                toolkit,
            ),
            explanation=say(
                "Libraries of another CUDA do not count, and without them it runs on the CPU. conda brings libraries "
                "that no list of Python packages names."
            ),
            advice=_WITH_LIBRARIES[component],
        )

    return check


_WITH_LIBRARIES = {
    "jax": say('pip install -U "jax[cuda13]", or "jax[cuda12]": these bring the libraries.'),
    "tensorflow": say("pip install 'tensorflow[and-cuda]' (Linux): it brings the libraries."),
}

for _component, _package in PACKAGES.items():
    if _component not in _FINDERS:
        continue
    _title, _source = _package.title, _SOURCES[_component]
    RULES.rule(
        f"{_component}-driver",
        _component,
        asks=say("the driver is new enough for {name}", _title),
        worst=Severity.BROKEN,
        source=_source,
        needs=(_component, "nvidia-driver"),
    )(driver_check(_component))
    RULES.rule(
        f"{_component}-python",
        _component,
        asks=say("{name} has wheels for this Python", _title),
        worst=Severity.NOTE,
        source=_source,
        needs=(_component, "python"),
    )(python_check(_component))
    if _component != "vllm":  # frameworks.py has its own
        RULES.rule(
            f"{_component}-card",
            _component,
            asks=say("{name} supports the card", _title),
            worst=Severity.BROKEN,
            source=_source,
            needs=(_component, "hardware"),
        )(card_check(_component))
    if _component in _WITH_LIBRARIES:
        RULES.rule(
            f"{_component}-toolkit",
            _component,
            asks=say("{name} finds the libraries of its CUDA", _title),
            worst=Severity.NOTE,
            source=_source,
            needs=(_component, "cuda-toolkit"),
        )(toolkit_check(_component))

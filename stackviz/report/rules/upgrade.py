"""What the next upgrade breaks and fixes: the same machine with one component newer, checked by the same rules.

Nothing is known here that the rules and tables do not know: a report is changed as the upgrade would change it, facts
that only a run could tell are taken out, and the answers before and after are held against each other.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from stackviz.report.format import Report, Scalar
from stackviz.report.format.systems import cuda_of, wheel_variant
from stackviz.report.rules.compatibility import Release, Tables, computed_once
from stackviz.report.rules.lifecycle import newest_out
from stackviz.report.rules.look import Look
from stackviz.report.rules.registry import judge_breaking
from stackviz.report.rules.rule import Finding, Severity
from stackviz.report.rules.torch_cudas import default_cuda, published_cudas
from stackviz.report.rules.versions import is_below, major_minor, numbers

__all__ = ["Upgrade", "next_upgrades", "with_driver", "with_macos", "with_torch"]

_OF_TORCH = frozenset(
    {
        "torch.git_version", "torch.arch_list", "torch.import_error", "cuda.available", "mps.available",
        "cudnn.version", "cudnn.libraries", "nccl.version", "torch.operators", "torch.kernels_cpu",
        "torch.kernels_cuda", "torch.kernels_mps", "flash_attn.import_error",
    }
)  # fmt: skip
"What a report says about the installed torch and cannot be known of one that is not installed yet."
_OF_DRIVER = frozenset(
    {
        "cuda.driver_api_version", "cuda.available", "cuda.init_code", "nvidia.kernel_module_version",
        "nvidia.nvml_version", "nvidia.nvml_error",
    }
)  # fmt: skip
_WITH_TORCH = frozenset(
    {"pytorch", "torchinductor", "triton", "torchvision", "torchaudio", "cudnn", "nccl", "flash-attn"}
)


_BY_TABLES = frozenset({"kernels-missing"})
_CARD = re.compile(r"card \d+")
Key = tuple[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """One component brought to its newest release, the rest left alone.

    `breaks`: faults that the upgrade would cause; `fixes`: faults that it would fix; `untold`: checks that hold now and
    that the tables do not decide for the newer release. A fault that rests on a fact only a run can provide is in none,
    because its state after the upgrade is unknown. `build`: of torch, the one that breaks least; "" for pip's own.
    """

    component: str
    version: str
    to: str
    released: str
    breaks: tuple[Finding, ...]
    fixes: tuple[Finding, ...]
    untold: tuple[Finding, ...] = ()
    build: str = ""


@dataclass(frozen=True, slots=True)
class _Change:
    """The report with one component newer. `build`: as of Upgrade."""

    report: Report
    build: str = ""


def next_upgrades(report: Report, tables: Tables) -> tuple[Upgrade, ...]:
    """Upgrades that there are for this machine: torch, the NVIDIA driver, macOS; each to the newest release."""
    look = Look(report, tables)
    before = tuple(judge_breaking(report, tables))
    upgrades = []
    for component, version, release, changes in _candidates(look, report, tables):
        if is_below(version, release.version):
            judged = [(change, tuple(judge_breaking(change.report, tables))) for change in changes()]
            change, after = min(judged, key=lambda each: _harm(before, each[1]))
            upgrades.append(
                Upgrade(
                    component=component,
                    version=version,
                    to=release.version,
                    released=release.released,
                    breaks=_breaks(before, after),
                    fixes=_fixed(report, change.report, before, after, tables),
                    untold=_untold(before, after),
                    build=change.build,
                )
            )
    return tuple(upgrades)


def _harm(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[int, int]:
    return len(_breaks(before, after)), len(_untold(before, after))


def _breaks(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(finding for key, finding in _broken(after).items() if key not in _broken(before))


def _untold(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    """What cannot be told any more, of the rules that decide by the tables alone."""
    held = {finding.rule for finding in before if finding.severity == Severity.FITS} & _BY_TABLES
    return tuple(finding for finding in after if finding.severity == Severity.CANNOT_TELL and finding.rule in held)


def _fixed(
    report: Report, other: Report, before: Sequence[Finding], after: Sequence[Finding], tables: Tables
) -> tuple[Finding, ...]:
    """What is broken and holds with the other report, unless forgetting what a run told is all it takes to hold."""
    may_be = [(key, finding) for key, finding in _broken(before).items() if _holds(key, after)]
    forgotten = tuple(judge_breaking(_forgotten(report, other), tables)) if may_be else ()
    return tuple(finding for key, finding in may_be if not _holds(key, forgotten))


def _forgotten(report: Report, other: Report) -> Report:
    """The report as it is, without the facts that the other one had to forget."""
    stated = other.facts.keys() | other.absent.keys()
    return replace(
        other,
        facts={name: value for name, value in report.facts.items() if name in stated},
        absent={name: absent for name, absent in report.absent.items() if name in stated},
    )


def _candidates(
    look: Look, report: Report, tables: Tables
) -> Iterator[tuple[str, str, Release, Callable[[], list[_Change]]]]:
    torch, driver, macos = (
        look.get("torch.version"),
        look.get("nvidia.driver_version"),
        look.get("os.version") if look.platform == "macos" else None,
    )
    if torch and (release := newest_out(tables, "pytorch", "", look.day)):
        yield "pytorch", torch, release, lambda: _torch_changes(report, tables, release.version)
    if driver:
        platform = "windows" if look.driver_platform == "windows" else "linux"
        if branch := newest_out(tables, "nvidia-driver", platform, look.day):
            yield "nvidia-driver", driver, branch, lambda: [_Change(with_driver(report, branch.version))]
    if macos and (system := newest_out(tables, "macos", "", look.day)):
        yield "macos", macos, system, lambda: [_Change(with_macos(report, system.version))]


def _torch_changes(report: Report, tables: Tables, version: str) -> list[_Change]:
    """The builds of a release that may take the place of the installed one: of the same CUDA, pip's own, the others."""
    installed = wheel_variant(str(report.facts.get("torch.cuda_version") or ""))
    default = default_cuda(tables, version, Look(report, tables).wheel_platform)
    if not installed:
        return [_Change(with_torch(report, tables, version))]
    builds = [wheel_variant(cuda) for cuda in published_cudas(tables, version)] or [""]
    usual = wheel_variant(default)
    ordered = sorted(builds, key=lambda build: (build != installed, build != usual))
    return [_Change(with_torch(report, tables, version, build), "" if build == usual else build) for build in ordered]


def with_torch(report: Report, tables: Tables, version: str, build: str = "") -> Report:
    """The report with another torch. `build` "cu130"; "" for the wheel that pip takes by itself on this platform."""
    look = Look(report, tables)
    cuda = cuda_of(build) if build else default_cuda(tables, version, look.wheel_platform)
    build = build or (wheel_variant(cuda) if cuda else "")
    facts: dict[str, Scalar] = {"torch.version": f"{version}+{build}" if build else version}
    if cuda:
        facts["torch.cuda_version"] = major_minor(cuda)
    if cudnn := _shipped(tables, "cudnn", version, build, look.wheel_platform):
        facts["cudnn.version"] = cudnn
    dropped = _OF_TORCH | ({"torch.cuda_version"} if not cuda else set())
    changed = _changed(report, facts, dropped)
    return replace(
        changed, software=tuple(software for software in report.software if software.component not in _WITH_TORCH)
    )


def with_driver(report: Report, version: str) -> Report:
    """The report with another NVIDIA driver."""
    cards = tuple(
        replace(card, facts={name: value for name, value in card.facts.items() if name != "driver_version"})
        for card in report.cards
    )
    changed = _changed(report, {"nvidia.driver_version": version}, _OF_DRIVER)
    return replace(
        changed,
        cards=cards,
        software=tuple(software for software in report.software if software.component != "nvidia-driver"),
    )


def with_macos(report: Report, version: str) -> Report:
    """The report of the same Mac with another macOS."""
    changed = _changed(
        report, {"os.version": version}, {"os.build", "os.kernel", "mps.available", "apple.metal_family"}
    )
    return replace(changed, software=tuple(software for software in report.software if software.component != "macos"))


def _changed(report: Report, facts: Mapping[str, Scalar], dropped: Set[str]) -> Report:
    gone = dropped | facts.keys()
    return replace(
        report,
        facts={name: value for name, value in report.facts.items() if name not in gone} | dict(facts),
        absent={name: absent for name, absent in report.absent.items() if name not in gone},
    )


def _key(finding: Finding) -> Key:
    """The rule and the cards an answer is about."""
    return finding.rule, frozenset(name for name in finding.evidence if _CARD.fullmatch(name))


def _broken(answers: Iterable[Finding]) -> dict[Key, Finding]:
    return {_key(finding): finding for finding in answers if finding.severity == Severity.BROKEN}


def _holds(key: Key, answers: Iterable[Finding]) -> bool:
    """Whether the rule says that it holds for all of these cards, and of none of them that it is broken."""
    rule, cards = key
    same = [finding for finding in answers if finding.rule == rule]
    fitting = [_key(finding)[1] for finding in same if finding.severity == Severity.FITS]
    broken = [
        about for about in (_key(answer)[1] for answer in same if answer.severity == Severity.BROKEN) if about & cards
    ]
    return bool(fitting) and not broken and cards <= frozenset().union(*fitting)


@computed_once
def _shipped(tables: Tables, subject: str, version: str, build: str, platform: str) -> str:
    if not build:
        return ""
    rows = tables.rows("pytorch", "ships", subject, platform=platform)
    return next((row.values for row in rows if numbers(row.version) == numbers(version) and row.variant == build), "")

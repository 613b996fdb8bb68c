"""Where the factor between two runs of one test comes from: shares that multiply to it. Pure: no database, no Django.

A share rests on published figures of the two chips, or on controlled pairs: two runs of one test on one accelerator
that differ in nothing else that they state. Two hosts are no evidence for their own difference: owners leave much
unstated. What no pair shows is in the rest. Shares are logarithms, so that they add up; that of the rest is what is
left.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from statistics import median

__all__ = [
    "ControlledPair",
    "Explained",
    "Peak",
    "Run",
    "SettingChange",
    "Share",
    "ShareCause",
    "controlled_pairs",
    "explain",
]

Work = tuple[str, ...]
_COMMIT = re.compile(r"\b[0-9a-f]{7,40}\b")
MOST_EVIDENCE = 4


class ShareCause(StrEnum):
    """What two runs may differ in, in the order of the stack."""

    CHIPS = "chips"
    MACHINE = "machine"
    FRAMEWORK = "framework"
    BUILD = "build"
    SETTINGS = "settings"
    POWER = "power"
    WORK = "work"


_CAUSES: Mapping[str, ShareCause] = {
    **dict.fromkeys(
        ("backend", "driver", "system", "virtualisation", "rocm", "cuda", "torch", "macos", "metal"),
        ShareCause.FRAMEWORK,
    ),
    **dict.fromkeys(("cpu", "form", "pcie_lanes"), ShareCause.MACHINE),
    **dict.fromkeys(("power_limit_w", "system_power"), ShareCause.POWER),
    **dict.fromkeys(
        ("context", "depth", "input_tokens", "output_tokens", "prompt", "shape", "size", "steps", "dataset", "part"),
        ShareCause.WORK,
    ),
}
_BUILDS = frozenset({"llama.cpp", "vllm", "sglang", "mlx", "mlx-lm", "ollama", "runtime", "macos-sdk", "version"})


def cause_of(name: str) -> ShareCause:
    """The cause that a setting of this name belongs to; whatever is not listed is a setting of the program."""
    return ShareCause.BUILD if name in _BUILDS else _CAUSES.get(name, ShareCause.SETTINGS)


@dataclass(frozen=True, slots=True)
class Peak:
    """The published figure that bounds a run, in its base unit."""

    field: str
    condition: str
    amount: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One result. `work`: equal for runs that may have a factor; `kind`: of work, by what bounds it.

    `label`: the figure in words. `host`, `accelerator`: names, "" for an accelerator that is not certain. `speed`:
    larger is faster.
    """

    key: str
    label: str
    host: str
    accelerator: str
    devices: int
    work: Work
    kind: str
    speed: float
    peak: Peak | None
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True, order=True)
class SettingChange:
    """One setting in which two runs differ. "" where a run does not state it."""

    name: str
    first: str
    second: str

    @property
    def is_stated(self) -> bool:
        """Whether both state it as exactly: `macOS` may be `macOS 26`, and Linux any distribution."""
        if not self.first or not self.second or "Linux" in (self.first, self.second):
            return False
        return not self.first.startswith(self.second) and not self.second.startswith(self.first)


@dataclass(frozen=True, slots=True)
class ControlledPair:
    """Two runs of one test on one accelerator, and all that they differ in. `is_one_host`: one owner, one machine."""

    first: Run
    second: Run
    changes: tuple[SettingChange, ...]

    @property
    def log(self) -> float:
        return math.log(self.first.speed / self.second.speed)

    @property
    def is_one_host(self) -> bool:
        return self.first.host == self.second.host


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of the factor. `log` .. `low`, `high`: logarithms, the extremes of the pairs; of chips all three are one.

    `pairs`: what it rests on, none for chips, whose `peaks` it rests on.
    """

    cause: ShareCause
    changes: tuple[SettingChange, ...]
    log: float
    low: float
    high: float
    pairs: tuple[ControlledPair, ...] = ()
    peaks: tuple[Peak, ...] = ()

    @property
    def factor(self) -> float:
        return math.exp(self.log)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """How many times the first run is as fast as the second. `open_changes`: differences that no pair shows.

    `has_unknown_chips`: the chips differ and nothing published bounds both.
    """

    first: Run
    second: Run
    shares: tuple[Share, ...]
    open_changes: tuple[SettingChange, ...]
    has_unknown_chips: bool

    @property
    def log(self) -> float:
        return math.log(self.first.speed / self.second.speed)

    @property
    def factor(self) -> float:
        return self.first.speed / self.second.speed

    @property
    def rest(self) -> float:
        """The logarithm of what nothing explains, so that all add up."""
        return self.log - math.fsum(share.log for share in self.shares)


def _value(text: str) -> str:
    """What is compared: of a build that names its commit, the commit, so that `8796 (e2d67422c)` is `e2d6742`."""
    commit = _COMMIT.search(text)
    return commit[0][:7] if commit else text


def changes_between(first: Run, second: Run) -> tuple[SettingChange, ...]:
    """Settings in which they differ, also those that only one states, by name."""
    names = sorted({*first.settings, *second.settings})
    changes = (SettingChange(name, first.settings.get(name, ""), second.settings.get(name, "")) for name in names)
    return tuple(change for change in changes if _value(change.first) != _value(change.second))


def explain(first: Run, second: Run, runs: Iterable[Run]) -> Explained:
    """Split the factor between two runs of one test, with controlled pairs of `runs` and of themselves.

    Raise ValueError where they are not of one test.
    """
    if first.work != second.work or first.devices != second.devices:
        raise ValueError("two tests have no factor")
    like = [run for run in {run.key: run for run in (first, second, *runs)}.values() if _is_like(run, first, second)]
    shares = []
    has_unknown_chips = False
    if first.accelerator != second.accelerator or not first.accelerator:
        chips = _share_of_chips(first, second)
        has_unknown_chips = chips is None
        shares += [chips] if chips else []
    by_cause: dict[ShareCause, list[SettingChange]] = defaultdict(list)
    for change in changes_between(first, second):
        by_cause[cause_of(change.name)].append(change)
    open_changes: list[SettingChange] = []
    for cause in ShareCause:
        explained, unexplained = _shares_of_cause(cause, by_cause.get(cause, []), first, second, like)
        shares += explained
        open_changes += unexplained
    return Explained(
        first=first,
        second=second,
        shares=tuple(shares),
        open_changes=tuple(open_changes),
        has_unknown_chips=has_unknown_chips,
    )


def _share_of_chips(first: Run, second: Run) -> Share | None:
    """By the published figures that bound both; None where these are not of one field under one condition."""
    ours, theirs = first.peak, second.peak
    if ours is None or theirs is None or (ours.field, ours.condition) != (theirs.field, theirs.condition):
        return None
    if not first.accelerator or not second.accelerator:
        return None
    log = math.log(ours.amount / theirs.amount)
    return Share(cause=ShareCause.CHIPS, changes=(), log=log, low=log, high=log, peaks=(ours, theirs))


def _shares_of_cause(
    cause: ShareCause, changes: Sequence[SettingChange], first: Run, second: Run, runs: Sequence[Run]
) -> tuple[list[Share], list[SettingChange]]:
    """(shares, changes without one): of all changes of a cause together, or else of each that a pair shows alone."""
    if not changes:
        return [], []
    if evidence := _evidence(changes, first, second, runs):
        return [_share(cause, tuple(changes), evidence, _itself(first, second, evidence))], []
    shares, unexplained = [], []
    for change in changes:
        evidence = _evidence([change], first, second, runs)
        if evidence:
            shares.append(_share(cause, (change,), evidence, None))
        else:
            unexplained.append(change)
    return shares, unexplained


def _is_like(run: Run, first: Run, second: Run) -> bool:
    """Whether it may be evidence: the same kind of work on the accelerator of either."""
    accelerators = {first.accelerator, second.accelerator}
    return bool(run.accelerator) and run.accelerator in accelerators and run.kind == first.kind and run.speed > 0


def _evidence(changes: Sequence[SettingChange], first: Run, second: Run, runs: Sequence[Run]) -> list[ControlledPair]:
    """Controlled pairs with exactly these changes: of the same test, else of the same kind of work.

    Those of one host come before those of two, and each of the first runs before those of later ones. Runs of the two
    hosts that are compared are no pair.
    """
    compared = {first.host, second.host}
    pairs = controlled_pairs(runs, changes)
    evidence = [pair for pair in pairs if pair.is_one_host or {pair.first.host, pair.second.host} != compared]
    same_test = [pair for pair in evidence if pair.first.work == first.work]
    evidence = same_test or evidence
    one_host = [pair for pair in evidence if pair.is_one_host]
    return one_host or evidence


def controlled_pairs(runs: Iterable[Run], changes: Sequence[SettingChange]) -> Iterator[ControlledPair]:
    """Pairs of one test on one accelerator that differ in these settings, in this direction, and in no other.

    On one host what only one of its runs states counts as a difference: its owner names what was switched. Two hosts
    are no pair where only one states something.
    """
    names = [change.name for change in changes]
    sides = [_values(change.first for change in changes), _values(change.second for change in changes)]
    groups: dict[tuple[object, ...], tuple[list[Run], list[Run]]] = defaultdict(lambda: ([], []))
    for run in runs:
        values = _values(run.settings.get(name, "") for name in names)
        if values in sides:
            others = [name for name in sorted(run.settings) if name not in names]
            rest = (*others, *_values(run.settings[name] for name in others))
            groups[run.work, run.accelerator, run.devices, rest][sides.index(values)].append(run)
    for group in groups.values():
        for first, second in product(*group):
            pair = ControlledPair(first, second, changes_between(first, second))
            if pair.is_one_host or all(change.is_stated for change in pair.changes):
                yield pair


def _values(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(_value, texts))


def _itself(first: Run, second: Run, pairs: Sequence[ControlledPair]) -> ControlledPair | None:
    """The two runs as one of these pairs: nothing else that they state differs."""
    return next((pair for pair in pairs if (pair.first.key, pair.second.key) == (first.key, second.key)), None)


def _share(
    cause: ShareCause,
    changes: tuple[SettingChange, ...],
    pairs: Sequence[ControlledPair],
    itself: ControlledPair | None,
) -> Share:
    """The median of the pairs; where the two runs are one of them, what they show."""
    logs = [pair.log for pair in pairs]
    return Share(
        cause=cause,
        changes=changes,
        log=itself.log if itself else median(logs),
        low=min(logs),
        high=max(logs),
        pairs=tuple(pairs[:MOST_EVIDENCE]),
    )

"""What else is at work while a visit measures: foreign use of processors, time taken by a hypervisor, processes on a
card.

Linux tells through /proc, NVIDIA cards through NVML; elsewhere nobody is asked, and nothing is stated. Units are
seconds of processor time. Only the processors count that this process may use.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackviz.report.format import LIMITS
from stackviz.report.measuring.stated_rate import PREFIX, disturbances

__all__ = ["ProcCounters", "interference_of", "is_visit_disturbed", "look", "noticed_between"]

_PROC = Path("/proc")
_LEAST_TICKS = 3  # counters move by a tick: less than this is no observation, however short the visit was
_LEAST_SHARE_NAMED = 0.01  # of the processors
_MOST_PROCESSES = 20_000
_PROGRAMS_NAMED = 5

Noticed = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Program:
    """A process: `seconds` of processor time so far, with what its ended children took."""

    name: str
    parent: int
    seconds: float
    of_children: float


@dataclass(frozen=True, slots=True)
class ProcCounters:
    """Counters at one moment."""

    busy_s: float
    steal_s: float
    total_s: float
    programs: Mapping[int, Program]


def look(proc: Path = _PROC) -> ProcCounters | None:
    """The counters now; None where the system has none."""
    try:
        busy, steal, total = _processors((proc / "stat").read_text())
    except (OSError, ValueError, IndexError):
        return None
    tick = _tick_s()
    return ProcCounters(busy * tick, steal * tick, total * tick, dict(_programs(proc, tick)))


def noticed_between(before: ProcCounters | None, after: ProcCounters | None, root: int) -> Noticed:
    """What others did between two looks; {} where nobody can tell. `root`: the process that all of ours descend from.

    -> `cpu_s`: of all processors, busy or not; `foreign_s`, `steal_s`; `programs`: [name, seconds], the busiest first.
    """
    if before is None or after is None or after.total_s <= before.total_s:
        return {}
    ours = _descendants(after.programs, root)
    own_s = _own_s(after.programs, ours) - _own_s(before.programs, _descendants(before.programs, root))
    foreign_s = after.busy_s - before.busy_s - own_s
    total_s = after.total_s - before.total_s
    spent = _spent(before.programs, {pid: each for pid, each in after.programs.items() if pid not in ours})
    named = [
        [name, round(seconds, 3)]
        for name, seconds in sorted(spent.items(), key=lambda item: -item[1])[:_PROGRAMS_NAMED]
        if seconds > _LEAST_SHARE_NAMED * total_s
    ]
    return {
        "cpu_s": round(total_s, 3),
        "foreign_s": round(max(0.0, foreign_s), 3),
        "steal_s": round(max(0.0, after.steal_s - before.steal_s), 3),
        "programs": named,
    }


def _spent(before: Mapping[int, Program], after: Mapping[int, Program]) -> dict[str, float]:
    """Seconds by name: many processes of one program are one neighbour."""
    spent: dict[str, float] = {}
    for pid, program in after.items():
        earlier_s = before[pid].seconds if pid in before else 0.0
        spent[program.name] = spent.get(program.name, 0.0) + program.seconds - earlier_s
    return spent


def is_visit_disturbed(noticed: Noticed, device: str) -> bool:
    """Whether a visit must be made again. Of a short one a few ticks of the counters say nothing."""
    shares = disturbances(_conditions(interference_of([noticed], device)), device)
    least_s = _LEAST_TICKS * _tick_s()
    seconds = {"foreign_cpu_ratio": noticed.get("foreign_s", 0.0), "steal_ratio": noticed.get("steal_s", 0.0)}
    return any(seconds.get(name, least_s) >= least_s for name in shares)


def interference_of(visits: Iterable[Noticed], device: str, reruns: int | None = None) -> dict[str, Any]:
    """What visits noticed, together, in the words of the wire format; {} where none looked."""
    noticed_visits = [visit for visit in visits if visit]
    if not noticed_visits:
        return {}
    together: dict[str, Any] = {}
    cpu_s = sum(visit.get("cpu_s", 0.0) for visit in noticed_visits)
    if cpu_s:
        for name, seconds in (("foreign_cpu_ratio", "foreign_s"), ("steal_ratio", "steal_s")):
            together[name] = round(min(1.0, sum(visit.get(seconds, 0.0) for visit in noticed_visits) / cpu_s), 4)
        together["processes"] = _busiest(entry for visit in noticed_visits for entry in visit.get("programs", ()))
    shares = [visit["card_ratio"] for visit in noticed_visits if visit.get("card_ratio") is not None]
    if shares:
        together["card_ratio"] = round(min(1.0, sum(shares) / len(shares)), 4)
    names = dict.fromkeys(name for visit in noticed_visits for name in visit.get("card_programs", ()))
    together["card_processes"] = list(names)[: LIMITS.names]
    if reruns is not None:
        together["rounds_disturbed"] = sum(is_visit_disturbed(visit, device) for visit in noticed_visits)
        together["reruns"] = reruns
    return together


def _busiest(entries: Iterable[Any]) -> list[str]:
    seconds: dict[str, float] = {}
    for name, spent in entries:
        seconds[name] = seconds.get(name, 0.0) + spent
    return sorted(seconds, key=lambda name: -seconds[name])[: LIMITS.names]


def _conditions(together: Mapping[str, Any]) -> dict[str, Any]:
    return {PREFIX + name: value for name, value in together.items()}


# ---- processors ------------------------------------------------------------------------------------------------------


def _tick_s() -> float:
    return 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01


def _usable() -> set[int] | None:
    ask: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return ask(0) if ask is not None else None


def _processors(stat: str) -> tuple[int, int, int]:
    """(busy, stolen, all) ticks of the processors that this process may use: proc(5), the lines `cpu0` and so on.

    Idle and waiting for disks are the 4th and 5th figure, stolen the 8th; guests are counted in the 1st already.
    """
    usable = _usable()
    busy = stolen = everything = 0
    for line in stat.splitlines():
        name, *figures = line.split()
        if not name.startswith("cpu") or name == "cpu" or (usable is not None and int(name[3:]) not in usable):
            continue
        ticks = [int(figure) for figure in figures[:8]]
        stolen += ticks[7]
        busy += sum(ticks) - ticks[3] - ticks[4] - ticks[7]
        everything += sum(ticks)
    return busy, stolen, everything


def _programs(proc: Path, tick: float) -> Iterable[tuple[int, Program]]:
    """Read each process by its id: proc(5), /proc/<pid>/stat. The name is in parentheses, and may contain some."""
    for number, folder in enumerate(path.name for path in proc.iterdir() if path.name.isdigit()):
        if number >= _MOST_PROCESSES:
            return
        with suppress(OSError, ValueError, IndexError):  # it may have ended
            text = (proc / folder / "stat").read_bytes().decode("utf-8", "replace")
            name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
            ticks, of_children = int(rest[11]) + int(rest[12]), int(rest[13]) + int(rest[14])
            yield int(folder), Program(name[:64] or "?", int(rest[1]), ticks * tick, of_children * tick)


def _descendants(programs: Mapping[int, Program], root: int) -> set[int]:
    """`root` and all that it started, as far as they run."""
    children: dict[int, list[int]] = {}
    for pid, program in programs.items():
        children.setdefault(program.parent, []).append(pid)
    family, waiting = set(), [root]
    while waiting:
        pid = waiting.pop()
        if pid not in family:
            family.add(pid)
            waiting.extend(children.get(pid, ()))
    return family


def _own_s(programs: Mapping[int, Program], ours: set[int]) -> float:
    """What ended children took moves to their parent: the sum goes on."""
    return sum(programs[pid].seconds + programs[pid].of_children for pid in ours if pid in programs)

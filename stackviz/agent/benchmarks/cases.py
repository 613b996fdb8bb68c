"""Which cases a run measures: each benchmark with each of its parameter sets on each device."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from stackviz.measuring import BENCHMARKS, Params
from stackviz.measuring.benchmark import KIB, MIB
from stackviz.measuring.in_mlx import DEVICE_KINDS, cases_on

__all__ = ["Case", "case_text", "has_one_of", "params_text", "plan_cases", "read_case"]


@dataclass(frozen=True)
class Case:
    """One benchmark with one set of parameters on one device."""

    benchmark: str
    version: int
    device: str
    params: Params

    def __str__(self) -> str:
        return f"{self.benchmark} {params_text(self.params)} on {self.device}"


def params_text(params: Mapping[str, object]) -> str:
    """`fp32 2048`, `256 MiB`."""
    return " ".join(map(str, _shown_params(params)))


def _shown_params(params: Mapping[str, object]) -> Iterator[object]:
    """The parameters as people say them: a square product by one side, bytes as MiB, other numbers by their names."""
    sides = [params[name] for name in ("m", "n", "k") if name in params]
    others = {name: value for name, value in params.items() if name not in {"m", "n", "k", "bytes"}}
    yield from (value if isinstance(value, str) else f"{name} {value}" for name, value in others.items())
    if sides:
        yield sides[0] if len(set(sides)) == 1 else "x".join(map(str, sides))
    size = params.get("bytes")
    if isinstance(size, int):
        yield _size_text(size)


def _size_text(size: int) -> str:
    """`64 MiB`, and nothing rounded: `1000 B`, as another tool's sizes may be any."""
    whole = (f"{size // unit} {name}" for name, unit in (("MiB", MIB), ("KiB", KIB)) if size and size % unit == 0)
    return next(whole, f"{size} B")


def plan_cases(
    devices: list[tuple[str, str]], keys: list[str], *, suite: str, wanted: Sequence[Mapping[str, str]] = ()
) -> list[Case]:
    """Cases for (name, kind) of each device. A quick plan that has accelerators asks the CPU for little, a standard
    one leaves out what takes long.

    `wanted`: parameters as text; where some are given, the plan is every case that has all of one of them, whether a
    suite would measure it or not.
    """
    quick = suite == "quick"
    has_accelerator = any(kind != "cpu" for _, kind in devices)
    names = {name for name, _ in devices}
    return [
        Case(key, BENCHMARKS[key].version, name, params)
        for name, kind in devices
        for key in keys
        for params in cases_on(BENCHMARKS[key], kind, quick=quick and not wanted)
        if (has_one_of(params, wanted) if wanted else not _is_left_out(key, params, kind, quick and has_accelerator))
        and (wanted or suite == "full" or not BENCHMARKS[key].is_long(kind, params))
        and _has_all_devices(BENCHMARKS[key].devices_used(name, params), name, names)
    ]


def _has_all_devices(used: Sequence[str], first: str, names: Set[str]) -> bool:
    """Whether a case is the first device's, of devices that are all measured and no two the same."""
    return used[0] == first and len(set(used)) == len(used) and names >= set(used)


def _is_left_out(key: str, params: Params, kind: str, is_brief: bool) -> bool:  # noqa: FBT001 - one of four facts
    return is_brief and kind == "cpu" and not BENCHMARKS[key].is_light(params)


def has_one_of(params: Params, wanted: Sequence[Mapping[str, str]]) -> bool:
    """Whether the parameters of a case contain all of one of `wanted`."""
    return any(all(str(params.get(name)) == value for name, value in chosen.items()) for chosen in wanted)


def read_case(text: str) -> dict[str, str]:
    """`dtype=bf16,m=8192` -> the parameters. Raises ValueError for what is none or no benchmark has."""
    pairs = dict(pair.split("=", 1) for pair in text.split(",") if pair.count("=") == 1)
    if len(pairs) != text.count(",") + 1 or not all(pairs.values()):
        raise ValueError("must be NAME=VALUE, several with commas between: dtype=bf16,m=8192")
    cases = [
        params
        for known in BENCHMARKS.values()
        for kind in DEVICE_KINDS
        for params in cases_on(known, kind, quick=False)
    ]
    if not any(has_one_of(params, [pairs]) for params in cases):
        raise ValueError("no benchmark has a case with these parameters: docs/agent.md lists them")
    return pairs


def case_text(params: Mapping[str, object]) -> str:
    """What `read_case` reads."""
    return ",".join(f"{name}={value}" for name, value in params.items())

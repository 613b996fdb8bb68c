"""Which cases a run measures: each benchmark with each of its parameter sets on each device."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from stackviz.report.measuring import BENCHMARKS, Benchmark, Params
from stackviz.report.measuring.benchmark import KIB, MIB
from stackviz.report.measuring.in_mlx import DEVICE_KINDS, cases_on

__all__ = ["Case", "case_text", "params_text", "plan_cases", "read_case"]


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
    yield from (
        value if isinstance(value, str) and name != "weights" else f"{name} {value}" for name, value in others.items()
    )
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
    suite would measure it or not; but a case alone whose parameters are these and no others.
    """
    has_accelerator = any(kind != "cpu" for _, kind in devices)
    names = {name for name, _ in devices}
    return [
        Case(key, BENCHMARKS[key].version, name, params)
        for name, kind in devices
        for key in keys
        for params in (
            _named(cases_on(BENCHMARKS[key], kind, quick=False), wanted)
            if wanted
            else _of_suite(BENCHMARKS[key], kind, suite, has_accelerator)
        )
        if _has_all_devices(BENCHMARKS[key].devices_used(name, params), name, names)
    ]


def _of_suite(known: Benchmark, kind: str, suite: str, has_accelerator: bool) -> list[Params]:  # noqa: FBT001
    quick = suite == "quick"
    is_brief = quick and has_accelerator and kind == "cpu"
    return [
        params
        for params in cases_on(known, kind, quick=quick)
        if (suite == "full" or not known.is_long(kind, params)) and (not is_brief or known.is_light(params))
    ]


def _has_all_devices(used: Sequence[str], first: str, names: Set[str]) -> bool:
    """Whether a case is the first device's, of devices that are all measured and no two the same."""
    return used[0] == first and len(set(used)) == len(used) and names >= set(used)


def _named(cases: Sequence[Params], wanted: Sequence[Mapping[str, str]]) -> list[Params]:
    """The cases that are one of `wanted`, or, where none is, contain all of it."""
    as_text = [{name: str(value) for name, value in params.items()} for params in cases]
    whole = [chosen for chosen in wanted if chosen in as_text]
    return [
        params
        for params, text in zip(cases, as_text, strict=True)
        if text in whole or any(chosen.items() <= text.items() for chosen in wanted if chosen not in whole)
    ]


def read_case(text: str) -> dict[str, str]:
    """`dtype=bf16,m=8192` -> the parameters. Raises ValueError for what is none or no benchmark has."""
    pairs = dict(pair.split("=", 1) for pair in text.split(",") if pair.count("=") == 1)
    if len(pairs) != text.count(",") + 1 or not all(pairs.values()):
        raise ValueError("must be NAME=VALUE, several with commas between: dtype=bf16,m=8192")
    if not any(
        _named(cases_on(known, kind, quick=False), [pairs]) for known in BENCHMARKS.values() for kind in DEVICE_KINDS
    ):
        raise ValueError("no benchmark has a case with these parameters: docs/agent.md lists them")
    return pairs


def case_text(params: Mapping[str, object]) -> str:
    """What `read_case` reads."""
    return ",".join(f"{name}={value}" for name, value in params.items())

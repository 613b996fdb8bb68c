"""Which cases a run measures: each benchmark with each of its parameter sets on each device."""

from collections.abc import Iterator
from dataclasses import dataclass

from stackviz.measuring import BENCHMARKS, Params
from stackviz.measuring.benchmark import MIB

__all__ = ["Case", "plan_cases"]


@dataclass(frozen=True)
class Case:
    """One benchmark with one set of parameters on one device."""

    benchmark: str
    version: int
    device: str
    params: Params

    def __str__(self) -> str:
        return f"{self.benchmark} {' '.join(map(str, _shown_params(self.params)))} on {self.device}"


def _shown_params(params: Params) -> Iterator[str | int]:
    """The parameters as people say them: a square product by one side, bytes as MiB."""
    sides = [params[name] for name in ("m", "n", "k") if name in params]
    yield from (value for name, value in params.items() if name not in {"m", "n", "k", "bytes"})
    if sides:
        yield sides[0] if len(set(sides)) == 1 else "x".join(map(str, sides))
    if "bytes" in params:
        yield f"{int(params['bytes']) // MIB} MiB"


def plan_cases(devices: list[tuple[str, str]], keys: list[str], *, quick: bool) -> list[Case]:
    """Cases for (name, kind) of each device. A quick plan that has accelerators asks the CPU for little."""
    has_accelerator = any(kind != "cpu" for _, kind in devices)
    return [
        Case(key, BENCHMARKS[key].version, name, params)
        for name, kind in devices
        for key in keys
        for params in BENCHMARKS[key].cases(kind, quick)
        if not (quick and has_accelerator and kind == "cpu" and not BENCHMARKS[key].is_light(params))
    ]

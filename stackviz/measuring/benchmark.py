"""What a benchmark is: its cases, one run of it in torch, the work of a run, the published figure that bounds it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["MIB", "AnyParams", "Benchmark", "Params", "Prepared", "gettext_noop", "positive"]

Params = dict[str, str | int]
AnyParams = Mapping[str, Any]  # as a report states them: whatever a sender put there

MIB = 2**20

# No machine is slower or faster, in FLOP/s or B/s: what seconds come to beyond is a mistake of the sender, not a rate.
RATE_LEAST, RATE_MOST = 1e-9, 1e24


def gettext_noop(text: str) -> str:
    """Marks a text for translation; the site translates it where it is shown."""
    return text


def positive(params: AnyParams, name: str) -> float:
    """The parameter as a number; 0.0 where it is missing or nonsense."""
    value = params.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 < value < 1e18 else 0.0


def _rate(work: float | None, seconds: float | None) -> float | None:
    if not work or not seconds:
        return None
    rate = work / seconds
    return rate if RATE_LEAST <= rate <= RATE_MOST else None


@dataclass(frozen=True)
class Prepared:
    """A case with its inputs made. `run` does it once, without waiting; `check` says what is wrong with the last run's
    output, None if nothing; `output` is looked at for the device that was really used."""

    run: Callable[[], object]
    output: Any
    check: Callable[[], str | None]
    conditions: Mapping[str, str | bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One benchmark in one version; a change of what is timed is a new version, never compared with the old one.

    What runs, on the machine:

    `cases(kind of device, quick)` -> parameter sets, flat, and the same on every device. `light`: the one set that
    every plan has for a processor. `prepare(torch, device, params)` makes random inputs. `working_set_bytes(params)`:
    memory that inputs and output take. `smaller(params)`: a set whose run is shorter, and by what factor, to tell
    beforehand that a run would take too long; None if every run is short. `must_exceed_cache`: skipped where the
    last-level cache would hold the working set.

    What it counts, on the site:

    `work(params)`: how much one run does, in `unit` times seconds (FLOP, bytes); None if the parameters do not say.
    `formula` is shown beside the rate, `source` says where it is from. `bounds`: dtype -> catalogue fields whose
    published peak bounds the rate, the first that is published counts; key "" stands for any dtype. `integer_unit`: the
    unit where the dtype is an integer, if it is another. `setting_names_it`: its parameters alone (`bf16 8192`) tell
    which benchmark it is.

    `title` is translated on the site; `runs` and `sizes` are for the table of docs/agent.md. `order`: in which
    benchmarks are run and listed.
    """

    key: str
    version: int
    title: str
    runs: str
    sizes: str
    order: int = 1000

    cases: Callable[[str, bool], list[Params]]
    light: Params
    prepare: Callable[[Any, str, Params], Prepared]
    working_set_bytes: Callable[[Params], int]
    smaller: Callable[[Params], tuple[Params, float] | None] = lambda _params: None
    must_exceed_cache: bool = False

    unit: str
    work: Callable[[AnyParams], float | None]
    formula: str
    source: str
    bounds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    higher_is_better: bool = True
    integer_unit: str = ""
    setting_names_it: bool = False

    def is_light(self, params: Params) -> bool:
        """Whether a quick run measures this case on a CPU beside an accelerator."""
        return params == self.light or self.smaller(params) is None

    def unit_of(self, params: AnyParams) -> str:
        """The unit of the rate at these parameters: integers have operations, not floating-point ones."""
        is_integer = str(params.get("dtype", "")).startswith(("int", "uint"))
        return self.integer_unit if is_integer and self.integer_unit else self.unit

    def rate(self, params: AnyParams, seconds: float | None) -> float | None:
        """The rate of a run of `seconds`, in `unit`; None if parameters or time are missing or impossible."""
        return self.rates(params, seconds)[0]

    def rates(self, params: AnyParams, *seconds: float | None) -> list[float | None]:
        """The same for runs of different length at the same parameters."""
        work = self.work(params)
        return [_rate(work, duration) for duration in seconds]

    def bounding_fields(self, params: AnyParams, *, tf32: bool = False) -> tuple[str, ...]:
        """Catalogue fields to look the peak up in. `tf32`: fp32 products were allowed to be rounded to TF32."""
        dtype = str(params.get("dtype", ""))
        if dtype == "fp32" and tf32:
            dtype = "tf32"
        return self.bounds.get(dtype, self.bounds.get("", ()))

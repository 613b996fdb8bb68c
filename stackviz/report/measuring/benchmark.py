"""What a benchmark is: its cases, one run of it in torch, the work of a run, the published figure that bounds it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stackviz.base.light import light_dataclass

__all__ = [
    "FLOAT_BYTES",
    "KIB",
    "LINK_RATES",
    "MIB",
    "REPEATED_NUMBERS",
    "SURELY_MEMORY_BYTES",
    "TENSOR_PEAKS",
    "AnyParams",
    "Benchmark",
    "Conditions",
    "Params",
    "Prepared",
    "RateBound",
    "Unavailable",
    "beyond_caches",
    "breaks_device",
    "float_type",
    "gettext_noop",
    "longest_time",
    "note_error",
    "positive",
    "relative_error",
    "repeated_uniform",
    "uniform",
    "uniform_as",
]  # fmt: skip

Params = dict[str, str | int]
AnyParams = Mapping[str, Any]  # as a report states them: whatever a sender put there
Conditions = dict[str, str | bool | float]

KIB, MIB = 2**10, 2**20

TENSOR_PEAKS: Mapping[str, tuple[str, ...]] = {
    "fp64": ("fp64_tensor_tflops", "fp64_tflops"),
    "fp32": ("fp32_tflops",),
    "tf32": ("tf32_tensor_tflops",),
    "bf16": ("bf16_tensor_tflops",),
    "fp16": ("fp16_tensor_tflops", "fp16_tflops"),
    "fp8": ("fp8_tensor_tflops",),
    "mxfp8": ("fp8_tensor_tflops",),  # the same units, at the same rate: NVIDIA's data sheets name no other
    "nvfp4": ("fp4_tensor_tflops",),
    "int8": ("int8_tensor_tops",),
}
"""dtype -> catalogue fields with the peak of products, the first that is published counts."""

SURELY_MEMORY_BYTES = 768 * MIB
"""Three times the largest last-level cache of a sheet, 256 MB of Infinity Cache: what is smaller may be faster than
memory, so the bandwidth of memory does not bound it."""

FLOAT_BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}
_FLOAT_TYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}

# FLOP per byte of memory up to which every accelerator waits for its memory: published peaks and bandwidths meet at 10
# (processors) to 300 (H100, bf16), so the operations need not be bounded.
_ALWAYS_MEMORY_BOUND = 4.0

# No machine is slower or faster, in FLOP/s or B/s: what seconds come to beyond is a mistake of the sender, not a rate.
RATE_LEAST, RATE_MOST = 1e-9, 1e24

LINK_RATES = RATE_LEAST, 2e13
"""What a link of a card may carry, in B/s: five times that of a Rubin both ways, the fastest that is announced, 3.6e12.
"""


def gettext_noop(text: str) -> str:
    """Marks a text for translation; the site translates it where it is shown."""
    return text


def positive(params: AnyParams, name: str) -> float:
    """The parameter as a number; 0.0 where it is missing or nonsense."""
    value = params.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):  # a union takes twice the time
        return 0.0
    return float(value) if 0 < value < 1e18 else 0.0


def float_type(dtype: object) -> str:
    """What torch calls a type of FLOAT_BYTES."""
    return _FLOAT_TYPES[str(dtype)]


class Unavailable(Exception):
    """This device has no way to run the case, which is no failure; the text is the reason."""


def breaks_device(error: Exception) -> bool:
    """Whether the context of the device is broken, so that every later call of this process fails alike."""
    return type(error).__name__ == "AcceleratorError" or "CUDA error" in str(error) or "HIP error" in str(error)


def uniform(torch: Any, device: str, shape: tuple[int, ...], dtype: Any) -> Any:  # noqa: ANN401 - torch has no types here
    """Random numbers in [-1, 1). On a processor all threads touch the memory first: torch makes random numbers in one,
    and pages lie on the NUMA node that touches them first."""
    made = torch.empty(shape, device=device, dtype=dtype)
    if device == "cpu":
        made.zero_()
    return made.uniform_(-1, 1)


def uniform_as(torch: Any, device: str, shape: tuple[int, ...], dtype: str) -> Any:  # noqa: ANN401
    """As `uniform`, in a type of FLOAT_BYTES: made in 32 bits, since not every device makes random 16-bit numbers."""
    return uniform(torch, device, shape, torch.float32).to(getattr(torch, float_type(dtype)))


def note_error(conditions: Conditions, off: float) -> float:
    """`off`, the relative error of an output, noted among the conditions of its result."""
    conditions["relative_error"] = off
    return off


def relative_error(computed: Any, expected: Any) -> float:  # noqa: ANN401
    """The largest difference, as a part of the largest number expected; both in float64 on the CPU."""
    return float((computed.detach().cpu().double() - expected).abs().max() / expected.abs().max())


REPEATED_NUMBERS = 2**20


def repeated_uniform(torch: Any, device: str, count: int) -> Any:  # noqa: ANN401
    """As `uniform`, REPEATED_NUMBERS of them again and again: for large arrays, of which making every number anew takes
    longer than what is measured. In 32 bits.
    """
    block = uniform(torch, device, (min(count, REPEATED_NUMBERS),), torch.float32)
    return block.repeat(-(-count // REPEATED_NUMBERS))[:count]


def _no_cases(_kind: str, _quick: bool) -> list[Params]:  # noqa: FBT001 (the signature of Benchmark.cases)
    return []


def _one_device(device: str, _params: Params) -> tuple[str, ...]:
    return (device,)


def _another_tool_runs_it(_torch: Any, _device: str, _params: Params) -> "Prepared":  # noqa: ANN401
    raise NotImplementedError("another tool runs this benchmark")


@light_dataclass(slots=True)
class RateBound:
    """What bounds a rate: a published figure of one of `fields`, the first that is published, divided by `divisor`, all
    in base units."""

    fields: tuple[str, ...] = ()
    divisor: float = 1.0


def longest_time(
    work: float | None, dtype: str, operations: float | None, bytes_moved: float | None
) -> tuple[RateBound, ...]:
    """What bounds the rate of `work` where operations and bytes overlap: the longer of their two times. () for unknown.

    Roofline: Williams, Waterman, Patterson, CACM 52 (2009) 4, pages 65-76.
    """
    if not work or not bytes_moved:
        return ()
    memory = RateBound(("memory_bandwidth_gb_s",), bytes_moved / work)
    if not operations or operations <= _ALWAYS_MEMORY_BOUND * bytes_moved:
        return (memory,)
    return RateBound(TENSOR_PEAKS.get(dtype, ()), operations / work), memory


def beyond_caches(bytes_moved: Callable[[AnyParams], float | None]) -> Callable[[AnyParams], tuple[RateBound, ...]]:
    """`bounded_by` of a rate of bytes: the bandwidth of memory, and nothing for what the caches may hold."""

    def bounded_by(params: AnyParams) -> tuple[RateBound, ...]:
        moved = bytes_moved(params)
        return longest_time(moved, "", None, moved) if moved and moved >= SURELY_MEMORY_BYTES else ()

    return bounded_by


@dataclass(frozen=True)
class Prepared:
    """A case with its inputs made. `run` does it once, without waiting; `check` says what is wrong with the last run's
    output, None if nothing, and notes under `conditions` how far it is off, where it knows; `output` is looked at for
    the device that was really used. `wait` waits for all devices of a case that uses several. `figure` makes a sample
    where that is no time."""

    run: Callable[[], object]
    output: Any
    check: Callable[[], str | None]
    conditions: Mapping[str, str | bool | float]
    wait: Callable[[], object] | None = None
    figure: Callable[[], float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One benchmark in one version; a change of what is timed is a new version, never compared with the old one.

    What runs, on the machine:

    `cases(kind of device, quick)` -> parameter sets, flat, and the same on every device. `light`: the one set that
    every plan has for a processor. `prepare(torch, device, params)` makes random inputs. `devices_used(device,
    params)`: names of all that take part; a plan has the case on the first of them, where all are measured.
    `working_set_bytes(params)`: memory that inputs and output take. `extra_bytes(params)`: what making the inputs takes
    beyond that.
    `smaller(params)`: a set whose run is shorter, and by what factor, to tell beforehand that a run would take too
    long; None if every run is short. `must_exceed_cache`: skipped where the last-level cache would hold the working
    set. `not_on`: kind of device -> why it cannot be measured there. `is_long(kind of device, params)`: only a full
    suite has the case. `lasts_s(params)`: seconds of the one visit to it, in samples of a second; 0 where the suite
    tells visits and times.

    What it counts, on the site:

    `sample_unit`: what its samples are in. With `s` a rate is work / seconds, or, where `unit` is `s` too, the time of
    one thing of `work`, of which less is better; with anything else samples are rates already and `sample_unit` equals
    `unit`. `work(params)`: how much one run does, in `unit` times seconds (FLOP, bytes), or 1 where samples are rates;
    None if the parameters do not say. `formula` is shown with the rate, `source` says where it is from. `plausible`:
    rates beyond are a mistake of the sender. `bounds`: dtype -> catalogue fields whose published peak bounds the rate,
    the first that is published counts; key "" means any dtype. `bounded_by(params)`: the same for peaks that have
    to be divided first, of which the lowest bounds it, if all are published; () where nothing does. Without either
    operations and bytes bound it (`longest_time`).
    `integer_unit`: the unit where the dtype is an integer, if it is another. `setting_names_it`: its parameters alone
    (`bf16 8192`) tell which benchmark it is. `compared(params)`: those that must be equal for results to be ranked
    together, of all. `on_several_cards`: a run on several cards of one kind is one of that card.

    `operations(params)`, `bytes_moved(params)`: what one run computes, and what it reads and writes at least; None if
    the parameters do not say; `operations_formula`, `bytes_formula` say how they are counted, "" for none.
    `script(params)`: the lines that make inputs and `run` in a program which measures the same by itself.

    A benchmark that another tool runs has no `cases`: the agent passes its results on.

    `title`, `measures` (a sentence) and `runs` are translated on the site; `runs` and `sizes` are for the table of
    docs/agent.md. `order`: in which benchmarks are run and listed.
    """

    key: str
    version: int
    title: str
    measures: str = ""
    runs: str = ""
    sizes: str = ""
    order: int = 1000

    cases: Callable[[str, bool], list[Params]] = _no_cases
    light: Params = field(default_factory=dict)
    prepare: Callable[[Any, str, Params], Prepared] = _another_tool_runs_it
    devices_used: Callable[[str, Params], tuple[str, ...]] = _one_device
    working_set_bytes: Callable[[Params], int] = lambda _params: 0
    extra_bytes: Callable[[Params], int] = lambda _params: 0
    smaller: Callable[[Params], tuple[Params, float] | None] = lambda _params: None
    must_exceed_cache: bool = False
    not_on: Mapping[str, str] = field(default_factory=dict)
    is_long: Callable[[str, Params], bool] = lambda _kind, _params: False
    lasts_s: Callable[[Params], float] = lambda _params: 0.0

    unit: str
    sample_unit: str = "s"
    plausible: tuple[float, float] = RATE_LEAST, RATE_MOST
    work: Callable[[AnyParams], float | None]
    formula: str
    source: str
    bounds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bounded_by: Callable[[AnyParams], tuple[RateBound, ...]] | None = None
    operations: Callable[[AnyParams], float | None] = lambda _params: None
    operations_formula: str = ""
    bytes_moved: Callable[[AnyParams], float | None] = lambda _params: None
    bytes_formula: str = ""
    script: Callable[[Params], tuple[str, ...]] = lambda _params: ()
    compared: Callable[[AnyParams], dict[str, Any]] = dict
    integer_unit: str = ""
    setting_names_it: bool = False
    on_several_cards: bool = False

    @property
    def is_run_by_agent(self) -> bool:
        return self.prepare is not _another_tool_runs_it

    @property
    def is_time(self) -> bool:
        """Whether its rate is a time: lower is better."""
        return self.unit == "s"

    @property
    def is_speed(self) -> bool:
        """Whether it says how fast something is, and not how right."""
        return self.unit != "bit"

    @property
    def higher_is_better(self) -> bool:
        return not self.is_time

    @property
    def has_rates(self) -> bool:
        """Whether samples are rates, not seconds."""
        return self.sample_unit != "s"

    def is_light(self, params: Params) -> bool:
        """Return whether a quick run measures this case on the CPU of a machine with an accelerator."""
        return params == self.light or self.smaller(params) is None

    def unit_of(self, params: AnyParams) -> str:
        """The unit of the rate at these parameters: integers have operations, not floating-point ones."""
        is_integer = str(params.get("dtype", "")).startswith(("int", "uint"))
        return self.integer_unit if is_integer and self.integer_unit else self.unit

    def rate(self, params: AnyParams, sample: float | None) -> float | None:
        """The rate of a sample (seconds, or the rate itself), in `unit`; None if parameters or sample are missing or
        impossible.
        """
        return self._rate(self.work(params), sample)

    def rates(
        self, params: AnyParams, middle: float | None, low: float | None, high: float | None
    ) -> tuple[float | None, float | None, float | None]:
        """Rate, lowest and highest of a sample and its interval. The longest time is the lowest rate, but of times."""
        work = self.work(params)
        lowest, highest = (low, high) if self.has_rates or self.is_time else (high, low)
        return self._rate(work, middle), self._rate(work, lowest), self._rate(work, highest)

    def _rate(self, work: float | None, sample: float | None) -> float | None:
        if not work or not sample:
            return None
        rate = sample / work if self.is_time else work * sample if self.has_rates else work / sample
        least, most = self.plausible
        return rate if least <= rate <= most else None

    def bounds_of(self, params: AnyParams, *, tf32: bool = False) -> tuple[RateBound, ...]:
        """What bounds the rate at these parameters: the lowest, if all of them are published; () where nothing does."""
        if self.bounded_by is not None:
            return self.bounded_by(params)
        if not self.bounds:
            dtype = str(params.get("dtype"))
            return longest_time(self.work(params), dtype, self.operations(params), self.bytes_moved(params))
        fields = self.bounding_fields(params, tf32=tf32)
        return (RateBound(fields),) if fields else ()

    def bounding_fields(self, params: AnyParams, *, tf32: bool = False) -> tuple[str, ...]:
        """Catalogue fields to look the peak up in. `tf32`: fp32 products were allowed to be rounded to TF32."""
        dtype = str(params.get("dtype", ""))
        if dtype == "fp32" and tf32:
            dtype = "tf32"
        return self.bounds.get(dtype, self.bounds.get("", ()))

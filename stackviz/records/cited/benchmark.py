"""What a cited benchmark is: what it measures, its units, the parameters that must agree, what bounds it. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise

from stackviz.report.measuring.benchmark import TENSOR_PEAKS

Words = str | Promise
Params = Mapping[str, str | int]
MEMORY_BANDWIDTH = ("memory_bandwidth_gb_s",)
# Catalogue fields whose published peak bounds a rate of this data type, the first that is published counts.
RATE_FIELDS = {**TENSOR_PEAKS, "fp4": ("fp4_tensor_tflops",)}


@dataclass(frozen=True, slots=True)
class Definition:
    """Where it is written what the benchmark does."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Bound:
    """The published peak that bounds a result: `fields` of the catalogue, the first that is published counts.

    `work`: how much of the field's base unit one unit of the result takes (1 for a FLOP rate, 153 B for a cell of a
    lattice); None where that depends on more than the parameters say, so that no share can be computed.
    """

    fields: tuple[str, ...]
    work: float | None = 1.0


def unbounded(_params: Params) -> Bound | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedBenchmark:
    """One benchmark as others run it.

    `measures`: one sentence. `units`: the base units its results may have; results of different units are never
    compared. `compared`: parameters that must be equal for two results to be compared; `facets`: those a page filters
    by, in this order; `also`: parameters that are only shown. `adds_up`: whether devices together reach the sum, so
    that a share for one device is amount / count. `bound(params)`: None where nothing published bounds it.

    `leads_with`: the setting that its page shows without a choice, all compared parameters of it: widely run, recent,
    and of at least six accelerators of two vendors where there is one. `has_first`: False where the best figure is no
    merit: less power says nothing without the speed.
    """

    key: str
    order: int
    title: Words
    measures: Words
    units: tuple[str, ...]
    compared: tuple[str, ...]
    leads_with: Params
    facets: tuple[str, ...]
    definition: Definition
    also: tuple[str, ...] = ()
    higher_is_better: bool = True
    has_first: bool = True
    adds_up: bool = False
    bound: Callable[[Params], Bound | None] = unbounded

    @property
    def parameters(self) -> frozenset[str]:
        """Every parameter a result may have."""
        return frozenset({*self.compared, *self.facets, *self.also})

    def compared_params(self, params: Params) -> dict[str, str | int]:
        """Those of `params` that must be equal, sorted by name."""
        return {name: params[name] for name in sorted(self.compared) if name in params}


def bounded_by_memory(_params: Params) -> Bound:
    """Bytes moved per second."""
    return Bound(MEMORY_BANDWIDTH)


def bounded_by_rate(params: Params) -> Bound | None:
    """FLOP/s or op/s of the data type in `dtype`, or else in `precision`."""
    fields = RATE_FIELDS.get(str(params.get("dtype") or params.get("precision") or ""))
    return Bound(fields) if fields else None

"""What bounds a cited result: a published peak, for decoding divided by the bytes of the weights."""

from dataclasses import dataclass

from stackviz.catalog.fields import FIELDS
from stackviz.cited.models import CitedResult
from stackviz.cited.queries import share_of_bound
from stackviz.units import quantity_label, unit

# Bytes of the weights as llama.cpp prints them (GiB), https://github.com/ggml-org/llama.cpp/discussions/4167. Decoding
# reads all of them for each token. Only for models whose results the site has and whose size that page prints.
WEIGHTS_BYTES = {
    ("Llama 2 7B", "F16"): 12.55 * 2**30,
    ("Llama 2 7B", "Q8_0"): 6.67 * 2**30,
    ("Llama 2 7B", "Q4_0"): 3.56 * 2**30,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedBound:
    """The most that one device could reach. `amount`: in the result's base unit; `share`: of it that was reached.

    `field`: title of the published value; `peak`: that value; `divisor`: what it is divided by, "" for nothing.
    """

    amount: float
    share: float
    field: str
    peak: str
    divisor: str = ""

    @property
    def formula(self) -> str:
        return f"{self.peak} ÷ {self.divisor}" if self.divisor else self.peak


def reached_bound(result: CitedResult) -> ReachedBound | None:
    """The bound of a result with a sheet; None where nothing published bounds it, or not by what it says."""
    bound = share_of_bound(result)
    if bound is None:
        return None
    field = FIELDS[bound.field]
    title, peak = field.words[0], quantity_label(bound.peak, unit(field.unit).si)
    reached = result.amount_per_device
    if bound.share:
        return ReachedBound(amount=reached / bound.share, share=bound.share, field=title, peak=peak)
    weights = weights_bytes(result)
    if weights is None:
        return None
    most = bound.peak / weights
    divisor = quantity_label(weights, "B", binary=True, digits=3)
    return ReachedBound(amount=most, share=reached / most, field=title, peak=peak, divisor=divisor)


def weights_bytes(result: CitedResult) -> float | None:
    """Bytes that each generated token reads; None where nothing is generated, or the model's size is not known."""
    if not str(result.params.get("test", "")).startswith("tg"):
        return None
    return WEIGHTS_BYTES.get((str(result.params.get("model")), str(result.params.get("quant"))))

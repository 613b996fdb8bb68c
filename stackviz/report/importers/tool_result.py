"""A result that another tool's output states, as a report has it: what both importers of such tables share."""

from collections.abc import Mapping, Sequence

from stackviz.report.format import LIMITS, Result, Scalar
from stackviz.report.importers.llama_devices import device_label
from stackviz.report.importers.reading import Reading
from stackviz.report.measuring.benchmark import Benchmark

__all__ = ["add_result"]


def add_result(
    reading: Reading,
    benchmark: Benchmark,
    params: Mapping[str, Scalar],
    sample: float | None,
    *,
    device: str = "",
    cards: Sequence[int] = (),
    names: Sequence[str] = (),
    conditions: Mapping[str, Scalar] | None = None,
    why: str = "",
) -> None:
    """Note one figure, the mean or median of several runs.

    `cards`: indexes of the reading's cards that took part; `names`: what they are called, which is the device unless
    `device` says. `sample` None, not above 0, or beyond what a report holds: a failed run, for the reason `why`.
    """
    if len(reading.results) >= LIMITS.results:
        return
    samples = (sample,) if sample is not None and 0 < sample <= LIMITS.number_max else ()
    reading.results.append(
        Result(
            benchmark=benchmark.key,
            version=benchmark.version,
            device=device or device_label(names, count_one=False) or "not in the text",
            card=cards[0] if len(cards) == 1 else None,
            cards=tuple(cards) if len(cards) > 1 else (),
            params=dict(params),
            state="ok" if samples else "failed",
            reason=None if samples else why or "it states no figure",
            unit=benchmark.sample_unit,
            samples=samples,
            started_at=None,
            duration_s=None,
            conditions={**({"mean_of_runs": True} if samples else {}), **(conditions or {})},
            framework="other",
        )
    )

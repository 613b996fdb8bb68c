"""MLPerf Inference, closed division."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.cited.benchmark import CitedBenchmark, Definition

__all__ = ["BENCHMARKS"]

_COMPARED = ("model", "scenario")
_FACETS = ("model", "scenario", "version", "precision", "suite")
_ALSO = ("submitter", "system", "availability")
_RULES = Definition(
    "MLPerf Inference rules", "https://github.com/mlcommons/inference_policies/blob/master/inference_rules.adoc"
)

BENCHMARKS = (
    CitedBenchmark(
        key="mlperf-inference",
        order=410,
        title=_("MLPerf Inference"),
        measures=_("Samples, queries or tokens per second and device, at MLPerf's accuracy and latency limits."),
        units=("sample/s", "query/s", "token/s"),
        compared=_COMPARED,
        leads_with={"model": "stable-diffusion-xl", "scenario": "Offline"},
        facets=_FACETS,
        also=_ALSO,
        adds_up=True,
        definition=_RULES,
    ),
    CitedBenchmark(
        key="mlperf-latency",
        order=420,
        title=_("MLPerf Inference: latency"),
        measures=_("Seconds of one query at the 90th or 99th percentile, by MLPerf's scenario."),
        units=("s",),
        compared=_COMPARED,
        leads_with={"model": "resnet50", "scenario": "SingleStream"},
        facets=_FACETS,
        also=_ALSO,
        higher_is_better=False,
        definition=_RULES,
    ),
    CitedBenchmark(
        key="mlperf-power",
        order=430,
        title=_("MLPerf Inference: power"),
        measures=_("Watts of the whole system at the wall during an MLPerf run."),
        units=("W",),
        compared=_COMPARED,
        leads_with={"model": "bert-99", "scenario": "Offline"},
        facets=_FACETS,
        also=_ALSO,
        higher_is_better=False,
        has_first=False,
        definition=_RULES,
    ),
    CitedBenchmark(
        key="mlperf-energy",
        order=440,
        title=_("MLPerf Inference: energy"),
        measures=_("Joules of the whole system for one query of an MLPerf run."),
        units=("J",),
        compared=_COMPARED,
        leads_with={"model": "resnet50", "scenario": "SingleStream"},
        facets=_FACETS,
        also=_ALSO,
        higher_is_better=False,
        definition=_RULES,
    ),
)

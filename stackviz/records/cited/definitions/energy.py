"""Energy and power beside speed."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.cited.benchmark import CitedBenchmark, Definition

__all__ = ["BENCHMARKS"]

_MODEL = ("model", "precision", "task", "max_sequences", "batch")
_ML_ENERGY = Definition("The ML.ENERGY Benchmark", "https://arxiv.org/abs/2505.06371")

BENCHMARKS = (
    CitedBenchmark(
        key="energy-per-token",
        order=510,
        title=_("Energy per token"),
        measures=_("Joules all devices together take for one generated token."),
        units=("J/token",),
        compared=_MODEL,
        leads_with={"model": "openai/gpt-oss-120b", "precision": "mxfp4", "task": "gpqa", "max_sequences": 128},
        facets=_MODEL,
        higher_is_better=False,
        definition=_ML_ENERGY,
    ),
    CitedBenchmark(
        key="energy-per-image",
        order=520,
        title=_("Energy per picture"),
        measures=_("Joules all devices together take for one generated picture."),
        units=("J/image",),
        compared=_MODEL,
        leads_with={
            "model": "stabilityai/stable-diffusion-3.5-medium",
            "precision": "bf16",
            "task": "text-to-image",
            "batch": 8,
        },
        facets=_MODEL,
        higher_is_better=False,
        definition=_ML_ENERGY,
    ),
    CitedBenchmark(
        key="energy-per-video",
        order=530,
        title=_("Energy per video"),
        measures=_("Joules all devices together take for one generated video."),
        units=("J/video",),
        compared=_MODEL,
        leads_with={"model": "tencent/HunyuanVideo", "precision": "bf16", "task": "text-to-video", "batch": 1},
        facets=_MODEL,
        higher_is_better=False,
        definition=_ML_ENERGY,
    ),
    CitedBenchmark(
        key="average-power",
        order=540,
        title=_("Average power"),
        measures=_("Watts each device takes on average while a model is served."),
        units=("W",),
        compared=_MODEL,
        leads_with={"model": "tencent/HunyuanVideo", "precision": "bf16", "task": "text-to-video", "batch": 1},
        facets=_MODEL,
        also=("power_limit_w",),
        higher_is_better=False,
        has_first=False,
        adds_up=True,
        definition=_ML_ENERGY,
    ),
    CitedBenchmark(
        key="system-power",
        order=550,
        title=_("Power of the whole system"),
        measures=_("Watts of the whole computer at the wall while it generates tokens."),
        units=("W",),
        compared=("model",),
        leads_with={"model": "Llama 3.2:3b"},
        facets=("model", "system"),
        higher_is_better=False,
        has_first=False,
        definition=Definition("ai-benchmarks", "https://github.com/geerlingguy/ai-benchmarks"),
    ),
)

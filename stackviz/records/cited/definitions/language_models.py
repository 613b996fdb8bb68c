"""Language models: rates of llama.cpp, MLX and servers, times a user waits."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.cited.benchmark import MEMORY_BANDWIDTH, Bound, CitedBenchmark, Definition, Params

__all__ = ["BENCHMARKS"]

_SERVED = (
    *("model", "precision", "batch", "max_sequences", "concurrency", "request_rate"),
    *("input_tokens", "output_tokens", "task"),
)
_SERVED_ALSO = ("engine", "parallel", "autocast", "instance", "sequence", "phase", "speculative", "counted")
_RIG = ("context", "parallel", "link", "power_limit_w", "kv")
NOT_DRAFTED = "none"  # value of `speculative` where a source says that nothing is drafted


def _bound_of_test(params: Params) -> Bound | None:
    """Decoding (`tg`) reads all weights for each token; prefill (`pp`) multiplies matrices."""
    test = str(params.get("test", ""))
    if test.startswith("tg"):
        return _bound_of_decoding(params)
    return Bound(("fp16_tensor_tflops", "fp16_tflops", "fp32_tflops"), work=None) if test.startswith("pp") else None


def _bound_of_decoding(params: Params) -> Bound | None:
    """None where drafts are verified: several tokens then share one reading of the weights."""
    is_drafted = params.get("speculative", NOT_DRAFTED) != NOT_DRAFTED
    return None if is_drafted else Bound(MEMORY_BANDWIDTH, work=None)


BENCHMARKS = (
    CitedBenchmark(
        key="llama-bench",
        order=10,
        title="llama-bench",
        measures=_("Tokens per second that llama.cpp reads from a prompt (pp) or generates one after another (tg)."),
        units=("token/s",),
        compared=("test", "model", "quant", "depth"),
        leads_with={"test": "tg128", "model": "Llama 2 7B", "quant": "Q4_0"},
        facets=("test", "model", "quant", "depth", "backend", "flash_attention"),
        also=("micro_batch", "flags", "weights_bytes"),
        bound=_bound_of_test,
        definition=Definition(
            "llama.cpp: llama-bench", "https://github.com/ggml-org/llama.cpp/tree/master/tools/llama-bench"
        ),
    ),
    CitedBenchmark(
        key="mlx-lm",
        order=20,
        title=_("MLX language models"),
        measures=_("Tokens per second that MLX reads from a prompt (pp) or generates one after another (tg)."),
        units=("token/s",),
        compared=("test", "model", "quant", "depth", "batch", "speculative"),
        leads_with={"test": "tg256", "model": "Qwen3-8B", "quant": "4bit"},
        facets=("test", "model", "quant"),
        bound=_bound_of_test,
        definition=Definition("mlx-lm: benchmarks", "https://github.com/ml-explore/mlx-lm/blob/main/BENCHMARKS.md"),
    ),
    CitedBenchmark(
        key="localscore",
        order=30,
        title="LocalScore",
        measures=_(
            "Tokens per second over LocalScore's mix of prompt and answer lengths; never compared with llama-bench."
        ),
        units=("token/s",),
        compared=("test", "model", "quant"),
        leads_with={"test": "tg", "model": "Llama-3.1-8B", "quant": "Q4_K_M"},
        facets=("test", "model", "quant"),
        bound=_bound_of_test,
        definition=Definition("LocalScore: how it measures", "https://www.localscore.ai/about"),
    ),
    CitedBenchmark(
        key="llm-decode",
        order=40,
        title=_("Decoding, other engines"),
        measures=_("Tokens per second that an engine generates one after another for one user, or for a small batch."),
        units=("token/s",),
        compared=(
            *("model", "precision", "batch", "beam", "input_tokens", "output_tokens", "per", "statistic"),
            *("depth", "task", "counted", "speculative"),
        ),
        leads_with={"model": "Llama 3.2:3b", "precision": "Q4_K_M"},
        facets=("model", "precision", "engine", "batch", "task", "counted", "speculative"),
        also=(*_RIG, "group_size", "act_order", "kernel", "system", "compile"),
        bound=_bound_of_decoding,
        definition=Definition("Kwon and others: PagedAttention", "https://arxiv.org/abs/2309.06180"),
    ),
    CitedBenchmark(
        key="llm-prefill",
        order=50,
        title=_("Prefill, other engines"),
        measures=_("Tokens of a prompt that an engine reads per second before it generates the first token."),
        units=("token/s",),
        compared=("model", "precision", "batch", "input_tokens", "depth"),
        leads_with={"model": "Mistral 7B", "precision": "AWQ 4-bit", "batch": 1, "input_tokens": 2048},
        facets=("model", "precision", "engine", "batch"),
        also=(*_RIG, "output_tokens", "group_size", "act_order", "kernel"),
        bound=lambda _params: Bound(("fp16_tensor_tflops", "fp16_tflops"), work=None),
        definition=Definition("Kwon and others: PagedAttention", "https://arxiv.org/abs/2309.06180"),
    ),
    CitedBenchmark(
        key="llm-throughput",
        order=60,
        title=_("Serving throughput"),
        measures=_("Tokens per second that a server generates for all requests together."),
        units=("token/s",),
        compared=(*_SERVED, "per", "phase", "speculative"),
        leads_with={"model": "Llama 3.3 70B", "precision": "fp4", "input_tokens": 1000, "output_tokens": 1000},
        facets=("model", "precision", "task", "max_sequences", "batch", "input_tokens", "output_tokens"),
        also=_SERVED_ALSO,
        adds_up=True,
        definition=Definition("The ML.ENERGY Benchmark", "https://arxiv.org/abs/2505.06371"),
    ),
    CitedBenchmark(
        key="llm-inter-token-latency",
        order=70,
        title=_("Time between tokens"),
        measures=_("Seconds from one generated token of a request to its next."),
        units=("s",),
        compared=(*_SERVED, "statistic", "sequence"),
        leads_with={
            "model": "Llama-2-70b",
            "precision": "bf16",
            "batch": 1,
            "input_tokens": 128,
            "output_tokens": 1024,
            "statistic": "p50",
            "sequence": 1152,
        },
        facets=("model", "precision", "task", "max_sequences", "batch"),
        also=_SERVED_ALSO,
        higher_is_better=False,
        bound=_bound_of_decoding,
        definition=Definition("The ML.ENERGY Benchmark", "https://arxiv.org/abs/2505.06371"),
    ),
    CitedBenchmark(
        key="llm-time-to-first-token",
        order=80,
        title=_("Time to first token"),
        measures=_("Seconds from a request to its first generated token."),
        units=("s",),
        compared=(*_SERVED, "statistic"),
        leads_with={
            "model": "Llama-3-70B",
            "precision": "bf16",
            "batch": 1,
            "input_tokens": 128,
            "output_tokens": 128,
            "statistic": "p50",
        },
        facets=("model", "precision", "batch", "input_tokens"),
        also=_SERVED_ALSO,
        higher_is_better=False,
        definition=Definition(
            "AWS Neuron: inference performance",
            "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/benchmarks/inf2/inf2-performance.html",
        ),
    ),
)

"""Networks run and trained: throughput, latency, the time of a pass, pictures generated."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.cited.benchmark import CitedBenchmark, Definition, bounded_by_rate

__all__ = ["BENCHMARKS"]

_ITEMS = (
    "image/s", "sequence/s", "sentence/s", "token/s", "sample/s", "frame/s", "item/s", "inference/s", "step/s",
    "molecule/s", "mel/s",
)  # fmt: skip
_WORKLOAD = (
    "model", "precision", "batch", "input", "sequence", "task", "dataset", "stage", "model_size", "dimension",
    "memory_length", "input_length", "wn_channels", "beam", "method", "statistic", "metric", "part", "configuration",
)  # fmt: skip
_RUN = (
    "framework", "engine", "compile", "layout", "xla", "mode", "run_mode", "instance", "autocast", "variant", "suite",
    "parallel",
)  # fmt: skip
_PARALLEL = (
    "tp", "pp", "cp", "ep", "vp", "fsdp", "sharding", "slice", "recipe", "nodes", "parallelism", "techniques",
    "schedule", "variant", "hyperparameters",
)  # fmt: skip
_EXAMPLES = Definition("NVIDIA Deep Learning Examples", "https://github.com/NVIDIA/DeepLearningExamples")
_BRIDGE = Definition(
    "NVIDIA Megatron Bridge: performance summary",
    "https://docs.nvidia.com/nemo/megatron-bridge/latest/performance-summary.html",
)
_TRAINED = ("model", "precision", "sequence", "phase", "global_batch", "activation_checkpointing")

BENCHMARKS = (
    CitedBenchmark(
        key="inference-throughput",
        order=310,
        title=_("Inference throughput"),
        measures=_("Images, sequences, tokens or samples that a network works off per second."),
        units=_ITEMS,
        compared=_WORKLOAD,
        leads_with={"model": "resnet50", "precision": "mixed", "batch": 1024, "input": "224"},
        facets=("model", "precision", "batch", "input", "sequence", "framework", "engine", "task"),
        also=_RUN,
        adds_up=True,
        definition=Definition(
            "pytorch-image-models: benchmark results",
            "https://github.com/huggingface/pytorch-image-models/tree/main/results",
        ),
    ),
    CitedBenchmark(
        key="inference-latency",
        order=320,
        title=_("Inference latency"),
        measures=_("Seconds a network takes for one batch."),
        units=("s",),
        compared=_WORKLOAD,
        leads_with={"model": "resnet50"},
        facets=("model", "precision", "batch", "input", "sequence", "framework", "engine", "task"),
        also=(*_RUN, "threads", "powersave", "loop_count", "measure", "run"),
        higher_is_better=False,
        definition=Definition("ncnn benchmark", "https://github.com/Tencent/ncnn/tree/master/benchmark"),
    ),
    CitedBenchmark(
        key="model-time",
        order=330,
        title=_("Time of a pass"),
        measures=_("Seconds of one forward pass, one backward pass, an epoch or a number of steps of a network."),
        units=("s",),
        compared=(
            *("model", "precision", "batch", "sequence", "direction", "mode", "per"),
            *("input", "dataset", "recipe"),
        ),
        leads_with={"model": "resnet152", "precision": "fp16", "batch": 16, "mode": "train"},
        facets=("model", "batch", "direction", "mode", "precision", "per", "recipe"),
        also=("framework", "steps"),
        higher_is_better=False,
        definition=Definition("cnn-benchmarks", "https://github.com/jcjohnson/cnn-benchmarks"),
    ),
    CitedBenchmark(
        key="train-throughput",
        order=340,
        title=_("Training throughput"),
        measures=_("Images, sequences, tokens or samples that a network learns from, per second and device."),
        units=_ITEMS,
        compared=(*_WORKLOAD, "phase"),
        leads_with={"model": "resnet50", "precision": "fp16"},
        facets=("model", "precision", "batch", "sequence", "framework", "stage"),
        also=(
            *_RUN,
            "global_batch",
            "accumulation",
            "accumulated_batch",
            "nodes",
            "ranks",
            "hyperparameters",
            "concat_batches",
        ),
        adds_up=True,
        definition=_EXAMPLES,
    ),
    CitedBenchmark(
        key="train-tokens-per-device",
        order=350,
        title=_("Training tokens per device"),
        measures=_("Tokens per second that each device of a training run learns from."),
        units=("token/s",),
        compared=_TRAINED,
        leads_with={
            "model": "GPT OSS 120B",
            "precision": "bf16",
            "sequence": 4096,
            "phase": "Pre-Training Performance",
            "global_batch": 1280,
        },
        facets=("model", "precision", "sequence", "phase", "global_batch"),
        also=("micro_batch", *_PARALLEL),
        definition=_BRIDGE,
    ),
    CitedBenchmark(
        key="train-model-flops",
        order=360,
        title=_("Training rate per device"),
        measures=_("Operations per second of the model's own arithmetic on each device of a training run."),
        units=("FLOP/s",),
        compared=_TRAINED,
        leads_with={
            "model": "GPT OSS 120B",
            "precision": "bf16",
            "sequence": 4096,
            "phase": "Pre-Training Performance",
            "global_batch": 1280,
        },
        facets=("model", "precision", "sequence", "phase", "global_batch"),
        also=("micro_batch", *_PARALLEL),
        bound=bounded_by_rate,
        definition=Definition("PaLM, appendix B: model FLOPs", "https://arxiv.org/abs/2204.02311"),
    ),
    CitedBenchmark(
        key="diffusion-speed",
        order=370,
        title=_("Diffusion steps"),
        measures=_("Denoising steps per second of a network that generates pictures."),
        units=("step/s",),
        compared=("model", "batch"),
        leads_with={"model": "SD - txt2img", "batch": 4},
        facets=("model", "batch", "engine"),
        also=("attention", "compute_units"),
        definition=Definition(
            "Diffusers: PyTorch 2.0 benchmark", "https://huggingface.co/docs/diffusers/v0.20.0/optimization/torch2.0"
        ),
    ),
    CitedBenchmark(
        key="generation-time",
        order=380,
        title=_("Time of a picture or video"),
        measures=_("Seconds to generate a picture or a video from a prompt."),
        units=("s",),
        compared=("model", "batch", "steps"),
        leads_with={"model": "stabilityai/stable-diffusion-2-1-base"},
        facets=("model", "steps", "batch"),
        also=("attention", "compute_units", "sharding", "slice"),
        higher_is_better=False,
        definition=Definition("Apple: Stable Diffusion with Core ML", "https://github.com/apple/ml-stable-diffusion"),
    ),
)

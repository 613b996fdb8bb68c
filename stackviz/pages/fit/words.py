"""The words of `/fit/`: parts of memory, formulas, bounds, limits. Text only."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Words = Mapping[str, str | Promise]

PARTS: Words = {
    "weights": _("weights of the layers"),
    "tables": _("vocabulary tables"),
    "cache": _("KV cache"),
    "gradients": _("gradients"),
    "master": _("32-bit copy of the weights"),
    "optimizer": _("states of the optimizer"),
    "adapters": _("adapters and their gradients"),
    "activations": _("activations"),
    "logits": _("logits"),
    "runtime": _("runtime"),
    "slack": _("allocator slack"),
}
FORMULAS: Words = {
    "weights": _("parameters × bits ÷ 8"),
    "tables": _("embedding and output: 2 × vocabulary × hidden × bits ÷ 8"),
    "tables-tied": _("one table for input and output: vocabulary × hidden × bits ÷ 8"),
    "tables-host": _("output: vocabulary × hidden × bits ÷ 8; the embedding stays in the processor's memory"),
    "cache": _("2 × KV heads × head size × layers × tokens × batch × bits ÷ 8"),
    "cache-windowed": _("the same, but layers with a window hold the window and one chunk"),
    "cache-latent": _("(KV rank + rope) × layers × tokens × batch × bits ÷ 8"),
    "cache-state": _("the same for layers with attention, and a state of fixed size in each other layer"),
    "buffer": _("chunk × (vocabulary + hidden) × 4 × cards"),
    "buffer-scores": _("chunk × (vocabulary + hidden) × 4 × cards, and heads × chunk × context × 4"),
    "runtime": _("driver, kernels and libraries, a card (assumed)"),
    "slack": _("5 % of cache and activations (assumed)"),
    "training-slack": _("6 % of all but the weights (assumed)"),
    "gradients": _("parameters × bytes of a gradient"),
    "states": _("trained parameters × bytes of the optimizer's states"),
    "factored": _("rows + columns of every matrix × 4"),
    "master": _("parameters × 4"),
    "adapters": _("rank × Σ(rows + columns) × (4 + 4)"),
    "saved": _("tokens × layers × bytes of a token and layer"),
    "checkpoints": _("tokens × (layers × input of a layer + one whole layer)"),
    "logits": _("tokens × vocabulary × 8, with their gradient"),
}
TERMS: Words = {
    "layers": _("starting the kernels of each layer, 1 µs"),
    "bytes": _("bytes read ÷ bandwidth"),
    "unpack": _("unpacking quantised weights"),
    "unpack_k": _("unpacking k-quants, whose scales have scales"),
    "route": _("choosing experts in each layer, 1 µs"),
    "products": _("2 × parameters ÷ 16-bit rate"),
    "attention": _("4 × heads × head size × depth × layers ÷ 16-bit rate"),
    "experts": _("products of experts, again"),
}
BOUNDS: Words = {
    "bandwidth": _("memory bandwidth"),
    "compute": _("computing"),
    "overhead": _("overhead of each layer"),
}
LEVELS: Words = {
    "accelerator": _("this accelerator"),
    "family": _("its family"),
    "vendor": _("its vendor"),
    "all": _("all vendors"),
}
LIMITS: Words = {
    "reported": _("what a machine with this memory reported its GPU may use"),
    "apple": _("what macOS lets the GPU use: two thirds up to 36 GB, three quarters above"),
    "gddr-ecc": _("printed GB as GiB, less a sixteenth for ECC and 1 % for the driver"),
    "card": _("printed GB as GiB, less 1 % for the driver"),
    "shared": _("printed GB, less a tenth for the processor that shares it (assumed)"),
    "printed": _("printed GB, less 3 % (assumed)"),
}
TASKS: Words = {"inference": _("inference"), "full": _("full training"), "lora": "LoRA"}

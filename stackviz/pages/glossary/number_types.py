"""The formats numbers are kept in."""

from django.utils.translation import gettext_lazy as _

from stackviz.pages.glossary.terms import Chapter, Term

TYPES = Chapter(
    "types",
    _("Number types"),
    (
        Term(
            "fp32",
            "FP32, FP64",
            _(
                "IEEE 754 single and double precision: 1 sign bit, 8 or 11 bits of exponent, 23 or 52 of fraction. "
                "FP32 is PyTorch's default type; many accelerators do FP64 slowly or, as Apple's GPUs, not at all."
            ),
            "IEEE 754-2019",
            "https://doi.org/10.1109/IEEESTD.2019.8766229",
        ),
        Term(
            "tf32",
            "TF32",
            _(
                "Not a storage type: FP32 inputs whose fraction is cut to 10 bits inside NVIDIA's tensor cores, with "
                "an FP32 sum. Much faster than FP32, about as accurate as FP16. Whether PyTorch may use it is a "
                "setting, and a result says which was in force."
            ),
            "PyTorch: CUDA semantics",
            "https://docs.pytorch.org/docs/stable/notes/cuda.html",
        ),
        Term(
            "bf16",
            "BF16, FP16",
            _(
                "Two 16-bit types. BF16 has FP32's 8 bits of exponent and 7 of fraction: the same range, less "
                "precision. FP16 has 5 and 10: more precision, and overflow beyond 65,504. Training mostly uses BF16."
            ),
            "Google Cloud TPU: bfloat16",
            "https://cloud.google.com/tpu/docs/bfloat16",
        ),
        Term(
            "fp8",
            "FP8, FP4, INT8",
            _(
                "Types of 8 or 4 bits. FP8 comes as E4M3 (more precision) and E5M2 (more range); narrower ones need a "
                "scale factor kept beside a block of values. Peaks in TOPS are integer operations and are not FLOP/s."
            ),
            "Micikevicius et al., FP8 Formats for Deep Learning, 2022",
            "https://arxiv.org/abs/2209.05433",
        ),
        Term(
            "mx",
            _("MXFP and NVFP4"),
            _(
                "Formats that keep one scale for a block of numbers: 32 in the OCP's MX formats, 16 in NVIDIA's "
                "NVFP4. Peaks for fp4 mean such formats; what a model loses by them depends on the model."
            ),
            "Rouhani et al., Microscaling Data Formats, 2023",
            "https://arxiv.org/abs/2310.10537",
        ),
    ),
)

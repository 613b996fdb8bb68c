"""Peak rates."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog import formulas
from stackviz.records.catalog.fields.field import APPLE, DENSE, DENSE_FP32_ACCUMULATE, Field, Words
from stackviz.records.catalog.formula import Formula


def _rate(
    *,
    name: str,
    title: Words,
    unit: str,
    meaning: Words,
    is_headline: bool = False,
    glossary: str = "",
    formula: Formula | None = None,
    never: frozenset[str] = frozenset(),
    accumulate_matters: bool = False,
) -> Field:
    """A rate of the units of a processor; dense figures come first."""
    return Field(
        name=name,
        group="rates",
        title=title,
        unit=unit,
        meaning=meaning,
        higher_is_better=True,
        plausible=(0.001, 2e6),  # TFLOPS or TOPS: from a Pascal card's fp16 to a wafer
        is_headline=is_headline,
        usual=(DENSE_FP32_ACCUMULATE, DENSE) if accumulate_matters else (DENSE,),
        glossary=glossary,
        formula=formula,
        never=never,
        accumulate_matters=accumulate_matters,
    )


FIELDS = (
    _rate(
        name="fp64_tflops",
        title=_("fp64"),
        unit="TFLOPS",
        meaning=_("64-bit floating point on the ordinary cores; what simulations need."),
        glossary="fp32",
        formula=formulas.SHARE_OF_FP32,
        never=APPLE,
    ),
    _rate(
        name="fp64_tensor_tflops",
        title=_("fp64 tensor"),
        unit="TFLOPS",
        meaning=_("64-bit floating point on the matrix units."),
        formula=formulas.SHARE_OF_FP32,
        never=frozenset({"apple", "npu"}),
    ),
    _rate(
        name="fp32_tflops",
        title=_("fp32"),
        unit="TFLOPS",
        meaning=_("32-bit floating point on the ordinary cores."),
        is_headline=True,
        glossary="flops",
        formula=formulas.FP32,
    ),
    _rate(
        name="tf32_tensor_tflops",
        title=_("TF32 tensor"),
        unit="TFLOPS",
        meaning=_("fp32 numbers with their products cut to 10 bits of mantissa, on the matrix units."),
        glossary="tf32",
        formula=formulas.MATRIX_RATE,
        never=APPLE,
    ),
    _rate(
        name="fp16_tflops",
        title=_("fp16, not tensor"),
        unit="TFLOPS",
        meaning=_("16-bit floating point on the ordinary cores."),
        formula=formulas.SHARE_OF_FP32,
    ),
    _rate(
        name="fp16_tensor_tflops",
        title=_("fp16 tensor"),
        unit="TFLOPS",
        meaning=_("16-bit floating point matrix products; the accumulate type matters on GeForce cards."),
        is_headline=True,
        glossary="accumulate",
        formula=formulas.MATRIX_RATE,
        accumulate_matters=True,
    ),
    _rate(
        name="bf16_tensor_tflops",
        title=_("bf16 tensor"),
        unit="TFLOPS",
        meaning=_("Matrix products of 16-bit numbers with the range of fp32; used by most training."),
        is_headline=True,
        glossary="bf16",
        formula=formulas.MATRIX_RATE,
    ),
    _rate(
        name="fp8_tensor_tflops",
        title=_("fp8 tensor"),
        unit="TFLOPS",
        meaning=_("8-bit floating point matrix products."),
        glossary="fp8",
        formula=formulas.MATRIX_RATE,
        accumulate_matters=True,
    ),
    _rate(
        name="fp4_tensor_tflops",
        title=_("fp4 tensor"),
        unit="TFLOPS",
        meaning=_("4-bit floating point matrix products with shared scales."),
        glossary="mx",
        formula=formulas.MATRIX_RATE,
        accumulate_matters=True,
    ),
    _rate(
        name="int8_tensor_tops",
        title=_("int8 tensor"),
        unit="TOPS",
        meaning=_("8-bit integer matrix products."),
        is_headline=True,
        glossary="tops",
        formula=formulas.MATRIX_RATE,
    ),
    _rate(
        name="int4_tensor_tops",
        title=_("int4 tensor"),
        unit="TOPS",
        meaning=_("4-bit integer matrix products."),
        glossary="tops",
        formula=formulas.MATRIX_RATE,
    ),
    Field(
        name="neural_engine_tops",
        group="rates",
        title=_("Neural Engine"),
        unit="TOPS",
        meaning=_(
            "Operations per second of Apple's Neural Engine as Apple counts them; the number format changed over "
            "the years."
        ),
        higher_is_better=True,
        plausible=(0.5, 500),
        glossary="neural-engine",
        only=APPLE,
    ),
)

"""The questions at the top of a comparison. No database."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from stackviz.records.catalog.fields import COMPUTE_RATE, POWER, PRICE, Meaning

Words = str | Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`fields`: catalogue fields that answer it, the first that anybody publishes wins.

    `noun`: of what a subject has so many times as much. `meaning`: whose fields answer beside for a subject that
    publishes none of these. `matmul`: data type of the matrix product that answers where nothing is published.
    """

    key: str
    title: Words
    noun: Words
    fields: tuple[str, ...]
    higher_is_better: bool
    meaning: Meaning | None = None
    matmul: str = ""


QUESTIONS = (
    Question(
        key="memory",
        title=gettext_lazy("Memory"),
        noun=gettext_lazy("memory"),
        fields=("memory_gb", "memory_gb_max"),
        higher_is_better=True,
    ),
    Question(
        key="bandwidth",
        title=gettext_lazy("Memory bandwidth"),
        noun=gettext_lazy("memory bandwidth"),
        fields=("memory_bandwidth_gb_s",),
        higher_is_better=True,
    ),
    Question(
        key="bf16",
        title=COMPUTE_RATE.title,
        noun=gettext_lazy("bf16 matrix rate"),
        fields=("bf16_tensor_tflops",),
        higher_is_better=True,
        meaning=COMPUTE_RATE,
        matmul="bf16",
    ),
    Question(
        key="fp32",
        title=gettext_lazy("fp32"),
        noun=gettext_lazy("fp32 rate"),
        fields=("fp32_tflops",),
        higher_is_better=True,
        matmul="fp32",
    ),
    Question(
        key="power",
        title=POWER.title,
        noun=gettext_lazy("power"),
        fields=("tdp_w", "power_w"),
        higher_is_better=False,
        meaning=POWER,
    ),
    Question(
        key="price",
        title=PRICE.title,
        noun=gettext_lazy("price"),
        fields=("launch_price_usd", "machine_price_usd"),
        higher_is_better=False,
        meaning=PRICE,
    ),
)

DECODE = Question(
    key="decode",
    title=gettext_lazy("Decode rate"),
    noun=gettext_lazy("decode rate"),
    fields=(),
    higher_is_better=True,
)

"""The questions at the top of a comparison. No database."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from stackviz.catalog.fields import COMPUTE_RATE, POWER, PRICE, Meaning

Words = str | Promise


@dataclass(frozen=True, slots=True)
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
        "memory",
        gettext_lazy("Memory"),
        gettext_lazy("memory"),
        ("memory_gb", "memory_gb_max"),
        higher_is_better=True,
    ),
    Question(
        "bandwidth",
        gettext_lazy("Memory bandwidth"),
        gettext_lazy("memory bandwidth"),
        ("memory_bandwidth_gb_s",),
        higher_is_better=True,
    ),
    Question(
        "bf16",
        COMPUTE_RATE.title,
        gettext_lazy("bf16 matrix rate"),
        ("bf16_tensor_tflops",),
        higher_is_better=True,
        meaning=COMPUTE_RATE,
        matmul="bf16",
    ),
    Question(
        "fp32",
        gettext_lazy("fp32"),
        gettext_lazy("fp32 rate"),
        ("fp32_tflops",),
        higher_is_better=True,
        matmul="fp32",
    ),
    Question("power", POWER.title, gettext_lazy("power"), ("tdp_w", "power_w"), higher_is_better=False, meaning=POWER),
    Question(
        "price",
        gettext_lazy("Launch price"),
        gettext_lazy("launch price"),
        ("launch_price_usd", "machine_price_usd"),
        higher_is_better=False,
        meaning=PRICE,
    ),
)

DECODE = Question("decode", gettext_lazy("Decode rate"), gettext_lazy("decode rate"), (), higher_is_better=True)

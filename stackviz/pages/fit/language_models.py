"""The table of well-known open language models, `data/models.csv`: read once, never changed. Pure: no Django.

A row is the shape as its makers publish it, with the source of the shape and of the printed count of parameters.
"""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from stackviz.pages.fit.shapes import ModelShape

FILE = Path(__file__).parent / "data" / "models.csv"
# What a name may say beyond the model: how it was tuned, packed and quantised.
_NOT_THE_MODEL = re.compile(
    r"(?<![a-z])(instruct|chat|text|mlx|it|moe|gguf|awq|gptq|fp8|nvfp4|qat|\d+\s?bit)(?![a-z])"
    r"|[-_.:](ud[-_])?i?q\d(_[0a-z]+)*$|[-_ ]25\d\d\b|^[\w-]+/"
)
_SHAPE_COLUMNS = (
    "layers", "hidden", "heads", "kv_heads", "head_size", "intermediate", "vocabulary",
    "experts", "experts_per_token", "expert_intermediate", "shared_experts", "dense_layers",
    "kv_rank", "query_rank", "rope_size", "window", "window_layers", "full_kv_heads", "full_head_size",
    "state_layers", "state_heads", "state_key_heads", "state_head_size",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class LanguageModel:
    """One model. `parameters`, `active_parameters`: as printed by the source of the count; 0 where it prints none.

    `context`: tokens it was trained for. `names`: other names, and models that were tuned from it and have its shape.
    """

    slug: str
    name: str
    shape: ModelShape
    parameters: float
    active_parameters: float
    context: int
    names: tuple[str, ...]
    source_title: str
    source_url: str
    count_title: str
    count_url: str
    note: str


@cache
def language_models() -> Mapping[str, LanguageModel]:
    """All models by slug, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        models = [_model(row) for row in csv.DictReader(lines)]
    return MappingProxyType({model.slug: model for model in models})


def _model(row: Mapping[str, str]) -> LanguageModel:
    numbers = {column: int(row[column] or 0) for column in _SHAPE_COLUMNS}
    shape = ModelShape(
        **numbers,
        is_gated=row["mlp"] == "gated",
        is_tied=row["tied"] == "yes",
        has_output_gate=row["output_gate"] == "yes",
    )
    return LanguageModel(
        slug=row["slug"],
        name=row["name"],
        shape=shape,
        parameters=float(row["parameters"]),
        active_parameters=float(row["active_parameters"] or 0),
        context=int(row["context"]),
        names=tuple(filter(None, row["names"].split("|"))),
        source_title=row["source_title"],
        source_url=row["source_url"],
        count_title=row["count_title"],
        count_url=row["count_url"],
        note=row["note"],
    )


def model_named(name: str) -> LanguageModel | None:
    """The model a benchmark calls `name`: `Qwen3-8B-4bit`, `Llama 3.1 8B Instruct`, `llama-2-7b`."""
    names = _by_name()
    return names.get(_folded(name)) or names.get(_folded(_NOT_THE_MODEL.sub(" ", name.casefold())))


@cache
def _by_name() -> Mapping[str, LanguageModel]:
    by_name: dict[str, LanguageModel] = {}
    for model in language_models().values():
        for name in (model.slug, model.name, *model.names):
            by_name.setdefault(_folded(name), model)
            by_name.setdefault(_folded(_NOT_THE_MODEL.sub(" ", name.casefold())), model)
    return by_name


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


# How benchmarks write a quantisation -> our precision.
_WRITTEN = {
    "f16": "f16", "fp16": "fp16", "bf16": "bf16", "f32": "fp32",
    "q40": "q4_0", "q80": "q8_0", "q6k": "q6_k", "q2k": "q2_k", "q2kmedium": "q2_k", "iq4xs": "iq4_xs",
    "q3km": "q3_k_m", "q3kmedium": "q3_k_m", "q4km": "q4_k_m", "q4kmedium": "q4_k_m", "q5km": "q5_k_m",
    "q5kmedium": "q5_k_m", "mxfp4": "mxfp4", "mxfp4moe": "mxfp4",
    "4bit": "mlx-4bit", "5bit": "mlx-5bit", "6bit": "mlx-6bit", "8bit": "mlx-8bit",
    "fp8": "fp8", "awq": "int4", "awq4bit": "int4", "gptq": "int4", "gptq4bit": "int4", "gptqint4": "int4",
    "autoroundint4": "int4",
    "q4": "mlx-4bit", "q5": "mlx-5bit", "q6": "mlx-6bit", "q8": "mlx-8bit",
}  # fmt: skip


def precision_named(written: str) -> str:
    """The precision that `written` is: `Q4_K - Medium`, `F16`, `4bit`; "" for one that is not ours."""
    return _WRITTEN.get(_folded(written), "")

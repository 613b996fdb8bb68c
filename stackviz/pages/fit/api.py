"""`/fit/` over HTTP: does a model fit an accelerator, which rates to expect; and the models of the table."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Field as Described
from ninja import Query, Router, Schema

from stackviz.pages.fit.answers import FitAnswer, chosen_answers, smallest_fitting
from stackviz.pages.fit.calibration import Prediction
from stackviz.pages.fit.evidence import calibrations, fit_evidence
from stackviz.pages.fit.language_models import LanguageModel, language_models
from stackviz.pages.fit.precisions import CACHE_PRECISIONS, PRECISIONS
from stackviz.pages.fit.query import (
    BATCH,
    CACHE,
    CARDS,
    CONTEXT,
    CUSTOM,
    MEMORY_GB,
    PRECISION,
    RANK,
    TASKS,
    FitQuery,
    WholeRange,
    read_fit_query,
)
from stackviz.pages.fit.targets import FitTarget, fit_targets
from stackviz.pages.fit.training import OPTIMIZERS
from stackviz.records.catalog.queries import public_catalogue
from stackviz.web.http.address import LONGEST_TEXT
from stackviz.web.http.errors import ErrorBody, Refusal
from stackviz.web.http.openapi import link, links, one_of, whole_number_schema

router = Router()
REFUSED = {422: ErrorBody, 429: ErrorBody}
_PAGE_ONLY = frozenset({"page"})


def _whole(numbers: WholeRange, description: str) -> Any:  # noqa: ANN401 (as Described)
    """A parameter that is a whole number, with its default."""
    schema = whole_number_schema(numbers.low, numbers.high)
    return Described(str(numbers.default), description=description, json_schema_extra=schema)


class FitParameters(Schema):
    """What to run and on what. Typed numbers (`layers`, `hidden`, ...) go with model=custom."""

    accelerator: str = Described(
        description="slug of an accelerator, such as apple-m4-max-40; with the GB of one of its memory sizes after a "
        "colon: apple-m4-max-40:64"
    )
    model: str = Described(
        description="slug of a model of /api/v1/fit/models/, another name of it, or custom",
        json_schema_extra=one_of([*language_models(), CUSTOM]),
    )
    precision: str = Described(PRECISION, description="of the weights", json_schema_extra=one_of(PRECISIONS))
    context: str = _whole(CONTEXT, "tokens the cache holds for each sequence")
    batch: str = _whole(BATCH, "sequences at once")
    depth: str = Described(
        "",
        description="tokens in the cache when rates are computed, at most the context; half of it",
        json_schema_extra=whole_number_schema(0, CONTEXT.high),
    )
    cache: str = Described(CACHE, description="precision of the KV cache", json_schema_extra=one_of(CACHE_PRECISIONS))
    cards: str = _whole(CARDS, "how many of the accelerator")
    split: str = Described(
        "pipeline",
        description="pipeline (layers) or tensor (every matrix)",
        json_schema_extra=one_of(("pipeline", "tensor")),
    )
    memory: str = Described(
        "",
        description="GB of one of its memory sizes, where the accelerator is given without",
        json_schema_extra=whole_number_schema(MEMORY_GB.low, MEMORY_GB.high),
    )
    task: str = Described(
        "inference", description="inference, full (training) or lora", json_schema_extra=one_of(TASKS)
    )
    optimizer: str = Described("adamw", description="for training", json_schema_extra=one_of(OPTIMIZERS))
    checkpointing: str = Described("full", description="for training", json_schema_extra=one_of(("none", "full")))
    rank: str = _whole(RANK, "of the adapters, for lora")
    parameters: str = Described(
        "",
        description="of a custom model: 8B or 8.03e9; layers, hidden, ... likewise",
        json_schema_extra={"maxLength": LONGEST_TEXT},
    )


class RangeOut(Schema):
    """tokens/s: the middle 80 % of what is expected lies from low to high."""

    low: float
    mid: float
    high: float


class EfficiencyOut(Schema):
    """The rate of decoding as a share of what bandwidth alone would allow, and which rates that is from.

    `from`: accelerator, family, vendor or all; `count`: how many rates those are; `measured`: how many of them machines
    of public labs measured. The others are cited.
    """

    value: float
    source: Literal["accelerator", "family", "vendor", "all"] = Described(alias="from")
    count: int
    measured: int


class PartOut(Schema):
    part: str
    bytes: int
    worked: str


class SizeOut(Schema):
    """Whether it fits one memory size, in GB as printed, and what of it may be used, of all cards together."""

    memory_gb: float
    fits: bool
    needed_bytes: int
    available_bytes: int


class FitOut(Schema):
    """Rates are null for training, where it does not fit, and where no bandwidth or rate is published.

    `sizes`: every memory size of the accelerator, or the one asked for; all else is of the smallest that fits, else the
    largest.
    """

    fits: bool
    needed_bytes: int
    available_bytes: int
    decode_tokens_per_s: RangeOut | None
    prefill_tokens_per_s: RangeOut | None
    bound_by: Literal["bandwidth", "compute", "overhead"] | None
    efficiency: EfficiencyOut | None
    parts: list[PartOut]
    sizes: list[SizeOut]
    inputs: dict[str, Any]


class ModelOut(Schema):
    slug: str
    name: str
    parameters: int
    printed_parameters: int
    active_parameters: int
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    intermediate: int
    vocabulary: int
    context: int
    experts: int
    experts_per_token: int
    window: int
    window_layers: int
    state_layers: int
    is_tied: bool
    source_title: str
    source_url: str
    count_title: str
    count_url: str
    note: str


class ModelPage(Schema):
    count: int
    items: list[ModelOut]


@router.get("/fit/", response={200: FitOut, **REFUSED}, by_alias=True, summary="Does a model fit, how fast will it be")
def fit(
    request: HttpRequest,
    parameters: Annotated[FitParameters, Query()],  # noqa: ARG001 - the page parses them; here for the document
) -> dict[str, Any]:
    catalogue = public_catalogue()
    targets = fit_targets(catalogue)
    query, target = _read(request, targets)
    answers = chosen_answers(query, targets, calibrations(fit_evidence(catalogue), catalogue))
    if not answers:
        raise Refusal(422, f"no memory size is published for {target.name}", "accelerator")
    return _fit_out(query, answers)


@router.get(
    "/fit/models/",
    response={200: ModelPage, 429: ErrorBody},
    summary="The models of the table, with the sources of their shapes",
    openapi_extra=links(200, link("stackviz_fit_api_fit", model="/items/0/slug")),
)
def fit_models(request: HttpRequest) -> dict[str, Any]:  # noqa: ARG001 - the same for every request
    items = [_model_out(model) for model in language_models().values()]
    return {"count": len(items), "items": items}


def _read(request: HttpRequest, targets: Any) -> tuple[FitQuery, FitTarget]:  # noqa: ANN401
    """The query and its one accelerator. Raises Refusal for the first parameter that cannot be used."""
    parameters = request.GET
    for name in ("accelerator", "model"):
        if not parameters.get(name, "").strip():
            raise Refusal(422, f"{name} is missing", name)
    for name in sorted(_PAGE_ONLY & set(parameters)):
        raise Refusal(422, f"unknown parameter {name!r}", name)
    for name, values in parameters.lists():
        if len(values) > 1 and name != "accelerator":
            raise Refusal(422, f"{name} stands there {len(values)} times", name)
    query = read_fit_query(parameters, targets)
    for note in query.notes:
        raise Refusal(422, note.problem, note.parameter)
    if len(query.chosen) != 1:
        raise Refusal(422, "one accelerator at a time", "accelerator")
    return query, targets[query.accelerators[0]]


def _fit_out(query: FitQuery, answers: Sequence[FitAnswer]) -> dict[str, Any]:
    answer = smallest_fitting(answers)
    decode = answer.decode
    efficiency = None
    if decode is not None:
        efficiency = {
            "value": _short(decode.efficiency),
            "from": decode.level,
            "count": decode.count,
            "measured": decode.measured,
        }
    return {
        "fits": answer.fits,
        "needed_bytes": round(answer.needed),
        "available_bytes": round(answer.available),
        "decode_tokens_per_s": _range_out(decode),
        "prefill_tokens_per_s": _range_out(answer.prefill),
        "bound_by": decode.bound_by if decode is not None else None,
        "efficiency": efficiency,
        "parts": [{"part": part.key, "bytes": round(part.size), "worked": part.worked} for part in answer.parts],
        "sizes": [_size_out(size) for size in answers],
        "inputs": _inputs(query, answer),
    }


def _size_out(answer: FitAnswer) -> dict[str, Any]:
    return {
        "memory_gb": answer.limit.printed_gb,
        "fits": answer.fits,
        "needed_bytes": round(answer.needed),
        "available_bytes": round(answer.available),
    }


def _range_out(prediction: Prediction | None) -> dict[str, float] | None:
    if prediction is None:
        return None
    return {"low": _short(prediction.low), "mid": _short(prediction.mid), "high": _short(prediction.high)}


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _inputs(query: FitQuery, answer: FitAnswer) -> dict[str, Any]:
    rated, limit = answer.target.rated, answer.limit
    return {
        "accelerator": answer.target.slug,
        "model": query.model.slug,
        "parameters": query.model.shape.parameters,
        "active_parameters": round(query.model.shape.active_parameters),
        "precision": query.precision.slug,
        "bits_per_weight": _short(query.precision.usual),
        "context": query.context,
        "batch": query.batch,
        "depth": query.depth,
        "cache": query.cache_precision,
        "cards": query.cards,
        "split": query.split,
        "task": query.task,
        **({"optimizer": query.optimizer, "checkpointing": query.checkpointing} if query.is_training else {}),
        **({"rank": query.rank} if query.task == "lora" else {}),
        "memory_gb": limit.printed_gb,
        "memory_rule": limit.rule,
        "fullest_card_bytes": round(answer.fullest),
        "usable_card_bytes": round(answer.usable),
        "bandwidth_bytes_per_s": rated.bandwidth,
        "vector_flops": rated.vector_flops,
        "matrix_flops": rated.matrix_flops,
    }


def _model_out(model: LanguageModel) -> dict[str, Any]:
    shape = model.shape
    same = ("layers", "hidden", "heads", "kv_heads", "head_size", "intermediate", "vocabulary", "experts",
            "experts_per_token", "window", "window_layers", "state_layers", "is_tied")  # fmt: skip
    return {
        **{name: getattr(shape, name) for name in same},
        "slug": model.slug,
        "name": model.name,
        "parameters": shape.parameters,
        "printed_parameters": round(model.parameters),
        "active_parameters": round(shape.active_parameters),
        "context": model.context,
        "source_title": model.source_title,
        "source_url": model.source_url,
        "count_title": model.count_title,
        "count_url": model.count_url,
        "note": model.note,
    }

"""What an address of `/fit/` asks: `?model=llama-3-70b&precision=q4_k_m&accelerator=apple-m4-max-40:64`. No database.

`:64` chooses one of the memory sizes of the sheet, in GB; without it all of them are answered.
What is not given has a default; what cannot be used is ignored with a note, which the API refuses with.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_number
from stackviz.pages.fit.language_models import LanguageModel, language_models, model_named
from stackviz.pages.fit.memory import Split
from stackviz.pages.fit.precisions import CACHE_PRECISIONS, PRECISIONS, Precision
from stackviz.pages.fit.shapes import ModelShape
from stackviz.pages.fit.targets import FitTarget
from stackviz.pages.fit.training import OPTIMIZERS, Checkpointing
from stackviz.web.http.address import LONGEST_SHOWN, MOST_CHOICES, AddressReader, Note, whole_number

MOST_DIGITS = 15
_COUNT = re.compile(r"(\d{1,7}(?:\.\d{1,6})?)(?:e(\d{1,2})| ?([kmbt]))?", re.IGNORECASE)
_POWERS = {"k": 3, "m": 6, "b": 9, "t": 12}


@dataclass(frozen=True)
class WholeRange:
    """A whole number from `low` to `high`; `default` where none is given."""

    low: int
    high: int
    default: int

    def read(self, reader: AddressReader, name: str) -> int:
        """The number, or the default: with a note where what is given is none of them."""

        def parse(text: str) -> int | None:
            number = whole_number(text.replace(",", ""), MOST_DIGITS)
            return number if number is not None and self.low <= number <= self.high else None

        given = reader.parsed(name, parse, self._problem())
        return self.default if given is None else given

    def _problem(self) -> str:
        words = _("“%%(value)s” is not a whole number from %(low)s to %(high)s")
        return words % {"low": format_number(self.low), "high": format_number(self.high)}


def read_count(text: str) -> float | None:
    """`8B`, `8e9`, `8030000000`, `0.6b` -> how many; None for anything else."""
    match = _COUNT.fullmatch(text.replace(",", "")) or re.fullmatch(r"(\d{1,18})()()", text)
    if match is None:
        return None
    power = int(match[2]) if match[2] else _POWERS[match[3].lower()] if match[3] else 0
    return float(match[1]) * 10.0**power


CUSTOM, FALLBACK = "custom", "llama-3.1-8b"
MOST_PARAMETERS = 10**13  # ten times the largest open model
AGREEING = 0.05  # how far a typed number of parameters may lie from what the shape comes to
NUMBERS = {
    "layers": WholeRange(1, 1_000, 32),
    "hidden": WholeRange(16, 131_072, 4096),
    "heads": WholeRange(1, 1_024, 32),
    "kv_heads": WholeRange(1, 1_024, 8),
    "head_size": WholeRange(1, 1_024, 128),
    "intermediate": WholeRange(16, 1_048_576, 14_336),
    "vocabulary": WholeRange(16, 4_194_304, 128_256),
    "experts": WholeRange(0, 4_096, 0),
    "experts_per_token": WholeRange(1, 4_096, 1),
    "window": WholeRange(0, 10_000_000, 0),
    "window_layers": WholeRange(0, 1_000, 0),
}
CUSTOM_PARAMETERS = (*NUMBERS, "parameters", "tied")


def read_custom_model(reader: AddressReader) -> LanguageModel:
    """The model; a note for each number that cannot be used, and for numbers that contradict each other."""
    numbers = {name: allowed.read(reader, name) for name, allowed in NUMBERS.items()}
    is_tied = reader.choice("tied", ("yes", "no"), gettext_lazy("answer"), "no") == "yes"
    _check(reader, numbers)
    experts = numbers["experts"]
    shape = ModelShape(
        layers=numbers["layers"],
        hidden=numbers["hidden"],
        heads=numbers["heads"],
        kv_heads=min(numbers["kv_heads"], numbers["heads"]),
        head_size=numbers["head_size"],
        intermediate=numbers["intermediate"],
        vocabulary=numbers["vocabulary"],
        is_tied=is_tied,
        experts=experts,
        experts_per_token=min(numbers["experts_per_token"], experts),
        expert_intermediate=numbers["intermediate"] if experts else 0,
        window=numbers["window"],
        window_layers=min(numbers["window_layers"], numbers["layers"]) if numbers["window"] else 0,
    )
    shape = _with_parameters(reader, shape)
    return LanguageModel(
        slug=CUSTOM,
        name=_("Your model"),
        shape=shape,
        parameters=shape.parameters,
        active_parameters=shape.active_parameters if experts else 0,
        context=0,
        names=(),
        source_title="",
        source_url="",
        count_title="",
        count_url="",
        note="",
    )


def _check(reader: AddressReader, numbers: dict[str, int]) -> None:
    if numbers["heads"] % numbers["kv_heads"]:
        reader.note("kv_heads", _("The heads must be a multiple of the KV heads"))
    if numbers["experts"] and numbers["experts_per_token"] > numbers["experts"]:
        reader.note("experts_per_token", _("A token cannot use more experts than there are"))
    if numbers["window_layers"] > numbers["layers"]:
        reader.note("window_layers", _("There cannot be more layers with a window than layers"))


def _with_parameters(reader: AddressReader, shape: ModelShape) -> ModelShape:
    """The shape; its MLP made as wide as a typed number of parameters asks for, where no width is given."""
    wanted = reader.parsed("parameters", read_count, gettext_lazy("“%(value)s” is not a number such as 8B or 8.03e9"))
    if wanted is not None and not 0 < wanted <= MOST_PARAMETERS:
        problem = _("A model has between 1 and %(most)s parameters") % {"most": "10,000,000,000,000"}
        reader.note("parameters", problem)
        wanted = None
    if wanted is not None and not reader.parameters.get("intermediate", "").strip():
        shape = _widened(shape, wanted)
    if wanted is not None and abs(shape.parameters / wanted - 1) > AGREEING:
        problem = _("The other numbers come to %(count)s parameters") % {"count": f"{shape.parameters:,}"}
        reader.note("parameters", problem)
    if shape.parameters > MOST_PARAMETERS:
        reader.note("parameters", _("The numbers come to %(count)s parameters") % {"count": f"{shape.parameters:,}"})
        return language_models()[FALLBACK].shape
    return shape


def _widened(shape: ModelShape, wanted: float) -> ModelShape:
    """The shape with the width of the MLP that brings it to `wanted` parameters."""
    tensors = shape.tensors
    rest = shape.parameters - tensors["down"] - tensors["mlp"] - tensors["expert"]
    matrices = 3 * shape.hidden * shape.layers * max(shape.experts, 1)
    width = max(1, round((wanted - rest) / matrices))
    return replace(shape, intermediate=width, expert_intermediate=width if shape.experts else 0)


Task = Literal["inference", "full", "lora"]
TASKS: tuple[Task, ...] = ("inference", "full", "lora")
MODEL, PRECISION, TRAINED_PRECISION, CACHE = "llama-3.1-8b", "q4_k_m", "bf16", "fp16"
TRAINABLE = ("bf16", "fp16", "fp32")  # whose weights full training can change
CONTEXT = WholeRange(1, 4_194_304, 4_096)
BATCH = WholeRange(1, 4_096, 1)
CARDS = WholeRange(1, 1_024, 1)
RANK = WholeRange(1, 1_024, 16)
MEMORY_GB = WholeRange(1, 100_000, 0)
MOST_ACCELERATORS = 6
LONGEST_NAME = 200  # of a model
PARAMETERS = frozenset(
    {"accelerator", "model", "precision", "context", "batch", "depth", "cache", "cards", "split", "memory", "task",
     "optimizer", "checkpointing", "rank", "page", *CUSTOM_PARAMETERS}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FitChoice:
    """A chosen accelerator, and the GB of one of its memory sizes; 0 for all of them."""

    slug: str
    memory_gb: float = 0

    def __str__(self) -> str:
        """Return it as an address has it: `apple-m1-8:8`."""
        return f"{self.slug}:{self.memory_gb:g}" if self.memory_gb else self.slug


@dataclass(frozen=True, kw_only=True)
class FitQuery:
    """What is asked, as it was understood. `chosen`: accelerators; none means all.

    `depth`: tokens in the cache when rates are computed. `memory_gb`: where none are chosen, of those that have this
    size; 0: the smallest size that fits, of all. `parameters`: the address, without what could not be used.
    """

    model: LanguageModel
    precision: Precision
    context: int
    batch: int
    depth: int
    cache_precision: str
    chosen: tuple[FitChoice, ...]
    cards: int
    split: Split
    memory_gb: int
    task: Task
    optimizer: str
    checkpointing: Checkpointing
    rank: int
    parameters: QueryDict = field(compare=False)
    notes: tuple[Note, ...] = field(default=(), compare=False)

    @property
    def is_training(self) -> bool:
        return self.task != "inference"

    @property
    def accelerators(self) -> tuple[str, ...]:
        """The slugs of the chosen accelerators, each once."""
        return tuple(dict.fromkeys(choice.slug for choice in self.chosen))


def read_fit_query(
    parameters: Mapping[str, str], known: Mapping[str, FitTarget], *, most_notes: int | None = None
) -> FitQuery:
    """Return the query of an address. `known`: the public accelerators by slug."""
    reader = AddressReader(parameters)
    models = language_models()
    slug = _model_slug(reader)
    model = read_custom_model(reader) if slug == CUSTOM else models[slug]
    task = cast("Task", reader.choice("task", TASKS, _("task"), "inference"))
    context = CONTEXT.read(reader, "context")
    chosen = tuple(dict.fromkeys(_choices(reader, known)))[:MOST_ACCELERATORS]
    memory_gb = MEMORY_GB.read(reader, "memory")
    query = FitQuery(
        model=model,
        precision=_precision(reader, task),
        context=context,
        batch=BATCH.read(reader, "batch"),
        depth=WholeRange(0, context, context // 2).read(reader, "depth"),
        cache_precision=reader.choice("cache", CACHE_PRECISIONS, _("precision of the cache"), CACHE),
        chosen=tuple(_with_size(reader, choice, known[choice.slug], memory_gb) for choice in chosen),
        cards=CARDS.read(reader, "cards"),
        split=cast("Split", reader.choice("split", ("pipeline", "tensor"), _("split"), "pipeline")),
        memory_gb=0 if chosen else memory_gb,
        task=task,
        optimizer=reader.choice("optimizer", OPTIMIZERS, _("optimizer"), "adamw"),
        checkpointing=cast(
            "Checkpointing", reader.choice("checkpointing", ("none", "full"), _("kind of checkpointing"), "full")
        ),
        rank=RANK.read(reader, "rank"),
        parameters=_used(parameters, reader),
    )
    if slug != CUSTOM:
        _note_shape(reader)
    return _with_notes(query, reader.notes(PARAMETERS, most=most_notes))


def _model_slug(reader: AddressReader) -> str:
    """Return the slug of the model, which an address may also call by another of its names: `model=deepseek-r1`."""
    slugs = [*language_models(), CUSTOM]
    given = reader.parameters.get("model", "").strip()[:LONGEST_NAME]
    named = None if given.casefold() in slugs else model_named(given)
    if named is None:
        return reader.choice("model", slugs, _("model"), MODEL)
    reader.respelled["model"] = named.slug
    return named.slug


def _choices(reader: AddressReader, known: Mapping[str, FitTarget]) -> Iterator[FitChoice]:
    """Yield the known accelerators of the address, whatever their letter case; a note for others and unknown sizes."""
    by_folded = {slug.casefold(): slug for slug in known}
    for value in dict.fromkeys(reader.values("accelerator")[:MOST_CHOICES]):
        name, colon, size = value.partition(":")
        slug = by_folded.get(name.casefold())
        if slug is None:
            reader.unknown_value("accelerator", _("accelerator"), value, choices=tuple(known))
            continue
        sizes = {f"{size_gb:g}": size_gb for size_gb in known[slug].sizes}
        if colon and size not in sizes:
            problem = unpublished_size(known[slug], size[:LONGEST_SHOWN])
            reader.note("accelerator", problem, gettext_lazy("all its sizes are shown"))
        yield FitChoice(slug, sizes.get(size, 0))


def _with_size(reader: AddressReader, choice: FitChoice, target: FitTarget, memory_gb: int) -> FitChoice:
    """Return the choice with the size that older addresses have once, as `memory`, for all accelerators."""
    if choice.memory_gb not in (0, memory_gb) and memory_gb:
        words = {"name": target.name, "size": format_number(choice.memory_gb)}
        reader.note("memory", _("%(name)s is chosen with %(size)s GB") % words)
    if choice.memory_gb or not memory_gb:
        return choice
    if memory_gb in target.sizes:
        return replace(choice, memory_gb=memory_gb)
    reader.note("memory", unpublished_size(target, str(memory_gb)), gettext_lazy("all its sizes are shown"))
    return choice


def unpublished_size(target: FitTarget, size: str) -> str:
    """Return the sentence, without a full stop, that a sheet has no such size, and which it has."""
    if not target.sizes:
        return _("No memory size is published for %(name)s") % {"name": target.name}
    *others, last = map(format_number, target.sizes)
    sizes = _("%(others)s or %(last)s") % {"others": ", ".join(others), "last": last} if others else last
    return _("%(name)s has %(sizes)s GB, not “%(size)s”") % {"name": target.name, "sizes": sizes, "size": size}


def _precision(reader: AddressReader, task: Task) -> Precision:
    usual = PRECISION if task == "inference" else TRAINED_PRECISION
    slug = reader.choice("precision", PRECISIONS, _("precision"), usual)
    if task == "full" and slug not in TRAINABLE:
        problem = _("Full training cannot change weights stored as %(name)s; choose bf16, fp16 or fp32")
        reader.note("precision", problem % {"name": PRECISIONS[slug].name}, gettext_lazy("bf16 is shown"))
        slug = TRAINED_PRECISION
    return PRECISIONS[slug]


def _note_shape(reader: AddressReader) -> None:
    """A note for numbers of a shape that the model of the table does not take."""
    for name in CUSTOM_PARAMETERS:
        if reader.parameters.get(name, "").strip():
            reader.note(name, _("Numbers of a shape belong to model=custom"))


def _used(parameters: Mapping[str, str], reader: AddressReader) -> QueryDict:
    """The parameters that are known, given, and not the page of a list."""
    used = QueryDict(mutable=True)
    for name in sorted(PARAMETERS - {"page"}):
        values = [value for value in reader.values(name) if value] if name == "accelerator" else []
        if not values and parameters.get(name, "").strip():
            values = [reader.respelled.get(name, parameters[name].strip())]
        if values:
            used.setlist(name, values)
    return used


def _with_notes(query: FitQuery, notes: tuple[Note, ...]) -> FitQuery:
    """The query with its notes, its address without the parameters they are about."""
    for note in notes:
        if note.parameter in query.parameters and note.parameter != "accelerator":
            del query.parameters[note.parameter]
    if query.chosen:
        query.parameters.setlist("accelerator", [str(choice) for choice in query.chosen])
        query.parameters.pop("memory", None)
    else:
        query.parameters.pop("accelerator", None)
    return replace(query, notes=notes)

"""What an address of `/fit/` asks: `?model=llama-3-70b&precision=q4_k_m&accelerator=apple-m4-max-40`. No database.

What is not given has a default; what cannot be used is ignored with a note, which the API refuses with.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.pages.fit.custom_model import CUSTOM, CUSTOM_PARAMETERS, read_custom_model
from stackviz.pages.fit.language_models import LanguageModel, language_models
from stackviz.pages.fit.memory import Split
from stackviz.pages.fit.numbers import WholeRange
from stackviz.pages.fit.precisions import CACHE_PRECISIONS, PRECISIONS, Precision
from stackviz.pages.fit.training import OPTIMIZERS, Checkpointing
from stackviz.web.address import AddressReader, Note

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
PARAMETERS = frozenset(
    {"accelerator", "model", "precision", "context", "batch", "depth", "cache", "cards", "split", "memory", "task",
     "optimizer", "checkpointing", "rank", "page", *CUSTOM_PARAMETERS}
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FitQuery:
    """What is asked, as it was understood. `accelerators`: slugs; none means all.

    `depth`: tokens in the cache when rates are computed. `memory_gb`: of the configuration; 0: the smallest that fits.
    `parameters`: the address, without what could not be used.
    """

    model: LanguageModel
    precision: Precision
    context: int
    batch: int
    depth: int
    cache_precision: str
    accelerators: tuple[str, ...]
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


def read_fit_query(parameters: Mapping[str, str], known: Collection[str], *, most_notes: int | None = None) -> FitQuery:
    """The query of an address. `known`: slugs of the public accelerators."""
    reader = AddressReader(parameters)
    models = language_models()
    slug = reader.choice("model", [*models, CUSTOM], _("model"), MODEL)
    model = read_custom_model(reader) if slug == CUSTOM else models[slug]
    task = cast("Task", reader.choice("task", TASKS, _("task"), "inference"))
    context = CONTEXT.read(reader, "context")
    accelerators = reader.choices("accelerator", known, _("accelerator"))[:MOST_ACCELERATORS]
    query = FitQuery(
        model=model,
        precision=_precision(reader, task),
        context=context,
        batch=BATCH.read(reader, "batch"),
        depth=WholeRange(0, context, context // 2).read(reader, "depth"),
        cache_precision=reader.choice("cache", CACHE_PRECISIONS, _("precision of the cache"), CACHE),
        accelerators=accelerators,
        cards=CARDS.read(reader, "cards"),
        split=cast("Split", reader.choice("split", ("pipeline", "tensor"), _("split"), "pipeline")),
        memory_gb=MEMORY_GB.read(reader, "memory"),
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
    if query.accelerators:
        query.parameters.setlist("accelerator", list(query.accelerators))
    else:
        query.parameters.pop("accelerator", None)
    return replace(query, notes=notes)

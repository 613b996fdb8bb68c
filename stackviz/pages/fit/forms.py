"""The form of `/fit/`: fields with what is chosen. No query."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.base.units import format_number
from stackviz.pages.fit.language_models import language_models
from stackviz.pages.fit.precisions import CACHE_PRECISIONS, PRECISIONS
from stackviz.pages.fit.query import CUSTOM, NUMBERS, TASKS, TRAINABLE, FitChoice, FitQuery
from stackviz.pages.fit.targets import FitTarget, fit_targets
from stackviz.pages.fit.training import OPTIMIZERS
from stackviz.pages.fit.words import TASKS as TASK_WORDS
from stackviz.records.catalog.asked_for import requested_by_vendor
from stackviz.records.catalog.queries import PublicCatalogue


@dataclass(frozen=True, slots=True)
class FormOption:
    value: str
    words: str
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class FormField:
    """A list of options in groups, or, without any, a number to type. `name` is the parameter."""

    name: str
    label: str
    groups: tuple[tuple[str, tuple[FormOption, ...]], ...] = ()
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenField:
    """An accelerator already chosen. `value`: as an address has it; `sizes`: to choose from, where there are several.

    `without_url`: the query string without it.
    """

    name: str
    value: str
    sizes: tuple[FormOption, ...]
    without_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FitForm:
    """`more`: collapsed until something in it is not the default; `shape`: the numbers of a typed model.

    `accelerators`: those most asked for, by vendor; `parameters`: the address, for a search among all of them.
    """

    first: tuple[FormField, ...]
    more: tuple[FormField, ...]
    shape: tuple[FormField, ...]
    is_open: bool
    chosen: tuple[ChosenField, ...]
    accelerators: tuple[tuple[str, tuple[FormOption, ...]], ...]
    parameters: tuple[tuple[str, str], ...]


def fit_form(query: FitQuery, catalogue: PublicCatalogue) -> FitForm:
    targets = fit_targets(catalogue)
    more = _more(query)
    given = set(query.parameters)
    return FitForm(
        first=(
            FormField("model", _("Model"), _models(query)),
            FormField("precision", _("Precision"), _precisions(query)),
            FormField("task", _("Task"), _flat(((task, str(TASK_WORDS[task])) for task in TASKS), chosen=query.task)),
            FormField("context", _("Context, tokens"), value=str(query.context)),
            FormField("batch", _("Sequences at once"), value=str(query.batch)),
        ),
        more=more,
        shape=_shape(query) if query.model.slug == CUSTOM else (),
        is_open=any(field.name in given for field in more),
        chosen=tuple(_chosen(query, choice, targets[choice.slug]) for choice in query.chosen),
        accelerators=_offered(query, targets, catalogue),
        parameters=tuple((name, value) for name, values in query.parameters.lists() for value in values),
    )


def _models(query: FitQuery) -> tuple[tuple[str, tuple[FormOption, ...]], ...]:
    models, chosen = language_models().values(), query.model.slug
    options = [FormOption(model.slug, model.name, model.slug == chosen) for model in models]
    custom = FormOption(CUSTOM, _("numbers I type"), query.model.slug == CUSTOM)
    return (("", (custom,)), (_("Known models"), tuple(options)))


def _precisions(query: FitQuery) -> tuple[tuple[str, tuple[FormOption, ...]], ...]:
    names = {"llama.cpp": "llama.cpp (GGUF)", "mlx": "MLX", "torch": "PyTorch"}
    return tuple(
        (
            title,
            tuple(
                FormOption(precision.slug, precision.name, precision == query.precision)
                for precision in PRECISIONS.values()
                if precision.runtime == runtime and (query.task != "full" or precision.slug in TRAINABLE)
            ),
        )
        for runtime, title in names.items()
        if query.task != "full" or runtime == "torch"
    )


def _more(query: FitQuery) -> tuple[FormField, ...]:
    splits = (("pipeline", _("by layers")), ("tensor", _("every matrix")))
    fields = [
        FormField("cards", _("Accelerators together"), value=str(query.cards)),
        FormField("split", _("Split"), _flat(splits, chosen=query.split)),
    ]
    if not query.chosen:
        fields.append(FormField("memory", _("Memory of the configuration, GB"), value=str(query.memory_gb or "")))
    if not query.is_training:
        caches = ((name, name) for name in CACHE_PRECISIONS)
        fields.append(FormField("cache", _("KV cache"), _flat(caches, chosen=query.cache_precision)))
        fields.append(FormField("depth", _("Tokens in the cache, for rates"), value=str(query.depth)))
        return tuple(fields)
    optimizers = ((slug, optimizer.name) for slug, optimizer in OPTIMIZERS.items())
    fields.append(FormField("optimizer", _("Optimizer"), _flat(optimizers, chosen=query.optimizer)))
    kinds = (("full", _("every layer")), ("none", _("none")))
    fields.append(FormField("checkpointing", _("Checkpointing"), _flat(kinds, chosen=query.checkpointing)))
    if query.task == "lora":
        fields.append(FormField("rank", _("Rank"), value=str(query.rank)))
    return tuple(fields)


def _shape(query: FitQuery) -> tuple[FormField, ...]:
    labels = {
        "parameters": _("Parameters, such as 8B"),
        "layers": _("Layers"),
        "hidden": _("Hidden size"),
        "heads": _("Heads"),
        "kv_heads": _("KV heads"),
        "head_size": _("Head size"),
        "intermediate": _("Width of the MLP"),
        "vocabulary": _("Vocabulary"),
        "experts": _("Experts"),
        "experts_per_token": _("Experts a token uses"),
        "window": _("Window, tokens"),
        "window_layers": _("Layers with a window"),
    }
    return tuple(
        FormField(name, label, value=query.parameters.get(name, str(NUMBERS[name].default) if name in NUMBERS else ""))
        for name, label in labels.items()
    )


def _flat(pairs: Iterable[tuple[str, str]], *, chosen: str) -> tuple[tuple[str, tuple[FormOption, ...]], ...]:
    return (("", tuple(FormOption(value, words, value == chosen) for value, words in pairs)),)


def _offered(
    query: FitQuery, targets: Mapping[str, FitTarget], catalogue: PublicCatalogue
) -> tuple[tuple[str, tuple[FormOption, ...]], ...]:
    """Those most asked for whose memory is known and that are not chosen yet, by vendor."""
    groups = (
        (vendor, [item.slug for item in items if targets[item.slug].limits and item.slug not in query.accelerators])
        for vendor, items in requested_by_vendor(catalogue)
    )
    return tuple(
        (vendor, tuple(FormOption(slug, targets[slug].name) for slug in slugs)) for vendor, slugs in groups if slugs
    )


def _chosen(query: FitQuery, choice: FitChoice, target: FitTarget) -> ChosenField:
    others = query.parameters.copy()
    others.setlist("accelerator", [str(other) for other in query.chosen if other != choice])
    sizes = [FitChoice(target.slug, size_gb) for size_gb in target.sizes] if len(target.sizes) > 1 else []
    options = tuple(FormOption(str(each), f"{format_number(each.memory_gb)} GB", each == choice) for each in sizes)
    return ChosenField(
        name=target.name,
        value=str(choice),
        sizes=(FormOption(target.slug, _("all sizes")), *options) if options else (),
        without_url=f"?{others.urlencode(safe=':')}",
    )

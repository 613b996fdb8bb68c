"""What the forms show: the accelerators that are drawn, each with the address without it, and options."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from stackviz.draw.charts.vendors import css
from stackviz.records.catalog.models import Accelerator


@dataclass(frozen=True, slots=True)
class ChosenAccelerator:
    """`query`: of the address without it. `is_removable`: whether others are left then."""

    slug: str
    name: str
    css: str
    query: str
    is_removable: bool


@dataclass(frozen=True, slots=True)
class ChoiceOption:
    value: str
    words: str
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """A list to choose from; `id` is also the name of the parameter."""

    id: str
    label: str
    options: tuple[ChoiceOption, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Check boxes of one parameter."""

    id: str
    label: str
    options: tuple[ChoiceOption, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartForm:
    """`address`: of the page; `names`: of accelerators to add, () where there is no room for another."""

    address: str
    chosen: tuple[ChosenAccelerator, ...] = ()
    names: tuple[str, ...] = ()
    lists: tuple[OneOf, ...] = ()
    boxes: tuple[AnyOf, ...] = ()


def chosen_accelerators(
    accelerators: Sequence[Accelerator], query_without: Callable[[str], str]
) -> tuple[ChosenAccelerator, ...]:
    """`query_without(slug)`: the query of the address without this accelerator."""
    return tuple(
        ChosenAccelerator(item.slug, item.name, css(slot), query_without(item.slug), len(accelerators) > 1)
        for slot, item in enumerate(accelerators)
    )


def short_label(accelerator: Accelerator) -> str:
    """`RTX 4090`, `M3 Max 40`: without vendor and brand, cores as a number: labels in a drawing are short."""
    name = accelerator.short_name.removeprefix("GeForce ").removeprefix("Radeon ")
    return name.removesuffix("-core GPU)").replace(" (", " ") if name.endswith("-core GPU)") else name


def options(words: Mapping[str, str], chosen: Iterable[str]) -> tuple[ChoiceOption, ...]:
    marked = set(chosen)
    return tuple(ChoiceOption(value, text, value in marked) for value, text in words.items())

"""The field registry: every field that a module of this package lists in FIELDS, under its group.

To add one: docs/recipes/field.md.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from stackviz.base.discovery import modules_of
from stackviz.records.catalog import fields as package
from stackviz.records.catalog.fields.field import Field, Words
from stackviz.records.catalog.formula import Formula


@dataclass(frozen=True, slots=True)
class Group:
    """A heading of the sheet. The module of this package that has its name lists the fields that stand first."""

    name: str
    title: Words


GROUPS: tuple[Group, ...] = (
    Group("product", _("Product")),
    Group("memory", _("Memory")),
    Group("rates", _("Peak rates")),
    Group("units", _("Execution units and clocks")),
    Group("links", _("Links to other chips and to the host")),
    Group("power", _("Power")),
    Group("silicon", _("Silicon")),
    Group("software", _("What software sees")),
    Group("machines", _("Machines it is built into")),
)


def _declared() -> Iterator[Field]:
    """The fields group by group, of each group those of its own module first."""
    listed = [(module, getattr(module, "FIELDS", ())) for module in modules_of(package)]
    fields = [(field, module) for module, declared in listed if isinstance(declared, tuple) for field in declared]
    for group in GROUPS:
        of_group = [(field, module) for field, module in fields if field.group == group.name]
        of_group.sort(key=lambda pair: not pair[1].__name__.endswith(f".{group.name}"))
        yield from (field for field, _module in of_group)


FIELDS: dict[str, Field] = {field.name: field for field in _declared()}
POSITION: dict[str, int] = {name: position for position, name in enumerate(FIELDS)}
HEADLINES: tuple[Field, ...] = tuple(field for field in FIELDS.values() if field.is_headline)
ACCUMULATE_MATTERS: tuple[str, ...] = tuple(field.name for field in FIELDS.values() if field.accumulate_matters)
FORMULAS: dict[str, Formula] = {field.formula.name: field.formula for field in FIELDS.values() if field.formula}


def grouped(names: Iterable[str]) -> list[tuple[Group, list[Field]]]:
    """The fields with these names under their groups, both in registry order; empty groups are left out."""
    wanted = set(names)
    return [
        (group, fields)
        for group in GROUPS
        if (fields := [field for field in FIELDS.values() if field.group == group.name and field.name in wanted])
    ]

"""The software of a report: components by name, those that are described with a link."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.urls import reverse

from stackviz import wire
from stackviz.stacks.component_names import names_of_components


@dataclass(frozen=True, slots=True)
class SoftwareRow:
    """A component that was found; `url` is empty if it has no description, `version` if it is not stated."""

    name: str
    version: str
    found_by: str
    url: str


def software_rows(software: Iterable[wire.Software], names: Mapping[str, str]) -> list[SoftwareRow]:
    """What was found, in the order it was found. `names`: see `component_names`."""
    return [
        SoftwareRow(
            name=names.get(item.component, item.component),
            version=item.version or "",
            found_by=item.found_by,
            url=reverse("stacks:component", args=[item.component]) if item.component in names else "",
        )
        for item in software
    ]


def component_names(reports: Iterable[wire.Report]) -> dict[str, str]:
    """Slug -> name of the described components among all that was found. No query but that for the edition."""
    names = names_of_components()
    slugs = {item.component for report in reports for item in report.software}
    return {slug: names[slug] for slug in slugs if slug in names}

"""All importers, the most trusted first: every Importer that a module of this package names.

To add one: docs/recipes/importer.md.
"""

from collections.abc import Iterator

from stackviz.base.discovery import modules_of
from stackviz.report import importers
from stackviz.report.importers.importer import Importer

__all__ = ["BY_KIND", "IMPORTERS"]


def _declared() -> Iterator[Importer]:
    for module in modules_of(importers):
        yield from (value for value in vars(module).values() if isinstance(value, Importer))


IMPORTERS: tuple[Importer, ...] = tuple(
    sorted(dict.fromkeys(_declared()), key=lambda importer: (-importer.trust, importer.kind))
)
BY_KIND = {importer.kind: importer for importer in IMPORTERS}

"""The NVIDIA drivers that sheets and comparisons name: the first and the last branch for a product, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.records.catalog.models import Accelerator
from stackviz.records.stacks.card_drivers import card_drivers
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules import RuleSource, Tables


@dataclass(frozen=True, slots=True)
class SheetDrivers:
    """`first`: branch by system ("linux", "windows"); `last`: "" where none ends yet; `sources`: of both, each once."""

    first: Mapping[str, str]
    last: str
    sources: tuple[RuleSource, ...]

    @property
    def words(self) -> str:
        """`R384 or newer on Linux and Windows, up to R580, the last branch`."""
        return ", ".join(self._words())

    def _words(self) -> Iterator[str]:
        if not self.first:
            yield _("the first branch is not on record")
        elif set(self.first) == {"linux"}:
            yield _("R%(first)s or newer on Linux") % {"first": self.first["linux"]}
        elif len(set(self.first.values())) == 1:
            yield _("R%(first)s or newer on Linux and Windows") % {"first": self.first["linux"]}
        else:
            yield _("R%(linux)s or newer on Linux, R%(windows)s or newer on Windows") % self.first
        if self.last:
            yield _("up to R%(last)s, the last branch") % {"last": self.last}


def sheet_drivers(accelerator: Accelerator, tables: Tables | None = None) -> SheetDrivers | None:
    """None where the tables know no branch for it. `tables`: read already, else one query for their edition."""
    drivers = card_drivers(tables or rule_tables(), accelerator)
    if drivers is None:
        return None
    rows = [*drivers.first.values(), *([drivers.last] if drivers.last else [])]
    return SheetDrivers(
        {system: row.low for system, row in drivers.first.items()},
        drivers.last.values if drivers.last else "",
        tuple(dict.fromkeys(row.source for row in rows)),
    )

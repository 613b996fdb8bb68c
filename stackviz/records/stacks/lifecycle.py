"""Support dates of the components of a machine or a stack, and the effects of upgrades, as table rows."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from stackviz.records.stacks.queries import names_of_components
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.records.stacks.table_checks import CheckedTable, releases_of, stale_tables
from stackviz.report.format import Report
from stackviz.report.rules import Finding
from stackviz.report.rules.lifecycle import Life, LifeState, lives
from stackviz.report.rules.upgrade import Upgrade, next_upgrades

STATES: Mapping[LifeState, tuple[str, str | Promise]] = {
    LifeState.SUPPORTED: ("fits", _("supported")),
    LifeState.ENDING: ("note", _("support ends soon")),
    LifeState.ENDED: ("warning", _("support has ended")),
    LifeState.UNDATED: ("unknown", _("no end date published")),
    LifeState.UNKNOWN: ("unknown", _("not in these tables")),
}


@dataclass(frozen=True, slots=True)
class LifeRow:
    """One component. `mark`: CSS class of its state; `url`: "" where the component is not described."""

    name: str
    url: str
    life: Life
    mark: str
    label: str | Promise


@dataclass(frozen=True, slots=True)
class UpgradeRow:
    """One component upgraded to its newest release: findings that appear and that disappear."""

    name: str
    upgrade: Upgrade

    @property
    def breaks(self) -> tuple[Finding, ...]:
        return self.upgrade.breaks

    @property
    def to(self) -> str:
        """The newer release, with the build where it is not the one that pip takes by itself."""
        upgrade = self.upgrade
        return f"{upgrade.to}+{upgrade.build}" if upgrade.build else upgrade.to

    @property
    def fixes(self) -> tuple[Finding, ...]:
        return self.upgrade.fixes


@dataclass(frozen=True, slots=True)
class LifeTable:
    """Support dates and upgrades; either may be empty. `stale`: tables behind them whose last check is too old."""

    rows: tuple[LifeRow, ...]
    upgrades: tuple[UpgradeRow, ...]
    stale: tuple[CheckedTable, ...]


def life_table(report: Report) -> LifeTable:
    """Support dates and upgrades as of `report.created_at`. No query but those for the editions."""
    tables, names = rule_tables(), names_of_components()
    rows = tuple(_row(life, names) for life in lives(report, tables))
    used = releases_of(row.life.component for row in rows)
    return LifeTable(
        rows,
        tuple(
            UpgradeRow(names.get(upgrade.component, upgrade.component), upgrade)
            for upgrade in next_upgrades(report, tables)
        ),
        stale_tables(used, report.created_at.date()),
    )


def _row(life: Life, names: Mapping[str, str]) -> LifeRow:
    mark, label = STATES[life.state]
    slug = life.component
    url = reverse("stacks:component", args=[slug]) if slug in names else ""
    return LifeRow(names.get(slug, slug), url, life, mark, label)

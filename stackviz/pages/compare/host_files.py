"""Cited results of hosts in files of a comparison: the rows of the page, with the same figures. No queries."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

from django.utils.translation import gettext as _

from stackviz.pages.compare.host_rows import HostCell, HostFigure, HostResults, HostTestRow
from stackviz.web.i18n.words import joined


def host_lines(hosts: HostResults | None) -> Iterator[HostTestRow]:
    """Rows that several subjects have, then those of one, as on the page."""
    if hosts is not None:
        yield from (*hosts.shared, *hosts.alone)


def host_lead(row: HostTestRow) -> tuple[str, ...]:
    """The six columns that describe a row of a CSV file."""
    unit = next(iter(row.best.values())).si
    return (_("Results on these hosts"), row.key[0], f"{row.title} {row.setting}", unit, row.work, "cited")


def csv_of_host(cell: HostCell, row: HostTestRow, address: str) -> list[object]:
    """The best result, as a number; its share of the bound, and what it states, in the note."""
    figure = cell.best
    if figure is None:
        return [_("no result"), *[""] * 7]
    value = float(f"{row.best[cell.slot].amount:.6g}")
    factor = cell.factor.removesuffix("×").replace(",", "")
    best = "yes" if cell.is_first else ""
    return [value, factor, best, figure.bound, "cited", "", urljoin(address, figure.url), _note(figure)]


def _note(figure: HostFigure) -> str:
    share = _("%(share)s of the bound") % {"share": figure.share} if figure.share else ""
    return joined([share, figure.note])


def data_of_hosts(hosts: HostResults | None, address: str) -> list[dict[str, Any]]:
    """The rows with all runs of each subject, the best first."""
    if hosts is None:
        return []
    names = {head.slot: head.name for head in hosts.heads}
    return [
        {
            "benchmark": row.key[0],
            "title": row.title,
            "setting": row.setting,
            "work": row.work,
            "higher_is_better": not row.lower_is_better,
            "cells": [
                {
                    "subject": names[cell.slot],
                    "factor": cell.factor or None,
                    "is_better": cell.is_first,
                    "runs": [_run_data(figure, address) for figure in (cell.best, *cell.others) if figure],
                }
                for cell in row.cells
            ],
        }
        for row in host_lines(hosts)
    ]


def _run_data(figure: HostFigure, address: str) -> dict[str, str]:
    return {
        "text": figure.text,
        "share_of_bound": figure.share,
        "bound": figure.bound,
        "states": figure.note,
        "address": urljoin(address, figure.url),
    }


def table_of_hosts(hosts: HostResults) -> list[list[str]]:
    """A row of titles, then a row for each test, as plain text."""
    rows = [[f"{row.title} {row.setting}", *map(_cell_text, row.cells)] for row in host_lines(hosts)]
    return [[_("Setting"), *(head.title for head in hosts.heads)], *rows]


def _cell_text(cell: HostCell) -> str:
    if cell.best is None:
        return _("no result")
    remarks = f"({note})" if (note := _note(cell.best)) else ""
    return " ".join(filter(None, (cell.best.text, cell.factor, remarks)))

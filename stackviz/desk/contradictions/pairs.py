"""A pair of public statements, and what all kinds of pairs are read from."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from stackviz.base.light import light_dataclass
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.records.cited.cases import public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules import Tables

NONE = "none"  # where a place says nothing


@light_dataclass(slots=True)
class PublicStatement:
    """What the site says, and where: an address, or a file and the key of its row."""

    where: str
    text: str


@light_dataclass(slots=True)
class Pair:
    """Two statements about the same thing, and whether both can be true."""

    first: PublicStatement
    second: PublicStatement
    agrees: bool


@dataclass(frozen=True)
class Known:
    """The data of this moment, each part read once. `day`: the moment that plans and diagnoses are made for."""

    day: datetime

    @cached_property
    def tables(self) -> Tables:
        return rule_tables()

    @cached_property
    def catalogue(self) -> PublicCatalogue:
        return public_catalogue()

    @cached_property
    def results(self) -> list[CitedResult]:
        """The public cited results as they are stored now, whatever a page has cached."""
        return list(public_results().order_by("pk").only("benchmark", "params_key", "accelerator", "count", "amount"))

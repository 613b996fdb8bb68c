"""Two public hosts layer by layer, an NVIDIA one and a Mac, with what they reached in one test."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from stackviz.base.units import quantity_label
from stackviz.draw.colours import hue_of
from stackviz.draw.diagrams.boxes import Box, StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.pages.compare.comparison import columns_of
from stackviz.pages.compare.pairs import pairs_with_hosts, results_of_pair
from stackviz.pages.compare.subjects import loaded_host
from stackviz.records.cited.models import CitedResult
from stackviz.records.hosts.models import Host
from stackviz.records.stacks.queries import described_columns, public_stacks
from stackviz.web.http.address import comparison_query
from stackviz.web.i18n.curated_text import curated_words

VENDORS = ("nvidia", "apple")
STACKS = ("nvidia-cuda", "apple-metal")  # drawn where no such two hosts are public
NAMES_PER_LAYER = 2


@dataclass(frozen=True, slots=True)
class LayerName:
    """A component of a layer. `is_known`: whether the host's owner named it; always of a described stack."""

    text: str
    is_known: bool


@dataclass(frozen=True, slots=True)
class ComparedStack:
    """A column. `figure`: what the host reached, "" for a described stack; `percent`: of the larger of the two."""

    title: str
    css: str
    url: str
    layers: tuple[tuple[LayerName, ...], ...]
    figure: str = ""
    percent: int = 0


@dataclass(frozen=True, slots=True)
class TwoStacks:
    """`question`: what the two hosts show, of the reviewed file of pairs; "" where described stacks are drawn."""

    columns: tuple[ComparedStack, ...]
    url: str
    question: str = ""

    @property
    def rows(self) -> list[tuple[Layer, list[tuple[LayerName, ...]]]]:
        return [(layer, [column.layers[index] for column in self.columns]) for index, layer in enumerate(Layer)]


def two_stacks() -> TwoStacks | None:
    """Return the first pair of VENDORS that `/compare/` suggests, else the stacks; None where neither is there."""
    return _two_hosts() or _two_described()


def _two_hosts() -> TwoStacks | None:
    for pair, hosts, by_host in pairs_with_hosts():
        if len(hosts) != len(VENDORS) or {host.vendor.slug for host in hosts} != set(VENDORS):
            continue
        results = results_of_pair(pair, hosts, by_host)
        drawn = columns_of([loaded_host(host) for host in hosts], with_differences=False).drawn
        if len(results) == len(drawn) == len(VENDORS):
            most = max(result.amount for result in results)
            columns = [
                _host_column(host, result, column, most)
                for host, result, column in zip(hosts, results, drawn, strict=True)
            ]
            columns.sort(key=lambda column: column.css != hue_of(VENDORS[0]).css)
            url = f"{reverse('compare:page')}?{comparison_query(pair.subjects)}"
            return TwoStacks(tuple(columns), url, curated_words(pair.title))
    return None


def _host_column(host: Host, result: CitedResult, column: StackColumn, most: float) -> ComparedStack:
    return ComparedStack(
        title=host.title.partition(", ")[0],
        css=hue_of(host.vendor.slug).css,
        url=host.get_absolute_url(),
        layers=_layers_of(column),
        figure=quantity_label(result.amount, result.si, digits=3),
        percent=max(1, round(result.amount / most * 100)),
    )


def _two_described() -> TwoStacks | None:
    described = described_columns(STACKS)
    stacks = {stack.slug: stack for stack in public_stacks() if stack.slug in described}
    if set(stacks) != set(STACKS):
        return None
    columns = [
        ComparedStack(
            title=described[slug].title,
            css=hue_of(stacks[slug].vendor).css,
            url=described[slug].url,
            layers=_layers_of(described[slug]),
        )
        for slug in STACKS
    ]
    subjects = [f"stack:{slug}" for slug in STACKS]
    return TwoStacks(tuple(columns), f"{reverse('compare:page')}?{comparison_query(subjects)}")


def _layers_of(column: StackColumn) -> tuple[tuple[LayerName, ...], ...]:
    return tuple(_names_of([box for box in column.boxes if box.layer == layer]) for layer in Layer)


def _names_of(boxes: Sequence[Box]) -> tuple[LayerName, ...]:
    """What is known of the layer, else what its stack has there; each name once, the first of alternatives."""
    present = [box for box in boxes if box.state != State.ABSENT]
    known = [box for box in present if box.state != State.UNKNOWN]
    names = dict.fromkeys(map(_first_name, known or present))
    return tuple(LayerName(name, bool(known)) for name in names)[:NAMES_PER_LAYER]


def _first_name(box: Box) -> str:
    name = box.name.partition(" / ")[0]
    return name if box.version in ("", box.name) else f"{name} {box.version}"

"""What pages show of a public host: its report judged by the rules, and its stack with software no stack describes."""

from collections.abc import Container, Mapping

from stackviz.draw.diagrams.boxes import Box, StackColumn, copy_with
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.intake.report_parts.cards import MatchedCard
from stackviz.intake.report_parts.present import JudgedReport, stack_column
from stackviz.records.hosts.models import Host
from stackviz.records.hosts.reported import host_report
from stackviz.records.hosts.software import OTHER_SOFTWARE
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.dumps.components import layer_of
from stackviz.report.rules import judge

_LAYERS = {
    "cann": Layer.PLATFORM,
    "coreml": Layer.LIBRARY,
    "cupy": Layer.LIBRARY,
    "flashinfer": Layer.LIBRARY,
    "jetpack": Layer.OS,
    "l4t": Layer.OS,
    "linux-firmware": Layer.DRIVER,
    "macos-sdk": Layer.COMPILER,
    "mesa": Layer.DRIVER,
    "metal-toolchain": Layer.COMPILER,
    "npu-smi": Layer.DRIVER,
    "nvidia-smi": Layer.DRIVER,
    "nvlink": Layer.HARDWARE,
    "sgl-kernel": Layer.LIBRARY,
    "torchao": Layer.LIBRARY,
    "vllm-xpu-kernels": Layer.LIBRARY,
    "vulkan": Layer.PLATFORM,
    "xcode": Layer.COMPILER,
}
"""Of software that is no component; the rest runs models."""


def judged_host(host: Host) -> JudgedReport:
    """Return its report with findings as of the day it was described, and the public sheets of its cards.

    No query beyond that for the tables of the rules.
    """
    report = host_report(host)
    sheets = [card.accelerator for card in host.cards.all()]
    cards = (
        MatchedCard(card, sheet if sheet and sheet.is_public else None)
        for card, sheet in zip(report.cards, sheets, strict=True)
    )
    return JudgedReport(report, judge(report, rule_tables()), tuple(cards))


def host_column(
    host: Host, judged: JudgedReport, described: StackColumn, names: Mapping[str, str], *, is_brief: bool = False
) -> StackColumn:
    """Return its stack on the described one, with a box for each software that the described one lacks.

    `names`: of components, see `component_names`; `is_brief`: as in `reported_column`.
    """
    address = host.get_absolute_url()
    column = stack_column(judged, described, key=host.subject, title=host.title, url=address, is_brief=is_brief)
    stated = {item.component for item in judged.report.software}
    boxes = [_only_stated(box, stated) for box in column.boxes]
    drawn = {box.component for box in boxes}
    more = [
        _extra_box(item.component, item.version, names)
        for item in judged.report.software
        if item.component not in drawn
    ]
    return copy_with(column, boxes=(*boxes, *more))


def _only_stated(box: Box, stated: Container[str]) -> Box:
    """A part of something that is there counts as reported on a lab machine; here its source must name it."""
    is_implied = box.state == State.REPORTED and box.layer != Layer.HARDWARE and box.component not in stated
    return copy_with(box, state=State.UNKNOWN) if is_implied else box


def layer_of_software(component: str) -> Layer:
    """The layer of a component, or of software that is none."""
    known = layer_of(component)
    return Layer(known) if known else _LAYERS.get(component, Layer.APPLICATION)


def _extra_box(component: str, version: str | None, names: Mapping[str, str]) -> Box:
    layer = layer_of_software(component)
    return Box(
        component=component,
        role="server" if layer is Layer.APPLICATION else component,
        layer=layer,
        name=names.get(component) or OTHER_SOFTWARE.get(component, component),
        version=version or "",
        state=State.REPORTED,
    )

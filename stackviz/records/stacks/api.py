"""The HTTP API of the stacks: the list, and the components of one."""

from django.http import HttpRequest
from ninja import Router, Schema
from ninja.errors import HttpError

from stackviz.draw.diagrams.boxes import SourceLink
from stackviz.draw.diagrams.layers import State
from stackviz.records.stacks.queries import described_column, stack_rows
from stackviz.records.stacks.undrawn_components import undrawn_components
from stackviz.web.errors import ErrorBody
from stackviz.web.openapi import link, links

router = Router()


class StackBrief(Schema):
    slug: str
    name: str
    summary: str


class StackPage(Schema):
    count: int
    items: list[StackBrief]


class StackSource(Schema):
    title: str
    url: str


class StackComponent(Schema):
    """A component in its place. `role` is shared by what does the same job on other stacks."""

    component: str
    name: str
    layer: str
    role: str
    version: str
    description: str
    calls: list[str]
    see_version: str
    install: str
    source: StackSource


class StackTool(Schema):
    """What watches the stack, and what it reads of it."""

    name: str
    role: str
    description: str
    reads: list[str]
    see_version: str
    install: str
    source: StackSource


class StackOut(StackBrief):
    components: list[StackComponent]
    tools: list[StackTool]


@router.get(
    "/stacks/",
    response={200: StackPage, 429: ErrorBody},
    summary="Stacks described here",
    openapi_extra=links(200, link("stackviz_stacks_api_get_stack", slug="/items/0/slug")),
)
def list_stacks(request: HttpRequest) -> StackPage:  # noqa: ARG001
    rows = stack_rows()
    items = [StackBrief(slug=row.slug, name=row.name, summary=row.summary) for row in rows]
    return StackPage(count=len(items), items=items)


@router.get(
    "/stacks/{slug}/",
    response={200: StackOut, 404: ErrorBody, 429: ErrorBody},
    summary="One stack, top to bottom",
)
def get_stack(request: HttpRequest, slug: str) -> StackOut:  # noqa: ARG001
    row = next((row for row in stack_rows() if row.slug == slug), None)
    column = described_column(slug)
    if row is None or column is None:
        raise HttpError(404, f"no stack is called {slug!r}")
    beyond = undrawn_components(slug)
    components = [
        StackComponent(
            component=box.component,
            name=box.name,
            layer=box.layer.value,
            role=box.role,
            version=box.version,
            description=box.summary,
            calls=list(box.calls),
            see_version=box.see_version,
            install=box.install,
            source=StackSource(title=box.source.title, url=box.source.url)
            if box.source
            else StackSource(title="", url=""),
        )
        for box in column.boxes
        if box.state != State.ABSENT
    ]
    tools = [
        StackTool(
            name=tool.name,
            role=tool.role,
            description=f"{tool.what_it_is} {tool.what_it_does}",
            reads=[name for name, _url in tool.reads],
            see_version=tool.see_version,
            install=tool.install,
            source=_source(tool.source),
        )
        for tool in beyond.tools
    ]
    return StackOut(slug=row.slug, name=row.name, summary=row.summary, components=components, tools=tools)


def _source(source: SourceLink | None) -> StackSource:
    return StackSource(title=source.title, url=source.url) if source else StackSource(title="", url="")

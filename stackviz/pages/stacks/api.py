"""The HTTP API of the stacks: the list, and the components of one."""

from django.http import HttpRequest
from ninja import Router, Schema
from ninja.errors import HttpError

from stackviz.draw.diagrams.boxes import SourceLink
from stackviz.draw.diagrams.layers import State
from stackviz.pages.stacks.stack_page import stack_rows, undrawn_components
from stackviz.records.catalog.models import Source
from stackviz.records.stacks.models import Stack
from stackviz.records.stacks.queries import described_column, public_stacks
from stackviz.web.http.errors import ErrorBody
from stackviz.web.http.openapi import link, links

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
    items = [_brief(row.stack) for row in stack_rows()]
    return StackPage(count=len(items), items=items)


@router.get(
    "/stacks/{slug}/",
    response={200: StackOut, 404: ErrorBody, 429: ErrorBody},
    summary="One stack, top to bottom",
)
def get_stack(request: HttpRequest, slug: str) -> StackOut:  # noqa: ARG001
    stack = next((stack for stack in public_stacks() if stack.slug == slug), None)
    column = described_column(slug)
    if stack is None or column is None:
        raise HttpError(404, f"no stack is called {slug!r}")
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
            source=_source(box.source),
        )
        for box in column.boxes
        if box.state != State.ABSENT
    ]
    tools = [
        StackTool(
            name=tool.local_name,
            role=tool.role,
            description=tool.description,
            reads=[component.local_name for component in reads],
            see_version=tool.see_version,
            install=tool.install,
            source=_source(tool.source),
        )
        for tool, reads in undrawn_components(slug).tools
    ]
    return StackOut(**_brief(stack).dict(), components=components, tools=tools)


def _brief(stack: Stack) -> StackBrief:
    return StackBrief(slug=stack.slug, name=stack.local_name, summary=stack.summary)


def _source(source: Source | SourceLink | None) -> StackSource:
    return StackSource(title=source.title, url=source.url) if source else StackSource(title="", url="")

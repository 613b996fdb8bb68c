"""`/api/v1/docs/`: the API's OpenAPI document as a page of the site, without script."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja.openapi.docs import DocsBase

if TYPE_CHECKING:
    from ninja import NinjaAPI


METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class ApiParameter:
    """`where`: path, query or header; `kind`: its type as the document writes it."""

    name: str
    where: str
    kind: str
    is_required: bool
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiOperation:
    """One method of one address. `answers`: (status, what it holds); `anchor`: of its heading."""

    anchor: str
    method: str
    path: str
    summary: str
    description: str
    needs_key: bool
    parameters: tuple[ApiParameter, ...]
    body: str
    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class OperationGroup:
    title: str
    anchor: str
    operations: tuple[ApiOperation, ...]


class ApiReference(DocsBase):
    """What django-ninja calls to show its document."""

    def render_page(self, request: HttpRequest, api: "NinjaAPI", **kwargs: Any) -> HttpResponse:  # noqa: ANN401
        document = json.loads(json.dumps(api.get_openapi_schema(path_params=kwargs), default=str))
        context = {
            "title": document["info"]["title"],
            "description": document["info"]["description"],
            "groups": operation_groups(document),
            "document_url": self.get_openapi_url(api, kwargs),
            "site": request.build_absolute_uri("/").rstrip("/"),
        }
        return render(request, "home/api.html", context)


def operation_groups(document: Mapping[str, Any]) -> list[OperationGroup]:
    """The operations by their first tag, in the order of the document."""
    groups: dict[str, list[ApiOperation]] = {}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                tag = next(iter(methods[method].get("tags", ())), "other")
                groups.setdefault(tag, []).append(_operation(path, method, methods[method]))
    return [OperationGroup(tag, f"g-{_anchor(tag)}", tuple(operations)) for tag, operations in groups.items()]


def _operation(path: str, method: str, written: Mapping[str, Any]) -> ApiOperation:
    return ApiOperation(
        anchor=f"{method}-{_anchor(path)}",
        method=method.upper(),
        path=path,
        summary=written.get("summary", ""),
        description=written.get("description", ""),
        needs_key=bool(written.get("security")),
        parameters=tuple(_parameters(written)),
        body=_body(written),
        answers=tuple(
            (status, _schema_text(_schema_of(answer)) or answer.get("description", ""))
            for status, answer in written.get("responses", {}).items()
        ),
    )


def _parameters(written: Mapping[str, Any]) -> Iterator[ApiParameter]:
    for each in written.get("parameters", ()):
        schema = each.get("schema", {})
        meaning = each.get("description") or schema.get("description") or ""
        yield ApiParameter(each["name"], each["in"], _schema_text(schema), bool(each.get("required")), meaning)


def _body(written: Mapping[str, Any]) -> str:
    content = written.get("requestBody", {}).get("content", {})
    return ", ".join(f"{kind}: {_schema_text(part.get('schema', {}))}".rstrip(": ") for kind, part in content.items())


def _schema_of(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    content = answer.get("content", {})
    return next((part.get("schema", {}) for part in content.values()), {})


def _schema_text(schema: Mapping[str, Any]) -> str:
    """`integer`, `string or null`, `list of Accelerator`; "" where nothing is said."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if choices:
        return " or ".join(dict.fromkeys(filter(None, map(_schema_text, choices))))
    if schema.get("type") == "array":
        return f"list of {_schema_text(schema.get('items', {})) or 'anything'}"
    return str(schema.get("type", ""))


def _anchor(text: str) -> str:
    return "-".join("".join(sign if sign.isalnum() else " " for sign in text.lower()).split())

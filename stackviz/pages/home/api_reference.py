"""`/api/v1/docs/`: the API's OpenAPI document as a page of the site, without script."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja.openapi.docs import DocsBase

if TYPE_CHECKING:
    from ninja import NinjaAPI


METHODS = ("get", "post", "put", "patch", "delete")


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


def operation_groups(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the operations by their first tag, in the order of the document."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                tag = next(iter(methods[method].get("tags", ())), "other")
                groups.setdefault(tag, []).append(_operation(path, method, methods[method]))
    return [
        {"title": tag, "anchor": f"g-{_anchor(tag)}", "operations": operations} for tag, operations in groups.items()
    ]


def _operation(path: str, method: str, written: Mapping[str, Any]) -> dict[str, Any]:
    """Return one method of one address. `answers`: (status, what it holds)."""
    return {
        "anchor": f"{method}-{_anchor(path)}",
        "method": method.upper(),
        "path": path,
        "description": written.get("description") or written.get("summary", ""),
        "needs_key": bool(written.get("security")),
        "parameters": [
            {
                **each,
                "kind": _schema_text(each.get("schema", {})),
                "meaning": each.get("description") or each.get("schema", {}).get("description") or "",
            }
            for each in written.get("parameters", ())
        ],
        "body": _body(written),
        "answers": [
            (status, _schema_text(_schema_of(answer)) or answer.get("description", ""))
            for status, answer in written.get("responses", {}).items()
        ],
    }


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

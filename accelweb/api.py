"""The HTTP API, version 1: each room's router under one OpenAPI document at `/api/v1/openapi.json`."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.operation import Operation

from stackviz.desk.freshness.api import router as freshness
from stackviz.intake.ingest.api import router as ingest
from stackviz.intake.ingest.key_api import router as key
from stackviz.pages.accelerators.api import router as accelerators
from stackviz.pages.accelerators.api_prices import router as prices
from stackviz.pages.data.licence import LICENCE_IN_OPENAPI
from stackviz.pages.diagnose.api import router as diagnose
from stackviz.pages.fit.api import router as fit
from stackviz.pages.home.api_reference import ApiReference
from stackviz.pages.machines.api import router as machines
from stackviz.pages.stacks.api import router as stacks
from stackviz.records.cited.api import router as cited
from stackviz.records.hosts.api import router as hosts


class Api(NinjaAPI):
    """Names an operation for its room and function: `stackviz_machines_api_get_machine`, whatever the floor."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        room, module = operation.view_func.__module__.split(".")[-2:]
        return f"stackviz_{room}_{module}_{operation.view_func.__name__}"


api = Api(
    title="accelweb",
    version="1",
    description="Accelerator stacks, from silicon to PyTorch: spec sheets with sources, lab machines, their reports.",
    urls_namespace="api",
    docs=ApiReference(),
    docs_url=None,  # a page, which each language has: accelweb/urls.py
    openapi_url="/openapi.json",
    openapi_extra={"info": LICENCE_IN_OPENAPI},
    servers=[{"url": "/", "description": "this site"}],
)
api.add_router("", accelerators, tags=["accelerators"])
api.add_router("", prices, tags=["accelerators"])
api.add_router("", fit, tags=["fit"])
api.add_router("", stacks, tags=["stacks"])
api.add_router("", freshness, tags=["freshness"])
api.add_router("", cited, tags=["cited results"])
api.add_router("", hosts, tags=["public hosts"])
api.add_router("", machines, tags=["machines"])
api.add_router("", ingest, tags=["reports"])
api.add_router("", key, tags=["reports"])
api.add_router("", diagnose, tags=["diagnose"])


@api.exception_handler(ValidationError)
def refuse_parameter(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Answer a query or path parameter of the wrong type with status 422 and its name."""
    first = error.errors[0]
    field = [part for part in first["loc"] if isinstance(part, str)][-1]  # behind where it stands, and in which group
    return api.create_response(request, {"error": first["msg"], "field": field}, status=422)


@api.exception_handler(HttpError)
def refuse(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Errors raised by the rooms: the same body everywhere; `field`, `retry_after_s` if the error has them."""
    body = {"error": str(error), "field": getattr(error, "field", None)}
    response = api.create_response(request, body, status=error.status_code)
    if retry_after_s := getattr(error, "retry_after_s", None):
        response["Retry-After"] = str(retry_after_s)
    if error.status_code == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Bearer"
    return response

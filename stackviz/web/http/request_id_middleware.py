"""Each request has an id, which its answer names; how long it took is counted by the name of its route."""

from collections.abc import Callable
from time import perf_counter
from uuid import uuid4

from django.http import HttpRequest, HttpResponseBase

from stackviz.web.http.request_ids import is_request_id, request_id_set
from stackviz.web.metrics import observe_request

HEADER = "X-Request-ID"


class RequestIds:
    """Middleware, before all others: each answer names its request's id, and its duration is measured."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "")
        request_id = given if is_request_id(given) else uuid4().hex
        request.request_id = request_id  # type: ignore[attr-defined]  # Django logs refusals after all middleware
        started = perf_counter()
        with request_id_set(request_id):
            response = self.get_response(request)
        response.headers[HEADER] = request_id
        observe_request(request, response.status_code, perf_counter() - started)
        return response

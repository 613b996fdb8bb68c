"""Middleware of `make dev`."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


def answer_in_full(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Answer no reload with 304: an ETag stands for data and version, not for the template that was just edited."""

    def respond(request: HttpRequest) -> HttpResponse:
        request.META.pop("HTTP_IF_NONE_MATCH", None)
        return get_response(request)

    return respond

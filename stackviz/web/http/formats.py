"""Which files an address answers with for `?format=`. Asked for any other, it refuses with 406 and names them."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.utils.translation import gettext as _

from stackviz.web.http.address import LONGEST_SHOWN, clean_text

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def serves_formats(*formats: str, parts: Sequence[str] = ()) -> Callable[[View], View]:
    """Declare the files of a view. `parts`: what only our own pages fetch, which a refusal does not offer."""

    def declared(view: View) -> View:
        view.formats, view.parts = formats, tuple(parts)  # type: ignore[attr-defined]
        return view

    return declared


class KnownFormats:
    """Middleware. Decorators keep what a view declares, as `functools.wraps` copies its attributes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponseBase], _args: Sequence[Any], _kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Refuse a format that the view does not have."""
        if "format" not in request.GET or request.method not in ("GET", "HEAD") or _has_own_rules(request):
            return None
        formats: tuple[str, ...] = getattr(view, "formats", ())
        known = {"", *formats, *getattr(view, "parts", ())}
        given = [clean_text(value) for value in request.GET.getlist("format")]
        unknown = next((value for value in given if value not in known), None)
        return None if unknown is None else refuse_format(unknown, formats)


def _has_own_rules(request: HttpRequest) -> bool:
    """Whether it is the API, which refuses every parameter that it does not have, or the admin."""
    match = request.resolver_match
    return request.path_info.startswith("/admin/") or (match is not None and match.app_name == "ninja")


def refuse_format(value: str, formats: Sequence[str]) -> JsonResponse:
    """Return the 406 that says which formats there are."""
    problem = {"error": _refusal(value, formats), "field": "format"}
    return JsonResponse(problem, status=406, headers={"Cache-Control": "no-store"})


def _refusal(value: str, formats: Sequence[str]) -> str:
    if not formats:
        return _("This address has no files, so it takes no format")
    *others, last = formats
    choices = _("%(others)s or %(last)s") % {"others": ", ".join(others), "last": last} if others else last
    return _("Unknown format “%(value)s”; choose %(choices)s") % {"value": value[:LONGEST_SHOWN], "choices": choices}

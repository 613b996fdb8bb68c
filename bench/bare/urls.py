"""Two bare views: take a JSON body into one row; print a page of so many bytes from strings, with Jinja2."""

import json
from functools import lru_cache
from pathlib import Path

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from jinja2 import Environment, FileSystemLoader

from bench.bare.models import BareReport

CELL = "1,234.5 GB/s"
CELLS_IN_ROW = 6
PAGE = Environment(autoescape=True, loader=FileSystemLoader(Path(__file__).parent)).get_template("page.html")


@csrf_exempt
def post(request: HttpRequest) -> HttpResponse:
    body = json.loads(request.body)
    BareReport.objects.create(id=body["id"], body=request.body)
    return JsonResponse({"id": body["id"]}, status=202)


def page(request: HttpRequest, size: int) -> HttpResponse:  # noqa: ARG001 (a view)
    return HttpResponse(page_of(size))


def page_of(size: int) -> str:
    """A table of strings, as near to `size` bytes as whole rows come."""
    return PAGE.render(rows=rows_for(size))


@lru_cache(maxsize=64)
def rows_for(size: int) -> list[list[str]]:
    row = len("<tr></tr>\n") + CELLS_IN_ROW * (len("<td></td>") + len(CELL))
    return [[CELL] * CELLS_IN_ROW for _ in range(max(1, round(size / row)))]


urlpatterns = [path("post/", post), path("page/<int:size>/", page)]

"""The page `/diagnose/`: paste what a tool printed, see the stack drawn and its faults named. Nothing is stored."""

from http import HTTPStatus

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from stackviz.diagnose.diagnosis import Diagnosis, diagnose
from stackviz.diagnose.pasted import MOST_KB, Refused, read_pasted, too_big


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@csrf_exempt  # the token is in the body, so the body's size is looked at first; then `_answer` asks for the token
def page(request: HttpRequest) -> HttpResponse:
    try:
        _body = request.body
    except RequestDataTooBig:
        return _show(request, refused=too_big())
    return _answer(request)


@csrf_protect
@sensitive_post_parameters("text")
def _answer(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _show(request)
    text = request.POST.get("text", "")
    try:
        reading = read_pasted(text)
    except Refused as refused:
        return _show(request, refused=refused, text="" if refused.is_too_big else text)
    return _show(request, diagnosis=diagnose(reading), text=text)


def _show(
    request: HttpRequest, *, diagnosis: Diagnosis | None = None, refused: Refused | None = None, text: str = ""
) -> HttpResponse:
    context = {"diagnosis": diagnosis, "refused": refused, "text": text, "most_kb": MOST_KB}
    return render(request, "diagnose/page.html", context, status=refused.status if refused else HTTPStatus.OK)

"""Conditional answers: the view is not called for who has the answer, and no refusal is ever tagged."""

from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils import translation

from stackviz.web.http.conditional import etag_of, unless_changed

pytestmark = pytest.mark.usefixtures("empty_cache")


def answered(status=200, state="one", **headers):
    called = []

    @unless_changed(lambda: state)
    def view(request):
        called.append(request)
        return HttpResponse("answer", status=status)

    return view(RequestFactory().get("/x/?a=1", headers=headers)), called


def tag(state="one"):
    return etag_of(RequestFactory().get("/x/?a=1"), state)


@pytest.mark.parametrize("shown", ["{tag}", '"other", {tag}', "{strong}", "*"])
def test_who_shows_the_tag_is_not_answered_again(shown):
    shown = shown.format(tag=tag(), strong=tag().removeprefix("W/"))
    response, called = answered(**{"If-None-Match": shown})
    assert (response.status_code, response.content, called) == (304, b"", [])
    assert response.headers["ETag"] == tag()


@pytest.mark.parametrize("shown", ["", '"other"', "{two}", "nonsense"])
def test_who_shows_another_tag_is_answered(shown):
    response, called = answered(**{"If-None-Match": shown.format(two=tag("two"))})
    assert (response.status_code, len(called), response.headers["ETag"]) == (200, 1, tag())


@pytest.mark.parametrize("status", [404, 422, 500])
def test_a_refusal_is_not_tagged(status):
    response, _called = answered(status)
    assert "ETag" not in response.headers
    assert "Cache-Control" not in response.headers


@pytest.mark.parametrize(("status", "calls"), [(200, 1), (404, 2), (500, 2)])
def test_an_answer_is_worked_out_once_for_each_state(status, calls):
    state, called = uuid4().hex, []
    for _ in range(2):
        response, calls_now = answered(status, state)
        called += calls_now
    assert (response.content, response.headers["Content-Type"]) == (b"answer", "text/html; charset=utf-8")
    assert len(called) == calls


def test_a_tag_moves_with_the_state_and_the_address():
    here = RequestFactory()
    assert len({etag_of(here.get(path), state) for path in ("/x/", "/x/?a=1", "/y/") for state in ("1", "2")}) == 6


def test_a_tag_moves_with_the_language():
    with translation.override("zh-hans"):
        chinese = tag()
    with translation.override("en"):
        assert tag() != chinese

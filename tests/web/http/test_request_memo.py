"""What a request remembers, and that it ends with the request."""

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from stackviz.web.http.request_memo import RequestMemo, forget, remember


class Source:
    """Counts how often it was read."""

    def __init__(self) -> None:
        self.reads = 0

    def __call__(self) -> str:
        self.reads += 1
        return f"reading {self.reads}"


@pytest.fixture
def source() -> Source:
    return Source()


def request_doing(view) -> HttpResponse:
    return RequestMemo(lambda _request: HttpResponse(view()))(RequestFactory().get("/"))


def test_within_a_request_it_is_read_once(source):
    answer = request_doing(lambda: f"{remember('key', source)}, {remember('key', source)}")
    assert answer.content == b"reading 1, reading 1"


def test_the_next_request_reads_again(source):
    answers = [request_doing(lambda: remember("key", source)).content for _ in range(2)]
    assert answers == [b"reading 1", b"reading 2"]


def test_what_was_forgotten_is_read_again(source):
    def view() -> str:
        first = remember("key", source)
        forget("key")
        return f"{first}, {remember('key', source)}"

    assert request_doing(view).content == b"reading 1, reading 2"


def test_outside_of_a_request_nothing_is_remembered(source):
    assert [remember("key", source), remember("key", source)] == ["reading 1", "reading 2"]
    forget("key")


def test_after_a_view_that_failed_nothing_is_remembered(source):
    def view() -> str:
        remember("key", source)
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        request_doing(view)
    assert remember("key", source) == "reading 2"

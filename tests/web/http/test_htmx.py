"""When a part of the page is wanted, and when the whole of it."""

import pytest
from django.test import RequestFactory
from django_htmx.middleware import HtmxMiddleware

from stackviz.web.http.htmx import wants_partial


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, False),
        ({"HX-Request": "true"}, True),
        ({"HX-Request": "true", "HX-Boosted": "true"}, False),
        ({"HX-Request": "true", "HX-History-Restore-Request": "true"}, False),
    ],
    ids=["a browser", "htmx", "a boosted link", "the back button after a lost cache"],
)
def test_a_part_is_answered_only_to_htmx_that_swaps_one(headers, expected):
    request = RequestFactory().get("/", headers=headers)
    seen = []
    HtmxMiddleware(lambda request: seen.append(wants_partial(request)))(request)
    assert seen == [expected]

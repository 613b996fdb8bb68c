"""Text out of an address, before it meets the database."""

import pytest
from django.test import RequestFactory

from stackviz.web.asked import LONGEST_TEXT, asked_text


@pytest.mark.parametrize(
    ("given", "text"), [("  H100 ", "H100"), ("a\x00b", "ab"), ("x" * 5000, "x" * LONGEST_TEXT), ("", "")]
)
def test_text_is_trimmed_cut_and_without_nul(given, text):
    assert asked_text(RequestFactory().get("/", {"q": given}), "q") == text


def test_a_parameter_that_was_not_given_is_empty():
    assert asked_text(RequestFactory().get("/"), "q") == ""

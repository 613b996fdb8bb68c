"""The API's reference is a page of the site: every operation of the document, in its frame, without script of others."""

import re
from html import unescape

import pytest

from stackviz.pages.home.api_reference import operation_groups
from tests.languages import chinese

pytestmark = pytest.mark.django_db


def test_every_operation_and_parameter_is_on_the_page(client):
    document = client.get("/api/v1/openapi.json").json()
    text = unescape(client.get("/api/v1/docs/").content.decode())
    operations = [operation for group in operation_groups(document) for operation in group["operations"]]
    assert len(operations) > 15
    for operation in operations:
        assert f"<code>{operation['method']} {operation['path']}</code>" in text
        for parameter in operation["parameters"]:
            assert f"<code>{parameter['name']}</code>" in text
    anchors = re.findall(r' id="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))


def test_the_reference_is_framed_in_the_readers_language(client):
    english = client.get("/api/v1/docs/").content.decode()
    assert '<html lang="en">' in english
    assert english.count("<h1>") == 1
    assert "swagger" not in english.lower()
    assert "cdn" not in english.lower()
    translated = client.get(chinese("/api/v1/docs/")).content.decode()
    assert '<html lang="zh-hans">' in translated


def test_it_costs_no_query(client, django_assert_num_queries):
    client.get("/api/v1/docs/")
    with django_assert_num_queries(0):
        client.get("/api/v1/docs/")

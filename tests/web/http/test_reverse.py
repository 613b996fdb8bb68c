"""Addresses looked up once are those that Django finds, below whatever the site is served from."""

from uuid import UUID

import pytest
from django.urls import NoReverseMatch, reverse, set_script_prefix

from stackviz.web.http.addresses import address_by_id, address_by_name


def test_an_address_follows_the_prefix_of_the_site():
    assert address_by_name("accelerators:sheet", "nvidia-a") == "/accelerators/nvidia-a/"
    set_script_prefix("/site/")
    try:
        assert address_by_name("accelerators:sheet", "nvidia-a") == "/site/accelerators/nvidia-a/"
    finally:
        set_script_prefix("/")
    assert address_by_name("accelerators:sheet", "nvidia-a") == "/accelerators/nvidia-a/"


@pytest.mark.parametrize("name", ["ingest:receipt", "api:report_status"])
def test_an_address_with_a_report_s_id_is_the_one_django_finds(name):
    for key in (UUID(int=0), UUID("12345678-1234-4234-8234-123456789abc")):
        assert address_by_id(name, key) == reverse(name, args=[key])


def test_what_is_no_page_has_no_address():
    with pytest.raises(NoReverseMatch):
        address_by_name("accelerators:nothing")

"""Addresses looked up once are those that Django finds, below whatever the site is served from."""

import pytest
from django.urls import NoReverseMatch, set_script_prefix

from stackviz.web.reverse import address_by_name


def test_an_address_follows_the_prefix_of_the_site():
    assert address_by_name("catalog:sheet", "nvidia-a") == "/accelerators/nvidia-a/"
    set_script_prefix("/site/")
    try:
        assert address_by_name("catalog:sheet", "nvidia-a") == "/site/accelerators/nvidia-a/"
    finally:
        set_script_prefix("/")
    assert address_by_name("catalog:sheet", "nvidia-a") == "/accelerators/nvidia-a/"


def test_what_is_no_page_has_no_address():
    with pytest.raises(NoReverseMatch):
        address_by_name("catalog:nothing")

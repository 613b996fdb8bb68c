"""A web process prepares its pages by itself: nobody is their first reader, and nobody counts or limits it."""

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError

from accelweb import warm
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.web.i18n.languages import address_in


@pytest.fixture(autouse=True)
def _empty_cache(monkeypatch):
    cache.clear()
    monkeypatch.setattr(warm, "PAUSE_S", 0)


def test_prepared_pages_are_not_rendered_again(client, curated, db, monkeypatch):
    warm.warm()
    for name in (
        "home.views._home_parts",
        "accelerators.list_page._results_html",
        "explore.views.draw_scatter",
        "benchmarks.roofline_page.assemble_roofline",
    ):
        monkeypatch.setattr(f"stackviz.pages.{name}", lambda *_given: pytest.fail("rendered again"))
    for language, _name in settings.LANGUAGES:
        for address in ("/", "/accelerators/", "/explore/", "/roofline/"):
            assert client.get(address_in(language, address)).status_code == 200


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
@pytest.mark.parametrize("address", [address for address in warm.PAGES if warm.H100 not in address])
def test_every_address_is_a_page_of_an_empty_site_too(client, db, caplog, language, address):
    with warm._alone(language, address):
        warm._render(address_in(language, address))
    assert "was not prepared" not in caplog.text


def test_what_fails_does_not_keep_the_rest_from_being_prepared(db, caplog, monkeypatch):
    rendered = []
    monkeypatch.setattr("stackviz.pages.explore.views.read_plot_data", lambda: 1 / 0)
    monkeypatch.setattr(warm, "diagnose_steps", lambda *_given: 1 / 0)
    monkeypatch.setattr("stackviz.pages.accelerators.claims_page.read_claims", lambda: rendered.append(1) or [])
    warm.warm()
    assert "/ladder/ was not prepared" in caplog.text
    assert caplog.text.count("a diagnosis was not prepared") == len(settings.LANGUAGES)
    assert rendered


def test_pages_are_prepared_again_when_nobody_goes_on_editing(db, monkeypatch):
    prepared = []
    monkeypatch.setattr(warm, "warm", lambda: prepared.append(1))
    warmed, seen = first = warm.warm_if_still(None, None)
    assert warm.warm_if_still(*first) == first
    assert len(prepared) == 1
    for _ in range(3):  # a save between any two looks
        CatalogueEdition.renew()
        warmed, seen = warm.warm_if_still(warmed, seen)
    assert len(prepared) == 1
    warmed, seen = warm.warm_if_still(warmed, seen)
    assert (len(prepared), warmed) == (2, seen)
    assert warmed != first[0]


def test_a_database_that_is_away_is_asked_again(monkeypatch, db, caplog):
    def fail():
        raise OperationalError("away")

    monkeypatch.setattr(warm, "warm", fail)
    assert warm.warm_if_still(None, None) == (None, None)
    assert "next attempt in 60 s" in caplog.text

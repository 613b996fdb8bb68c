"""A site with the curated catalogue and what is cited of it."""

import pytest
from django.core.cache import cache


@pytest.fixture(scope="module")
def _nothing_cached(cited):
    """Once for a file: its tests see one edition, or one of their own."""
    cache.clear()


@pytest.fixture
def fit_site(_nothing_cached, client, db):
    """The client; catalogue, cited results and calibrations were read before, as in a process that runs."""
    client.get("/fit/")
    return client

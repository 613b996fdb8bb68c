"""A site with the curated catalogue and what is cited of it."""

import pytest
from django.core.cache import cache


@pytest.fixture
def fit_site(cited, client, db):
    """The client; catalogue, cited results and calibrations were read before, as in a process that runs."""
    cache.clear()
    client.get("/fit/?page=2")
    return client

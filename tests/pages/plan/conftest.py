"""Plans that tests ask for are counted for each test alone: together they are more than a minute allows."""

import pytest


@pytest.fixture(autouse=True)
def _own_counts(settings, tmp_path):
    settings.VAR_DIR, settings.REDIS_URL = tmp_path, ""

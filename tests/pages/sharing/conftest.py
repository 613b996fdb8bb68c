"""The curated catalogue, a public lab and a private one; counts and pictures of each test are its own."""

import pytest
from django.core.cache import cache, caches

from stackviz.records.catalog.models import Accelerator
from stackviz.web.http import rate_limit
from tests.pages.machines.factories import DGX_FACTS, gemm, h100, make_lab, make_machine, make_report


@pytest.fixture(autouse=True)
def _own_pictures(settings, tmp_path):
    cache.clear()
    rate_limit._batches.clear()
    settings.VAR_DIR, settings.REDIS_URL = tmp_path, ""
    settings.CACHES = {
        **settings.CACHES,
        "pictures": {**settings.CACHES["pictures"], "LOCATION": str(tmp_path / "pictures")},
    }
    caches["pictures"].clear()


def _machine(lab, name):
    machine = make_machine(lab, name)
    sheet = Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
    make_report(machine, facts=DGX_FACTS, cards=[h100(0, sheet)], results=[gemm("bf16", [0.00141] * 8)])
    return machine


@pytest.fixture
def dgx(curated, db):
    """A machine of a public lab, with a measured matrix product."""
    return _machine(make_lab("north"), "dgx-07")


@pytest.fixture
def second_dgx(curated, db):
    """Another machine of the same name, in another public lab."""
    return _machine(make_lab("south"), "dgx-07")


@pytest.fixture
def sealed(curated, db):
    """The same in a private lab."""
    return _machine(make_lab("cellar", is_public=False, name="Cellar lab"), "sealed-box")


@pytest.fixture
def member(sealed, django_user_model):
    """A superuser, who sees every machine."""
    return django_user_model.objects.create_superuser("root", password="x")

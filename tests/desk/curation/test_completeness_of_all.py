"""The completeness of the whole curated catalogue."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from stackviz.desk.curation.completeness import COUNTED, read_matrix
from stackviz.records.catalog.models import Accelerator, SpecValue

PAGE = "/admin/catalog/completeness/"


@pytest.fixture
def desk(client, db):
    client.force_login(User.objects.create_superuser("mira", "mira@example.org", "secret"))
    return client


def test_the_whole_catalogue_costs_two_queries(curated, db, django_assert_num_queries):
    with django_assert_num_queries(2):
        matrix = read_matrix(Accelerator.objects.order_by("name"), COUNTED, timezone.now())
    assert len(matrix.devices) >= 190
    named = {field.name for field in COUNTED}
    assert matrix.total().values == SpecValue.objects.filter(status="public", field__in=named).count() >= 4000


def test_catalogue_page_query_count_is_constant(desk, curated, django_assert_max_num_queries):
    desk.get(PAGE)
    with django_assert_max_num_queries(12):
        page = desk.get(f"{PAGE}?fields=all")
    assert page.status_code == 200
    assert len(desk.get(PAGE).content) < 150_000

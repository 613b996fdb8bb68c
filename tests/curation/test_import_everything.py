"""The whole curated catalogue out of the admin and in again."""

from django.contrib.auth.models import User
from django.urls import reverse

from stackviz.catalog.models import SpecValue
from stackviz.curation import value_imports
from stackviz.curation.import_file import read_table
from tests.curation.test_import import problems


def test_catalogue_survives_export_and_import(client, curated, db):
    mira = User.objects.create_superuser("mira")
    client.force_login(mira)
    content = client.get(reverse("admin:catalog_specvalue_export", args=["csv"])).content
    made = value_imports.keep(read_table(content), file_name="all.csv", reason="look", by=mira)
    plan = value_imports.plan_upload(made)
    assert problems(plan) == []
    assert plan.counts["same"] == SpecValue.objects.count()

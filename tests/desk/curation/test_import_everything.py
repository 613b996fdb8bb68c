"""The whole curated catalogue out of the admin and in again."""

from django.contrib.auth.models import User
from django.urls import reverse

from stackviz.desk.curation import import_plan
from stackviz.records.catalog.models import SpecValue, ValueImport
from stackviz.records.catalog.table_imports import store_import
from tests.desk.curation.test_import import problems, read_table


def test_catalogue_survives_export_and_import(client, curated, db):
    mira = User.objects.create_superuser("mira")
    client.force_login(mira)
    content = client.get(reverse("admin:catalog_specvalue_export", args=["csv"])).content
    made = store_import(ValueImport, read_table(content), file_name="all.csv", reason="look", by=mira)
    plan = import_plan.plan_upload(made)
    assert problems(plan) == []
    assert plan.counts["same"] == SpecValue.objects.count()

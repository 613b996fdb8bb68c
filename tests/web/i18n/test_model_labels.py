"""Names of models and labels of fields in the admin: English as Django derives them, and translated."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import label_for_field
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import translation
from django.utils.text import camel_case_to_spaces

from stackviz.records.catalog.models import Alias, SpecValue
from stackviz.records.labs.models import Lab, Machine
from stackviz.records.stacks.models import Release, Stack
from stackviz.web.i18n.model_labels import CONTEXT
from tests.live import ROOT
from tools.model_labels import model_labels
from tools.translations import extract_catalog

OURS = [
    model
    for model in apps.get_models()
    if model.__module__.startswith("stackviz.") and model.__module__.endswith(".models")
]


def derived_fields(model: Any) -> list[Any]:
    fields = (*model._meta.local_fields, *model._meta.local_many_to_many)
    return [field for field in fields if field._verbose_name is None]


@pytest.mark.parametrize("language", ["en", None])
def test_english_labels_are_those_that_django_derives(language):
    with translation.override(language):
        for model in OURS:
            for field in derived_fields(model):
                assert str(field.verbose_name) == field.name.replace("_", " ")
        assert str(SpecValue._meta.verbose_name) == camel_case_to_spaces("SpecValue") == "spec value"
        assert str(SpecValue._meta.verbose_name_plural) == "spec values"
        assert str(Alias._meta.verbose_name_plural) == "aliases"
        assert SpecValue._meta.verbose_name_raw == "spec value"
        assert label_for_field("created_at", Machine) == "created at"


def test_every_derived_label_is_translated():
    extracted = set(model_labels(ROOT))
    assert len(OURS) > 30
    labels = {str(field.verbose_name) for model in OURS for field in derived_fields(model)}
    labels |= {str(admin_model._meta.verbose_name) for admin_model in (Lab, Stack, Release, Machine)}
    labels |= {"spec values", "aliases", "series", "words of the search", "cited loads"}
    assert labels <= extracted, labels - extracted


def test_labels_that_are_marked_in_the_code_are_not_taken_twice(tmp_path):
    code = (
        "class Thing(models.Model):\n"
        "    own_name = models.CharField(_('given'), max_length=3)\n"
        "    maker = models.ForeignKey('self', models.CASCADE, verbose_name=_('vendor'))\n"
        "    plain: int = models.IntegerField(default=0)\n"
        "    limit = 3\n"
        "    class Meta:\n"
        "        verbose_name = _('thing of a test')\n"
        "class Bulky(Thing):\n"
        "    class Meta:\n"
        "        verbose_name_plural = 'bulkies'\n"
        "class Base(models.Model):\n"
        "    class Meta:\n"
        "        abstract = True\n"
        "class NoModel:\n"
        "    name = models.CharField()\n"
    )
    for folder in ("accelweb", "templates", "stackviz/room"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "stackviz" / "room" / "models.py").write_text(code)
    assert list(model_labels(tmp_path)) == ["plain", "bulky", "bulkies"]
    assert {(message.context, message.id) for message in extract_catalog(tmp_path)} >= {(CONTEXT, "bulkies")}


def test_names_of_registered_models_and_apps_are_chinese():
    """All that the first page of the admin lists, but Django's own."""
    english = []
    with translation.override("zh-hans"):
        for model in admin.site._registry:
            names = (model._meta.verbose_name, model._meta.verbose_name_plural, model._meta.app_config.verbose_name)
            english += [str(name) for name in names if str(name).isascii()]
    assert english == []


def test_the_admin_is_chinese_and_english_by_turns(client, db):
    client.force_login(User.objects.create_superuser("mira", "mira@example.org", "secret"))
    machine = reverse("admin:labs_machine_add")
    value = reverse("admin:catalog_specvalue_add")
    for code, index, field, condition in (
        ("zh-hans", "规格值", "名称", "dense: 稠密"),
        ("en", "Spec values", "Name", "dense"),
        ("zh-hans", "实验室", "名称", "dense: 稠密"),
    ):
        client.cookies["django_language"] = code
        assert index in client.get("/admin/").content.decode()
        assert f">{field}" in client.get(machine).content.decode()
        assert f">{condition}</option>" in client.get(value).content.decode()

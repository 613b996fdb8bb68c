from django.apps import AppConfig
from django.contrib.admin.options import BaseModelAdmin
from django.contrib.syndication.views import Feed
from django.core.paginator import Paginator
from django.forms.formsets import BaseFormSet
from django.forms.models import BaseModelForm, ModelChoiceField

from stackviz.web.i18n.model_labels import translate_all

translate_all()  # apps are imported before models

# The stubs of Django make these generic, so that mypy asks for their model; running code has to accept one.
for generic_class in (BaseFormSet, BaseModelAdmin, BaseModelForm, Paginator, Feed, ModelChoiceField):
    generic_class.__class_getitem__ = classmethod(lambda cls, *_types: cls)  # type: ignore[union-attr]


class WebConfig(AppConfig):
    name = "stackviz.web"

    def ready(self) -> None:
        from stackviz.web import squashed  # noqa: F401 - registers its check; needs models

"""Names of models and labels of fields that Django derives from the code ("spec value", "card index"), translatable.

They are translated when they are shown and are in no migration, as before. `tools/model_labels.py` lists their texts.
"""

from typing import Any

from django.db import models
from django.db.models.signals import class_prepared
from django.utils.translation import pgettext_lazy

CONTEXT = "in the admin"  # `order` of a stack, `line` of releases: elsewhere these words mean something else


def translate_labels(sender: type[models.Model], **_kwargs: Any) -> None:  # noqa: ANN401 - as Django's signals
    """Once for each model of this site, as soon as its class is made: forms copy the labels of its fields."""
    if not sender.__module__.startswith("stackviz."):  # the models of migrations are not shown
        return
    options = sender._meta  # noqa: SLF001
    fields: tuple[Any, ...] = (*options.local_fields, *options.local_many_to_many)
    for field in fields:
        if field._verbose_name is None:  # noqa: SLF001 - what Django writes into migrations
            field.verbose_name = pgettext_lazy(CONTEXT, str(field.verbose_name))
    if not isinstance(options.verbose_name, str):
        return  # translated where the model is written
    plural = options.original_attrs.get("verbose_name_plural", f"{options.verbose_name}s")
    if isinstance(plural, str):
        options.verbose_name_plural = pgettext_lazy(CONTEXT, plural)
    options.verbose_name = pgettext_lazy(CONTEXT, options.verbose_name)


def translate_all() -> None:
    """Has to be called before the first model is imported."""
    class_prepared.connect(translate_labels, dispatch_uid="labels of models")

"""Relations in forms of the admin: what is no key of the related table is refused next to the field."""

from collections.abc import Sequence
from typing import Any

from django.contrib.admin.options import BaseModelAdmin
from django.contrib.admin.widgets import AutocompleteSelect
from django.core.exceptions import ValidationError
from django.db.models import ForeignKey
from django.forms import ModelMultipleChoiceField
from django.http import HttpRequest


class KeySelect(AutocompleteSelect):
    """Django's, in which what is no key of the related table is nothing that is chosen: there it is an error."""

    def optgroups(self, name: str, value: Sequence[str], attr: dict[str, Any] | None = None) -> list[Any]:
        groups: list[Any] = super().optgroups(name, [key for key in value if self._is_key(key)], attr)
        return groups

    def _is_key(self, text: str) -> bool:
        return is_key(self.field.target_field, text)


class KeysField(ModelMultipleChoiceField[Any]):
    """Django's, which asks the database for keys that are too large for it."""

    def clean(self, value: Any) -> Any:  # noqa: ANN401 - Django's
        rows, chosen = self.queryset, value if isinstance(value, list | tuple) else ()
        if rows is not None:
            key = rows.model._meta.pk  # noqa: SLF001 (Django's documented _meta API)
            for each in chosen:
                if not is_key(key, each):
                    raise ValidationError(self.error_messages["invalid_pk_value"], params={"pk": each})
        return super().clean(value)


def is_key(key: Any, value: Any) -> bool:  # noqa: ANN401 - a field of any model
    """Whether the field could hold the value."""
    try:
        key.clean(value, None)
    except ValidationError:
        return False
    return True


class RelationAdmin(BaseModelAdmin[Any]):
    """For rows and inline rows with relations that are searched for, or of which several are chosen."""

    def formfield_for_foreignkey(self, db_field: ForeignKey[Any], request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401
        if "widget" not in kwargs and db_field.name in self.get_autocomplete_fields(request):
            kwargs["widget"] = KeySelect(db_field, self.admin_site, using=kwargs.get("using"))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **kwargs: Any) -> Any:  # noqa: ANN401 - as Django's admin of groups
        return super().formfield_for_manytomany(db_field, request, **{"form_class": KeysField, **kwargs})

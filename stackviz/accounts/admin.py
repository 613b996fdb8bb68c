"""Accounts, whose deletion is a withdrawal. No second factor is shown: with its secret anybody makes the codes.

`manage.py remove_second_factor` helps who lost one.
"""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from stackviz.accounts.withdraw import why_needed, withdraw_person

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _UserAdmin = UserAdmin[User]
else:
    _UserAdmin = UserAdmin

admin.site.unregister((StaticDevice, TOTPDevice, User))


@admin.register(User)
class AccountAdmin(_UserAdmin):
    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:  # noqa: ANN401
        """Django's, and as what stands in the way the reasons why an account is needed."""
        shown, counts, missing, protected = super().get_deleted_objects(objs, request)
        return shown, counts, missing, [*protected, *(reason for user in objs for reason in why_needed(user))]

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        withdraw_person(obj, _by(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """One after the other: of the last two owners of a lab one stays."""
        for user in queryset:
            withdraw_person(user, _by(request))


def _by(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None

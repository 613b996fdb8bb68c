"""Accounts, whose deletion is a withdrawal. No second factor is shown: with its secret anybody makes the codes.

`manage.py remove_second_factor` helps who lost one.
"""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import redirect
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from stackviz.desk.accounts.withdraw import why_needed, withdraw_person
from stackviz.web.relation_admin import RelationAdmin

admin.site.unregister((StaticDevice, TOTPDevice, User, Group))


@admin.register(Group)
class AccountGroupAdmin(RelationAdmin, GroupAdmin):
    """Django's, with our lists of relations."""


@admin.register(User)
class AccountAdmin(RelationAdmin, UserAdmin[User]):
    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:  # noqa: ANN401
        """Django's, and as what stands in the way the reasons why the accounts cannot all go."""
        shown, counts, missing, protected = super().get_deleted_objects(objs, request)
        return shown, counts, missing, [*protected, *why_needed(*objs)]

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:  # noqa: ANN401
        """Django's; an account that became the last owner since it was asked about stays, and the list says why."""
        try:
            return super().delete_view(request, object_id, extra_context)
        except ValidationError as problem:
            self._show_problem(request, problem)
            return redirect("admin:auth_user_changelist")

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        withdraw_person(obj, _signed_in_user(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Withdraw one after the other; an account that became a lab's last owner meanwhile stays."""
        for user in queryset:
            try:
                withdraw_person(user, _signed_in_user(request))
            except ValidationError as problem:
                self._show_problem(request, problem)

    def _show_problem(self, request: HttpRequest, problem: ValidationError) -> None:
        self.message_user(request, " ".join(problem.messages), messages.ERROR)


def _signed_in_user(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None

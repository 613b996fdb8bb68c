"""What the audit log has of accounts: what they may do, and how they prove who they are. No names and no addresses."""

from django.contrib.auth.models import Group, User
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from stackviz.records.audit.watched import watch, watch_sets


def watch_accounts() -> None:
    shown = ("is_active", "is_staff", "is_superuser")
    watch(User, "account", _account, shown=shown, noted=("username", "password", "email"))
    watch_sets(User.groups.through, "account.groups", _account)
    watch_sets(User.user_permissions.through, "account.permissions", _account)
    watch(Group, "group", _group, noted=("name",))
    watch_sets(Group.permissions.through, "group.permissions", _group)
    watch(TOTPDevice, "second-factor", lambda device: f"account {device.user_id}", shown=("confirmed",))
    watch(StaticDevice, "recovery-codes", lambda device: f"account {device.user_id}")


def _account(user: User) -> str:
    return f"account {user.pk}"


def _group(group: Group) -> str:
    return f"group {group.pk} {group.name}"

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "stackviz.desk.accounts"

    def ready(self) -> None:
        """Have the audit log note what accounts may do and how they prove who they are; no names and no addresses."""
        from django.contrib.auth.models import Group, User
        from django_otp.plugins.otp_static.models import StaticDevice
        from django_otp.plugins.otp_totp.models import TOTPDevice

        from stackviz.records.audit.record import watch, watch_sets

        def account(user: User) -> str:
            return f"account {user.pk}"

        def group(row: Group) -> str:
            return f"group {row.pk} {row.name}"

        rights = ("is_active", "is_staff", "is_superuser")
        watch(User, "account", account, shown=rights, noted=("username", "password", "email"))
        watch_sets(User.groups.through, "account.groups", account)
        watch_sets(User.user_permissions.through, "account.permissions", account)
        watch(Group, "group", group, noted=("name",))
        watch_sets(Group.permissions.through, "group.permissions", group)
        watch(TOTPDevice, "second-factor", lambda device: f"account {device.user_id}", shown=("confirmed",))
        watch(StaticDevice, "recovery-codes", lambda device: f"account {device.user_id}")

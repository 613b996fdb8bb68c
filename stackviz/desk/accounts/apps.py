from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "stackviz.desk.accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from stackviz.desk.accounts.audited import watch_accounts

        watch_accounts()

from django.apps import AppConfig
from django.contrib.admin import apps as django_admin
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "stackviz.records.audit"
    default = True
    verbose_name = _("Audit log")


class AuditedAdminConfig(django_admin.AdminConfig):
    """In the place of `django.contrib.admin`."""

    default = False
    default_site = "stackviz.records.audit.admin_site.AuditedAdminSite"

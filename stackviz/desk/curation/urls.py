"""Addresses of curation beside the admin's own, in the namespace `catalog` (see `accelweb/urls.py`)."""

from django.contrib import admin
from django.urls import path, re_path

from stackviz.desk.curation import completeness_page, mistake_page
from stackviz.web.http.tickets import TOKEN_PATTERN

urlpatterns = [
    path("accelerators/<slug:slug>/mistake/", mistake_page.report_mistake, name="mistake"),
    path("corrections/", mistake_page.corrections, name="corrections"),
    re_path(rf"^corrections/(?P<token>{TOKEN_PATTERN})/$", mistake_page.correction, name="correction"),
    path("admin/catalog/completeness/", admin.site.admin_view(completeness_page.completeness), name="completeness"),
]

"""Addresses of curation beside the admin's own, in the namespace `catalog` (see `accelweb/urls.py`)."""

from django.contrib import admin
from django.urls import path

from stackviz.curation import completeness_page

urlpatterns = [
    path("admin/catalog/completeness/", admin.site.admin_view(completeness_page.completeness), name="completeness"),
]

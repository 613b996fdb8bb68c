"""Addresses of the catalogue."""

from django.contrib import admin
from django.urls import path

from stackviz.catalog import changes_page, claims_page, completeness_page, feeds, listed, views

app_name = "catalog"
urlpatterns = [
    path("accelerators/", listed.accelerator_list, name="list"),
    path("accelerators/<slug:slug>/", views.sheet, name="sheet"),
    path("claims/", claims_page.claims, name="claims"),
    path("changes/", changes_page.changes, name="changes"),
    path("changes/feed/", feeds.changes_feed, name="changes-feed"),
    path("admin/catalog/completeness/", admin.site.admin_view(completeness_page.completeness), name="completeness"),
]

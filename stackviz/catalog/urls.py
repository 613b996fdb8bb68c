"""Addresses of the catalogue."""

from django.urls import path

from stackviz.catalog import changes_page, feeds, listed, views

app_name = "catalog"
urlpatterns = [
    path("accelerators/", listed.accelerator_list, name="list"),
    path("accelerators/<slug:slug>/", views.sheet, name="sheet"),
    path("changes/", changes_page.changes, name="changes"),
    path("changes/feed/", feeds.changes_feed, name="changes-feed"),
]

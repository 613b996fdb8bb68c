"""Addresses of the accelerators' pages, in the namespace `catalog` (see `accelweb/urls.py`)."""

from django.urls import path

from stackviz.pages.accelerators import changes_page, claims_page, feeds, list_page, views

urlpatterns = [
    path("accelerators/", list_page.accelerator_list, name="list"),
    path("accelerators/<slug:slug>/", views.sheet, name="sheet"),
    path("claims/", claims_page.claims, name="claims"),
    path("changes/", changes_page.changes, name="changes"),
    path("changes/feed/", feeds.changes_feed, name="changes-feed"),
]

"""Addresses of the watcher's page."""

from django.urls import path

from stackviz.desk.freshness.freshness_page import freshness

app_name = "freshness"
urlpatterns = [path("freshness/", freshness, name="freshness")]

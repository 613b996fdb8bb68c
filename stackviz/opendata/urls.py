"""Addresses of the data for download."""

from django.urls import URLPattern

app_name = "opendata"
urlpatterns: list[URLPattern] = []

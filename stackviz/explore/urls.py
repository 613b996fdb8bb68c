"""Addresses of the ladder, the scatter and the time line."""

from django.urls import URLPattern

app_name = "explore"
urlpatterns: list[URLPattern] = []

"""Addresses of the planner."""

from django.urls import URLPattern

app_name = "plan"
urlpatterns: list[URLPattern] = []

"""Addresses of the planner."""

from django.urls import path

from stackviz.pages.plan import views

app_name = "plan"
urlpatterns = [path("plan/", views.page, name="page")]

"""Addresses of the catalogue."""

from django.urls import path

from stackviz.catalog import views

app_name = "catalog"
urlpatterns = [
    path("accelerators/", views.accelerator_list, name="list"),
    path("accelerators/<slug:slug>/", views.sheet, name="sheet"),
]

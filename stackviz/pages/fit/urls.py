"""Addresses of the fit of models."""

from django.urls import path

from stackviz.pages.fit import views

app_name = "fit"
urlpatterns = [
    path("fit/", views.page, name="page"),
    path("fit/compared/", views.compared_page, name="compared"),
]

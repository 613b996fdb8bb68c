"""Addresses of the data for download."""

from django.urls import path

from stackviz.pages.data import views

app_name = "data"
urlpatterns = [
    path("data/", views.index, name="index"),
    path("data/schema/", views.data_schema, name="schema"),
    path("data/<str:name>", views.file, name="file"),
    path("data/<str:dump_name>/<str:name>", views.file, name="file-of"),
]

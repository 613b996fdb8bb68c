"""Addresses of the ladder, the scatter, the heat map and the timeline."""

from django.urls import path

from stackviz.pages.explore import views

app_name = "explore"
urlpatterns = [
    path("ladder/", views.ladder, name="ladder"),
    path("explore/", views.scatter, name="scatter"),
    path("heatmap/", views.heatmap, name="heatmap"),
    path("timeline/", views.timeline, name="timeline"),
]

from django.urls import path

from stackviz.stacks import views

app_name = "stacks"
urlpatterns = [
    path("stacks/", views.stacks, name="list"),
    path("stacks/<slug:slug>/", views.stack, name="stack"),
    path("components/<slug:slug>/", views.component, name="component"),
]

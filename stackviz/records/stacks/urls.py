from django.urls import path

from stackviz.records.stacks import operators_views, views

app_name = "stacks"
urlpatterns = [
    path("stacks/", views.stacks, name="list"),
    path("stacks/<slug:slug>/", views.stack, name="stack"),
    path("stacks/<slug:slug>/support/", views.support, name="support"),
    path("components/<slug:slug>/", views.component, name="component"),
    path("operators/", operators_views.operator_list, name="operators"),
    path("operators/<slug:slug>/", operators_views.operator, name="operator"),
]

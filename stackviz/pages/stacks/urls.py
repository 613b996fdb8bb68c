from django.urls import path

from stackviz.pages.stacks import views

app_name = "stacks"
urlpatterns = [
    path("stacks/", views.stacks, name="list"),
    path("stacks/<slug:slug>/", views.stack, name="stack"),
    path("stacks/<slug:slug>/support/", views.support, name="support"),
    path("components/<slug:slug>/", views.component, name="component"),
    path("releases/", views.release_list, name="releases"),
    path("releases/<str:slug>/", views.release, name="release"),
    path("drivers/<str:version>/", views.driver, name="driver"),
    path("operators/", views.operator_list, name="operators"),
    path("operators/<slug:slug>/", views.operator, name="operator"),
]

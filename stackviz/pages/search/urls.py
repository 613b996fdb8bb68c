from django.urls import path

from stackviz.pages.search import views

app_name = "search"
urlpatterns = [
    path("search/", views.search_page, name="page"),
    path("search/accelerators/", views.accelerators_page, name="accelerators"),
    path("search/subjects/", views.subjects_page, name="subjects"),
]

from django.urls import path

from stackviz.pages.search import accelerators_page, subjects_page, views

app_name = "search"
urlpatterns = [
    path("search/", views.search_page, name="page"),
    path("search/accelerators/", accelerators_page.accelerators_page, name="accelerators"),
    path("search/subjects/", subjects_page.subjects_page, name="subjects"),
]

from django.urls import path

from stackviz.pages import compare
from stackviz.pages.compare import views
from stackviz.web.http.addresses import declared_in

app_name = "compare"
urlpatterns = [path("compare/", views.page, name="page"), *declared_in(compare)]

from django.urls import path

from stackviz import compare
from stackviz.compare import views
from stackviz.web.addresses import declared_in

app_name = "compare"
urlpatterns = [path("compare/", views.page, name="page"), *declared_in(compare)]

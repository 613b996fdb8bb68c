from django.urls import path

from stackviz.compare import views

app_name = "compare"
urlpatterns = [path("compare/", views.page, name="page")]

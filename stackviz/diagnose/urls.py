from django.urls import path

from stackviz.diagnose import views

app_name = "diagnose"
urlpatterns = [path("diagnose/", views.page, name="page")]

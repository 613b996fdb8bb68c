from django.urls import path

from stackviz.pages import home
from stackviz.pages.home import views
from stackviz.web.http.addresses import declared_in

app_name = "home"
urlpatterns = [
    *declared_in(home),
    path("", views.home, name="home"),
    path("health/", views.health, name="health"),
    path("robots.txt", views.robots, name="robots"),
    path("favicon.ico", views.favicon, name="favicon"),
]

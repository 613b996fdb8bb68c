from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from stackviz.pages import views

app_name = "pages"
urlpatterns = [
    path("", views.home, name="home"),
    path("learn/", views.learn, name="learn"),
    path("health/", views.health, name="health"),
    path("login/", LoginView.as_view(template_name="pages/login.html"), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("robots.txt", views.robots, name="robots"),
    path("favicon.ico", views.favicon, name="favicon"),
]

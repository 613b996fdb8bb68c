from django.urls import path, re_path

from stackviz.pages import diagnose
from stackviz.pages.diagnose import views
from stackviz.web.http.addresses import declared_in
from stackviz.web.http.tickets import TOKEN_PATTERN

app_name = "diagnose"
urlpatterns = [
    *declared_in(diagnose),
    path("diagnose/", views.page, name="page"),
    path("diagnose/save/", views.save, name="save"),
    re_path(rf"^diagnose/(?P<token>{TOKEN_PATTERN})/$", views.saved, name="saved"),
    re_path(rf"^diagnose/(?P<token>{TOKEN_PATTERN})/delete/$", views.delete, name="delete"),
]

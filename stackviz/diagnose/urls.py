from django.urls import path, re_path

from stackviz.diagnose import views
from stackviz.diagnose.links import TOKEN_PATTERN

app_name = "diagnose"
urlpatterns = [
    path("diagnose/", views.page, name="page"),
    path("diagnose/save/", views.save, name="save"),
    re_path(rf"^diagnose/(?P<token>{TOKEN_PATTERN})/$", views.saved, name="saved"),
    re_path(rf"^diagnose/(?P<token>{TOKEN_PATTERN})/delete/$", views.delete, name="delete"),
]

from django.urls import URLPattern

app_name = "compare"
urlpatterns: list[URLPattern] = []

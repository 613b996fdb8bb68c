from django.urls import URLPattern

app_name = "stacks"
urlpatterns: list[URLPattern] = []

from django.urls import URLPattern

app_name = "ingest"
urlpatterns: list[URLPattern] = []

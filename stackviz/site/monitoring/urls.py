from django.urls import path

from stackviz.site.monitoring.views import healthz, metrics, readyz

app_name = "monitoring"
urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]

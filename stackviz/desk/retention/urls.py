from django.urls import path

from stackviz.desk.retention import lab_page

app_name = "retention"
urlpatterns = [
    path("labs/<slug:lab>/data/", lab_page.lab_data, name="lab"),
    path("labs/<slug:lab>/data/export.zip", lab_page.download, name="export"),
]

from django.urls import path

from stackviz.notices import feed

app_name = "notices"
urlpatterns = [path("labs/<slug:lab>/events.atom", feed.lab_feed, name="feed")]

from django.urls import path

from stackviz.intake.notices import feed, unsubscribe

app_name = "notices"
urlpatterns = [
    path("labs/<slug:lab>/events.atom", feed.lab_feed, name="feed"),
    path("labs/mails/<str:token>/", unsubscribe.unsubscribe_page, name="unsubscribe"),
]

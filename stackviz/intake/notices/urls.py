from django.urls import path

from stackviz.intake.notices import feed, mails

app_name = "notices"
urlpatterns = [
    path("labs/<slug:lab>/events.atom", feed.lab_feed, name="feed"),
    path("labs/mails/<str:token>/", mails.unsubscribe_page, name="unsubscribe"),
]

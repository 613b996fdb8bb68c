from django.urls import path
from django.views.generic import RedirectView

from stackviz.pages.machines import against, host_page, hosts_list, manage, past, series, views
from stackviz.pages.machines.views import follows_merges

app_name = "machines"
urlpatterns = [
    path("machines/", views.machine_list, name="list"),
    path("coverage/", views.coverage_page, name="coverage"),
    path("hosts/", hosts_list.hosts, name="hosts"),
    path("hosts/<slug:slug>/", host_page.host_page, name="host"),
    path("labs/", RedirectView.as_view(pattern_name="machines:list"), name="labs"),
    path("machines/<slug:lab>/", views.lab_page, name="lab"),
    path("machines/<slug:lab>/<slug:slug>/", follows_merges(views.machine), name="machine"),
    path("machines/<slug:lab>/<slug:slug>/manage/", follows_merges(manage.manage), name="manage"),
    path("machines/<slug:lab>/<slug:slug>/life/", follows_merges(views.life), name="life"),
    path("machines/<slug:lab>/<slug:slug>/history/", follows_merges(past.past), name="past"),
    path("machines/<slug:lab>/<slug:slug>/against/", follows_merges(against.against), name="against"),
    path("machines/<slug:lab>/<slug:slug>/series/<int:series_id>/", follows_merges(views.series), name="series"),
    path(
        "machines/<slug:lab>/<slug:slug>/series/<int:series_id>/change/", follows_merges(series.change), name="change"
    ),
]

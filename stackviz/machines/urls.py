from django.urls import path

from stackviz.machines import add, against, coverage, decide, lifecycle, past, views

app_name = "machines"
urlpatterns = [
    path("machines/", views.machine_list, name="list"),
    path("coverage/", coverage.coverage, name="coverage"),
    path("machines/add/", add.add, name="add"),
    path("machines/add/<slug:prefix>/", add.arrivals, name="arrivals"),
    path("machines/add/<slug:prefix>/revoke/", add.revoke_key, name="revoke"),
    path("agent/accelweb-agent.pyz", add.agent_file, name="agent"),
    path("machines/<slug:lab>/", views.lab_page, name="lab"),
    path("machines/<slug:lab>/<slug:slug>/", views.machine, name="machine"),
    path("machines/<slug:lab>/<slug:slug>/life/", lifecycle.life, name="life"),
    path("machines/<slug:lab>/<slug:slug>/history/", past.past, name="past"),
    path("machines/<slug:lab>/<slug:slug>/against/", against.against, name="against"),
    path("machines/<slug:lab>/<slug:slug>/series/<int:series_id>/", views.series, name="series"),
    path("machines/<slug:lab>/<slug:slug>/series/<int:series_id>/change/", decide.change, name="change"),
]

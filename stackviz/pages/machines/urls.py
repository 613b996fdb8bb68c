from django.urls import path
from django.views.generic import RedirectView

from stackviz.agent.bundle import WHEEL_NAME
from stackviz.pages.machines import (
    add,
    against,
    coverage,
    decide,
    lab_keys,
    lab_people,
    lab_settings,
    lab_webhook,
    lifecycle,
    manage,
    past,
    views,
)
from stackviz.pages.machines.moved import follows_merges

app_name = "machines"
urlpatterns = [
    path("machines/", views.machine_list, name="list"),
    path("coverage/", coverage.coverage, name="coverage"),
    path("machines/add/", add.add, name="add"),
    path("machines/add/<slug:prefix>/", add.arrivals, name="arrivals"),
    path("machines/add/<slug:prefix>/revoke/", add.revoke_key, name="revoke"),
    path("labs/", RedirectView.as_view(pattern_name="machines:list"), name="labs"),
    path("labs/join/", lab_people.join_page, name="join"),
    path("labs/<slug:lab>/keys/", lab_keys.keys_page, name="keys"),
    path("labs/<slug:lab>/keys/<slug:prefix>/rotate/", lab_keys.rotate_page, name="rotate"),
    path("labs/<slug:lab>/settings/", lab_settings.settings_page, name="settings"),
    path("labs/<slug:lab>/webhook/", lab_webhook.webhook_page, name="webhook"),
    path("labs/<slug:lab>/people/", lab_people.people_page, name="people"),
    path("agent/accelweb-agent.pyz", add.agent_file, name="agent"),
    path(f"agent/{WHEEL_NAME}", add.wheel_file, name="wheel"),
    path("machines/<slug:lab>/", views.lab_page, name="lab"),
    path("machines/<slug:lab>/<slug:slug>/", follows_merges(views.machine), name="machine"),
    path("machines/<slug:lab>/<slug:slug>/manage/", follows_merges(manage.manage), name="manage"),
    path("machines/<slug:lab>/<slug:slug>/life/", follows_merges(lifecycle.life), name="life"),
    path("machines/<slug:lab>/<slug:slug>/history/", follows_merges(past.past), name="past"),
    path("machines/<slug:lab>/<slug:slug>/against/", follows_merges(against.against), name="against"),
    path("machines/<slug:lab>/<slug:slug>/series/<int:series_id>/", follows_merges(views.series), name="series"),
    path(
        "machines/<slug:lab>/<slug:slug>/series/<int:series_id>/change/", follows_merges(decide.change), name="change"
    ),
]

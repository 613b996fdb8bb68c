"""Addresses of the namespace `machines`, in front of those of `pages/machines`: `machines/add/` is no lab."""

from django.urls import path

from stackviz.agent.bundle import WHEEL_NAME
from stackviz.desk.labs import agent_file, keys, people, settings

urlpatterns = [
    path("machines/add/", keys.add_page, name="add"),
    path("machines/add/<slug:prefix>/", keys.arrivals, name="arrivals"),
    path("machines/add/<slug:prefix>/revoke/", keys.revoke_page, name="revoke"),
    path("agent/accelweb-agent.pyz", agent_file.agent_file, name="agent"),
    path(f"agent/{WHEEL_NAME}", agent_file.wheel_file, name="wheel"),
    path("labs/join/", people.join_page, name="join"),
    path("labs/<slug:lab>/keys/", keys.keys_page, name="keys"),
    path("labs/<slug:lab>/keys/<slug:prefix>/rotate/", keys.rotate_page, name="rotate"),
    path("labs/<slug:lab>/settings/", settings.settings_page, name="settings"),
    path("labs/<slug:lab>/webhook/", settings.webhook_page, name="webhook"),
    path("labs/<slug:lab>/people/", people.people_page, name="people"),
]

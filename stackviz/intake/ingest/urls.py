"""Addresses of the inbox for people; those for agents are in `ingest.api`."""

from django.urls import path

from stackviz.intake.ingest import from_dump, views

app_name = "ingest"
urlpatterns = [
    path("receipts/<uuid:report_id>/", views.receipt, name="receipt"),
    path("receipts/<uuid:report_id>/withdraw/", views.withdraw_page, name="withdraw"),
    path("receipts/<uuid:report_id>/restore/", views.restore_page, name="restore"),
    path("diagnose/add/", from_dump.add_from_dump, name="from_dump"),
]

"""Addresses of the inbox for people; those for agents are in `ingest.api`."""

from django.urls import path

from stackviz.intake.ingest import from_dump, views, withdrawal

app_name = "ingest"
urlpatterns = [
    path("receipts/<uuid:report_id>/", views.receipt, name="receipt"),
    path("receipts/<uuid:report_id>/withdraw/", withdrawal.withdraw_page, name="withdraw"),
    path("receipts/<uuid:report_id>/restore/", withdrawal.restore_page, name="restore"),
    path("diagnose/add/", from_dump.add_from_dump, name="from_dump"),
]

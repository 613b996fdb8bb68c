"""One table: a body as it was sent."""

from django.db import models


class BareReport(models.Model):
    """A report with no key, no machine and no status."""

    id = models.UUIDField(primary_key=True)
    received_at = models.DateTimeField(auto_now_add=True)
    body = models.BinaryField()

    class Meta:
        app_label = "bare"
        db_table = "bench_bare_report"

    def __str__(self) -> str:
        return str(self.id)

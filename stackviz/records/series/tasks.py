"""Periodic work on stored results."""

from celery import shared_task
from django.utils import timezone

from stackviz.records.series.partitions import is_partitioned, make_coming_months


@shared_task(ignore_result=True)
def make_result_partitions() -> str:
    """Have the partitions of the coming months ready; nothing to do but on PostgreSQL."""
    made = make_coming_months(timezone.now().date()) if is_partitioned() else []
    return f"{len(made)} months made"

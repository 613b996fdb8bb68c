"""`{% stale "language-models" %}`: a note where the last check of a table that the page uses is too old."""

from django import template
from django.utils import timezone
from django.utils.safestring import SafeString

from stackviz.records.stacks.table_checks import stale_tables
from stackviz.web.parts import render_part

register = template.Library()


@register.simple_tag
def stale(*tables: str) -> SafeString:
    """The note on those of these tables that are stale today; nothing where none is. No query but for the edition."""
    rows = stale_tables(tables, timezone.now().date())
    return render_part("stacks/_stale.jinja", stale=rows) if rows else SafeString("")

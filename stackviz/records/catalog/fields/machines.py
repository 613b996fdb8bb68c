"""The machines it is built into."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.fields.field import APPLE, Field

FIELDS = (
    Field(
        name="macs_shipped_in",
        group="machines",
        title=_("Macs"),
        meaning=_("Macs sold with this chip."),
        only=APPLE,
    ),
)

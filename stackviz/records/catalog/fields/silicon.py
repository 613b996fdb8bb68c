"""Silicon."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.fields.field import Field

FIELDS = (
    Field(
        name="process_node",
        group="silicon",
        title=_("Process"),
        meaning=_("Manufacturing process, as the foundry names it."),
    ),
    Field(
        name="transistors",
        group="silicon",
        title=_("Transistors"),
        unit="billion",
        meaning=_("Transistors on the chip."),
        plausible=(0.5, 10000),
    ),
    Field(
        name="die_area_mm2",
        group="silicon",
        title=_("Die area"),
        unit="mm2",
        meaning=_("Area of the silicon."),
        plausible=(20, 50000),
    ),
)

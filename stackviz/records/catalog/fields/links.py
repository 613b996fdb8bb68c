"""Links to other chips and to the host."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.fields.field import APPLE, Field

FIELDS = (
    Field(
        name="interconnect",
        group="links",
        title=_("Link between accelerators"),
        meaning=_("The vendor's own link between accelerators."),
        glossary="links",
    ),
    Field(
        name="interconnect_gb_s",
        group="links",
        title=_("Link bandwidth"),
        unit="GB/s",
        meaning=_("Total bandwidth of all links of one accelerator; vendors usually count both directions."),
        higher_is_better=True,
        plausible=(1, 1e6),
        usual=("direction=both", "direction=one", ""),
        glossary="direction",
    ),
    Field(
        name="pcie",
        group="links",
        title=_("Host link"),
        meaning=_("PCI Express generation and width."),
        glossary="links",
        never=APPLE,
    ),
)

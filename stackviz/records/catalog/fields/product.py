"""The product: who makes it, when it came, what it cost."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.fields.field import APPLE, Field

FIELDS = (
    Field(name="vendor", group="product", title=_("Vendor"), meaning=_("The company that sells the accelerator.")),
    Field(
        name="architecture",
        group="product",
        title=_("Architecture"),
        meaning=_("The vendor's name for the generation of the design."),
    ),
    Field(
        name="chip",
        group="product",
        title=_("Chip"),
        meaning=_("The vendor's name for the silicon die; several products can share one."),
        never=APPLE,
    ),
    Field(
        name="form_factor",
        group="product",
        title=_("Form factor"),
        meaning=_("Physical form: a PCIe card, an SXM module, a board."),
        never=APPLE,
    ),
    Field(
        name="release_date",
        group="product",
        title=_("Released"),
        meaning=_("When it was announced or could first be bought, as precisely as the source says."),
        is_headline=True,
        usual=("", "event=launched", "event=shipped", "event=announced"),
    ),
    Field(
        name="launch_price_usd",
        group="product",
        title=_("Launch price"),
        unit="USD",
        meaning=_("The price at launch. What shops and clouds ask is listed under prices."),
        higher_is_better=False,
        plausible=(20, 2e6),
        never=frozenset({"apple", "aws", "google"}),
    ),  # sold in machines, or rented, never by themselves
    Field(
        name="machine_price_usd",
        group="product",
        title=_("Price of a machine with it"),
        unit="USD",
        meaning=_("Launch price of a whole machine with this chip, such as a Mac or a DGX Spark, by its memory."),
        higher_is_better=False,
        plausible=(300, 50000),
        only=frozenset({"apple", "nvidia/soc"}),
    ),
)

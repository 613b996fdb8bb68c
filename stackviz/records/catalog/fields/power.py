"""Power."""

from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.fields.field import Field

FIELDS = (
    Field(
        name="tdp_w",
        group="power",
        title=_("Board power"),
        unit="W",
        meaning=_("The power the vendor designed board and cooling for; the limit of a card in a machine can differ."),
        plausible=(1, 30000),
        is_headline=True,
        usual=("", "scope=chip", "scope=gpu", "scope=board", "scope=module", "scope=limit", "load=peak"),
        glossary="board-power",
    ),
    Field(
        name="power_w",
        group="power",
        title=_("Power, observed"),
        unit="W",
        meaning=_("Power measured or estimated by others where the vendor publishes none."),
        plausible=(1, 1000),
        glossary="board-power",
        never=frozenset({"gpu"}),
    ),  # makers of cards publish their power: tdp_w
)

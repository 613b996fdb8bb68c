"""What accelerators are sold for, by product line: desktops, laptops, workstations, data centres, Macs. No query.

Chips of phones, boards and USB sticks are for none of these.
"""

import re

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import PublicCatalogue, is_announced


class Use(TextChoices):
    """In the order of the choices on a page."""

    DESKTOP = "desktop", _("Desktop")
    LAPTOP = "laptop", _("Laptop")
    WORKSTATION = "workstation", _("Workstation")
    DATA_CENTRE = "data-centre", _("Data centre")
    MAC = "mac", _("Mac")


# The first line that a slug begins with, or has the suffix of, decides. None: for no use above.
_LINES: tuple[tuple[str, Use | None], ...] = (
    (r"apple-m\d", Use.MAC),
    (r"apple-|google-edge|hailo-|nvidia-jetson", None),
    (r"nvidia-rtx-pro-\d+-blackwell-se\Z", Use.DATA_CENTRE),
    (r"nvidia-rtx-pro-\d+-blackwell-max-q|nvidia-t\d{4}-\dgb|nvidia-a800-40gb-active", Use.WORKSTATION),
    (r"nvidia-.*-(?:laptop|max-q|\d{3}m\b)|nvidia-geforce-mx|intel-arc-(?:pro-)?[ab]\d+m", Use.LAPTOP),
    (r"amd-rx-\d+[ms]\b|amd-radeon-\d+[ms]\Z|qualcomm-snapdragon", Use.LAPTOP),
    (r"nvidia-(?:geforce|titan)|amd-(?:rx|r9|radeon-(?:vii|vega))", Use.DESKTOP),
    (r"intel-arc-[ab]\d|moore-threads-mtt-s\d\d\Z", Use.DESKTOP),
    (r"nvidia-(?:quadro|rtx|dgx-spark|t\d+\Z)(?<!-t4)|amd-radeon-(?:pro-(?:w|vega)|ai-pro)", Use.WORKSTATION),
    (r"intel-arc-pro|tenstorrent-", Use.WORKSTATION),
)
_PATTERNS = tuple((re.compile(line), use) for line, use in _LINES)
# Vendors whose chips work in their own data centres alone: nobody can buy or rent one.
IN_HOUSE_VENDORS = frozenset({"meta", "microsoft", "tesla"})


def use_of(slug: str) -> Use | None:
    """What the product line is sold for; what no line above names is for data centres."""
    return next((use for pattern, use in _PATTERNS if pattern.match(slug)), Use.DATA_CENTRE)


def can_be_had(accelerator: Accelerator, catalogue: PublicCatalogue) -> bool:
    """Whether somebody sells or rents it: neither announced only, nor for its vendor alone."""
    return not is_announced(accelerator, catalogue) and accelerator.vendor.slug not in IN_HOUSE_VENDORS

"""What accelerators are sold for, by the slugs of their product lines."""

import re

import pytest

from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.catalog.uses import Use, use_of


@pytest.mark.parametrize(
    ("slug", "use"),
    [
        ("nvidia-geforce-rtx-5090", Use.DESKTOP),
        ("nvidia-geforce-rtx-5090-laptop", Use.LAPTOP),
        ("nvidia-quadro-rtx-5000-max-q", Use.LAPTOP),
        ("nvidia-rtx-pro-6000-blackwell-max-q", Use.WORKSTATION),
        ("nvidia-rtx-pro-6000-blackwell-se", Use.DATA_CENTRE),
        ("nvidia-t4", Use.DATA_CENTRE),
        ("nvidia-t400", Use.WORKSTATION),
        ("amd-rx-7900-xtx", Use.DESKTOP),
        ("amd-rx-7900m", Use.LAPTOP),
        ("amd-mi300x", Use.DATA_CENTRE),
        ("intel-arc-a770m", Use.LAPTOP),
        ("apple-m1-max-32", Use.MAC),
        ("apple-a18-pro", None),
        ("nvidia-jetson-nano", None),
    ],
)
def test_a_product_line_is_sold_for_one_use(slug, use):
    assert use_of(slug) == use


def test_no_line_for_people_is_for_data_centres(curated):
    """What no line names is for data centres, so that a new line of cards would be, too."""
    lines = re.compile(r"apple-|.*(?:geforce|titan|quadro|-rx-|-arc-|jetson|snapdragon|laptop|max-q)")
    slugs = [row.slug for row in public_catalogue().accelerators if use_of(row.slug) is Use.DATA_CENTRE]
    assert "nvidia-h100-sxm5-80gb" in slugs
    assert list(filter(lines.match, slugs)) == []

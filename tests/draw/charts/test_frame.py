"""The colours of subjects: equal in Python and CSS, and told apart by readers who see colours differently."""

import itertools
import math
import re
from pathlib import Path

import pytest
from django.conf import settings

from stackviz.draw.charts.frame import INK, INK_2, LIGHT, LINE

TOKENS = (Path(settings.BASE_DIR) / "static/css/tokens.css").read_text()
SUBJECTS = re.findall(r"--s\d: light-dark\((#\w+), (#\w+)\)", TOKENS)
DARK = tuple(dark for _light, dark in SUBJECTS)

# Machado, Oliveira and Fernandes 2009, severity 1.0: linear RGB as seen with each kind of colour blindness.
SIGHTS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
FAR_ENOUGH = 0.085  # in OKLab, where one just noticeable step is about 0.02
READABLE = 3.0  # WCAG 2.2, 1.4.11: graphics against what lies beside them


def linear(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def seen(colour, sight):
    rgb = linear(colour)
    return [min(max(sum(m * c for m, c in zip(row, rgb, strict=True)), 0), 1) for row in SIGHTS[sight]]


def oklab(rgb):
    r, g, b = rgb
    long, medium, short = (
        (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3),
        (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3),
        (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3),
    )
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def contrast(one, other):
    light, dark = sorted(
        (0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (linear(one), linear(other))), reverse=True
    )
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_any_two_subjects_can_be_told_apart(colours, sight):
    apart = {
        pair: math.dist(*(oklab(seen(colour, sight)) for colour in pair)) for pair in itertools.combinations(colours, 2)
    }
    assert {pair: distance for pair, distance in apart.items() if distance < FAR_ENOUGH} == {}


@pytest.mark.parametrize(("colours", "ground"), [(LIGHT, "#ffffff"), (LIGHT, "#fbfbfa"), (DARK, "#1b1e24")])
def test_subjects_stand_out_from_the_page(colours, ground):
    assert [colour for colour in colours if contrast(colour, ground) < READABLE] == []


def test_the_style_sheet_has_the_same_colours():
    assert [light for light, _dark in SUBJECTS] == list(LIGHT)
    for name, value in (("ink", INK), ("ink-2", INK_2), ("line", LINE)):
        assert re.search(rf"--{name}: light-dark\({value},", TOKENS)

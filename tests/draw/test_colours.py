"""The colours: equal in Python and CSS, told apart by readers who see colours differently, and legible."""

import itertools
import math
import re
from pathlib import Path

import pytest
from django.conf import settings

from stackviz.draw import colours
from stackviz.draw.colours import OTHER_SHADE, STRATA, VENDORS, Hue, Shade, hue_of, hues_of, mix_colours
from stackviz.draw.diagrams.layers import Layer

CSS = Path(settings.BASE_DIR) / "static/css"
TOKENS = {
    name: Shade(light, dark)
    for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", (CSS / "tokens.css").read_text())
}

# Machado, Oliveira and Fernandes 2009, severity 1.0: linear RGB as seen with each kind of colour blindness.
SIGHTS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
NOTICED = 0.04  # in OKLab, where one just noticeable step is about 0.02; names stand next to the marks
FAR_APART = 0.09  # for the four vendors that most charts have
UNLIKE = 0.05
GREYISH = 0.025  # chroma in OKLab: what a reader calls grey
READABLE_MARK, READABLE_TEXT = 3.0, 4.5  # WCAG 2.2, 1.4.11 and 1.4.3


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


def distance(one, other, sight):
    return math.dist(oklab(seen(one, sight)), oklab(seen(other, sight)))


def chroma(colour):
    _lightness, a, b = oklab(linear(colour))
    return math.hypot(a, b)


def chroma_of(colour):
    """Of any notation of these sheets; shadows are black."""
    if not colour.startswith("#"):
        return 0.0 if re.match(r"rgb\((\d+) \1? ?", colour) else math.inf
    digits = colour[1:] if len(colour) > 4 else "".join(2 * digit for digit in colour[1:])
    return chroma(f"#{digits[:6]}")


THEMES = {"light": 0, "dark": 1}
EVERY_VENDOR = [*VENDORS.values(), OTHER_SHADE]


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", THEMES)
def test_any_two_vendors_can_be_told_apart(theme, sight):
    shades = [shade[THEMES[theme]] for shade in EVERY_VENDOR]
    apart = {pair: distance(*pair, sight) for pair in itertools.combinations(shades, 2)}
    assert {pair: far for pair, far in apart.items() if far < NOTICED} == {}
    frequent = itertools.combinations(shades[:4], 2)
    assert {pair: apart[pair] for pair in frequent if apart[pair] < FAR_APART} == {}


@pytest.mark.parametrize("theme", THEMES)
def test_marks_of_vendors_stand_out_from_the_page(theme):
    at = THEMES[theme]
    grounds = [colours.SURFACE[at], colours.BG[at]]
    shades = [mix_colours(shade[at], colours.INK[at], share) for shade in EVERY_VENDOR for share in colours.TOWARD_INK]
    assert [(shade, ground) for shade in shades for ground in grounds if contrast(shade, ground) < READABLE_MARK] == []


@pytest.mark.parametrize("theme", THEMES)
def test_texts_are_legible_on_every_ground(theme):
    at = THEMES[theme]
    plain = [shade[at] for shade in (colours.BG, colours.SURFACE, colours.SUNKEN)]
    strata = [shade[at] for shade in STRATA]
    pairs = [(TOKENS[name][at], ground) for name in ("ink", "ink-2") for ground in plain]
    pairs += [(TOKENS[name][at], ground) for name in ("ink-3", "warn", "bad") for ground in plain[:2]]
    pairs += [(TOKENS[name][at], ground) for name in ("ink", "l-ink-2") for ground in strata]
    pairs += [(TOKENS["warn-ink"][at], TOKENS["warn-bg"][at]), (TOKENS["bad-ink"][at], TOKENS["bad"][at])]
    assert [pair for pair in pairs if contrast(*pair) < READABLE_TEXT] == []


@pytest.mark.parametrize("theme", THEMES)
def test_nothing_else_passes_for_a_vendor(theme):
    at = THEMES[theme]
    others = {name: shade[at] for name, shade in TOKENS.items() if name not in (*VENDORS, "other")}
    hued = {name: shade[at] for name, shade in VENDORS.items()}
    near = {
        (name, vendor)
        for name, shade in others.items()
        for vendor, hue in hued.items()
        if distance(shade, hue, "normal") < UNLIKE
    }
    assert near == set()


def test_only_vendors_and_trouble_have_a_hue():
    strong = {name for name, shades in TOKENS.items() if max(map(chroma, shades)) > GREYISH}
    assert strong == {*VENDORS, "warn", "warn-bg", "warn-ink", "bad", "bad-ink"}


def test_the_style_sheet_has_the_same_colours():
    names = ("bg", "surface", "sunken", "ink", "ink-2", "ink-3", "line", "edge", "warn", "warn-bg", "bad")
    plain = {name: getattr(colours, name.upper().replace("-", "_")) for name in names}
    strata = {f"l-{layer}": shade for layer, shade in zip(Layer, STRATA, strict=True)}
    same = VENDORS | {"other": OTHER_SHADE} | plain | strata
    assert {name: TOKENS[name] for name in same} == same
    curating = (CSS / "curating.css").read_text()  # of the admin, which has its own tokens
    states = re.findall(r"--(warn|bad): light-dark\((#\w+), (#\w+)\)", curating)
    assert states == [("warn", *colours.WARN), ("bad", *colours.BAD)]


def test_the_style_sheet_has_a_class_for_every_hue():
    sheet = (CSS / "tokens.css").read_text()
    for vendor in (*VENDORS, "other"):
        assert f".v-{vendor} {{\n    --v: var(--{vendor});\n    --c: var(--v);" in sheet
    for step, share in zip("bcef", (*colours.TOWARD_INK[1:],) * 2, strict=True):
        assert f".v-{step} {{\n    --c: color-mix(in oklab, var(--v) {share:.0%}, var(--ink));" in sheet


def test_the_hue_of_a_vendor_is_used_by_its_class_alone():
    names = "|".join((*VENDORS, "other"))
    users = {
        (path.name, line.strip())
        for path in CSS.glob("*.css")
        for line in path.read_text().splitlines()
        if re.search(rf"var\(--({names})\)", line)
    }
    assert users == {("tokens.css", f"--v: var(--{name});") for name in (*VENDORS, "other")}


def test_style_sheets_have_no_colours_but_tokens():
    found = {
        (path.name, colour)
        for path in CSS.glob("*.css")
        if path.name not in ("tokens.css", "curating.css")  # the admin has its own tokens
        for colour in re.findall(r"#[0-9a-f]{3,8}\b(?=[^{]*;)|\b(?:rgb|hsl|oklch)\([^)]*\)", path.read_text())
        if chroma_of(colour) > GREYISH
    }
    assert found == set()


def test_several_of_one_vendor_keep_its_hue():
    hues = hues_of(["nvidia", "apple", "nvidia", "hailo", "groq"])
    assert [hue.css for hue in hues] == ["v-nvidia", "v-apple", "v-nvidia v-b", "v-other", "v-other v-b"]
    assert [hue.value for hue in hues[:3:2]] == ["var(--nvidia)", "color-mix(in oklab,var(--nvidia) 64%,var(--ink))"]
    assert len({hue.light for hue in hues}) == 5


def test_small_vendors_have_one_of_three_greys_everywhere():
    greys = {hue_of(slug).css for slug in ("baidu", "meta", "tenstorrent", "cerebras", "sambanova", "groq")}
    assert greys == {"v-other", "v-other v-b", "v-other v-c"}
    for at in THEMES.values():
        shades = [mix_colours(OTHER_SHADE[at], colours.INK[at], share) for share in colours.TOWARD_INK]
        assert min(distance(*pair, "normal") for pair in itertools.combinations(shades, 2)) >= NOTICED


def test_a_seventh_of_one_vendor_begins_again():
    assert [hue.step for hue in hues_of(["amd"] * 7)] == [0, 1, 2, 3, 4, 5, 0]


def test_mixing_with_nothing_changes_nothing():
    assert [mix_colours(shade.light, "#000000", 1.0) for shade in VENDORS.values()] == [
        s.light for s in VENDORS.values()
    ]
    assert mix_colours("#ffffff", "#000000", 0.5) == "#636363"  # as browsers mix in OKLab
    assert Hue("amd", 1).light == mix_colours(VENDORS["amd"].light, colours.INK.light, 0.64)

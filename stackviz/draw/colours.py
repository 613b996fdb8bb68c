"""The colours of the site: a hue is a vendor's, everywhere; the interface, kinds of figure and layers have none.

Pages, charts, pictures and files draw with these. static/css/tokens.css has the same values for both themes, and
tests/draw/test_colours.py keeps them equal and measures that readers can tell them apart.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32


class Shade(NamedTuple):
    """One colour in both themes."""

    light: str
    dark: str


VENDORS = {
    "nvidia": Shade("#0b9e71", "#1aebb4"),
    "apple": Shade("#315cbc", "#86b3f7"),
    "amd": Shade("#ba4f20", "#ea8d54"),
    "intel": Shade("#3d1572", "#986cf0"),
    "google": Shade("#b48600", "#ebd153"),
    "huawei": Shade("#900516", "#d5636d"),
    "aws": Shade("#1d5167", "#6c9cb8"),
    "qualcomm": Shade("#d15baa", "#fbaad6"),
}
OTHER = "other"  # every other vendor is a grey, with its name next to the mark
OTHER_SHADE = Shade("#6d7178", "#a3a9b3")

BG, SURFACE, SUNKEN = Shade("#f7f6f2", "#121417"), Shade("#ffffff", "#1a1d22"), Shade("#ecebe6", "#0c0e10")
INK, INK_2, INK_3 = Shade("#16181d", "#eceef1"), Shade("#4d525b", "#b6bcc6"), Shade("#666b75", "#8f96a1")
LINE, EDGE = Shade("#deddd6", "#2b3037"), Shade("#85888f", "#777e89")
WARN, BAD = Shade("#5c3a00", "#f2b84b"), Shade("#b3202a", "#ff8f88")
WARN_BG = Shade("#ffe3a6", "#f2b84b")

# The eight layers from top to bottom: tints for what text lies on, too pale to pass for a vendor.
STRATA = (
    Shade("#faf7f0", "#484640"),
    Shade("#f6f2e8", "#413e37"),
    Shade("#f0ede1", "#3a3830"),
    Shade("#e7e8dc", "#31332c"),
    Shade("#dae3db", "#272e2b"),
    Shade("#cfdbdf", "#20292c"),
    Shade("#c9d2db", "#1b232a"),
    Shade("#c0c9d5", "#171e27"),
)

STEPS = "abcdef"
TOWARD_INK = (
    1.0,
    0.64,
    0.30,
)  # how much of its vendor's colour a step keeps; the last three repeat the first, dashed


class Hue(NamedTuple):
    """The colour of one thing in a picture: its vendor's; `step` tells several of one vendor apart."""

    vendor: str = OTHER
    step: int = 0

    @property
    def css(self) -> str:
        """Classes that set --c and --dash: `v-nvidia`, `v-nvidia v-b`."""
        return f"v-{self.vendor} v-{STEPS[self.step]}" if self.step else f"v-{self.vendor}"

    @property
    def value(self) -> str:
        """The colour alone as a value of CSS."""
        share = TOWARD_INK[self.step % len(TOWARD_INK)]
        return (
            f"color-mix(in oklab,var(--{self.vendor}) {share:.0%},var(--ink))" if share < 1 else f"var(--{self.vendor})"
        )

    @property
    def light(self) -> str:
        """The colour on white, for files and for what draws before the theme is known."""
        shade = VENDORS.get(self.vendor, OTHER_SHADE)
        return mix_colours(shade.light, INK.light, TOWARD_INK[self.step % len(TOWARD_INK)])


GREY = Hue()


def hue_of(vendor: str) -> Hue:
    """Return the hue of a vendor, by its slug; small vendors share three greys, each the same one on every page."""
    return Hue(vendor) if vendor in VENDORS else Hue(OTHER, crc32(vendor.encode()) % len(TOWARD_INK))


def hues_of(vendors: Iterable[str]) -> tuple[Hue, ...]:
    """Return the hue of each thing of a picture, by its vendor's slug; the second of one hue has its second step."""
    before: Counter[str] = Counter()
    hues = []
    for vendor in vendors:
        name = hue_of(vendor).vendor
        hues.append(Hue(name, before[name] % len(STEPS)))
        before[name] += 1
    return tuple(hues)


def mix_colours(first: str, second: str, share: float) -> str:
    """Return `share` of the first colour with the rest of the second, as `color-mix(in oklab, ...)` does."""
    pairs = zip(_oklab(first), _oklab(second), strict=True)
    return _hex([share * of_first + (1 - share) * of_second for of_first, of_second in pairs])


def _oklab(colour: str) -> tuple[float, float, float]:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    long = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    medium = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    short = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def _hex(lab: list[float]) -> str:
    lightness, a, b = lab
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    parts = [
        12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
        for part in (min(max(value, 0.0), 1.0) for value in linear)
    ]
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)

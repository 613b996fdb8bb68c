"""Pictures and files have vendors' hues, and no other."""

import io
import re

import pytest
from PIL import Image

from stackviz.draw import colours
from stackviz.draw.colours import STRATA, VENDORS

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("curated", "cited")]
NEAR = 24  # of a channel: a PNG of 128 colours rounds them
FEW = 40  # pixels of an edge
STATES = {colours.WARN.light, colours.WARN_BG.light, colours.BAD.light}
DRAWN = (
    "/benchmarks/llama-bench/?format=svg",
    "/roofline/?a=nvidia-h100-sxm5-80gb&a=amd-mi300x&a=apple-m3-max-40&format=svg",
    "/compare/?a=stack:nvidia-cuda&a=stack:apple-metal&format=svg",
)


def parts(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def is_grey(channels: tuple[int, ...]) -> bool:
    return max(channels) - min(channels) <= NEAR


def test_a_share_picture_has_the_hues_of_its_vendors(client):
    answer = client.get("/picture/compare.png?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40")
    image = Image.open(io.BytesIO(answer.content)).convert("RGB")
    counted = {colour: count for count, colour in image.getcolors(1 << 20) or []}
    hued = {colour for colour, count in counted.items() if count > FEW and not is_grey(colour)}

    def vendors_near(colour):
        return {
            vendor
            for vendor, shade in VENDORS.items()
            if all(abs(a - b) <= NEAR for a, b in zip(parts(shade.light), colour, strict=True))
        }

    found = set().union(*map(vendors_near, counted))
    assert {"nvidia", "apple"} <= found
    assert not found & {"amd", "intel", "google", "huawei", "qualcomm"}
    assert hued


@pytest.mark.parametrize("address", DRAWN)
def test_a_file_has_hues_of_vendors_alone(client, address):
    svg = client.get(address).content.decode()
    drawn = {colour.lower() for colour in re.findall(r'(?:fill|stroke)="(#[0-9A-Fa-f]{6})"', svg)}
    hued = {colour for colour in drawn if not is_grey(parts(colour))}
    allowed = {shade.light for shade in (*VENDORS.values(), *STRATA)} | STATES
    assert hued
    assert hued <= allowed

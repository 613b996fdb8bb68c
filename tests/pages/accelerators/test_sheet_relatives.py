"""Related accelerators: from the chip and the family that are published, and the makers' own names."""

import pytest

from stackviz.pages.accelerators.relatives import desktop_version, line_position, relatives
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue


def related(slug: str) -> dict[str, str]:
    found = relatives(Accelerator.objects.get(slug=slug), public_catalogue())
    return {other.slug: relation for other, relation, _figures in found}


def test_relatives_are_of_the_same_chip_or_line(curated, db):
    found = related("nvidia-h100-sxm5-80gb")
    assert found["nvidia-h200-sxm"] == "same chip, same number of units"
    assert found["nvidia-h100-pcie-80gb"] == "same chip, fewer units"
    assert related("nvidia-h100-pcie-80gb")["nvidia-h100-sxm5-80gb"] == "same chip, more units"
    found = related("nvidia-geforce-rtx-4090")
    assert found["nvidia-geforce-rtx-3090"] == "previous generation"
    assert found["nvidia-geforce-rtx-5090"] == "next generation"
    assert "nvidia-geforce-rtx-4080" not in found
    found = related("apple-m3-max-40")
    assert next(iter(found)) == "apple-m3-max-30"
    assert found["apple-m3-max-30"] == "other variant"
    assert found["apple-m2-max-38"] == "previous generation"
    assert found["apple-m4-max-40"] == "next generation"
    assert "apple-m3-pro-18" not in found
    assert related("hailo-8") == {}


def test_the_same_name_in_a_laptop_is_another_product(client, curated, db):
    assert related("nvidia-geforce-rtx-4090")["nvidia-geforce-rtx-4090-laptop"] == "laptop version"
    laptop = related("nvidia-geforce-rtx-4090-laptop")
    assert laptop["nvidia-geforce-rtx-4090"] == "desktop version"
    assert related("nvidia-geforce-rtx-4080-laptop")["nvidia-geforce-rtx-3080-laptop"] == "previous generation"
    assert "nvidia-geforce-rtx-3080-laptop" not in related("nvidia-geforce-rtx-4080")
    assert related("nvidia-geforce-rtx-2080")["nvidia-geforce-rtx-2080-max-q"] == "Max-Q version"
    page = client.get("/accelerators/nvidia-geforce-rtx-4090-laptop/").content.decode()
    assert "A card for laptops, at most 150 W. The NVIDIA GeForce RTX 4090, after which it is named, has 450 W." in page
    assert "/compare/?a=nvidia-geforce-rtx-4090-laptop&amp;a=nvidia-geforce-rtx-4090" in page
    assert "A card for laptops" not in client.get("/accelerators/nvidia-geforce-rtx-4090/").content.decode()


def test_a_laptop_card_is_held_against_the_largest(curated, db):
    laptop = Accelerator.objects.get(slug="nvidia-geforce-rtx-2060-laptop")
    assert desktop_version(laptop, public_catalogue())[0].name == "NVIDIA GeForce RTX 2060 12GB"
    alone = Accelerator.objects.get(slug="nvidia-quadro-t2000-laptop")
    assert desktop_version(alone, public_catalogue()) is None


def test_relatives_are_public_have_figures_and_cost_no_query(curated, db, django_assert_num_queries):
    catalogue = public_catalogue()
    for slug in ("hailo-8", "nvidia-h100-sxm5-80gb"):
        with django_assert_num_queries(0):
            found = relatives(catalogue.by_slug[slug], catalogue)
    figures = {other.slug: figures for other, _relation, figures in found}
    assert figures["nvidia-h100-pcie-80gb"] == ["114", "80 GB", "2,000 GB/s"]
    hidden = Accelerator.objects.get(slug="nvidia-h200-sxm")
    assert hidden.slug in figures
    hidden.is_public = False
    hidden.save()
    assert hidden.slug not in related("nvidia-h100-sxm5-80gb")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NVIDIA GeForce GTX 1080 Ti", "NVIDIA GeForce RTX 2080 Ti"),
        ("NVIDIA GeForce GTX 1060 6GB", "NVIDIA GeForce RTX 2060 6GB"),
        ("NVIDIA Quadro RTX 6000", "NVIDIA RTX A6000"),
        ("NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX PRO 6000 Blackwell Server Edition"),
        ("NVIDIA V100 SXM2 (16GB, 32GB)", "NVIDIA A100 SXM4 40GB"),
        ("NVIDIA Jetson Nano", "NVIDIA Jetson Orin Nano 8GB"),
        ("AWS Trainium", "AWS Trainium2"),
        ("Google TPU v5p", "Google TPU7x Ironwood"),
        ("Apple A17 Pro", "Apple A18 Pro"),
    ],
)
def test_names_of_one_line_follow_each_other(one, other):
    before, after = line_position(one), line_position(other)
    assert (before.line, before.tier) == (after.line, after.tier)
    assert before.generation < after.generation


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NVIDIA GeForce RTX 4070", "NVIDIA GeForce RTX 4070 Ti"),
        ("NVIDIA GeForce RTX 4070 Ti", "NVIDIA GeForce RTX 4070 Ti SUPER"),
        ("NVIDIA A100 SXM4 80GB", "NVIDIA A100 PCIe 80GB"),
        ("Apple M3 Max (40-core GPU)", "Apple M3 Pro (18-core GPU)"),
        ("Google TPU v5e", "Google TPU v5p"),
        ("NVIDIA GB200 (per GPU, 1200 W)", "NVIDIA B200 (HGX/DGX, 1000 W)"),
    ],
)
def test_names_of_different_lines_do_not(one, other):
    assert (line_position(one).line, line_position(one).tier) != (line_position(other).line, line_position(other).tier)
    unknown = ("NVIDIA H200 NVL 141GB", "Hailo-8", "", "Apple", "NVIDIA GeForce RTX 40900")
    assert [name for name in unknown if line_position(name)] == []

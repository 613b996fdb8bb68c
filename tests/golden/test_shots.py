"""Two pictures of a page: what differs is found, and how much; what nobody sees is not a difference."""

from PIL import Image

from tests.golden.shots import changed_pixels, print_picture_differences


def picture(folder, name, *, size=(10, 10), dot=None):
    (folder / "light-360").mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", size, (200, 200, 200))
    if dot:
        image.putpixel(*dot)
    image.save(folder / "light-360" / f"{name}.png")


def test_changed_pixels_height_and_pages_are_listed(tmp_path, capsys):
    before, after = tmp_path / "before", tmp_path / "after"
    for name in ("same", "dot", "tall", "lost"):
        picture(before, name)
    picture(after, "same")
    picture(after, "dot", dot=((3, 4), (0, 0, 0)))
    picture(after, "tall", size=(10, 20))
    assert print_picture_differences(before, after, tmp_path / "out") == 1
    out = capsys.readouterr().out.splitlines()
    assert out[:3] == [
        "light-360/lost.png: only before",
        "light-360/tall.png: 50.000% of the pixels, first at y=10, height 10 -> 20",
        "light-360/dot.png: 1.000% of the pixels, first at y=4",
    ]
    assert out[-1].startswith("3 of 4 pictures differ")
    assert Image.open(tmp_path / "out/light-360/dot.png").getpixel((3, 4)) == (220, 0, 40)


def test_a_shade_that_nobody_sees_is_no_difference():
    old, new = Image.new("RGB", (4, 4), (100, 100, 100)), Image.new("RGB", (4, 4), (105, 100, 98))
    assert changed_pixels(old, new).getbbox() is None

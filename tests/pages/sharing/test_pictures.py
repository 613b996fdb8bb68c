"""Pictures of pages: PNG of one size, drawn once for a state, for strangers only, and no way to burn the processor."""

import importlib.resources
import io
import re
import time
import xml.etree.ElementTree as ET
from html import unescape

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from PIL import Image

from stackviz.draw.colours import Hue
from stackviz.draw.diagrams.slide import CARD, SLIDE
from stackviz.draw.diagrams.svg_marks import TextMark
from stackviz.draw.diagrams.text_width import width_of
from stackviz.pages.compare.query import Selection, Subject, SubjectKind
from stackviz.pages.compare.subjects import load
from stackviz.pages.data.licence import TERMS_PATH
from stackviz.pages.diagnose.models import PrivateLink
from stackviz.pages.sharing import canvas
from stackviz.pages.sharing import pictures as store
from stackviz.pages.sharing.canvas import png_of, readable
from stackviz.pages.sharing.drawing import Picture, PictureBar, PictureLine, PictureTile, sketch_of, slide_svg
from stackviz.pages.sharing.subjects import comparison_picture
from tests.pages.diagnose.conftest import CPU_WHEEL
from tests.pages.diagnose.test_links import save

H100, M3_MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"
PICTURES = {
    "sheet": f"/picture/sheet/{H100}.png",
    "comparison": f"/picture/compare.png?a={H100}&a={M3_MAX}",
    "six": f"/picture/compare.png?a={H100}&a={M3_MAX}&a=amd-mi300x&a=nvidia-t4&a=google-tpu-v7&a=apple-m1-8",
    "stacks": "/picture/compare.png?a=stack:nvidia-cuda&a=stack:apple-metal",
    "one stack": "/picture/compare.png?a=stack:aws-neuron",
    "fit": f"/picture/fit.png?model=llama-3.1-70b&precision=q4_k_m&accelerator={M3_MAX}&accelerator={H100}",
    "fit of all": "/picture/fit.png",
    "plan": "/picture/plan.png?accelerator=nvidia-t4",
    "plan that fails": "/picture/plan.png?accelerator=nvidia-k80&torch=2.13.0",
}  # fmt: skip


def image_of(answer) -> Image.Image:
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "image/png"
    image = Image.open(io.BytesIO(answer.content))
    image.load()
    return image


def ink_of(image: Image.Image) -> int:
    """How many pixels are not the background's."""
    return sum(count for count, colour in image.convert("RGB").getcolors(10**6) if min(colour) < 200)


@pytest.mark.parametrize("path", PICTURES.values(), ids=PICTURES)
@pytest.mark.usefixtures("curated")
def test_a_picture_has_the_size_that_services_show(client, db, path):
    image = image_of(client.get(path))
    assert image.size == (1200, 630)
    assert ink_of(image) > 12_000


@pytest.mark.usefixtures("curated", "cited")
def test_a_ranking_has_a_picture_of_its_first(client, db):
    assert ink_of(image_of(client.get("/picture/benchmark/llama-bench.png"))) > 60_000
    assert client.get("/picture/benchmark/nothing.png").status_code == 404


def test_a_machine_of_a_public_lab_is_drawn(client, dgx):
    alone = image_of(client.get(f"/picture/compare.png?a={H100}"))
    beside = image_of(client.get(f"/picture/compare.png?a=machine:north/dgx-07&a={H100}"))
    assert beside.tobytes() != alone.tobytes()


@pytest.mark.usefixtures("dgx", "second_dgx")
def test_two_machines_of_one_name_have_names_and_colours():
    names = [Subject(SubjectKind.MACHINE, "dgx-07", lab) for lab in ("north", "south")]
    chosen, _refused = load(Selection(tuple(names)), AnonymousUser())
    picture = comparison_picture(chosen)
    assert picture.tiles
    for tile in picture.tiles:
        assert [(bar.name, bar.hue) for bar in sorted(tile.bars, key=lambda bar: bar.hue)] == [
            ("dgx-07 (north/dgx-07)", Hue("nvidia")),
            ("dgx-07 (south/dgx-07)", Hue("nvidia", 1)),
        ]


@pytest.mark.usefixtures("curated")
def test_a_bound_is_drawn_as_a_bound(db):
    subjects = [Subject(SubjectKind.ACCELERATOR, slug) for slug in (H100, M3_MAX)]
    chosen, _refused = load(Selection(tuple(subjects)), AnonymousUser())
    picture = comparison_picture(chosen)
    bars = [bar.text for tile in picture.tiles for bar in tile.bars]
    assert "≤ 14.131 TFLOPS, derived" in bars
    assert "at least 70× the bf16 matrix rate" in picture.lead


def test_a_private_machine_is_answered_as_an_unknown_one(client, sealed, member, django_assert_num_queries):
    client.get("/picture/compare.png?a=machine:cellar/never-there")  # the stacks of this edition are read once
    answers = []
    for name in ("no-such-box", "sealed-box"):
        with django_assert_num_queries(3):
            client.get(f"/picture/compare.png?a=machine:cellar/{name}")
        answers.append(client.get(f"/picture/compare.png?a={H100}&a=machine:cellar/{name}"))
    client.force_login(member)
    answers.append(client.get(f"/picture/compare.png?a={H100}&a=machine:cellar/sealed-box"))
    for answer in answers:
        for name in ("X-Request-ID", "Cache-Control", "Vary"):  # of the request, and of the cookie that it came with
            answer.headers.pop(name, None)
        assert answer.status_code == 404
        assert (answer.content, dict(answer.headers)) == (answers[0].content, dict(answers[0].headers))


def test_a_comparison_with_a_private_machine_names_no_picture(client, sealed, dgx, member):
    client.force_login(member)
    private = client.get("/compare/?a=machine:cellar/sealed-box&a=machine:north/dgx-07").content.decode()
    public = client.get(f"/compare/?a=machine:north/dgx-07&a={H100}").content.decode()
    assert "sealed-box" in private
    assert "og:title" in private
    assert "og:image" not in private
    assert "oembed" not in private
    assert "og:image" in public


@pytest.mark.parametrize(
    "path", ["sheet/nothing.png", "compare.png", "compare.png?a=%00", "compare.png?a=" + "x" * 10_000, "plan.png", "plan.png?accelerator=zzz"]
)  # fmt: skip
@pytest.mark.usefixtures("curated")
def test_an_unknown_subject_is_explained(client, db, path):
    answer = client.get(f"/picture/{path}")
    assert answer.status_code == 404
    assert "a subject is unknown" in answer.content.decode()


@pytest.mark.usefixtures("curated")
def test_a_picture_is_drawn_once_and_not_sent_again(client, db, monkeypatch):
    drawn = []
    monkeypatch.setattr(store, "png_of", lambda sketch: drawn.append(sketch) or png_of(sketch))
    first = client.get(PICTURES["sheet"])
    chinese = client.get(PICTURES["sheet"], headers={"Accept-Language": "zh-hans"})  # its words are English
    assert (first.content, first["ETag"]) == (chinese.content, chinese["ETag"])
    assert len(drawn) == 1
    unchanged = client.get(PICTURES["sheet"], headers={"If-None-Match": first["ETag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")


@pytest.mark.usefixtures("curated")
def test_drawing_is_limited_for_each_client(client, db, settings):
    settings.PICTURES_PER_MINUTE = 2
    slugs = (H100, M3_MAX, "nvidia-t4")
    answers = [client.get(f"/picture/sheet/{slug}.png") for slug in slugs]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 0 < int(answers[2]["Retry-After"]) <= 60
    assert client.get(f"/picture/sheet/{H100}.png").status_code == 200


@pytest.mark.usefixtures("curated")
def test_pictures_are_drawn_where_none_can_be_stored(client, db, settings, tmp_path):
    (tmp_path / "a-file").write_text("")
    settings.CACHES = {
        **settings.CACHES,
        "pictures": {**settings.CACHES["pictures"], "LOCATION": str(tmp_path / "a-file")},
    }
    image_of(client.get(PICTURES["sheet"]))
    assert settings.CACHES["pictures"]["OPTIONS"]["MAX_ENTRIES"] <= 1000


def test_a_saved_diagnosis_has_a_picture_until_it_is_deleted(client, curated, db):
    saved = save(client, CPU_WHEEL)
    address = saved["Location"]
    page = client.get(address).content.decode()
    path = f"/picture/diagnosis/{address.split('/')[2]}.png"
    assert f'content="http://testserver{path}"' in page
    answer = client.get(path)
    image_of(answer)
    assert "no-store" in answer["Cache-Control"]
    assert answer["X-Robots-Tag"] == "noindex"
    PrivateLink.objects.all().delete()
    assert client.get(path).status_code == 404


# --- slides ---


def words_of(svg: str) -> str:
    return " ".join(element.text or "" for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))


@pytest.mark.parametrize("path", PICTURES.values(), ids=PICTURES)
@pytest.mark.usefixtures("curated")
def test_each_picture_is_a_slide_too(client, db, path):
    path = path.replace(".png", ".svg")
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "image/svg+xml; charset=utf-8"
    root = ET.fromstring(answer.content)
    assert root.get("viewBox") == "0 0 1600 900"
    words = words_of(answer.content.decode())
    assert "accelweb" in words
    assert TERMS_PATH in words
    assert "testserver" in words
    assert f"{timezone.now():%Y-%m-%d}" in words
    assert not list(root.iter("{http://www.w3.org/2000/svg}a"))


@pytest.mark.usefixtures("curated")
def test_stacks_are_drawn_by_layer_and_job(client, db):
    words = words_of(client.get(PICTURES["stacks"].replace(".png", ".svg")).content.decode())
    titles = [
        "Application", "Framework", "Compiler", "Libraries", "Compute platform", "Driver", "Operating system", "Hardware"
    ]  # fmt: skip
    places = [words.index(title) for title in titles]
    assert places == sorted(places)
    for text in ("NVIDIA CUDA on Linux", "cuDNN", "MPSGraph", "no neural engine", "a job that nothing does here",
                 "needs a version of", "/compare/?a=stack:nvidia-cuda&a=stack:apple-metal"):  # fmt: skip
        assert text in words


@pytest.mark.usefixtures("curated")
def test_the_page_offers_the_slide(client, db):
    page = client.get("/compare/?a=stack:nvidia-cuda&a=stack:apple-metal").content.decode()
    assert "/picture/compare.svg?a=stack:nvidia-cuda" in page
    slide = client.get("/compare/?a=stack:nvidia-cuda&a=stack:apple-metal&format=svg").content.decode()
    assert ET.fromstring(slide).get("viewBox") == "0 0 1600 900"
    assert "no neural engine" in words_of(slide)


@pytest.mark.parametrize("page", ["/stacks/nvidia-cuda/", f"/fit/?accelerator={H100}", "/fit/"])
@pytest.mark.usefixtures("curated")
def test_stacks_and_fit_answers_name_their_picture(client, db, page):
    text = client.get(page).content.decode()
    picture = unescape(re.search('property="og:image" content="(.*?)"', text)[1]).removeprefix("http://testserver")
    image_of(client.get(picture))


@pytest.mark.parametrize("path", ["fit.png?accelerator=nothing", "compare.png?a=stack:nothing"])
@pytest.mark.usefixtures("curated")
def test_no_picture_without_data(client, db, path):
    assert client.get(f"/picture/{path}").status_code == 404


# --- drawing alone ---


def test_names_without_a_glyph_are_replaced(monkeypatch):
    monkeypatch.setattr(canvas, "CHINESE", ())
    canvas._chinese_file.cache_clear()
    canvas._is_chinese_glyph.cache_clear()
    assert readable("昇腾 910B", "huawei-ascend-910b") == "huawei-ascend-910b"
    assert readable("H100 × 2 – ≥ 80 GB, ±0.4 %, µs, é", "no") == "H100 × 2 – ≥ 80 GB, ±0.4 %, µs, é"
    assert readable("", "other") == "other"


def test_other_characters_are_drawn_in_another_font(monkeypatch):
    font = importlib.resources.files("debug_toolbar").joinpath("static/debug_toolbar/fonts/Alef-Bold.ttf")
    monkeypatch.setattr(canvas, "CHINESE", ("no-such-font.ttf", str(font)))  # Hebrew stands for Chinese here
    canvas._chinese_file.cache_clear()
    canvas._is_chinese_glyph.cache_clear()
    assert readable("אב H100", "no") == "אב H100"
    drawn = [png_of(sketch_of(Picture(kind="", title=title, lead=""), CARD)) for title in ("אב", "בא", "\u0fff\u0fff")]
    assert len(set(drawn)) == 3
    canvas._chinese_file.cache_clear()
    canvas._is_chinese_glyph.cache_clear()


@pytest.mark.parametrize("page", [CARD, SLIDE], ids=["card", "slide"])
def test_a_long_name_is_never_cut(page):
    name = "RTX PRO 6000 Blackwell Max-Q Workstation Edition with a long second name"
    bars = tuple(PictureBar(f"{name} {row}", "1,234.5 tokens/s", 1.0) for row in range(6))
    pictures = (
        Picture(kind="k", title=f"{name} vs. {name}, {name} and {name}", lead=f"{name} leads. " * 3, bars=bars),
        Picture(kind="k", title=name, lead="", tiles=(PictureTile(name, bars=bars[:2]), PictureTile("t", bars=bars))),
        Picture(kind="k", title=name, lead="", lines=(PictureLine("broken", f"{name} {name}"),)),
    )
    for picture in pictures:
        texts = [mark for mark in sketch_of(picture, page).marks if isinstance(mark, TextMark)]
        words = " ".join(mark.text for mark in texts)
        assert "…" not in words
        assert words.count("second name") >= len(picture.bars) + 2 * len(picture.tiles)
        for mark in texts:
            left = mark.x - (width_of(mark.text, mark.style) if mark.anchor == "end" else 0)
            assert left >= 0, mark.text
            assert left + width_of(mark.text, mark.style) <= page.width, mark.text


def test_a_picture_of_anything_can_be_drawn():
    bars = tuple(PictureBar("n" * 200, "1" * 200, share) for share in (None, 0.0, 1.0, 2.0))
    for picture in (
        Picture(kind="", title="", lead=""),
        Picture(kind="k", title="t" * 900, lead="l " * 900, tiles=(PictureTile("t", bars=bars),) * 9),
        Picture(kind="k", title="\x00\u202e", lead="", lines=(PictureLine("zzz", "l" * 900),) * 9),
        Picture(kind="k", title="t", lead="l", bars=bars * 9),
    ):
        assert png_of(sketch_of(picture, CARD)).startswith(b"\x89PNG")
        ET.fromstring(slide_svg(picture))


def test_drawing_takes_less_than_a_fifth_of_a_second():
    bars = tuple(
        PictureBar(f"Accelerator {number}", "1,234 GB/s", number / 6, Hue("amd", number)) for number in range(6)
    )
    picture = Picture(
        kind="Comparison", title="A vs. B", lead="A has more. " * 20, tiles=(PictureTile("Memory", bars=bars),) * 4
    )
    png_of(sketch_of(picture, CARD))
    times = []
    for _try in range(7):
        started = time.thread_time()
        png_of(sketch_of(picture, CARD))
        times.append(time.thread_time() - started)
    assert sorted(times)[3] < 0.2

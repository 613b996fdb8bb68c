"""Pictures of pages: PNG of one size, drawn once for a state, for strangers only, and no way to burn the processor."""

import io
import time

import pytest
from django.contrib.auth.models import AnonymousUser
from PIL import Image

from stackviz.draw.colours import Hue
from stackviz.pages.compare.query import Selection, Subject, SubjectKind
from stackviz.pages.compare.subjects import load
from stackviz.pages.diagnose.models import PrivateLink
from stackviz.pages.sharing import pictures as store
from stackviz.pages.sharing.drawing import Canvas, Picture, PictureBar, PictureLine, PictureTile, draw_png, readable
from stackviz.pages.sharing.subjects import comparison_picture
from tests.pages.diagnose.conftest import CPU_WHEEL
from tests.pages.diagnose.test_links import save

H100, M3_MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"
PICTURES = {
    "sheet": f"/picture/sheet/{H100}.png",
    "comparison": f"/picture/compare.png?a={H100}&a={M3_MAX}",
    "six": f"/picture/compare.png?a={H100}&a={M3_MAX}&a=amd-mi300x&a=nvidia-t4&a=google-tpu-v7&a=apple-m1-8",
    "stacks": "/picture/compare.png?a=stack:nvidia-cuda&a=stack:apple-metal",
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
    monkeypatch.setattr(store, "draw_png", lambda picture: drawn.append(picture) or draw_png(picture))
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


# --- drawing alone ---


def test_names_without_a_glyph_are_replaced_and_long_texts_cut():
    assert readable("昇腾 910B", "huawei-ascend-910b") == "huawei-ascend-910b"
    assert readable("H100 × 2 – ≥ 80 GB, ±0.4 %, µs, é", "no") == "H100 × 2 – ≥ 80 GB, ±0.4 %, µs, é"
    assert readable("", "other") == "other"
    canvas = Canvas(400, 100, "#ffffff")
    assert canvas.text((0, 50), "W" * 5000, 20, "#000000", width=300) <= 300
    lines = canvas.wrapped("word " * 500, 20, 300, 2)
    assert len(lines) == 2
    assert lines[1].endswith("…")


def test_a_picture_of_anything_can_be_drawn():
    bars = tuple(PictureBar("n" * 200, "1" * 200, share) for share in (None, 0.0, 1.0, 2.0))
    for picture in (
        Picture(kind="", title="", lead=""),
        Picture(kind="k", title="t" * 900, lead="l " * 900, tiles=(PictureTile("t", bars=bars),) * 9),
        Picture(kind="k", title="\x00\u202e", lead="", lines=(PictureLine("zzz", "l" * 900),) * 9),
        Picture(kind="k", title="t", lead="l", bars=bars * 9),
    ):
        assert draw_png(picture).startswith(b"\x89PNG")


def test_drawing_takes_less_than_a_tenth_of_a_second():
    bars = tuple(
        PictureBar(f"Accelerator {number}", "1,234 GB/s", number / 6, Hue("amd", number)) for number in range(6)
    )
    picture = Picture(
        kind="Comparison", title="A vs. B", lead="A has more. " * 20, tiles=(PictureTile("Memory", bars=bars),) * 4
    )
    draw_png(picture)
    times = []
    for _try in range(7):
        started = time.thread_time()
        draw_png(picture)
        times.append(time.thread_time() - started)
    assert sorted(times)[3] < 0.1

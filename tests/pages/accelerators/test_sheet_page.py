"""A sheet: every value with its unit, condition and source; alternatives, corrections, names; what is missing is said."""

import re

import pytest
from django.core.cache import cache
from django.urls import reverse

from stackviz.pages.accelerators.sheet import read_sheet
from stackviz.records.catalog.models import Accelerator, SpecValue
from tests.sampled import sampled

MOST_CHARS = 100_000


def page_of(client, slug: str) -> str:
    response = client.get(reverse("accelerators:sheet", args=[slug]))
    assert response.status_code == 200
    return response.content.decode()


def content_of(client, slug: str) -> str:
    """The page without its frame, whose forms carry a fresh token each time."""
    return re.search(r"<main.*</main>", page_of(client, slug), re.DOTALL)[0]


def rows_of(page: str, title: str) -> list[str]:
    """Text of the rows of one field: the row that names it and those that follow under the same name."""
    rows = [
        re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", row)).strip()
        for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    ]
    starts = [number for number, row in enumerate(rows) if row.startswith(title)]
    return rows[starts[0] : starts[0] + 2]


@pytest.mark.parametrize(
    ("slug", "figure"),
    [
        ("nvidia-h100-sxm5-80gb", "989.4 TFLOPS"),
        ("nvidia-geforce-rtx-4090", "165.2 TFLOPS"),
        ("nvidia-t4", "65 TFLOPS"),
        ("apple-m3-max-40", "400 GB/s"),
        ("apple-m3-max-30", "300 GB/s"),
        ("apple-m4-10", "38 TOPS"),
        ("apple-m3-10", "18 TOPS"),
        ("google-tpu-v3", "32 GiB"),
    ],
)
def test_a_sheet_shows_the_figures_people_ask_for(curated, client, db, slug, figure):
    assert f">{figure}</span>" in page_of(client, slug)


def test_each_value_has_condition_exact_figure_source_and_date(curated, client, db):
    page = page_of(client, "nvidia-h100-sxm5-80gb")
    dense, sparse = rows_of(page, "bf16 tensor")
    assert "989.4 TFLOPS dense" in dense
    assert "1,978.9 TFLOPS with 2:4 sparsity" in sparse
    # on hover, and where no pointer is needed
    assert 'title="3350 GB/s = 3,350,000,000,000 B/s"' in page
    assert "<dt>Exactly</dt><dd>3350 GB/s = 3,350,000,000,000 B/s</dd>" in page
    assert re.search(r"<dd>from the catalogue&#39;s reviewed files, loaded on \d{4}-\d\d-\d\d ·", page)
    assert re.search(r'<dt>Confirmed by</dt><dd><a class="ref" href="#s\d+"', page)
    assert "<dt>History</dt>" not in page  # as it was loaded
    assert ">295.3 FLOP/B</span>" in page
    assert "989.4 TFLOPS ÷ 3,350 GB/s" in page
    assert re.search(r"Rate per dollar <small>[^<]*Launch price", page)  # a shop's listing is none
    cells = re.findall(r'<td class="from">(.*?)</td>', page, re.DOTALL)
    assert len(cells) > 30
    assert all('<a href="http' in cell for cell in cells)


def test_parts_are_reached_by_plain_links_and_htmx(curated, client, db):
    page = page_of(client, "nvidia-h100-sxm5-80gb")
    targets = re.findall(r'<li><a href="#([\w-]+)"', page)
    assert {"memory", "rates", "derived", "names", "machines-with", "stack", "relatives", "cite"} <= set(targets)
    assert [target for target in targets if f'id="{target}"' not in page] == []
    of_stack = re.search(r'hx-get="(/stacks/\?[^"]*)"', page)[1]
    assert "nvidia" in of_stack
    for address in (of_stack, f"{reverse('machines:list')}?accelerator=nvidia-h100-sxm5-80gb"):
        assert f'hx-get="{address}"' in page
        assert f'<a href="{address}">' in page


def test_a_sheet_tells_what_cannot_be_from_what_is_not_published(curated, client, db):
    page = page_of(client, "apple-m3-max-40")
    missing, not_applying = re.search(
        r"Not published:</span>(.*?)</p>.*?figures do not apply</summary>(.*?)</details>", page, re.DOTALL
    ).groups()
    assert "Board power" in missing
    assert "fp16, not tensor" in missing
    assert "bf16 tensor" not in missing
    assert "<p>Metal has no fp64: fp64 · fp64 tensor</p>" in not_applying
    assert re.search(r"<p>no matrix units in the GPU before A19 and M5: [^<]*bf16 tensor", not_applying)
    assert re.search(r"<p>Chip · [^<]*MIG instances", not_applying)  # of another vendor's kind: no reason is needed
    assert "<code>Apple M3 Max</code> <small>with 40 GPU cores</small>" in page
    assert "<code>Mac15,9</code>" in page
    assert 'href="/accelerators/apple-m3-max-30/">Apple M3 Max (30-core GPU)</a>' in page


def test_an_old_card_says_why_and_under_which_condition(curated, client, db):
    page = page_of(client, "nvidia-geforce-gtx-1080-ti")
    assert "bf16 tensor: needs compute capability 8.0, this is 6.1" in page
    assert "not published: bf16 tensor" not in page
    head = re.search(r'<dl class="verdict headlines v-nvidia">.*?</dl>', page, re.DOTALL).group()
    int8 = re.search(r"<div>\s*<dt>\s*int8 tensor.*?</div>", head, re.DOTALL).group()
    assert "dense, DP4A instruction, no tensor cores" in int8
    assert "45.2 TOPS" in int8
    assert "place" not in int8  # it is ranked with no other condition's figures


def test_other_sources_show_beside_preferred(curated, client, db):
    page = page_of(client, "nvidia-b200-hgx")
    assert "180 GB" in page
    assert "1 other figure" in page
    assert "192 GB" in page


def test_unreviewed_and_retired_values_are_never_shown(curated, client, db):
    hidden = SpecValue.objects.exclude(status="public").select_related("accelerator")
    assert hidden.count() >= 20
    page = page_of(client, "nvidia-geforce-rtx-4060")
    assert "158.7 mm²" in page
    assert ">146 mm²<" not in page
    of_card = list(hidden.filter(accelerator__slug="nvidia-rtx-pro-6000-blackwell-se"))
    assert of_card
    for value in of_card:
        assert value.said_by not in page_of(client, "nvidia-rtx-pro-6000-blackwell-se")


def test_a_slug_without_variant_leads_to_the_choice(curated, client, db):
    response = client.get("/accelerators/m3-max/")
    assert (response.status_code, response.headers["Location"]) == (302, "/accelerators/?q=m3-max")
    assert client.get("/accelerators/m6/").headers["Location"] == "/accelerators/apple-m6/"
    assert client.get("/accelerators/no-such-card/").status_code == 404


@pytest.mark.parametrize("slug", ["nvidia-h100-sxm5-80gb", "apple-m3-max-40", "hailo-8"])
def test_a_sheet_costs_the_same_queries_whatever_is_on_it(curated, client, db, django_assert_num_queries, slug):
    """Once; what was rendered is kept, and asking again costs the one query that tells whether anything moved."""
    cache.clear()
    page_of(client, "nvidia-t4")  # rendered, not taken from the cache: what is public is read from now on
    cache.clear()
    with django_assert_num_queries(2):  # edition, history
        page_of(client, slug)
    with django_assert_num_queries(1):
        page_of(client, slug)


def faults_of(client, accelerator: Accelerator) -> list[str]:
    """What is wrong with a sheet as it is shown: its status, its size, a figure whose source cannot be opened."""
    answer = client.get(accelerator.get_absolute_url())
    if answer.status_code != 200:
        return [f"status {answer.status_code}"]
    size = len(answer.content.decode())
    figures = figures_of(answer.context["sheet"])
    return (
        [f"{size} characters"] * (size >= MOST_CHARS)
        + ["no figure"] * (not figures)
        + [f"no source of {figure}" for figure in figures if not has_source(figure)]
    )


def figures_of(sheet) -> list:
    """Every figure on a sheet: of each value, what confirms it, and the others."""
    return [
        figure
        for _group, fields in sheet["groups"]
        for _field, values in fields
        for value in values
        for figure in (value.figure, *value.confirmed_by, *value.others)
    ]


def has_source(figure) -> bool:
    return bool(figure.source and figure.source.url.startswith("http"))


def faults_of_sheets(client, slugs) -> dict[str, list[str]]:
    cache.clear()  # what is drawn from the cache has no `sheet` to look at
    found = {one.slug: faults_of(client, one) for one in Accelerator.objects.filter(slug__in=slugs)}
    return {slug: faults for slug, faults in found.items() if faults}


def every_slug() -> list[str]:
    slugs = list(Accelerator.objects.order_by("slug").values_list("slug", flat=True))
    assert len(slugs) > 600
    return slugs


@sampled(40)
def test_every_sheet_is_shown_stays_small_and_names_sources(curated, client, db, sample):
    assert faults_of_sheets(client, sample(every_slug())) == {}


def test_who_may_propose_is_led_from_a_sheet_to_its_values(h100, client, django_user_model):
    address = f"/admin/catalog/accelerator/{h100.pk}/change/"
    assert address not in client.get("/accelerators/nvidia-h100-sxm5-80gb/").content.decode()
    client.force_login(django_user_model.objects.create_superuser("curator"))
    assert address in client.get("/accelerators/nvidia-h100-sxm5-80gb/").content.decode()


def test_each_source_says_who_stands_behind_it(client, curated):
    page = page_of(client, "nvidia-h100-sxm5-80gb")
    badges = re.findall(r"</a>\s*<i>([^<]+)</i>", page)
    assert set(badges) == {"vendor", "press", "community", "reading"}
    sheet = read_sheet(Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb"))
    figures = [item.figure for _group, fields in sheet["groups"] for _field, values in fields for item in values]
    prices = [*sheet["prices"]["newest"], *sheet["prices"]["earlier"]]
    assert len(badges) == len(figures) + len(prices)
    assert all(figure.source and figure.source.badge for figure in figures)

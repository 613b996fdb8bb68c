"""/accelerators/: the address is the whole state, what is not understood is left out with a note."""

import csv
import html
import io
import re

import pytest
from django.core.cache import cache
from django.urls import reverse

from stackviz.pages.accelerators.list_query import COLUMN_NAMES, COLUMNS, SORTS
from stackviz.pages.accelerators.list_rows import missing_words
from stackviz.records.catalog.conditions import KEYS
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import Accelerator, CatalogueEdition, SpecValue
from stackviz.records.catalog.queries import public_catalogue
from stackviz.web.i18n.languages import address_in
from tests.pages.accelerators.orders import assert_the_order_is_that_of_the_figures_shown

LIST = "/accelerators/"
HTMX = {"HX-Request": "true"}
M3_MAX = ["Apple M3 Max (30-core GPU)", "Apple M3 Max (40-core GPU)"]
RTX_4090 = ["NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090 D", "NVIDIA GeForce RTX 4090 Laptop GPU"]


def names(response) -> list[str]:
    return re.findall(r'<th scope="row">(?:<div class="named">)?<a href="[^"]+">([^<]+)</a>', response.content.decode())


def test_the_list_has_a_row_for_each_product_in_a_known_order(curated, client, db):
    assert reverse("accelerators:list") == LIST
    response = client.get(LIST)
    page = client.get(LIST).content.decode()
    assert "<title>Accelerators · accelweb</title>" in page
    assert page.count("<h1") == 1
    assert len(names(response)) == 60
    assert f"{Accelerator.objects.count()} accelerators" in page
    (row,) = re.findall(r"<tr>(?:(?!</tr>).)*?>NVIDIA GeForce RTX 4090</a>.*?</tr>", page, re.DOTALL)
    assert "+ 2 variants" in row
    assert 'href="/accelerators/nvidia-geforce-rtx-4090-laptop/"' in row
    assert "NVIDIA GeForce RTX 4090 D" not in names(client.get(LIST))
    assert f"{Accelerator.objects.count()} accelerators" in page  # none is left out
    assert 'href="?unfolded=1"' in page
    found = re.findall(r' id="([^"]+)"', client.get(LIST).content.decode())
    assert len(found) == len(set(found))
    assert 'href="?sort=-memory_gb"' in page
    assert 'href="?sort=-tdp_w"' in page
    assert 'href="?sort=tdp_w"' in client.get(LIST + "?sort=-tdp_w").content.decode()
    first = names(client.get(LIST))
    assert first[0] == "NVIDIA H100 SXM5 80GB"
    assert {name.split()[0] for name in first[:12]} >= {"NVIDIA", "Apple", "AMD"}
    assert not any("Bionic" in name for name in first)
    assert "most asked for first" in client.get(LIST).content.decode()


def test_each_variant_can_have_a_row(curated, client, db):
    query = "?vendor=nvidia&architecture=Ada+Lovelace"
    folded, each = names(client.get(LIST + query)), names(client.get(f"{LIST}{query}&unfolded=1"))
    assert set(folded) < set(each)
    assert "NVIDIA GeForce RTX 4090 D" in each
    assert "variants of a product in one row" in client.get(f"{LIST}{query}&unfolded=1").content.decode()
    assert len(names(client.get(LIST + "?q=rtx+4090"))) == 3  # a search names each


@pytest.mark.parametrize(
    ("query", "found"),
    [
        *((f"?q={query}", M3_MAX) for query in ("m3max", "m3-max", "m3+max&vendor=apple")),
        *((f"?q={query}", M3_MAX[1:]) for query in ("Mac15,9", "m3+max+40")),
        *((f"?q={query}", RTX_4090) for query in ("4090", "rtx4090")),
        ("?q=4090+24gb", RTX_4090[:2]),
        ("?q=NVIDIA+A100-SXM4-80GB", ["NVIDIA A100 SXM4 80GB"]),
        ("?q=h100+pcie", ["NVIDIA H100 PCIe 80GB"]),
        ("?q=h100+nvl", ["NVIDIA H100 NVL 94GB"]),
        ("?q=tesla+t4", ["NVIDIA T4"]),
        ("?vendor=google&q=v5", ["Google TPU v5e", "Google TPU v5p"]),
        ("?kind=npu&q=hailo-8", ["Hailo-8", "Hailo-8L"]),
        *((f"?q={query}", []) for query in ("4090+12+GB", "m3+max&vendor=nvidia", "no+such+card", "®")),
    ],
)
def test_search_and_filters_find(curated, client, db, query, found):
    assert names(client.get(LIST + query)) == found


def test_a_name_is_found_as_reported_or_of_its_chip(curated, client, db):
    assert "NVIDIA GeForce RTX 3090" in names(client.get(LIST + "?q=GA102"))
    assert names(client.get(LIST + "?q=NVIDIA+H100"))[0].startswith("NVIDIA H100")
    assert "“Mac15,9” is an alias of" in client.get(LIST + "?q=Mac15,9").content.decode()
    page = client.get(LIST + "?q=Apple+M3+Max").content.decode()
    assert "Several accelerators report “Apple M3 Max”. To tell them apart: the number of GPU cores." in page


def test_a_sheet_that_is_not_public_is_not_offered(curated, client, db):
    Accelerator.objects.filter(slug="nvidia-a100-sxm4-80gb").update(is_public=False)
    assert "is an alias of" not in client.get(LIST + "?q=NVIDIA+A100-SXM4-80GB").content.decode()
    Accelerator.objects.filter(slug="nvidia-t4").update(is_public=False)
    response = client.get(LIST + "?q=Tesla+T4")
    assert names(response) == []
    assert client.get("/accelerators/nvidia-t4/").status_code == 404


def test_the_list_says_not_published_only_where_nothing_is(curated, db):
    catalogue = public_catalogue()
    fields = [FIELDS[name] for name in COLUMN_NAMES if name in FIELDS]
    wrong = [
        (item.slug, field.name)
        for item in catalogue.accelerators
        for field in fields
        if (values := catalogue.preferred(item.pk, field.name))
        and missing_words(field, item, values) in ("not published", "does not apply")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("slug", "field", "figure"),
    [("intel-gaudi3", "fp32_tflops", "TFLOPS"), ("nvidia-jetson-agx-orin-64gb", "bf16_tensor_tflops", "42.6 TFLOPS")],
)
def test_a_figure_under_another_condition_is_named(curated, client, db, slug, field, figure):
    page = client.get(f"{LIST}?q={slug}&cols={field}").content.decode()
    found = re.search(r'<span class="sr">(only [^<]+)</span>', page)
    assert figure in found[1]
    item = client.get(f"{LIST}?q={slug}&cols={field}&format=json").json()["items"][0]
    assert item["missing"][field] == html.unescape(found[1])


def test_a_row_has_figures_gaps_and_a_way_to_compare(curated, client, db):
    page = client.get(LIST + "?q=H100+SXM5").content.decode()
    assert "<small>GB/s</small>" in page
    assert '<span title="3,350,000,000,000 B/s">3,350</span>' in page
    assert ">989.4</span>" in page
    assert "700" in page
    page = client.get(LIST + "?q=Mac15,9").content.decode()
    assert '<span class="miss"><span class="sr">not published</span></span>' in page
    assert '<span class="miss"></span> not published' in page
    assert 'data-tray-add="apple-m3-max-40" data-tray-name="Apple M3 Max (40-core GPU)"' in page
    assert 'href="/compare/?a=apple-m3-max-40"' in page
    page = client.get(LIST + "?q=Mac15,9&cols=compute_capability,tdp_w").content.decode()
    assert '<span class="miss na"><span class="sr">does not apply</span></span>' in page
    page = client.get(LIST + "?q=H100+SXM5&cols=memory_bandwidth_gb_s").content.decode()
    share = round(3350 / 9200 * 100)  # of the MTIA 400: what has more is announced
    assert re.search(rf'<td class="num" style="--p:{share}"><span [^>]*>3,350</span>', page)


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("vendor=acme", "Unknown vendor “acme”; it was ignored."),
        ("vendor=nvidia,acme", "Unknown vendor “acme”; it was ignored."),
        ("vendor=<script>", "Unknown vendor “&lt;script&gt;”; it was ignored."),
        ("kind=toaster", "Unknown kind “toaster”"),
        ("architecture=Doric", "Unknown architecture “Doric”"),
        ("availability=soon", "Unknown availability “soon”"),
        ("form=round", "Unknown form factor “round”"),
        ("supports=fp7", "Unknown number format “fp7”"),
        ("year_from=soon", "“soon” is not a year"),
        ("memory_min=nan", "“nan” is not a memory size in GB"),
        ("memory_min=-1", "“-1” is not a memory size in GB"),
        ("power_max=many", "“many” is not a power in W"),
        ("price_max=cheap", "“cheap” is not a price in USD"),
        ("power_max=nan", "“nan” is not a power in W"),
        ("sort=-beauty", "Unknown sort key “-beauty”"),
        ("sort=--tdp_w", "Unknown sort key “--tdp_w”"),
        ("cols=tdp_w,taste", "Unknown column “taste”"),
        ("cols=vendor", "Unknown column “vendor”"),
        ("colour=red", "Unknown parameter “colour”"),
        ("q=" + "x" * 200, "longer than 100 characters"),
    ],
)
def test_what_is_not_understood_is_left_out_with_a_note(curated, client, db, query, note):
    response = client.get(f"{LIST}?{query}")
    assert response.status_code == 200
    assert note in response.content.decode()


@pytest.mark.parametrize(
    "query",
    [
        *("page=0", "page=-1", "page=9999999999", "page=zz", "q=%00", "q=%25", "q='", "q=" + "+".join("a" * 50)),
        "&".join(f"z{n}=1" for n in range(50)),
        "vendor=" + ",".join(f"v{n}" for n in range(2000)),
        "vendor=%00&kind=%00&architecture=%00&sort=%00&cols=%00&year_from=%00&memory_min=%00&format=%00",
        "year_from=99999999999999999999&memory_min=1e400",
        "year_from=٢٠٢٠&memory_min=٨",
        "sort=&cols=&format=&vendor=&q=",
        "page=4&sort=-tdp_w&cols=die_area_mm2",
    ],
)
def test_nothing_in_the_address_breaks_the_page(curated, client, db, query):
    assert client.get(f"{LIST}?{query}").status_code == 200


def test_links_lead_on_and_keep_what_was_chosen(curated, client, db):
    first, second = names(client.get(LIST)), names(client.get(LIST + "?page=2"))
    assert len(second) == 60
    assert not set(first) & set(second)
    assert 'href="?page=2"' in client.get(LIST).content.decode()
    page = client.get(LIST + "?q=&vendor=nvidia&kind=&colour=red").content.decode()
    assert 'href="?vendor=nvidia&amp;page=2"' in page
    page = client.get(LIST + "?vendor=nvidia&vendor=apple&sort=-tdp_w&cols=tdp_w&cols=memory_gb").content.decode()
    assert 'href="?vendor=nvidia&amp;vendor=apple&amp;sort=-tdp_w&amp;cols=tdp_w%2Cmemory_gb&amp;page=2"' in page
    page = client.get(LIST + "?vendor=apple&sort=-memory_gb&cols=memory_gb,tdp_w").content.decode()
    assert 'href="?vendor=apple&amp;sort=-memory_gb&amp;cols=memory_gb,tdp_w&amp;format=csv"' in page
    page = client.get(LIST + "?sort=-die_area_mm2").content.decode()
    assert re.search(r'aria-sort="descending"><a href="[?]sort=die_area_mm2"[^>]*>Die area</a><br><small>mm²', page)


def test_htmx_gets_the_table_alone_and_a_short_address(curated, client, db):
    response = client.get(LIST + "?q=h100&vendor=&kind=", headers=HTMX)
    assert "<html" not in response.content.decode()
    assert response.headers["HX-Push-Url"] == "/accelerators/?q=h100"
    assert "HX-Request" in response.headers["Vary"]
    assert client.get(LIST, headers=HTMX).headers["HX-Push-Url"] == "/accelerators/"
    ticked = "&".join(f"cols={name}" for name in COLUMN_NAMES if name in COLUMNS)
    response = client.get(f"{LIST}?q=h100&{ticked}", headers=HTMX)
    assert f"0 of {Accelerator.objects.count()} accelerators" in client.get(LIST + "?q=zzz").content.decode()
    page = client.get(LIST + "?q=h100", headers=HTMX).content.decode()
    assert '<small id="n-vendor-nvidia" hx-swap-oob="true">' in page
    assert '<small id="n-vendor-apple" hx-swap-oob="true">0</small>' in page
    response = client.get(LIST, headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert "<html" in response.content.decode()


@pytest.mark.parametrize(
    "query",
    [
        "?q=h100",
        "?q=zzz",
        "?q=a&page=2",
        "?q=m3&vendor=apple&kind=soc&sort=-memory_gb",
        "?year_from=2020&memory_min=24&supports=bf16&supports=fp8&form=pcie&sort=tdp_w&cols=tdp_w,die_area_mm2,chip",
    ],
)
def test_a_search_costs_the_same_queries_whatever_it_finds(curated, client, db, django_assert_max_num_queries, query):
    client.get(LIST)  # what is public is read from now on
    with django_assert_max_num_queries(2):  # edition, a reported name
        client.get(LIST + query)


@pytest.mark.parametrize("query", ["", "?page=2", "?vendor=nvidia", "?sort=-memory_bandwidth_gb_s", "?supports=fp8"])
def test_a_list_is_kept_and_asking_again_costs_one_query(
    curated, client, db, django_assert_max_num_queries, django_assert_num_queries, query
):
    cache.clear()
    with django_assert_max_num_queries(6):  # edition, and what is public: accelerators, sources, values, names, prices
        client.get(LIST + query)
    with django_assert_num_queries(1):
        client.get(LIST + query)


def test_a_kept_list_gives_way_to_a_change(client, bandwidth):
    assert "3,350" in client.get(LIST + "?sort=name").content.decode()
    bandwidth.value = "3352"
    bandwidth.save()
    assert "3,352" in client.get(LIST + "?sort=name").content.decode()
    bandwidth.delete()
    assert "3,352" not in client.get(LIST + "?sort=name").content.decode()


def test_a_kept_list_gives_way_to_a_load(client, curated, db):
    """Rows that a load writes in bulk send no signals."""
    SpecValue.objects.filter(field="tdp_w").delete()
    before = CatalogueEdition.current()
    load_catalogue(force=True)
    assert CatalogueEdition.current() != before


def test_no_request_is_in_a_kept_list(client, curated, db, monkeypatch):
    """Whoever asks first leaves nothing of theirs behind, and a request is not changed by being answered."""
    cache.clear()
    asked = []
    monkeypatch.setattr(
        "stackviz.pages.accelerators.list_page.render_part",
        lambda name, **values: asked.append((name, values)) or "found",
    )
    response = client.get(LIST + "?vendor=nvidia&colour=red")
    client.get(LIST + "?vendor=nvidia&kind=")
    assert len(asked) == 4
    assert all("request" not in context for _name, context in asked)
    assert response.wsgi_request.GET["colour"] == "red"


@pytest.mark.parametrize(
    "query", ["", "?q=h100", "?year_from=2020", "?memory_min=1", "?cols=tdp_w", "?vendor=nvidia&kind=gpu", "?page=2"]
)
def test_unknown_parameters_do_not_render_the_list_again(client, curated, db, monkeypatch, query):
    client.get(LIST + query)
    monkeypatch.setattr(
        "stackviz.pages.accelerators.list_page._results_html", lambda *_given: pytest.fail("rendered again")
    )
    again = client.get(f"{LIST}{query}{'&' if query else '?'}_=1").content.decode()
    assert "Unknown parameter “_”" in again
    assert "Unknown parameter" not in client.get(LIST + query).content.decode()


@pytest.mark.parametrize("query", ["", "?page=2", "?sort=-fp16_tensor_tflops", "?sort=release_date&vendor=nvidia"])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_list_stays_small(curated, client, db, query, language):
    assert len(client.get(address_in(language, LIST + query)).content) < 105_000


@pytest.mark.parametrize("sort", ["memory_bandwidth_gb_s", "-memory_bandwidth_gb_s", "architecture", "-architecture"])
def test_unknown_figures_are_last_and_counted(curated, client, db, sort):
    field = sort.removeprefix("-")
    unknown = sum(not row for row in figures(client, sort))
    assert 0 < unknown < 217
    assert figures(client, sort)[-unknown:] == [""] * unknown
    assert f"{unknown} without a published value are listed last" in client.get(f"{LIST}?sort={sort}").content.decode()
    assert field in client.get(f"{LIST}?sort={sort}&format=csv").content.decode()


def figures(client, sort: str) -> list[str]:
    """The figures of the field sorted by, in the list's order, "" where none is published."""
    rows = csv.DictReader(io.StringIO(client.get(f"{LIST}?sort={sort}&format=csv").content.decode()))
    return [row[sort.removeprefix("-")] for row in rows]


@pytest.mark.parametrize("key", sorted(SORTS))
def test_sorting_follows_the_figures_shown(curated, db, key):
    assert_the_order_is_that_of_the_figures_shown(key)


def test_sorted_names_and_numbers_are_in_their_own_order(curated, client, db):
    vendors = list(dict.fromkeys(name.split()[0] for name in names(client.get(LIST + "?sort=name&kind=asic"))))
    assert vendors[:5] == ["Alibaba", "AWS", "Baidu", "Cambricon", "Cerebras"]
    found = [text for text in figures(client, "compute_capability") if re.fullmatch(r"\d+\.\d", text)]
    assert found == sorted(found, key=float)
    assert {"9.0", "12.0"} <= set(found)
    found = names(client.get(LIST + "?q=a100"))
    by_name = names(client.get(LIST + "?q=a100&sort=name"))
    assert by_name == sorted(by_name, key=str.casefold)
    assert sorted(found) == sorted(by_name)
    assert 'href="?q=a100&amp;sort=name"' in client.get(LIST + "?q=a100").content.decode()
    assert 'href="?q=a100&amp;sort=-name"' in client.get(LIST + "?q=a100&sort=name").content.decode()
    assert 'href="?sort=-name"' in client.get(LIST + "?sort=name").content.decode()
    assert 'aria-sort="ascending"><a href="?sort=-kind"' in client.get(LIST + "?sort=kind").content.decode()
    first = names(client.get(LIST + "?vendor=apple&sort=-memory_bandwidth_gb_s"))
    last = names(client.get(LIST + "?vendor=apple&sort=memory_bandwidth_gb_s"))
    assert "Apple M3 Max (40-core GPU)" in first
    assert "Apple M3 Max (30-core GPU)" in last


def test_a_filter_says_what_it_leaves_out_and_can_be_removed(curated, client, db):
    page = client.get(LIST + "?memory_min=80&power_max=350").content.decode()
    (count, address) = re.search(
        r'(\d+) more have no published figure for this filter: .*? <a href="([^"]*)"', page
    ).groups()
    matching = int(re.search(r"(\d+) of \d+ accelerators", page)[1])
    there = client.get(LIST + html.unescape(address)).content.decode()
    assert int(re.search(r"(\d+) of \d+ accelerators", there)[1]) == matching + int(count)
    assert "also without a published figure" in there
    assert "more have no published figure" not in there
    assert "more have no published figure" not in client.get(LIST + "?vendor=nvidia").content.decode()
    response = client.get(LIST + "?memory_min=80&power_max=350")
    assert "Apple M3 Max (40-core GPU)" in names(response)
    assert "60</span> <small>GPU alone</small>" in response.content.decode()
    page = client.get(
        LIST + "?q=a&vendor=nvidia&vendor=apple&supports=bf16&year_from=2020&memory_min=16"
    ).content.decode()
    assert "at most 350 W" in client.get(LIST + "?power_max=350").content.decode()
    for rest in (
        "?vendor=nvidia&amp;vendor=apple&amp;supports=bf16&amp;year_from=2020&amp;memory_min=16",
        "?q=a&amp;vendor=apple&amp;supports=bf16&amp;year_from=2020&amp;memory_min=16",
        "?q=a&amp;vendor=nvidia&amp;vendor=apple&amp;supports=bf16&amp;year_from=2020",
    ):
        assert f'<a class="chip" href="{rest}"' in page
    assert "at least 16 GB" in page
    page = client.get(LIST + "?supports=fp8&vendor=amd").content.decode()
    (count,) = re.findall(r'<small id="n-vendor-nvidia">(\d+)</small>', page)
    assert (
        f"{count} of {Accelerator.objects.count()} accelerators"
        in client.get(LIST + "?supports=fp8&vendor=nvidia").content.decode()
    )


def test_rate_sorts_by_dense_fp32_accumulate(curated, client, db):
    rows = csv.DictReader(io.StringIO(client.get(LIST + "?sort=-fp16_tensor_tflops&format=csv").content.decode()))
    found = {row["slug"]: row for row in rows}
    assert found["nvidia-geforce-rtx-4090"]["fp16_tensor_tflops"] == "165.2"
    assert found["nvidia-geforce-rtx-4090"]["fp16_tensor_tflops_condition"] == "sparsity=dense; accumulate=fp32"
    assert found["nvidia-h100-sxm5-80gb"]["fp16_tensor_tflops"] == "989.4"
    assert not any("sparse" in row["fp16_tensor_tflops_condition"] for row in found.values())


@pytest.mark.parametrize(
    ("query", "inside", "outside"),
    [
        ("?supports=fp8", "NVIDIA H100 SXM5 80GB", "NVIDIA A100 SXM4 80GB"),
        ("?supports=fp64&vendor=nvidia", "NVIDIA A100 SXM4 80GB", "NVIDIA GeForce RTX 4090"),
        ("?architecture=hopper", "NVIDIA H100 SXM5 80GB", "NVIDIA A100 SXM4 80GB"),
        ("?year_from=2022&year_to=2022&vendor=nvidia", "NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 3090"),
        ("?memory_min=128&vendor=apple", "Apple M3 Max (40-core GPU)", "Apple M3 Max (30-core GPU)"),
        ("?memory_min=80GB&vendor=nvidia&q=100", "NVIDIA H100 SXM5 80GB", "NVIDIA A100 SXM4 40GB"),
        ("?power_max=350&vendor=nvidia", "NVIDIA H100 PCIe 80GB", "NVIDIA H100 SXM5 80GB"),
        ("?power_max=350W&vendor=nvidia", "NVIDIA H100 PCIe 80GB", "NVIDIA GH200 (144GB HBM3e)"),
        ("?form=sxm", "NVIDIA H100 SXM5 80GB", "NVIDIA H100 PCIe 80GB"),
        ("?availability=announced", "AMD Instinct MI455X", "AMD Instinct MI300X"),
        ("?availability=released", "AMD Instinct MI300X", "AMD Instinct MI455X"),
        ("?vendor=nvidia,apple&q=40", "Apple M3 Max (40-core GPU)", "AMD Instinct MI300X"),
    ],
)
def test_a_filter_keeps_one_and_leaves_the_other(curated, client, db, query, inside, outside):
    rows = csv.DictReader(io.StringIO(client.get(f"{LIST}{query}&format=csv").content.decode()))
    found = {row["name"] for row in rows}
    assert inside in found
    assert outside not in found


def test_filtered_rate_becomes_a_column(curated, client, db):
    assert "fp8 tensor" in client.get(LIST + "?supports=fp8").content.decode().split("<tbody>")[0].split("<thead>")[1]
    rows = list(csv.DictReader(io.StringIO(client.get(f"{LIST}?supports=fp8&format=csv").content.decode())))
    figures = {row["slug"]: row["fp8_tensor_tflops"] for row in rows}
    assert figures["nvidia-h200-sxm"] == "1979"
    assert figures["nvidia-gh200-144gb"] == ""


def test_keys_that_name_variants_stand_last_in_a_condition():
    """The database tells the variants of a figure by how their condition begins."""
    varying = [key.varies for key in KEYS]
    assert varying == sorted(varying)

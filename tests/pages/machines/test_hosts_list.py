"""The public hosts of /machines/: what filters find, what order and files say, and what the page costs."""

import csv
import io

import pytest
from django.contrib.auth.models import User

from stackviz.pages.machines.hosts_charts import hosts_headline, memory_chart, stack_tables
from stackviz.pages.machines.hosts_query import FACETS, natural
from stackviz.pages.machines.hosts_rows import known_hosts
from stackviz.records.catalog.models import Accelerator, Source, SpecValue, Vendor
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.models import CitedResult, CitedSource
from stackviz.records.hosts.models import Host
from stackviz.records.labs.models import Membership
from stackviz.records.stacks.rule_tables import rule_tables
from tests.pages.machines.factories import make_lab, make_machine, make_report
from tests.records.hosts.factories import add_host, card_fields

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
MODEL = {"model": "Llama 2 7B", "quant": "Q4_0", "test": "tg128"}


def sheet(vendor: Vendor, slug: str, name: str, gb_per_s: float, architecture: str = "") -> Accelerator:
    made = Accelerator.objects.create(slug=slug, name=name, vendor=vendor, kind="gpu", is_public=True)
    source, _new = Source.objects.get_or_create(key="sheet", title="A sheet", url="https://example.org/sheet")
    values = [("memory_bandwidth_gb_s", str(gb_per_s), "GB/s"), ("architecture", architecture, "")]
    for field, value, unit in values:
        if value:
            SpecValue.objects.create(
                accelerator=made, field=field, value=value, unit=unit, source=source, status="public", is_preferred=True,
            )  # fmt: skip
    return made


def add_result(host: Host, rate: float, accelerator: Accelerator | None = None, **params) -> CitedResult:
    source, _new = CitedSource.objects.get_or_create(key="a-source", title="A source", url="https://example.org/a")
    result = CitedResult(
        host=host, accelerator=accelerator, reported_name="A card", benchmark="llama-bench", params={**MODEL, **params},
        value=str(rate), unit="token/s", source=source, state="public" if accelerator else "unmatched",
    )  # fmt: skip
    result.save()
    return result


@pytest.fixture
def nvidia(db) -> Vendor:
    return Vendor.objects.create(slug="nvidia", name="NVIDIA")


@pytest.fixture
def apple(db) -> Vendor:
    return Vendor.objects.create(slug="apple", name="Apple")


@pytest.fixture
def hosts(nvidia, apple) -> dict[str, Host]:
    """Two hosts of NVIDIA and one Mac."""
    ada = sheet(nvidia, "nvidia-geforce-rtx-4090", "NVIDIA GeForce RTX 4090", 1008, "Ada Lovelace")
    chip = sheet(apple, "apple-m4-max-40", "Apple M4 Max", 546)
    desktop = add_host(
        nvidia,
        title="RTX 4090, Ubuntu 24.04, driver 580",
        slug="rtx-4090-ubuntu",
        form="desktop",
        system="Ubuntu 24.04.4 LTS",
        cards=[card_fields(ada, driver_version="580.126.09")],
        components={"pytorch": "2.8.0+cu128", "torch.cuda_version": "12.8", "llama-cpp": ""},
    )
    wsl = add_host(
        nvidia,
        title="2x RTX 4090, Windows",
        slug="rtx-4090-windows",
        system="Windows 11",
        seen_on="2026-05-01",
        cards=[card_fields(ada, driver_version="32.0.15.7680"), {**card_fields(ada), "index": 1}],
        teaches="Two cards are slower than one.",
    )
    mac = add_host(
        apple,
        title="Mac Studio M4 Max, 128 GB",
        slug="mac-studio",
        form="mini",
        system="macOS",
        seen_on="2026-06-01",
        cards=[{"reported_name": "Apple M4 Max", "accelerator": chip}],
        components={"macos": "26.5.2", "mlx": "0.32.0"},
    )
    add_result(desktop, 180.0, ada)
    add_result(mac, 80.0, chip)
    return {"desktop": desktop, "windows": wsl, "mac": mac}


def listed_slugs(client, query: str) -> list[str]:
    """The slugs that the file of this query has, in its order."""
    response = client.get(f"/hosts/?format=csv&{query}")
    assert response.status_code == 200, response.content
    return [row["slug"] for row in csv.DictReader(io.StringIO(response.content.decode()))]


@pytest.mark.parametrize(
    ("query", "slugs"),
    [
        ("", ["rtx-4090-ubuntu", "mac-studio", "rtx-4090-windows"]),
        ("vendor=apple", ["mac-studio"]),
        ("vendor=apple&vendor=nvidia&form=desktop", ["rtx-4090-ubuntu"]),
        ("accelerator=nvidia-geforce-rtx-4090", ["rtx-4090-ubuntu", "rtx-4090-windows"]),
        ("generation=Ada+Lovelace", ["rtx-4090-ubuntu", "rtx-4090-windows"]),
        ("generation=M4", ["mac-studio"]),
        ("form=unknown", ["rtx-4090-windows"]),
        ("system=windows", ["rtx-4090-windows"]),
        ("macos=26", ["mac-studio"]),
        ("mlx=0.32", ["mac-studio"]),
        ("cuda=12.8", ["rtx-4090-ubuntu"]),
        ("torch=2.8", ["rtx-4090-ubuntu"]),
        ("torch=unknown", ["mac-studio", "rtx-4090-windows"]),
        ("engine=llama-cpp", ["rtx-4090-ubuntu"]),
        ("engine=unknown", ["rtx-4090-windows"]),
        ("shows=fault", ["rtx-4090-windows"]),
        ("shows=results", ["rtx-4090-ubuntu", "mac-studio"]),
        ("q=4090+windows", ["rtx-4090-windows"]),
        ("q=4090&shows=results&driver=580", ["rtx-4090-ubuntu"]),
        ("sort=accelerator", ["mac-studio", "rtx-4090-windows", "rtx-4090-ubuntu"]),
    ],
)
def test_filters_find_the_hosts_that_match(client, hosts, query, slugs):
    assert listed_slugs(client, query) == slugs


def test_a_windows_driver_has_the_number_nvidia_gives_it(client, hosts):
    (branch,) = {row.driver for row in known_hosts().rows if row.slug == "rtx-4090-windows"}
    assert branch in ("575", "576")  # with the table of branches and without
    assert listed_slugs(client, f"driver={branch}") == ["rtx-4090-windows"]


def test_the_rate_of_a_test_sorts_the_best_first(client, hosts):
    (test,) = known_hosts().tests
    assert listed_slugs(client, f"sort={test}")[:2] == ["rtx-4090-ubuntu", "mac-studio"]
    page = client.get(f"/machines/?sort={test}").content.decode()
    assert page.index("180 tokens/s") < page.index("80 tokens/s")


@pytest.mark.parametrize("facet", [facet.name for facet in FACETS])
def test_an_unknown_value_is_refused_in_files(client, hosts, facet):
    response = client.get(f"/hosts/?format=json&{facet}=nonsense")
    assert response.status_code == 422
    assert response.json()["field"] == facet
    page = client.get(f"/machines/?{facet}=nonsense")
    assert page.status_code == 200
    assert "“nonsense”" in page.content.decode()


@pytest.mark.parametrize("query", ["sort=nonsense", "colour=red", "stack=red"])
def test_a_file_refuses_what_it_does_not_know(client, hosts, query):
    assert client.get(f"/hosts/?format=csv&{query}").status_code == 422
    assert client.get("/machines/?format=xml").status_code == 406


def test_each_choice_says_how_many_it_would_find(client, hosts):
    page = client.get("/machines/?vendor=nvidia").content.decode()
    counts = {name: page.split(f'id="n-{name}">')[1].split("<")[0] for name in ("vendor-apple", "system-macos")}
    assert counts == {"vendor-apple": "1", "system-macos": "0"}
    part = client.get("/hosts/?vendor=nvidia", headers=HTMX).content.decode()
    assert '<small id="n-form-desktop" hx-swap-oob="true">1</small>' in part
    assert "2 of 3 public hosts" in part


def test_the_file_says_what_the_page_says(client, hosts):
    response = client.get("/hosts/?format=json&vendor=apple")
    (mac,) = response.json()
    assert (mac["macos"], mac["driver"], mac["mlx"], mac["form"]) == ("26", "", "0.32", "mini")
    assert mac["rate"] == "80 tokens/s"
    assert mac["address"] == "http://testserver/hosts/mac-studio/"
    assert client.get("/machines/?format=json&vendor=apple").content == response.content


def test_a_page_has_the_two_pictures_until_filters_are_on(client, hosts):
    whole = client.get("/machines/").content.decode()
    assert "3 real machines" in whole
    assert 'class="host-stacks' in whole
    assert 'href="?vendor=nvidia&amp;generation=Ada+Lovelace&amp;driver=580#hosts"' in whole
    assert 'class="host-stacks' not in client.get("/machines/?vendor=nvidia").content.decode()


def test_tables_of_stacks_count_what_filters_find(client, hosts):
    for by in ("system", "compute", "torch", "engine"):
        for table in stack_tables(known_hosts(), by):
            for _generation, cells in table.rows:
                for cell in cells:
                    if cell.count:
                        assert len(listed_slugs(client, cell.url[1:].removesuffix("#hosts"))) == cell.count


def test_no_host_reads_more_than_its_memory_allows(nvidia):
    ada = sheet(nvidia, "nvidia-geforce-rtx-4090", "NVIDIA GeForce RTX 4090", 1008)
    for number in range(6):
        host = add_host(nvidia, title=f"RTX 4090 number {number}", cards=[card_fields(ada)])
        add_result(host, 100.0 + number, ada)
    add_result(host, 5000.0, ada)
    chart = memory_chart(known_hosts())
    assert chart is not None
    assert len(chart.points) == 6
    assert all(0 < point.row.memory.share <= 1 for point in chart.points)
    assert chart.points[0].bandwidth == "1,008"


def test_the_finding_counts_medians_of_both_vendors(nvidia, apple):
    sheets = [
        sheet(nvidia, "nvidia-geforce-rtx-4090", "NVIDIA GeForce RTX 4090", 1000),
        sheet(apple, "apple-m4-max-40", "Apple M4 Max", 500),
    ]
    assert hosts_headline(known_hosts())[0].startswith("0 real machines, as")
    for made, rates in zip(sheets, ([100, 130, 200], [50, 65, 70]), strict=True):
        for rate in rates:
            host = add_host(made.vendor, title=f"{made.name} {rate}", cards=[card_fields(made)])
            add_result(host, rate, made)
    shares = [row.memory.share for row in known_hosts().rows if row.vendor == "apple"]
    assert len(shares) == 3
    title, basis = hosts_headline(known_hosts())
    assert f"{sorted(shares)[1] * 100:.0f} % of a Mac's" in title
    assert title.startswith("6 real machines")
    assert "3 hosts, each on one NVIDIA card, and of 3 Macs" in basis


def test_a_withdrawn_host_is_not_listed(client, hosts):
    hosts["mac"].state, hosts["mac"].reason = Host.State.WITHDRAWN, "its owner asked"
    hosts["mac"].save()
    assert listed_slugs(client, "") == ["rtx-4090-ubuntu", "rtx-4090-windows"]
    assert "mac-studio" not in client.get("/machines/").content.decode()


def test_lab_machines_keep_a_section_of_their_own(client, hosts):
    lab = make_lab()
    make_report(make_machine(lab, "dgx-07"))
    page = client.get("/machines/").content.decode()
    assert page.index("RTX 4090") < page.index("dgx-07")
    assert page.count('class="kind probed"') == 1
    member = User.objects.create_user("mina")
    Membership.objects.create(lab=lab, user=member)
    client.force_login(member)
    page = client.get("/machines/").content.decode()
    assert page.index("dgx-07") < page.index('id="hosts"')
    assert "RTX 4090" not in client.get("/machines/", headers=HTMX).content.decode()


def test_queries_are_as_many_with_ten_times_the_hosts(client, nvidia, django_assert_num_queries):
    ada = sheet(nvidia, "nvidia-geforce-rtx-4090", "NVIDIA GeForce RTX 4090", 1008)

    def add(numbers: range) -> None:
        for number in numbers:
            host = add_host(nvidia, title=f"RTX 4090 number {number}", cards=[card_fields(ada)])
            add_result(host, 100.0 + number, ada)

    for numbers in (range(4), range(4, 40)):
        add(numbers)
        assert client.get("/machines/").status_code == 200  # reads the hosts of this edition
        for address, count in (("/machines/", 3), ("/machines/?vendor=nvidia", 3), ("/hosts/?form=desktop", 1)):
            with django_assert_num_queries(count):
                assert client.get(address, headers=HTMX if "/hosts/" in address else {}).status_code == 200


def test_hosts_are_read_with_as_many_queries_as_ever(client, nvidia, django_assert_max_num_queries):
    ada = sheet(nvidia, "nvidia-geforce-rtx-4090", "NVIDIA GeForce RTX 4090", 1008)
    counts = []
    for numbers in (range(4), range(4, 40)):
        for number in numbers:
            host = add_host(nvidia, title=f"RTX 4090 number {number}", cards=[card_fields(ada)])
            add_result(host, 100.0 + number, ada)
        public_catalogue()
        rule_tables()
        with django_assert_max_num_queries(20) as captured:
            client.get("/machines/")
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_names_sort_by_their_numbers():
    assert sorted(["M10", "M5", "RTX 5090", "RTX 980"], key=natural) == ["M5", "M10", "RTX 980", "RTX 5090"]

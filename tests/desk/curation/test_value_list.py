"""The list of values, the tabs of an accelerator and the desk: words instead of codes, in a fixed number of queries."""

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from stackviz.desk.curation.propose import propose
from stackviz.records.catalog.models import Accelerator, Alias, SpecValue, Vendor
from tests.pages.machines.factories import gemm, h100, make_lab, make_machine, make_report

VALUES = reverse("admin:catalog_specvalue_changelist")


@pytest.fixture
def desk(client, db):
    client.force_login(User.objects.create_superuser("mira"))
    return client


def names_of(response) -> list[str]:
    """The fields of the rows shown."""
    return re.findall(r'class="field-label[^>]*><a[^>]*>([^<]*)<', response.content.decode())


def test_a_row_says_field_value_condition_source_and_mark(desk, bandwidth, django_assert_max_num_queries):
    desk.get(VALUES)
    with django_assert_max_num_queries(12):
        text = desk.get(VALUES, {"q": "Acme bandwidth"}).content.decode()
    row = next(row for row in text.split("<tr") if f"/{bandwidth.pk}/change/" in row)
    for said in ("Memory bandwidth", "3,350 GB/s", f'title="{bandwidth.source.title}"', 'aria-label="preferred"'):
        assert said in row
    for search in ("memory bandwidth", "memory_bandwidth", '"memory bandwidth"'):
        assert "Memory bandwidth" in names_of(desk.get(VALUES, {"q": search})), search


def test_a_search_for_nothing_finds_nothing(desk, bandwidth):
    for search in ("board walrus", "\x00", "%", "' OR 1=1 --", "x" * 5000):
        answer = desk.get(VALUES, {"q": search})
        assert (answer.status_code, search == "\x00" or names_of(answer) == []) == (200, True)


def test_values_of_one_accelerator_are_chosen_by_a_select(desk, bandwidth, sheet_source):
    two = Accelerator.objects.create(slug="acme-two", name="Two", vendor=bandwidth.accelerator.vendor, kind="gpu")
    other = SpecValue.objects.create(accelerator=two, field="tdp_w", value="700", unit="W", source=sheet_source)
    text = desk.get(VALUES, {"accelerator__id__exact": bandwidth.accelerator_id}).content.decode()
    assert f'<option value="{bandwidth.accelerator_id}" selected>' in text
    assert f"/specvalue/{bandwidth.pk}/change/" in text
    assert f"/specvalue/{other.pk}/change/" not in text
    assert 'class="field-accelerator' not in text  # the tabs above say which
    for nonsense in ("x", "9" * 40, "-1"):
        assert names_of(desk.get(VALUES, {"accelerator__id__exact": nonsense})) == []


def test_every_tab_of_an_accelerator_leads_to_a_page_with_tabs(desk, bandwidth):
    accelerator = bandwidth.accelerator
    Alias.objects.create(accelerator=accelerator, name="Hundred", kind="card", source=bandwidth.source)
    accelerator.name = "Renamed"
    accelerator.save()
    start = desk.get(reverse("admin:catalog_accelerator_change", args=[accelerator.pk])).content.decode()
    assert f"Names ({accelerator.aliases.count()})" in start
    tabs = re.search(r'<ul class="tabs">(.*?)</ul>', start, re.DOTALL)[1]
    addresses = [address.replace("&amp;", "&") for address in re.findall(r'href="([^"]+)"', tabs)]
    assert len(addresses) == 6
    history = next(address for address in addresses if address.endswith("/history/"))
    then = re.search(rf'href="([^"]*{history}\d+/)"', desk.get(history).content.decode())[1]
    for address in (*addresses, then):
        page = desk.get(address).content.decode()
        shown = re.search(r'<ul class="tabs">(.*?)</ul>', page, re.DOTALL)
        assert shown, address
        assert len(re.findall("<a ", shown[1])) == 6
        assert shown[1].count('aria-current="page"') == 1, address


def test_the_machines_of_an_accelerator_are_a_tab(desk, client, bandwidth, django_assert_max_num_queries):
    lab = make_lab()
    make_report(make_machine(lab, "dgx-07"), cards=[h100(0, bandwidth.accelerator)])
    make_report(make_machine(lab, "other"), cards=[])
    url = reverse("admin:catalog_accelerator_machines", args=[bandwidth.accelerator_id])
    with django_assert_max_num_queries(8):
        text = desk.get(url).content.decode()
    assert ("dgx-07" in text, "other" in text) == (True, False)
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_accelerator"))
    client.force_login(viewer)
    assert client.get(url).status_code == 403


def test_the_desk_counts_what_waits(desk, bandwidth, django_assert_max_num_queries):
    wanted = SpecValue.objects.select_related("source", "accelerator").get(pk=bandwidth.pk)
    wanted.value = "3352"
    propose(wanted, by=User.objects.get(), reason="because")
    unknown = {**h100(), "reported_name": "NVIDIA H999"}
    flagged = gemm("bf16", [0.0001] * 3, flags="above-bound", standing="flagged")
    make_report(make_machine(make_lab(), "dgx-07"), cards=[unknown], results=[flagged])
    with django_assert_max_num_queries(11):
        text = desk.get("/admin/").content.decode()
    for title in ("Proposals", "Unmatched names", "Flagged results"):
        assert re.search(rf"<b>1</b> {title}", text)
    assert re.search(r"<b>0</b> Stale values", text)


def test_the_desk_shows_nobody_more_than_they_may_see(client, db):
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_card"))
    client.force_login(viewer)
    text = client.get("/admin/").content.decode()
    assert "Unmatched names" in text
    assert not re.search("Flagged results|Thin spec sheets|Import a table|waiting for review", text)


def test_lists_sort_and_say_as_people_do(desk):
    for name in ("apple", "AWS", "Zeta"):
        Vendor.objects.create(slug=name.lower(), name=name)
    text = desk.get(reverse("admin:catalog_vendor_changelist")).content.decode()
    assert text.index(">apple<") < text.index(">AWS<") < text.index(">Zeta<")
    make_report(make_machine(make_lab(), "dgx-07"), results=[gemm("bf16", [0.00018150730388] * 3)])
    text = desk.get("/admin/benchmarks/result/").content.decode()
    assert ("dgx-07" in text, "Matrix product" in text, "0.00018150730388" in text) == (True, True, False)
    assert re.search(r"18[12](\.\d)? µs|0\.182 ms", text)

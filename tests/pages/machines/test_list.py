"""The list of machines and a lab's fleet: who is on it, at what cost, what a private lab gives away (nothing)."""

import csv
import re
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from stackviz.pages.machines.hosts_rows import known_hosts
from stackviz.records.catalog.models import Accelerator, Vendor
from stackviz.records.labs.models import AgentHeartbeat, Machine, Report, Snapshot
from tests.pages.machines.factories import START, days, h100, make_lab, make_machine, make_report, warning

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def text_of(client, url, **kwargs):
    response = client.get(url, **kwargs)
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def h100_sheet():
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    return Accelerator.objects.create(
        slug="h100-sxm5-80gb", name="NVIDIA H100 SXM5 80GB", vendor=vendor, is_public=True
    )


def test_instances_of_a_card_are_no_cards_of_their_own(client, h100_sheet):
    name = "NVIDIA H100 80GB HBM3 MIG 3g.40gb"
    instances = [{**h100(index, h100_sheet, mig_parent_index=0), "reported_name": name} for index in (2, 3)]
    machine = make_machine(make_lab(), "dgx-07")
    make_report(machine, cards=[h100(0, h100_sheet), h100(1, h100_sheet), *instances])
    for address in ("/machines/", machine.get_absolute_url()):
        page = " ".join(client.get(address).content.decode().split())
        assert "2 × " in page, address
        assert "4 × " not in page, address


def test_machine_list_shows_cpu_memory_and_torch(client, h100_sheet):
    make_report(make_machine(make_lab(), "dgx-07"), cards=[h100(index, h100_sheet) for index in range(8)])
    text = text_of(client, "/machines/")
    for shown in ("dgx-07", "Xeon(R) Platinum 8480C", "1.968 TiB", "Ubuntu 22.04", "3.12.4", "2.8.0+cu128"):
        assert shown in text
    assert '<a href="/accelerators/h100-sxm5-80gb/">8 × NVIDIA H100 SXM5 80GB</a>' in text


def test_the_newest_report_comes_first_and_gaps_say_why(client):
    lab = make_lab()
    absent = {"torch.version": {"reason": "not_installed"}}
    make_report(make_machine(lab, "day-1"), at=START, findings=[warning(severity="note", rule="n")])
    make_report(make_machine(lab, "day-2"), at=START + days(1), facts={"os.name": "macOS"}, absent=absent)
    make_machine(lab, "silent")
    text = text_of(client, "/machines/")
    assert text.index("day-2") < text.index("day-1") < text.index("silent")
    for shown in ("not installed", "not reported", "no report has been read yet", '<span class="st note">1 finding'):
        assert shown in text


def test_the_list_counts_findings_as_the_machine_page_does(client):
    findings = [
        warning(severity="fits", title="It fits"),
        warning(severity="note", rule="n"),
        warning(rule="b", severity="broken", title="It cannot work"),
        warning(rule="c"),
        warning(severity="cannot-tell", rule="t"),
    ]
    machine = make_machine(make_lab())
    make_report(machine, findings=findings)
    assert '<span class="st broken">4 findings</span>' in text_of(client, "/machines/")
    page = text_of(client, machine.get_absolute_url())
    listed = page[page.index('<ul class="findings">') : page.index("</section>", page.index('<ul class="findings">'))]
    assert listed.count('<li class="finding ') == 4


def test_machine_list_query_count_is_constant(client, django_assert_num_queries, h100_sheet):
    lab = make_lab()
    for number in range(12):
        machine = make_machine(lab, f"m-{number}")
        for day in range(2):
            make_report(machine, at=START + days(day), cards=[h100(0, h100_sheet)], findings=[warning()])
    known_hosts()  # read once an edition
    # One more than on a full page: machines without a report are looked for too; one is of the editions.
    for url in ("/machines/", "/machines/?q=m-1"):
        with django_assert_num_queries(6):
            text_of(client, url)
    with django_assert_num_queries(7):
        text_of(client, "/machines/?accelerator=h100-sxm5-80gb")
    with django_assert_num_queries(7):  # who is silent
        text_of(client, "/machines/north/")


@pytest.mark.parametrize("url", ["/machines/", "/", "/sitemap-machines.xml"])
def test_strangers_see_a_lab_while_it_is_public(client, admin_client, url):
    lab = make_lab()
    make_report(make_machine(lab, "dgx-77"))
    assert "dgx-77" in client.get(url).content.decode()
    lab.is_public = False
    lab.save()
    for _ in range(2):
        assert ("dgx-77" in admin_client.get(url).content.decode()) == (not url.endswith("xml"))
        assert "dgx-77" not in client.get(url).content.decode()


def test_machines_are_found_by_name_and_by_accelerator(client, h100_sheet):
    lab = make_lab()
    machine = make_machine(lab, "dgx-07")
    make_report(machine, cards=[h100(0, h100_sheet)])
    make_report(make_machine(lab, "mac-01"))
    assert "mac-01" not in text_of(client, "/machines/?q=DGX")
    by_card = "/machines/?accelerator=h100-sxm5-80gb"
    with_card, part = text_of(client, by_card), text_of(client, by_card, headers=HTMX)
    assert "dgx-07" in with_card
    assert "mac-01" not in with_card
    assert "dgx-07" in part
    assert "<html" not in part
    none = text_of(client, "/machines/?accelerator=nothing-of-that-name", headers=HTMX)
    assert "No public machine has reported this accelerator yet." in none
    assert "<html" in text_of(client, "/machines/", headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert "HX-Request" in client.get("/machines/")["Vary"]
    make_report(machine, at=START + days(1), cards=[])
    assert "dgx-07" not in text_of(client, by_card)


@pytest.mark.parametrize("url", ["/machines/", "/machines/?q=hidden", "/machines/?accelerator=h100-sxm5-80gb"])
def test_a_private_machine_is_in_no_list(client, url, h100_sheet):
    make_report(make_machine(make_lab("secret", is_public=False), "hidden-01"), cards=[h100(0, h100_sheet)])
    text = text_of(client, url).replace("hidden&quot;", "").replace('value="hidden"', "")
    assert "hidden-01" not in text
    assert "Secret lab" not in text


def test_private_lab_exists_for_members_only(client, django_user_model):
    lab = make_lab("secret", is_public=False)
    make_report(make_machine(lab, "hidden-01"))
    assert client.get("/machines/secret/").status_code == 404
    stranger, member = (django_user_model.objects.create_user(name) for name in ("sam", "mei"))
    client.force_login(stranger)
    assert client.get("/machines/secret/").status_code == 404
    lab.memberships.create(user=member)
    client.force_login(member)
    text = text_of(client, "/machines/secret/")
    assert "hidden-01" in text
    assert "private" in text


def test_an_unpublished_sheet_is_not_named_by_its_machines(client, h100_sheet):
    Accelerator.objects.update(is_public=False)
    make_report(make_machine(make_lab()), cards=[h100(0, h100_sheet)])
    text = text_of(client, "/machines/")
    assert "NVIDIA H100 80GB HBM3" in text
    assert "H100 SXM5" not in text


def test_pages_of_a_long_list_lead_on_and_keep_the_filter(client):
    lab = make_lab()
    for number in range(51):
        make_machine(lab, f"node-{number:02}")
    text = text_of(client, "/machines/?q=node")
    following = re.search(r'rel="next" href="(\?q=node&amp;page=after\.[^"]+)"', text)[1].replace("&amp;", "&")
    second, by_number = (text_of(client, f"/machines/{query}") for query in (following, "?q=node&page=2"))
    assert "node-00" in second
    assert second.count('<th scope="row">') == 21
    assert second.split('<div id="machines"')[1] == by_number.split('<div id="machines"')[1]


def test_hostile_names_are_text(client):
    evil = "<img src=x onerror=alert(1)>"
    lab = make_lab(name=evil)
    facts = dict.fromkeys(("cpu.model", "os.name", "os.version", "python.version", "torch.version"), evil)
    make_report(make_machine(lab, evil, slug="evil"), facts=facts, cards=[{**h100(), "reported_name": evil}])
    for url in ("/machines/", "/machines/north/", "/machines/?q=%3Cimg%20src=x%20onerror=alert(1)%3E"):
        assert evil not in text_of(client, url)


# ---- silence ---------------------------------------------------------------------------------------------------------


def heard_of(machine, days_ago, every_s=6 * 3600, busy=""):
    heard_at = timezone.now() - timedelta(days=days_ago, minutes=1)
    return AgentHeartbeat.objects.create(machine=machine, heard_at=heard_at, every_s=every_s, busy=busy)


def test_a_lab_reads_which_machine_is_silent_and_for_how_long(client):
    lab = make_lab("north")
    heard_of(make_machine(lab, "talking"), 0)
    make_machine(lab, "never-promised")
    assert "Silent" not in client.get("/machines/north/").content.decode()
    heard_of(make_machine(lab, "quiet"), 9)
    with CaptureQueriesContext(connection) as of_one:
        text = client.get("/machines/north/").content.decode()
    section = re.search(r'<section class="silent".*?</section>', text, re.DOTALL)[0]
    assert re.findall(r">(quiet|talking|never-promised)<", section) == ["quiet"]
    assert "silent for 9 days" in section
    assert "reports every 6 hours" in section
    assert "Expect no more" not in section  # that is for owners
    for number in range(30):
        heard_of(make_machine(lab, f"quiet-{number}"), 9)
    with CaptureQueriesContext(connection) as of_many:
        client.get("/machines/north/")
    assert len(of_one) == len(of_many)


def test_a_machine_says_that_it_is_silent_and_an_owner_ends_it(client, django_user_model):
    lab = make_lab("north")
    machine = make_machine(lab, "quiet")
    heard_of(machine, 9)
    owner = django_user_model.objects.create_user("olga")
    lab.memberships.create(user=owner, role="owner")
    assert "silent for 9 days" in client.get("/machines/north/quiet/").content.decode()
    client.force_login(owner)
    assert "Expect no more reports" in client.get("/machines/north/quiet/manage/").content.decode()
    client.post("/machines/north/quiet/manage/", {"do": "expect-no-more"})
    assert "silent for" not in client.get("/machines/north/quiet/").content.decode()


def test_a_machine_at_work_says_why_it_measured_nothing(client):
    machine = make_machine(make_lab("north"), "busy")
    heard_of(machine, 0, busy="card 0 is at work (97%)")
    text = client.get("/machines/north/busy/").content.decode()
    assert "card 0 is at work (97%)" in text
    assert "silent for" not in text


# ---- the fleet of a lab ----------------------------------------------------------------------------------------------


@pytest.fixture
def fleet():
    """Three machines that reported and one that did not; one of them is silent, one has something broken."""
    lab = make_lab("north")
    facts = {"torch.version": "2.8.0", "nvidia.driver_version": "550.54"}
    make_report(make_machine(lab, "dgx-1"), facts=facts, cards=[h100(0), h100(1)], findings=[warning()])
    make_report(make_machine(lab, "dgx-2"), facts=facts | {"torch.version": "2.7.1"}, cards=[h100(0)])
    quiet = make_machine(lab, "=quiet", slug="quiet")
    make_report(quiet, facts={"torch.version": "2.8.0"}, cards=[])
    heard_of(quiet, 9)
    make_machine(lab, "announced")
    return lab


NAMES = re.compile(r'<th scope="row">\s*<a href="/machines/north/([a-z0-9-]+)/">')


@pytest.mark.parametrize(
    ("query", "machines"),
    [
        ("", {"dgx-1", "dgx-2", "quiet", "announced"}),
        ("?q=DGX", {"dgx-1", "dgx-2"}),
        ("?q=north", set()),  # the lab's own name is no name of its machines
        ("?torch=2.8.0", {"dgx-1", "quiet"}),
        ("?torch=2.8.0&driver=550.54", {"dgx-1"}),
        ("?card=NVIDIA+H100+80GB+HBM3", {"dgx-1", "dgx-2"}),
        ("?card=%27%22%3E%3Cscript%3E", set()),
        ("?state=warning", {"dgx-1"}),
        ("?state=broken", set()),
        ("?state=silent", {"quiet"}),
        ("?state=waiting", {"announced"}),
        ("?state=nonsense&group=nonsense", {"dgx-1", "dgx-2", "quiet", "announced"}),
    ],
)
def test_a_fleet_is_filtered(client, fleet, query, machines):
    text = text_of(client, f"/machines/north/{query}")
    assert set(NAMES.findall(text)) == machines
    assert "<script>" not in text.replace("<script>alert", "")[text.index('id="machines"') :]


@pytest.mark.parametrize(
    ("group", "counts"),
    [("torch", {"2.8.0": 2, "2.7.1": 1}), ("driver", {"550.54": 2}), ("card", {"NVIDIA H100 80GB HBM3": 2})],
)
def test_machines_are_counted_in_groups_that_lead_to_them(client, fleet, group, counts):
    text = text_of(client, f"/machines/north/?group={group}", headers=HTMX)
    table = re.search(r'<table class="data groups">.*?</table>', text, re.DOTALL)[0]
    rows = re.findall(r'<a href="([^"]*)">([^<]*)</a></th>\s*<td class="num">(\d+)</td>', table)
    assert {value: int(count) for _, value, count in rows} == counts
    for address, _, count in rows:
        assert len(NAMES.findall(text_of(client, address))) == int(count)


def test_a_filtered_fleet_is_a_file_but_not_for_strangers(client, fleet):
    text = text_of(client, "/machines/north/?torch=2.8.0&q=dgx", headers=HTMX)
    address = re.search(r'<a class="chip" aria-current="true" href="([^"]*)"', text)[1]
    assert address == "/machines/north/?q=dgx"
    assert "PyTorch: 2.8.0" in text
    response = client.get("/machines/north/?format=csv&torch=2.8.0")
    first, second = csv.DictReader(response.content.decode().splitlines())
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert (first["machine"], first["cards"]) == ("dgx-1", "2 × NVIDIA H100 80GB HBM3")
    assert (first["torch"], first["worst_finding"], first["silent"]) == ("2.8.0", "warning", "")
    assert first["url"] == "http://testserver/machines/north/dgx-1/"
    assert (second["machine"], second["reports_every_s"], second["silent"]) == ("'=quiet", "21600", "True")
    type(fleet).objects.update(is_public=False)
    assert client.get("/machines/north/?format=csv").status_code == 404


def test_a_thousand_machines_cost_as_many_queries_as_forty(client):
    lab, counted = make_lab("north"), []
    for size in (40, 1000):
        new = (Machine(lab=lab, slug=f"m{number}", name=f"m{number}") for number in range(lab.machines.count(), size))
        Machine.objects.bulk_create(new)
        machines = list(lab.machines.filter(latest_snapshot__isnull=True))
        reports = Report.objects.bulk_create(Report(id=uuid.uuid4(), machine=each, body=b"{}") for each in machines)
        facts = {"torch.version": "2.8.0"}
        snapshots = Snapshot.objects.bulk_create(
            Snapshot(report=report, machine=report.machine, taken_at=START, facts=facts) for report in reports
        )
        for machine, snapshot in zip(machines, snapshots, strict=True):
            machine.latest_snapshot, machine.latest_taken_at = snapshot, START
        Machine.objects.bulk_update(machines, ["latest_snapshot", "latest_taken_at"], batch_size=200)
        queries = []
        for query in ("", "?group=torch", "?format=csv"):
            with CaptureQueriesContext(connection) as captured:
                assert client.get(f"/machines/north/{query}").status_code == 200
            queries.append(len(captured))
        counted.append(queries)
    assert counted[0] == counted[1]
    assert max(counted[0]) <= 8

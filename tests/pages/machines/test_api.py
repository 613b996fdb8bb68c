"""Machines over HTTP: the same facts as the page, and nothing private."""

import pytest

from stackviz.records.catalog.models import Accelerator, Vendor
from tests.pages.machines.factories import START, days, gemm, h100, make_lab, make_machine, make_report, warning

pytestmark = pytest.mark.django_db

LIST = "/api/v1/machines/"


@pytest.fixture
def sheet():
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    return Accelerator.objects.create(slug="h100-sxm5-80gb", name="H100 SXM5 80GB", vendor=vendor, is_public=True)


def test_machine_answer_has_all_its_parts(client, sheet):
    machine = make_machine(make_lab(), "dgx-07")
    for number in range(3):
        make_report(
            machine,
            at=START + days(number),
            cards=[h100(0, sheet)],
            findings=[warning()],
            results=[gemm("bf16", [0.0014078] * 7)],
        )
    answer = client.get(LIST + "north/dgx-07/").json()
    assert answer["facts"]["torch.version"] == "2.8.0+cu128"
    assert answer["absent"]["rocm.version"] == {"reason": "not_installed"}
    assert answer["cards"][0]["accelerator"] == "h100-sxm5-80gb"
    assert answer["software"][1]["component"] == "pytorch"
    assert answer["findings"][0]["rule"] == "nvidia-driver-branch"
    assert len(answer["results"]) == 1
    result = answer["results"][0]
    assert (result["benchmark"], result["samples"], result["rate_unit"]) == ("gemm", 7, "FLOP/s")
    assert result["rate"] == pytest.approx(781e12, rel=0.001)


def test_a_private_machine_is_neither_listed_counted_nor_there(client, sheet, django_user_model):
    lab = make_lab("secret", is_public=False)
    make_report(make_machine(lab, "hidden-01"), cards=[h100(0, sheet)])
    assert client.get(LIST).json() == {"count": 0, "is_count_exact": True, "next": None, "items": []}
    assert client.get(LIST + "?accelerator=h100-sxm5-80gb").json()["count"] == 0
    hidden, none = client.get(LIST + "secret/hidden-01/"), client.get(LIST + "secret/none/")
    assert (hidden.status_code, none.status_code) == (404, 404)
    assert hidden.json()["error"].replace("hidden-01", "none") == none.json()["error"]
    member = django_user_model.objects.create_user("mei")
    lab.memberships.create(user=member)
    client.force_login(member)
    assert client.get(LIST).json()["count"] == 1


def test_the_number_of_queries_does_not_grow(client, sheet, django_assert_num_queries):
    lab = make_lab()
    for number in range(6):
        make_report(make_machine(lab, f"m-{number}"), cards=[h100(0, sheet)], results=[gemm("bf16", [0.0014] * 7)])
    client.get(LIST)  # what is public is read from now on
    with django_assert_num_queries(4):
        assert len(client.get(LIST).json()["items"]) == 6
    with django_assert_num_queries(8):
        client.get(LIST + "north/m-1/")


@pytest.fixture
def seven():
    lab = make_lab()
    for number in range(7):
        make_machine(lab, f"m-{number}")
    return lab


def test_following_next_leads_to_every_machine_once(client, seven):
    make_report(make_machine(seven, "dgx-07"))
    address, names = LIST + "?limit=3&q=m", []
    while address:
        answer = client.get(address).json()
        names += [item["slug"] for item in answer["items"]]
        address = answer["next"]
    assert sorted(names) == [f"m-{number}" for number in range(7)]
    assert client.get(LIST + "?q=dgx%00-07").json()["count"] == 1


def test_offsets_of_earlier_versions_are_answered_the_same(client):
    lab = make_lab()
    for number in range(7):
        make_machine(lab, f"m-{number}")
    whole = [item["slug"] for item in client.get(LIST).json()["items"]]
    part = client.get(LIST + "?limit=3&offset=2").json()
    assert [item["slug"] for item in part["items"]] == whole[2:5]
    assert "offset" not in part["next"]
    assert [item["slug"] for item in client.get(part["next"]).json()["items"]] == whole[5:]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=99999", "limit=x", "offset=-5", "offset=999999999999999999999", "page=2"]
)
def test_a_bound_that_is_broken_is_named(client, query):
    response = client.get(f"{LIST}?{query}")
    assert (response.status_code, response.json()["field"]) == (422, query.partition("=")[0])

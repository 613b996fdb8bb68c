"""Operators with a kernel, as agents counted them on machines that a visitor may see."""

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.urls import reverse

from stackviz.pages.machines.views import counted_builds
from tests.pages.machines.factories import START, days, make_lab, make_machine, make_report

pytestmark = pytest.mark.django_db

CPU = {"torch.version": "2.13.0+cpu", "torch.operators": 3110, "torch.kernels_cpu": 1075}
CUDA = CPU | {"torch.version": "2.9.1+cu130", "torch.kernels_cuda": 1269}


def test_equal_builds_share_a_row_newest_first():
    lab = make_lab()
    for name, facts in (("a", CUDA), ("b", CPU), ("c", CPU), ("d", {"torch.version": "2.12.0"})):
        make_report(make_machine(lab, name), facts=facts)
    assert counted_builds(AnonymousUser()) == [
        ("2.13.0+cpu", 3110, 1075, None, None, 2),
        ("2.9.1+cu130", 3110, 1075, 1269, None, 1),
    ]


def test_a_private_lab_counts_for_nobody_else(client):
    make_report(make_machine(make_lab("north", is_public=False)), facts=CPU)
    text = client.get(reverse("machines:coverage")).content.decode()
    assert "No counts yet." in text
    assert reverse("machines:add") in text
    assert "3110" not in text


def test_machines_that_counted_nothing_hide_none_that_did(django_assert_num_queries):
    lab = make_lab()
    make_report(make_machine(lab, "counted"), facts=CPU)
    for number in range(60):
        make_report(make_machine(lab, f"m{number}"), facts={"os.name": "Ubuntu"}, at=START + days(1))
    with django_assert_num_queries(1):
        assert [build[0] for build in counted_builds(AnonymousUser())] == ["2.13.0+cpu"]


def test_htmx_gets_the_table_alone_and_members_no_cached_page(client):
    coverage, htmx = reverse("machines:coverage"), {"HX-Request": "true"}
    assert client.get(coverage, headers=htmx).content.decode().strip() == ""  # before one has counted
    make_report(make_machine(make_lab()), facts=CUDA)
    part = client.get(coverage, headers=htmx).content.decode()
    assert "<html" not in part
    assert "1269" in part
    assert "not in this build" in part
    assert "no-store" not in client.get(coverage).headers.get("Cache-Control", "")
    client.force_login(User.objects.create_user("member"))
    assert client.get(coverage).headers["Cache-Control"] == "private, no-store"

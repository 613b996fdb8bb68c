"""What strangers see of machines is cached, and shown no longer once its lab is private."""

import pytest
from django.contrib.auth.models import User

from stackviz.records.labs.models import Membership
from stackviz.records.series.models import Series
from tests.pages.machines.factories import gemm, make_lab, make_machine, make_report

NAME = "dgx-of-north"


@pytest.fixture
def machine(db):
    made = make_machine(make_lab(), NAME)
    make_report(made, results=[gemm("bf16", [0.0014] * 8)])
    return made


@pytest.fixture
def addresses(machine):
    here = machine.get_absolute_url()
    return ["/", "/machines/", f"{here}history/", f"{here}series/{Series.objects.get().pk}/", "/sitemap-machines.xml"]


def naming(client, addresses) -> dict[str, bool]:
    """Whether an address answers with a page that names the machine; one that is not found repeats its address."""
    answers = {address: client.get(address) for address in addresses}
    return {
        address: answer.status_code == 200 and NAME in answer.content.decode() for address, answer in answers.items()
    }


def test_a_lab_that_becomes_private_is_gone_for_strangers(client, machine, addresses):
    member = User.objects.create_user("mina")
    Membership.objects.create(lab=machine.lab, user=member)
    for _ in range(2):
        assert all(naming(client, addresses).values())
    machine.lab.is_public = False
    machine.lab.save()
    assert not any(naming(client, addresses).values())
    client.force_login(member)
    assert naming(client, addresses) == {address: "sitemap" not in address for address in addresses}
    client.logout()
    assert not any(naming(client, addresses).values())

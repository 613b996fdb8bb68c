"""A lab machine as a public host: by an owner of its lab, without a word of whose it is, and withdrawn at any time."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from stackviz.pages.diagnose.models import PublishedMachine
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.decide_host import publish_host
from stackviz.records.cited.models import CitedResult, HostProposal
from stackviz.records.hosts.models import Host
from stackviz.records.labs.models import Membership
from tests.pages.machines.factories import DGX_FACTS, START, gemm, h100, make_lab, make_machine, make_report

PAGE = "/machines/orchard/nightjar/"
PUBLISH = f"{PAGE}publish/"
ADDRESS = "https://github.com/somebody/rigs/issues/7"
PRIVATE = ("nightjar", "orchard", "quillwort", "1650424060133", "3b8b0e3c")
TEXT_GENERATION = {
    "benchmark": "llama-bench", "device": "cuda:0", "card": 0, "unit": "token/s", "samples": [150.0, 150.4, 150.2],
    "params": {"test": "tg128", "model": "Llama 2 7B", "quant": "Q4_0", "backend": "CUDA"},
}  # fmt: skip


@pytest.fixture
def machine(db, small_catalogue):
    machine = make_machine(make_lab("orchard", is_public=False), "nightjar")
    sheet = Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
    facts = DGX_FACTS | {"machine.name": "quillwort", "cpu.model": "Xeon of marie@quillwort.example"}
    card = h100(
        0, sheet, serial="1650424060133", uuid="GPU-3b8b0e3c-7d0e-4a7e-9a54-4f2f6a4f0001", driver_version="535.183.01"
    )
    make_report(machine, facts=facts, cards=[card], results=[TEXT_GENERATION, gemm("bf16", [0.00141] * 8)])
    return machine


def signed_in(machine, role):
    user = User.objects.create_user(f"{role}-of-{machine.slug}")
    Membership.objects.create(lab=machine.lab, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def owner(machine):
    return signed_in(machine, "owner")


def send(owner, **fields):
    page = owner.get(PUBLISH).content.decode()
    found = re.search(r'name="ticket" value="([^"]+)"', page)
    assert found is not None
    sent = {"ticket": unescape(found[1]), "source_url": ADDRESS, "form": "server", "note": ""} | fields
    return owner.post(PUBLISH, sent)


def test_only_owners_are_offered_to_publish(machine, owner):
    assert f'href="{PUBLISH}"' in owner.get(PAGE).content.decode()
    member = signed_in(machine, "member")
    assert f'href="{PUBLISH}"' not in member.get(PAGE).content.decode()
    assert member.get(PUBLISH).status_code == 403
    assert signed_in(make_machine(make_lab("north"), "dgx-07"), "owner").get(PUBLISH).status_code == 404
    assert Client().get(PUBLISH).status_code == 302
    assert owner.get("/machines/orchard/nothing/publish/").status_code == 404


def test_an_owner_sees_all_that_will_be_public_and_nothing_else(owner):
    page = owner.get(PUBLISH).content.decode()
    public = page[page.index('id="public"') : page.index("<form method", page.index('id="public"'))]
    for part in (
        "NVIDIA H100 80GB HBM3, 79.6 GiB, driver 535.183.01, power limit 700 W",
        "Ubuntu 22.04",
        "150.20 tokens/s",
    ):
        assert part in public
    assert not [word for word in (*PRIVATE, "marie") if word in public]
    assert "gemm" not in public
    assert re.search(r"<code>cpu</code>: an e-mail address", page)
    assert not HostProposal.objects.exists()


def test_a_machine_becomes_a_host_after_a_yes_and_is_withdrawn(machine, owner):
    assert "/diagnose/hosts/" in send(owner, seen_on="2020-01-01")["Location"]
    host = Host.objects.get()
    assert (host.state, host.seen_on, host.source_url) == ("proposed", START.date(), ADDRESS)
    waiting = owner.get(PUBLISH).content.decode()
    assert "It waits for a curator" in waiting
    publish_host(host, User.objects.create_superuser("curator"), "Read beside the post")
    page = Client().get(host.get_absolute_url()).content.decode()
    assert "150.2 tokens/s" in page
    assert not [word for word in PRIVATE if word in page]
    assert owner.post(PUBLISH).status_code == 200  # a form sent twice withdraws nothing
    assert Host.objects.get().state == "public"
    assert owner.post(PUBLISH, {"do": "withdraw"}).status_code == 302
    assert Client().get(host.get_absolute_url()).status_code == 410
    assert set(CitedResult.objects.filter(host=host).values_list("state", flat=True)) == {"withdrawn"}
    assert "Send to a curator" in owner.get(PUBLISH).content.decode()


def test_a_report_that_nobody_has_seen_is_shown_first(machine, owner):
    ticket = re.search(r'name="ticket" value="([^"]+)"', owner.get(PUBLISH).content.decode())
    assert ticket is not None
    card = h100(0, Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb"), driver_version="550.54.14")
    make_report(machine, at=START.replace(hour=9), cards=[card])
    page = owner.post(PUBLISH, {"ticket": unescape(ticket[1]), "source_url": ADDRESS}).content.decode()
    assert "changed since you saw it" in page
    assert "driver 550.54.14" in page
    assert not HostProposal.objects.exists()


def test_a_host_stays_and_can_be_withdrawn_when_its_machine_is_gone(machine, owner):
    address = send(owner)["Location"]
    machine.delete()
    assert not PublishedMachine.objects.exists()
    Client().post(address)
    assert Host.objects.get().state == "withdrawn"


def test_a_machine_without_a_card_is_not_published(machine, owner):
    make_report(machine, at=START.replace(hour=9))
    answer = owner.get(PUBLISH, follow=True)
    assert answer.redirect_chain == [(PAGE, 302)]
    assert "No accelerator was found" in answer.content.decode()


def test_an_owner_who_curates_does_not_say_yes_alone(machine, owner, settings):
    settings.CURATION_APPROVALS = 2
    send(owner)
    user = User.objects.get()
    User.objects.filter(pk=user.pk).update(is_staff=True, is_superuser=True)
    chosen = {"action": "publish", "_selected_action": [HostProposal.objects.get().pk], "why": "mine"}
    answer = owner.post("/admin/cited/hostproposal/", chosen, follow=True)
    assert "you added it, so somebody else publishes it" in answer.content.decode()
    assert Host.objects.get().state == "proposed"

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from stackviz.records.hosts.load import load_hosts
from stackviz.records.hosts.models import Host
from tests.records.hosts.conftest import HOST, folder

__all__ = ["folder"]  # fixture
pytestmark = pytest.mark.django_db
LIST = "admin:hosts_host_changelist"


@pytest.fixture
def host(folder, rtx_4090):
    load_hosts(folder())
    return Host.objects.get()


def act(client, action, *hosts, why="its source is gone"):
    sent = {"action": action, "_selected_action": [host.pk for host in hosts], "why": why}
    return client.post(reverse(LIST), sent, follow=True)


def form_of(host, **changes):
    fields = HOST | {"slug": host.slug if host else "new-rig", "vendor": rtx_vendor(), "why": "read again"} | changes
    for name, count in (("cards", 0), ("components", 0)):
        fields |= {f"{name}-TOTAL_FORMS": count, f"{name}-INITIAL_FORMS": count}
    return fields


def rtx_vendor():
    return Host.objects.get(slug=HOST["host"]).vendor_id


def test_list_is_found_by_card_and_filtered(admin_client, host):
    page = admin_client.get(reverse(LIST), {"q": "RTX 4090", "state": "public"})
    assert host.title in page.text


def test_correction_needs_a_reason_and_has_history(admin_client, host):
    address = reverse("admin:hosts_host_change", args=[host.pk])
    refused = admin_client.post(address, form_of(host, cpu="AMD Ryzen 7 9700X", why=""))
    assert refused.context["adminform"].form.errors.keys() == {"why"}
    admin_client.post(address, form_of(host, cpu="AMD Ryzen 7 9700X"))
    host.refresh_from_db()
    assert (host.cpu, host.is_corrected_here, host.state) == ("AMD Ryzen 7 9700X", True, "public")
    assert host.history.first().history_change_reason == "read again"


def test_note_with_a_mail_address_is_refused(admin_client, host):
    address = reverse("admin:hosts_host_change", args=[host.pk])
    refused = admin_client.post(address, form_of(host, note="ask jane@example.org"))
    assert refused.context["adminform"].form.errors.keys() == {"note"}


def test_withdrawn_host_says_why_and_can_come_back(admin_client, host):
    act(admin_client, "withdraw", host, why="")
    assert Host.objects.get().state == "public"
    act(admin_client, "withdraw", host)
    host.refresh_from_db()
    assert (host.state, host.reason) == ("withdrawn", "its source is gone")
    act(admin_client, "publish", host, why="it is back")
    host.refresh_from_db()
    assert (host.state, host.reason) == ("public", "")
    assert host.history.first().history_user.username == "admin"


def test_added_host_is_published_by_somebody_else(admin_client, host, client, settings):
    settings.CURATION_APPROVALS = 2
    admin_client.post(reverse("admin:hosts_host_add"), form_of(None))
    added = Host.objects.get(slug="new-rig")
    assert added.state == "proposed"
    assert "you added it" in act(admin_client, "publish", added, why="read").text
    client.force_login(User.objects.create_superuser("other"))
    act(client, "publish", added, why="read")
    added.refresh_from_db()
    assert added.state == "public"


@pytest.mark.parametrize("named", ["nobody", HOST["host"]])
def test_a_host_is_no_machine_that_is_not_there_or_itself(admin_client, host, named):
    address = reverse("admin:hosts_host_change", args=[host.pk])
    refused = admin_client.post(address, form_of(host, same_machine_as=named))
    assert refused.context["adminform"].form.errors.keys() == {"same_machine_as"}

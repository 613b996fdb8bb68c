"""A lab's pages in a browser: no fault in any of them, and what works without a script."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PASSWORD
from tests.browser.faults import faults_of

WAIT_MS = 60_000


@pytest.fixture(scope="module")
def fleet(site) -> str:
    """A private lab with an owner, keys in every state, an open invitation and a machine that fell silent."""
    site.shell(
        "from datetime import timedelta\n"
        "from django.contrib.auth.models import User\n"
        "from django.utils import timezone\n"
        "from stackviz.records.labs.keys import create_key, revoke\n"
        "from stackviz.records.labs.members import invite\n"
        "from stackviz.records.labs.models import AgentHeartbeat, Lab, Machine\n"
        "from stackviz.intake.notices.webhooks import set_webhook\n"
        "now = timezone.now()\n"
        f"olga = User.objects.create_user('olga', password={PASSWORD!r}, first_name='Olga', last_name='Orchardson')\n"
        "mei = User.objects.create_user('mei.a-rather-long-user-name@institute.example')\n"
        "lab = Lab.objects.create(slug='fleet', name='Institute for Long Names', is_public=False)\n"
        "lab.memberships.create(user=olga, role='owner')\n"
        "lab.memberships.create(user=mei, role='viewer')\n"
        "machine = Machine.objects.create(lab=lab, slug='quiet', name='dgx-07 in the basement')\n"
        "AgentHeartbeat.objects.create(machine=machine, heard_at=now - timedelta(days=9), every_s=21600)\n"
        "create_key(lab=lab, name='any machine, cron on the login node', created_by=olga)\n"
        "create_key(lab=lab, name='dgx-07', machine=machine, expires_at=now + timedelta(days=3), created_by=olga)\n"
        "revoke(create_key(lab=lab, name='old')[0])\n"
        "webhook, _secret = set_webhook(lab, 'https://hooks.institute.example/accelweb?token=' + 'x' * 90, 'http://localhost')\n"
        "webhook.failures, webhook.problem, webhook.disabled_at = 10, 'the host name is not known', now\n"
        "webhook.save()\n"
        "invite(lab, 'Mei of the other building', 'member', olga.pk)"
    )
    return site.url


@pytest.fixture
def owner(fleet, browser_page):
    page = browser_page
    page.goto(f"{fleet}/login/?next=/machines/fleet/", wait_until="load", timeout=WAIT_MS)
    page.fill("#id_username", "olga")
    page.fill("#id_password", PASSWORD)
    page.click("form.login button")
    page.wait_for_url("**/machines/fleet/")
    return page


def test_no_fault_is_found_in_the_pages_of_a_lab(owner, visit):
    for path in (
        "/machines/fleet/?group=torch&state=waiting",
        "/labs/fleet/keys/?all",
        "/labs/fleet/people/",
        "/labs/fleet/settings/",
        "/labs/fleet/webhook/",
        "/labs/join/",
    ):
        assert (path, faults_of(visit(path))) == (path, [])


def test_an_owner_makes_a_key_then_replaces_it(owner, fleet):
    owner.get_by_role("link", name="Keys", exact=True).click()
    owner.wait_for_url("**/labs/fleet/keys/")
    owner.fill("#id_name", "mac-01")
    owner.get_by_role("button", name="Make a key").click()
    expect(owner.locator(".note.ok pre").first).to_contain_text("aw_", timeout=WAIT_MS)
    owner.get_by_role("link", name="Replace mac-01").click()
    owner.wait_for_url("**/rotate/")
    assert faults_of(owner) == []
    owner.get_by_label("at once").check()
    owner.get_by_role("button", name="Make the new key").click()
    expect(owner.locator("main")).to_contain_text("The old key no longer works.", timeout=WAIT_MS)
    assert faults_of(owner) == []


def test_an_owner_invites_somebody(owner, visit):
    page = visit("/labs/fleet/people/")
    page.fill("#id_invited", "Ada")
    page.get_by_role("button", name="Make a code").click()
    expect(page.locator(".note.ok pre")).to_contain_text("in_", timeout=WAIT_MS)
    assert faults_of(page) == []

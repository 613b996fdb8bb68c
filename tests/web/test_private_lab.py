"""A private lab, walked by a member from page to page; then everybody else asks for every address that the member saw."""

from urllib.parse import quote

import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache

from stackviz.catalog.models import Accelerator
from stackviz.labs.models import Membership
from stackviz.notices.models import Webhook
from tests.machines.factories import DGX_FACTS, START, copy, gemm, h100, make_lab, make_machine, make_report, warning
from tests.web.crawl import body_of, crawl

H100 = "nvidia-h100-sxm5-80gb"
# Words that stand nowhere else: in names of the lab, its machine and its key, in a fact, a card, a finding, a reason.
SECRETS = ("nightjar", "Orchardson", "quillwort", "Zweibrunn", "Fernrohr", "Klausenburg", "basalt-ledger")
WALKED_OF_A_KIND = 5  # addresses with the same view: the next sixty sheets are like the first
SEEDS = (
    "/", "/accelerators/", f"/accelerators/{H100}/", "/machines/", "/machines/orchard/", "/machines/orchard/nightjar/", "/coverage/", "/machines/add/",
    "/compare/?a=machine:orchard/nightjar&a=" + H100, "/benchmarks/", "/benchmarks/gemm/", f"/benchmarks/?accelerator={H100}", "/benchmarks/withdrawn/",
    "/ladder/", "/explore/", "/heatmap/", "/timeline/", "/roofline/", f"/roofline/?a={H100}", "/scaling/", "/share-of-peak/", "/fit/", f"/fit/?model=llama-3-8b&accelerator={H100}",
    "/search/?q=nightjar", "/search/?q=orchard", "/search/subjects/?q=nightjar", "/search/accelerators/?q=nightjar", "/operators/matmul/", "/learn/", "/data/", "/changes/", "/corrections/", "/freshness/",
    "/api/v1/machines/", "/api/v1/machines/orchard/nightjar/", "/api/v1/openapi.json", "/sitemap.xml", "/llms.txt", "/machines/orchard/nightjar/history/",
    "/oembed?url=" + quote("http://testserver/machines/orchard/nightjar/"), "/embed/machines/orchard/nightjar/", "/badge/machines/orchard/nightjar.svg",
    "/picture/machines/orchard/nightjar.png", "/zh-hans/machines/orchard/nightjar/", "/labs/orchard/keys/", "/labs/orchard/people/", "/labs/orchard/keys/abcdefgh/rotate/", "/labs/orchard/events.atom", "/labs/orchard/webhook/",
)  # fmt: skip


@pytest.fixture
def orchard(curated, db):
    """The lab with its member. What is public beside it is a machine of its own name."""
    cache.clear()
    sheet = Accelerator.objects.get(slug=H100)
    lab = make_lab("orchard", is_public=False, name="Orchardson lab")
    machine = make_machine(lab, "nightjar")
    facts = {**DGX_FACTS, "cpu.model": "Zweibrunn CPU"}
    results = [gemm("bf16", [0.00141] * 8), gemm("fp32", [0.00941] * 8), copy([0.003] * 8)]
    finding = warning("The Fernrohr driver is old")
    report = make_report(machine, facts=facts, cards=[h100(0, sheet)], results=results, findings=[finding])
    make_report(machine, facts=facts, cards=[h100(0, sheet)], results=results, findings=[finding])
    lab.keys.create(name="quillwort", prefix="abcdefgh", digest="0" * 64)
    Webhook.objects.create(lab=lab, url="https://quillwort.example/", nonce="n", site="https://site.example")
    make_machine(make_lab("open"), "plain")
    report.refresh_from_db()
    details = {"title": "The Fernrohr driver is old", "severity": "warning"}
    lab.events.create(machine=machine, report=report, kind="finding", key="1", happened_at=START, details=details)
    return lab


def client_of(client_class, user=None):
    client = client_class()
    if user is not None:
        client.force_login(user)
    return client


def strangers(make_client) -> dict:
    """Everybody who is not of the lab: nobody, a member of another lab, a curator, staff who may only look."""
    people = {"visitor": None}
    other = make_lab("elsewhere", is_public=False)
    people["member of another lab"] = User.objects.create_user("eve")
    Membership.objects.create(lab=other, user=people["member of another lab"])
    people["curator"] = User.objects.create_user("cora", is_staff=True)
    people["curator"].user_permissions.set(Permission.objects.filter(content_type__app_label="catalog"))
    return {role: client_of(make_client, user) for role, user in people.items()}


def walk(client) -> dict[str, str]:
    """Address -> what the member reads there, of every address that pages lead to."""

    def most(address: str) -> int:
        return 40 if any(word in address for word in ("orchard", "nightjar")) else WALKED_OF_A_KIND

    answers = crawl(client, SEEDS, most, ("accounts:logout", "pages:language", "admin:"))
    return {address: text_of(answer) if answer.status_code < 300 else "" for address, answer in answers}


def text_of(answer) -> str:
    return f"{answer.headers}{body_of(answer)}"


def secrets_in(text: str, address: str) -> list[str]:
    """What stands there besides the words that the address itself says, as a page may repeat them."""
    return [word for word in SECRETS if word.lower() in text.lower() and word.lower() not in address.lower()]


def test_nobody_else_reads_what_a_member_reads(orchard, client):
    member = User.objects.create_user("mina")
    Membership.objects.create(lab=orchard, user=member, role=Membership.Role.OWNER)
    seen = walk(client_of(type(client), member))
    private = [address for address, text in seen.items() if any(word.lower() in text.lower() for word in SECRETS)]
    assert len(private) > 25, private
    assert len(seen) > 150
    told = [
        (role, address, words)
        for role, other in strangers(type(client)).items()
        for address in seen
        if (words := secrets_in(answered(other, address), address))
    ]
    assert told == []


def answered(client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code < 500, address
    return text_of(answer)

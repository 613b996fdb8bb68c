"""Every page, walked once by each kind of reader; every answer is handed to all checks, and each reports all faults at once.

What a passive scanner looks for (tests/web/passive_scan.py). Whether what a reader is logged in for stays out of caches.
Whether a page leads to pages of its own language, whatever was stored for a reader of the other. Whether anybody but its
members reads of a private lab.
"""

import html
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from urllib.parse import quote, urlsplit

import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache as shared_cache
from django.http.response import ResponseHeaders
from django.test import Client, override_settings
from django.urls import NoReverseMatch, Resolver404, ResolverMatch, URLResolver, get_resolver, resolve, reverse
from django.utils.translation import override

from stackviz.desk.curation.mistake_page import PURPOSE
from stackviz.intake.notices.models import Webhook
from stackviz.records.catalog import queries
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.words import result_address
from stackviz.records.labs.models import Lab, Machine, Membership, Report
from stackviz.records.series.models import Series
from stackviz.web.http.tickets import new_token, sign_ticket
from stackviz.web.i18n.languages import LanguagePrefix, is_page, language_of, without_language
from tests.languages import chinese
from tests.pages.diagnose.test_links import save
from tests.pages.diagnose.test_publish import propose_rig
from tests.pages.machines.factories import (
    DGX_FACTS,
    START,
    copy,
    gemm,
    h100,
    make_lab,
    make_machine,
    make_report,
    warning,
)
from tests.records.hosts.factories import add_host, card_fields
from tests.web.crawl import Answer, Reader, crawl
from tests.web.hues import hue_faults_of
from tests.web.passive_scan import header_faults, page_faults

pytestmark = pytest.mark.django_db
H100, M3_MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"
NIGHTJAR = "/machines/orchard/nightjar/"
# Words that stand nowhere else: in names of the lab, its machine and its key, in a fact, a card, a finding, a reason.
SECRETS = ("nightjar", "Orchardson", "quillwort", "Zweibrunn", "Fernrohr", "Klausenburg", "basalt-ledger")
SEEDS = (
    "/", "/accelerators/", f"/accelerators/{H100}/", "/machines/", "/machines/orchard/", "/machines/orchard/nightjar/", "/coverage/", "/machines/add/",
    "/compare/?a=machine:orchard/nightjar&a=" + H100, "/benchmarks/", "/benchmarks/gemm/", f"/benchmarks/?accelerator={H100}", "/benchmarks/withdrawn/",
    "/ladder/", "/explore/", "/heatmap/", "/timeline/", "/roofline/", f"/roofline/?a={H100}", "/scaling/", "/roofline/share-of-peak/", "/fit/", f"/fit/?model=llama-3-8b&accelerator={H100}",
    "/search/?q=nightjar", "/search/?q=orchard", "/search/subjects/?q=nightjar", "/search/accelerators/?q=nightjar", "/operators/matmul/", "/learn/", "/data/", "/changes/", "/corrections/", "/freshness/",
    "/api/v1/machines/", "/api/v1/machines/orchard/nightjar/", "/api/v1/openapi.json", "/sitemap.xml", "/llms.txt", "/machines/orchard/nightjar/history/",
    "/oembed?url=" + quote("http://testserver/machines/orchard/nightjar/"), "/embed/machines/orchard/nightjar/", "/badge/machines/orchard/nightjar.svg",
    "/picture/machines/orchard/nightjar.png", "/zh-hans/machines/orchard/nightjar/", "/labs/orchard/keys/", "/labs/orchard/people/", "/labs/orchard/keys/abcdefgh/rotate/", "/labs/orchard/events.atom", "/labs/orchard/webhook/",
)  # fmt: skip
MORE_SEEDS = (
    "/api/v1/docs/", "/login/", "/password/", "/labs/join/", "/no-such-page/", "/zh-hans/", "/account/", "/diagnose/?example=nvidia-smi",
)  # fmt: skip
ADMIN_SEEDS = ("/admin/", "/admin/state/", "/admin/catalog/price/add/", "/admin/no-such-page/")
# What a visitor cannot open: forms that only answer what is sent, and what only members see.
NOT_OPENED = {"accounts:logout", "accounts:recovery-codes", "accounts:remove-second-factor", "diagnose:delete", "machines:change", "machines:revoke", "ingest:restore", "machines:manage",
              "machines:arrivals", "ingest:withdraw", "retention:lab", "retention:export", "diagnose:publish-machine",
              "machines:keys", "machines:people", "machines:rotate", "machines:settings", "machines:webhook", "notices:unsubscribe"}  # fmt: skip
# A link, and a string in the data of a drawing.
ANY_STRING = re.compile(r"""(?<==")(/[^"\s<>]*)(?=")|(?<=["'(])(/[a-z][^"'\s<>\\)]*)""")
TRANSLATED_ON_PURPOSE = re.compile(r'<link rel="alternate" hreflang[^>]*>|href="/language/[^>]*>')
OWN_ADDRESS = re.compile(r'<(?:link rel="canonical" href|meta property="og:url" content)="([^"]*)"')
OPENED = {200, 300, 301, 302}


# --- what there is to walk ---


def make_orchard() -> Lab:
    """A private lab with a machine. What is public beside it is a machine of its own name."""
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


def page_names(patterns, namespace="", *, is_translated=False) -> Iterator[str]:
    """The names of all addresses that exist in each language."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            is_prefixed = is_translated or isinstance(pattern.pattern, LanguagePrefix)
            yield from page_names(pattern.url_patterns, inner, is_translated=is_prefixed)
        elif is_translated:
            yield f"{namespace}{pattern.name}"


def reported_mistake(client) -> str:
    """The address at which a reader follows it."""
    ticket = sign_ticket([new_token()], PURPOSE)
    words = {"wrong": "It has 81 GB.", "ticket": ticket}
    answer = client.post(f"/accelerators/{H100}/mistake/", words, REMOTE_ADDR="198.51.100.9")
    return without_language(answer["Location"])


def pages_of_a_visitor() -> list[str]:
    """One English address at least of every page that a visitor can open."""
    lab = make_lab("north")
    machine = make_machine(lab, "dgx-07")
    sheet = Accelerator.objects.get(slug=H100)
    results = [gemm("bf16", [0.00141] * 8), gemm("fp32", [0.00941] * 8)]
    report = make_report(machine, facts=DGX_FACTS, cards=[h100(0, sheet)], results=results, findings=[warning()])
    host = add_host(
        sheet.vendor, title="H100 server, Ubuntu 24.04", system="Ubuntu 24.04", cards=[card_fields(sheet)],
        components={"pytorch": "2.8.0", "mlx": None}, teaches="Its second card idles.",
    )  # fmt: skip
    here, series = machine.get_absolute_url(), Series.objects.filter(machine=machine).first().pk
    result = CitedResult.objects.filter(benchmark="llama-bench", data_key__gt="").first()
    both = f"a={H100}&a={M3_MAX}"
    named = [
        "/", "/login/", "/password/MQ/x-y/", "/accelerators/", "/accelerators/?vendor=nvidia&page=2&sort=-memory_gb", f"/accelerators/{H100}/", f"/accelerators/{H100}/?format=json",
        f"/accelerators/{M3_MAX}/", f"/accelerators/{H100}/mistake/?field=memory_gb", "/corrections/", "/freshness/", reported_mistake(Client()), "/claims/", "/changes/", "/changes/feed/", "/stacks/", "/stacks/nvidia-cuda/",
        "/stacks/apple-metal/", "/stacks/nvidia-cuda/support/", "/components/pytorch/", "/components/cudnn/", "/releases/", "/releases/cuda-12.8/",
        "/releases/torch-2.15/", "/releases/pytorch-2.14.1/", "/drivers/580/", "/operators/",
        "/operators/matmul/", "/operators/matmul/figures/", "/machines/", "/coverage/", "/machines/add/", "/machines/north/",
        host.get_absolute_url(), "/hosts/", "/hosts/?format=json", f"/machines/?like={H100}&vendor=nvidia&stack=engine", "/labs/north/events.atom",
        here, f"{here}life/", f"{here}history/", f"{here}against/", f"{here}series/{series}/", f"/receipts/{report.pk}/",
        "/compare/", f"/compare/?{both}", f"/compare/?{both}&only=differences", "/compare/?a=stack:nvidia-cuda&a=stack:apple-metal",
        f"/compare/?a={H100}&a=machine:north/dgx-07", "/compare/h100-sxm-vs-m3-max-40/", "/compare/m3-max-vs-h100/",
        "/causes/", "/causes/no-kernel-image/", "/diagnose/", "/diagnose/?example=two", "/diagnose/save/", "/diagnose/add/",
        without_language(propose_rig(Client())), without_language(save(Client())["Location"]), "/ladder/", "/explore/", "/heatmap/", "/timeline/",
        "/explore/?x=memory_bandwidth_gb_s&y=llama-bench-tg128", "/explore/?format=plotly", "/explore/?format=json", "/benchmarks/gemm/definition/", "/benchmarks/llama-bench/?format=json", f"/compare/?{both}&format=json", "/fit/", f"/fit/?model=llama-3-8b&accelerator={H100}",
        f"/fit/compared/?{both}", "/learn/", "/learn/memory-wall/", "/learn/recipes/", "/learn/try/amdahl/", "/data/",
        "/data/schema/", "/roofline/", f"/roofline/?a={H100}", f"/roofline/figure/?a={H100}", "/scaling/", "/roofline/share-of-peak/",
        "/plan/", f"/plan/?accelerator={H100}", "/benchmarks/", f"/benchmarks/?accelerator={H100}",
        f"/benchmarks/?accelerator={H100}&accelerator={M3_MAX}", "/benchmarks/withdrawn/", "/benchmarks/llama-bench/",
        "/benchmarks/gemm/", result_address(result), f"/benchmarks/runs/{report.pk}/0/", "/search/", "/search/?q=h100",
        "/search/?q=memory+bandwidth", f"/search/subjects/?q=m3&a={H100}", "/search/accelerators/?q=m3&for=fit", "/api/v1/docs/",
    ]  # fmt: skip
    return list(dict.fromkeys((*named, *without_parameters())))


def without_parameters() -> Iterator[str]:
    """What needs nothing but its name."""
    for name in sorted(set(page_names(get_resolver().url_patterns)) - NOT_OPENED):
        with suppress(NoReverseMatch):
            yield reverse(name)


@pytest.fixture(scope="module")
def pages(cited, django_db_blocker) -> list[str]:
    """The rows of a site with a public lab and a private one, for this file; and what a visitor can open of it."""
    with django_db_blocker.unblock(), override("en"):
        shared_cache.clear()
        found = pages_of_a_visitor()
        orchard, other = make_orchard(), make_lab("elsewhere", is_public=False)
        owner = User.objects.create_user("mina-of-orchard")
        Membership.objects.create(lab=orchard, user=owner, role=Membership.Role.OWNER)
        Membership.objects.create(lab=other, user=User.objects.create_user("eve-of-elsewhere"))
        curator = User.objects.create_user("cora-who-curates", is_staff=True)
        curator.user_permissions.set(Permission.objects.filter(content_type__app_label="catalog"))
        User.objects.create_superuser("root-of-all")
        return found


# --- the checks ---


def scan_faults(reader: Reader, address: str, answer: Answer) -> list[str]:
    return header_faults(answer) + (page_faults(answer, address, answer.text) if answer.is_html else [])


def cache_faults(reader: Reader, address: str, answer: Answer) -> list[str]:
    """What names its reader is stored for nobody else."""
    rules = answer.headers.get("Cache-Control", "")
    if not (answer.is_html and reader.is_known and reader.name in answer.text):
        return []
    return [] if {"private", "no-store"} & set(re.split(r",\s*", rules)) else [f"Cache-Control: {rules}"]


def language_faults(reader: Reader, address: str, answer: Answer) -> list[str]:
    """A page leads to pages of its own language."""
    if not is_page_at(address) or answer.status_code not in OPENED:
        return []
    language = language_of(urlsplit(address).path)
    if answer.status_code in (301, 302):
        target = urlsplit(answer.headers["Location"]).path
        return [] if language_of(target) == language else [f"leads to {target}"]
    led_to = pages_led_to(answer.text)
    faults = sorted(page for page in led_to if language_of(urlsplit(page).path) != language)
    if answer.text.startswith("<!doctype html>"):
        faults += [] if f'<html lang="{language}">' in answer.text else ["another language in <html>"]
        faults += [] if len(led_to) > 15 else [f"leads to {len(led_to)} pages"]
    return faults


def secret_faults(reader: Reader, address: str, answer: Answer) -> list[str]:
    """What others read of the lab, besides the words that the address itself says, as a page may repeat them."""
    return [] if reader.is_of_orchard else [word for word in secrets_in(answer) if word.lower() not in address.lower()]


def secrets_in(answer: Answer) -> list[str]:
    text = f"{answer.headers}{answer.text}".lower()
    return [word for word in SECRETS if word.lower() in text]


def hue_faults(reader: Reader, address: str, answer: Answer) -> list[str]:
    """A hue is a vendor's: what leads to a spec sheet has that of its vendor, and no control has any."""
    return hue_faults_of(answer.text, vendors_of_sheets()) if answer.is_html and "/admin/" not in address else []


@cache
def vendors_of_sheets() -> dict[str, str]:
    return dict(Accelerator.objects.values_list("slug", "vendor__slug"))


def status_faults(reader: Reader, address: str, answer: Answer) -> list[str]:
    return [f"status {answer.status_code}"] * (answer.status_code >= 500)


CHECKS = {
    "scan": scan_faults,
    "cache": cache_faults,
    "language": language_faults,
    "secrets": secret_faults,
    "status": status_faults,
    "hues": hue_faults,
}


def pages_led_to(text: str) -> set[str]:
    """Addresses of pages anywhere in a page: in links, forms, parts to fetch, data of drawings."""
    text = TRANSLATED_ON_PURPOSE.sub("", text)
    found = {html.unescape(address) for pair in ANY_STRING.findall(html.unescape(text)) for address in pair if address}
    found |= {urlsplit(address).path for address in OWN_ADDRESS.findall(text)}
    pages = set()
    for address in found:
        try:
            if is_page(english_match(address)):
                pages.add(address)
        except Resolver404:
            continue
    return pages


def english_match(address: str) -> ResolverMatch:
    return match_of(urlsplit(address).path)


@cache
def match_of(path: str) -> ResolverMatch:
    """Of the English page. Pages lead to the same addresses again and again."""
    with override("en"):
        return resolve(without_language(path))


def is_page_at(address: str) -> bool:
    try:
        return is_page(english_match(address))
    except Resolver404:
        return False


# --- the walk ---


class Somebody(Reader):
    """A reader of this site, by name; "visitor" has not logged in."""

    def __init__(self, name: str, faults: dict[str, dict[str, list[str]]]) -> None:
        client = Client()
        self.is_known, self.is_of_orchard = name != "visitor", name in {"mina-of-orchard", "root-of-all"}
        if self.is_known:
            client.force_login(User.objects.get(username=name))
        super().__init__(name, client, self._check_all)
        self.faults = faults

    def _check_all(self, _reader: Reader, address: str, answer: Answer) -> None:
        for name, check in CHECKS.items():
            if found := check(self, address, answer):
                self.faults[name][f"{self.name}: {address}"] = found


class Walk:
    """Who reads what, in the order in which a cache would give it to the wrong one."""

    def __init__(self, pages: list[str]) -> None:
        self.faults: dict[str, dict[str, list[str]]] = {name: {} for name in CHECKS}
        self.owner, self.visitor, self.eve, self.cora, self.root = (
            Somebody(name, self.faults)
            for name in ("mina-of-orchard", "visitor", "eve-of-elsewhere", "cora-who-curates", "root-of-all")
        )
        self.pages = pages

    def read_the_lab(self) -> None:
        """First its owner; then everybody else asks for what told the owner of it."""

        def most(address: str) -> int:
            return 40 if any(word in address for word in ("orchard", "nightjar")) else 1

        left_out = ("accounts:logout", "home:language", "admin:")
        read = list(crawl(self.owner, (*SEEDS, *MORE_SEEDS), most, left_out))
        self.private = [
            address
            for address in read
            if self.owner.answers[address].status_code < 300 and secrets_in(self.owner.answers[address])
        ]
        for stranger in (self.visitor, self.eve, self.cora):
            for address in self.private:
                stranger.ask(address)

    def read_in_both_languages(self) -> None:
        """Each page cold in both languages, the half of them in Chinese first, then as it is stored."""
        for number, address in enumerate(self.pages):
            first, second = (address, chinese(address)) if number % 2 else (chinese(address), address)
            for asked in (first, second, first):
                self.open(self.visitor, asked)

    def read_what_pages_lead_to(self) -> None:
        """Of each kind of link two; and what else links lead a program to."""
        known = defaultdict(set)
        for answer in list(self.visitor.answers.values()):
            for address in pages_led_to(answer.text):
                known[language_of(urlsplit(address).path), english_match(address).view_name].add(address)
        self.kinds = {kind for kind in known if kind[1] not in NOT_OPENED}
        for kind in sorted(self.kinds):
            for address in {min(known[kind]), max(known[kind])} - self.visitor.answers.keys():
                self.open(self.visitor, address)
        list(crawl(self.visitor, (*SEEDS, *MORE_SEEDS), lambda _address: 1, ("accounts:logout", "admin:logout")))

    def read_the_admin(self) -> None:
        """And what only those see who may change a machine."""
        left_out = ("accounts:logout", "admin:logout", "pages:", "catalog:", "machines:")
        list(crawl(self.root, ADMIN_SEEDS, lambda _address: 1, left_out))
        machine = Machine.objects.get(name="dgx-07")
        report = Report.objects.get(machine=machine)
        for address in (f"{machine.get_absolute_url()}manage/", f"/receipts/{report.pk}/withdraw/", "/machines/add/"):
            for asked in (address, chinese(address), address):
                self.open(self.root, asked)

    def open(self, reader: Somebody, address: str) -> None:
        status = reader.ask(address).status_code
        if status not in OPENED:
            self.faults["status"][f"{reader.name}: {address}"] = [f"status {status}"]


BEHIND_HTTPS = override_settings(
    HTTPS=True, SECURE_SSL_REDIRECT=True, SESSION_COOKIE_SECURE=True, CSRF_COOKIE_SECURE=True, SECURE_HSTS_SECONDS=3600
)


@pytest.fixture(scope="module")
def walk(pages, django_db_blocker) -> Walk:
    with django_db_blocker.unblock(), BEHIND_HTTPS, override("en"):
        made = Walk(pages)
        forget_everything()
        made.read_the_lab()
        forget_everything()
        made.read_in_both_languages()
        made.read_what_pages_lead_to()
        made.read_the_admin()
        return made


def forget_everything() -> None:
    """As a process that has just started: what functions and editions remember, and the shared cache."""
    shared_cache.clear()
    queries._editions.clear()
    modules = [module for name, module in sys.modules.items() if name.startswith("stackviz.")]
    remembering = {
        id(found): found for module in modules for found in vars(module).values() if hasattr(found, "cache_clear")
    }
    assert len(remembering) > 50
    for found in remembering.values():
        found.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_no_answer_has_a_fault(walk, check):
    assert walk.faults[check] == {}


@pytest.mark.slow
def test_everybody_got_far(walk):
    number = {reader.name: len(reader.answers) for reader in (walk.owner, walk.visitor, walk.root)}
    assert number["mina-of-orchard"] > 100
    assert number["visitor"] > 300
    assert number["root-of-all"] > 60
    assert len(walk.private) > 25
    assert len(walk.kinds) > 80


@pytest.mark.slow
def test_every_kind_of_page_is_walked(walk):
    known = set(page_names(get_resolver().url_patterns))
    walked = {english_match(address).view_name for address in walk.pages}
    assert walked == known - NOT_OPENED
    assert len(walked) > 50


@pytest.mark.fast
def test_a_few_pages_have_no_fault(pages):
    """What the walk finds on every page is found at once where it stands in the frame of all."""
    with BEHIND_HTTPS:
        made = Walk(pages)
        forget_everything()
        for reader in (made.owner, made.visitor, made.eve):
            for address in ("/", "/machines/", NIGHTJAR, f"/api/v1{NIGHTJAR}"):
                reader.ask(address)
        for address in ("/accelerators/", f"/accelerators/{H100}/", "/diagnose/", "/no-such-page/"):
            for asked in (address, chinese(address), address):
                made.visitor.ask(asked)
        made.root.ask("/admin/")
    assert made.faults == {name: {} for name in CHECKS}
    assert secrets_in(made.owner.answers[NIGHTJAR])
    assert made.visitor.answers[NIGHTJAR].status_code == 404


SOUND = {
    "Content-Type": "text/html",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Strict-Transport-Security": "max-age=3600",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
}
LINKS = "".join(f'<a href="/accelerators/card-{number}/">' for number in range(20))


@pytest.mark.parametrize(
    ("check", "headers", "words"),
    [
        ("scan", {"Referrer-Policy": "unsafe-url"}, ""),
        ("scan", {}, "<script>x()</script>"),
        ("cache", {}, "eve-of-elsewhere"),
        ("language", {}, '<a href="/zh-hans/machines/">'),
        ("language", {}, '<link rel="canonical" href="https://testserver/zh-hans/machines/">'),
        ("secrets", {}, "Fernrohr"),
        ("secrets", {"Etag": "Zweibrunn"}, ""),
        ("status", {"status": 500}, ""),
    ],
)
def test_each_check_finds_its_fault(pages, check, headers, words):
    status = headers.get("status", 200)
    faults = {name: {} for name in CHECKS}
    reader = Somebody("eve-of-elsewhere", faults)
    text = f'<!doctype html><html lang="en">{LINKS}'
    reader._check_all(reader, "/machines/", Answer(200, ResponseHeaders(SOUND), Client().cookies, text))
    assert faults == {name: {} for name in CHECKS}
    sent = {name: value for name, value in (SOUND | headers).items() if name != "status"}
    reader._check_all(reader, "/machines/", Answer(status, ResponseHeaders(sent), Client().cookies, text + words))
    assert [name for name in CHECKS if faults[name]] == [check]


def test_an_address_without_a_language_leads_to_english(client, pages):
    """What programs read is the same before and after a Chinese page was drawn by the same process."""
    forget_everything()
    machine = "/api/v1/machines/north/dgx-07/"
    for address in ("/llms.txt", machine, f"/api/v1/accelerators/{H100}/", f"/embed/accelerators/{H100}/"):
        client.get(chinese(f"/accelerators/{H100}/"), headers={"accept-language": "zh-CN"})
        answer = client.get(address, headers={"accept-language": "zh-CN"})
        assert answer.status_code == 200
        assert "Accept-Language" not in answer.get("Vary", "")
        shown = (
            answer.content.decode().replace("http://testserver/zh-hans/", "")
            if "llms" in address
            else answer.content.decode()
        )
        assert "testserver/zh-hans" not in shown

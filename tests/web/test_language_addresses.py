"""Every page, in both languages, leads to pages of its own language, whatever was stored for a reader of the other."""

import html
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache as shared_cache
from django.urls import NoReverseMatch, Resolver404, ResolverMatch, URLResolver, get_resolver, resolve, reverse
from django.utils.translation import override

from stackviz.benchmarks.models import Series
from stackviz.catalog import queries
from stackviz.catalog.models import Accelerator
from stackviz.cited.models import CitedResult
from stackviz.cited.words import result_address
from stackviz.curation.reader_corrections import PURPOSE
from stackviz.labs.models import Machine, Report
from stackviz.web.languages import LanguagePrefix, is_page, language_of, without_language
from stackviz.web.tickets import new_token, sign_ticket
from tests.diagnose.test_links import save
from tests.languages import chinese
from tests.machines.factories import DGX_FACTS, gemm, h100, make_lab, make_machine, make_report, warning

H100, M3_MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"
# What a visitor cannot open: forms that only answer what is sent, and what only members see.
NOT_OPENED = {"accounts:logout", "accounts:recovery-codes", "accounts:remove-second-factor", "diagnose:delete", "machines:change", "machines:revoke", "ingest:restore", "machines:manage",
              "machines:arrivals", "ingest:withdraw", "retention:lab", "retention:export",
              "machines:keys", "machines:people", "machines:rotate", "machines:settings", "machines:webhook", "notices:unsubscribe"}  # fmt: skip
# A link, and a string in the data of a drawing.
ANY_STRING = re.compile(r"""(?<==")(/[^"\s<>]*)(?=")|(?<=["'(])(/[a-z][^"'\s<>\\)]*)""")
TRANSLATED_ON_PURPOSE = re.compile(r'<link rel="alternate" hreflang[^>]*>|href="/language/[^>]*>')
MOST_OPENED = 3  # links of a kind that are opened


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


@pytest.fixture
def addresses(client, cited, db) -> list[str]:
    """One English address at least of every page that a visitor can open."""
    lab = make_lab("north")
    machine = make_machine(lab, "dgx-07")
    sheet = Accelerator.objects.get(slug=H100)
    results = [gemm("bf16", [0.00141] * 8), gemm("fp32", [0.00941] * 8)]
    report = make_report(machine, facts=DGX_FACTS, cards=[h100(0, sheet)], results=results, findings=[warning()])
    here, series = machine.get_absolute_url(), Series.objects.first().pk
    result = CitedResult.objects.filter(benchmark="llama-bench", data_key__gt="").first()
    both = f"a={H100}&a={M3_MAX}"
    named = [
        "/", "/login/", "/password/MQ/x-y/", "/accelerators/", "/accelerators/?vendor=nvidia&page=2&sort=-memory_gb", f"/accelerators/{H100}/", f"/accelerators/{H100}/?format=json",
        f"/accelerators/{M3_MAX}/", f"/accelerators/{H100}/mistake/?field=memory_gb", "/corrections/", "/freshness/", reported_mistake(client), "/claims/", "/changes/", "/changes/feed/", "/stacks/", "/stacks/nvidia-cuda/",
        "/stacks/apple-metal/", "/stacks/nvidia-cuda/support/", "/components/pytorch/", "/components/cudnn/", "/operators/",
        "/operators/matmul/", "/operators/matmul/figures/", "/machines/", "/coverage/", "/machines/add/", "/machines/north/", "/labs/north/events.atom",
        here, f"{here}life/", f"{here}history/", f"{here}against/", f"{here}series/{series}/", f"/receipts/{report.pk}/",
        "/compare/", f"/compare/?{both}", f"/compare/?{both}&only=differences", "/compare/?a=stack:nvidia-cuda&a=stack:apple-metal",
        f"/compare/?a={H100}&a=machine:north/dgx-07", "/compare/h100-sxm-vs-m3-max-40/", "/compare/m3-max-vs-h100/",
        "/causes/", "/causes/no-kernel-image/", "/diagnose/", "/diagnose/?example=two", "/diagnose/save/", "/diagnose/add/",
        without_language(save(client)["Location"]), "/ladder/", "/explore/", "/heatmap/", "/timeline/",
        "/explore/?x=memory_bandwidth_gb_s&y=llama-bench-tg128", "/explore/?format=plotly", "/explore/?format=json", "/benchmarks/gemm/definition/", "/benchmarks/llama-bench/?format=json", f"/compare/?{both}&format=json", "/fit/", f"/fit/?model=llama-3-8b&accelerator={H100}",
        f"/fit/compared/?{both}", "/learn/", "/learn/memory-wall/", "/learn/recipes/", "/learn/try/amdahl/", "/data/",
        "/data/schema/", "/roofline/", f"/roofline/?a={H100}", f"/roofline/figure/?a={H100}", "/scaling/", "/share-of-peak/",
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


def pages_led_to(text: str) -> set[str]:
    """Addresses of pages anywhere in a page: in links, forms, parts to fetch, data of drawings."""
    text = TRANSLATED_ON_PURPOSE.sub("", text)
    found = {html.unescape(address) for pair in ANY_STRING.findall(html.unescape(text)) for address in pair if address}
    found |= {urlsplit(address).path for address in re.findall(r'"(?:canonical"|og:url" content=)[^>]*', text)}
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


def assert_leads_to(client, address: str, language: str) -> set[str]:
    response = client.get(address)
    assert response.status_code in (200, 300, 301, 302), address
    if response.status_code in (301, 302):
        assert language_of(response["Location"]) == language, (address, response["Location"])
        return set()
    text = response.content.decode()
    led_to = pages_led_to(text)
    strangers = sorted(page for page in led_to if language_of(urlsplit(page).path) != language)
    assert strangers == [], address
    if text.startswith("<!doctype html>"):
        assert f'<html lang="{language}">' in text
        assert len(led_to) > 15, address
    return led_to


def test_every_kind_of_page_is_walked(addresses):
    known = set(page_names(get_resolver().url_patterns))
    walked = {english_match(address).view_name for address in addresses}
    assert walked == known - NOT_OPENED
    assert len(walked) > 50


@pytest.mark.parametrize("order", [("en", "zh-hans"), ("zh-hans", "en")], ids=["english first", "chinese first"])
def test_a_page_leads_to_pages_of_its_language(client, addresses, order):
    """In one order and the other, each time cold and then warm: nothing is stored under a key without a language."""
    forget_everything()
    led_to: set[str] = set()
    for language in (*order, *order):
        for address in addresses:
            led_to |= assert_leads_to(client, address if language == "en" else chinese(address), language)
    by_kind: dict[str, list[str]] = {}
    for address in sorted(led_to):
        match = english_match(address)
        by_kind.setdefault(f"{language_of(urlsplit(address).path)} {match.view_name}", []).append(address)
    assert len(by_kind) > 80
    for kind, known in by_kind.items():
        for address in known[:: max(1, len(known) // MOST_OPENED)]:
            if kind.split()[1] not in NOT_OPENED:
                assert client.get(address).status_code in (200, 300, 301, 302), address


def test_what_members_see_leads_to_pages_of_its_language(client, addresses):
    client.force_login(User.objects.create_superuser("root"))
    machine, report = Machine.objects.get(), Report.objects.get()
    for address in (f"{machine.get_absolute_url()}manage/", f"/receipts/{report.pk}/withdraw/", "/machines/add/"):
        for language in ("en", "zh-hans", "en"):
            assert len(assert_leads_to(client, address if language == "en" else chinese(address), language)) > 15


def test_an_address_without_a_language_leads_to_english(client, addresses):
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

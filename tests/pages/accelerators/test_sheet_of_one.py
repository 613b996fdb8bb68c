"""A sheet of a catalogue of one: what is corrected, disputed or hostile on it, and a kept sheet that gives way.

Without the curated accelerators, which each change would have the site read again.
"""

import re
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User

from stackviz.records.catalog.models import Accelerator, Alias, CatalogueEdition, Source, SpecValue
from tests.languages import chinese
from tests.pages.accelerators.test_sheet_page import content_of, page_of


def test_a_value_says_who_checked_and_who_corrected_it(client, bandwidth):
    page = page_of(client, "acme-one")
    assert "entered or corrected on this site, not yet approved by a second person" in page
    value = SpecValue.objects.get(pk=bandwidth.pk)
    value.checked_by = User.objects.create_user("login-of-mira", first_name="Mira", last_name="Lund")
    value.checked_at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    value.value = "3352"
    value.set_change_reason("2619 MHz x 2 x 5120 bit / 8")
    value._history_user = value.checked_by
    value.save()
    page = page_of(client, "acme-one")
    assert "<dt>Checked</dt><dd>by Mira Lund on 2026-03-01 ·" in page
    assert re.search(r"<dt>History</dt><dd>\d{4}-\d\d-\d\d Mira Lund: 3350 GB/s → 3352 GB/s, 2619 MHz x 2", page)
    assert "login-of-mira" not in page
    SpecValue.objects.filter(pk=bandwidth.pk).update(note="<script>alert(1)</script>")
    CatalogueEdition.renew()
    page = page_of(client, "acme-one")
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_kept_sheet_is_in_the_readers_language(client, bandwidth):
    english = content_of(client, "acme-one")
    assert 'lang="zh-hans"' in client.get(chinese("/accelerators/acme-one/")).content.decode()
    assert content_of(client, "acme-one") == english


CHANGES = (
    "a value is corrected", "a value is deleted", "a name is added", "a name is deleted", "a source is renamed",
    "the accelerator changes", "its vendor is renamed", "a relative is renamed", "a relative is hidden",
)  # fmt: skip


def change(value: SpecValue, name: Alias, relative: Accelerator, what: str) -> None:
    card = value.accelerator
    if what == "a value is corrected":
        value.note = "printed on page 3"
        value.save()
    elif what == "a value is deleted":
        value.delete()
    elif what == "a name is added":
        Alias.objects.create(accelerator=card, name="Acme I", source=value.source)
    elif what == "a name is deleted":
        name.delete()
    elif what == "a source is renamed":
        value.source.title = "Acme data sheet, second edition"
        value.source.save()
    elif what == "the accelerator changes":
        card.kind = "asic"
        card.save()
    elif what == "its vendor is renamed":
        card.vendor.name = "Acme Corporation"
        card.vendor.save()
    elif what == "a relative is renamed":
        relative.name = "Acme One Plus"
        relative.save()
    else:
        relative.is_public = False
        relative.save()


@pytest.mark.parametrize("what", CHANGES)
def test_a_kept_sheet_gives_way_to_any_change(client, bandwidth, what):
    card = bandwidth.accelerator
    card.family = "acme"
    card.save()
    of_family = {"vendor": card.vendor, "kind": "gpu", "family": "acme"}
    relative = Accelerator.objects.create(slug="acme-one-max", name="Acme One Max", **of_family)
    named = {"accelerator": card, "source": bandwidth.source}
    names = [Alias.objects.create(name=name, **named) for name in ("Acme A", "Acme B")]
    before = content_of(client, "acme-one")
    change(bandwidth, names[0], relative, what)
    assert content_of(client, "acme-one") != before


@pytest.mark.parametrize(
    ("kind", "basis", "why"),
    [
        ("press", "published", "the vendor&#39;s own figure takes precedence"),
        ("maker", "derived", "a published figure takes precedence over a derived or measured one"),
        ("maker", "published", ""),
    ],
)
def test_where_sources_disagree_the_rule_that_decided_is_said(client, bandwidth, kind, basis, why):
    other = Source.objects.create(key="other", title="Another", url="https://other.example/", kind=kind)
    SpecValue.objects.create(
        accelerator=bandwidth.accelerator, field=bandwidth.field, value="3000", unit="GB/s", source=other,
        status="public", basis=basis,
    )  # fmt: skip
    page = page_of(client, "acme-one")
    assert "1 other figure: 3,000 GB/s" in page
    assert (f"<dt>Decided</dt><dd>{why}</dd>" in page) if why else ("<dt>Decided</dt>" not in page)

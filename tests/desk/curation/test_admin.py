"""The curation desk: an admin finds, corrects, publishes, reverts; mistakes are answered beside the input.

On a site where one person is enough; what a second person has to say is in test_curation.
"""

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from stackviz.records.catalog.conditions import parse
from stackviz.records.catalog.models import Alias, Source, SpecValue

VALUES = "admin:catalog_specvalue"


@pytest.fixture
def desk(client, db, settings):
    """A client whose user may do everything, alone."""
    settings.CURATION_APPROVALS = 1
    client.force_login(User.objects.create_superuser("mira", "mira@example.org", "secret"))
    return client


def form_of(row: SpecValue, /, **changes) -> dict[str, object]:
    filled = {
        "accelerator": row.accelerator_id,
        "field": row.field,
        "value": row.value,
        "unit": row.unit,
        **{f"condition_{name}": said for name, said in parse(row.condition).items()},
        "basis": row.basis,
        "source": row.source_id or "",
        "said_by": row.said_by,
        "note": row.note,
        "status": row.status,
        "reason": "",
        "source_confirmed": "on",
    }
    if row.is_preferred:
        filled["is_preferred"] = "on"
    return {**filled, **changes}


def change_url(value: SpecValue) -> str:
    return reverse(f"{VALUES}_change", args=[value.pk])


def errors(response) -> list[str]:
    return re.findall(r'<ul class="errorlist[^>]*><li>(.*?)</li>', response.content.decode())


@pytest.mark.parametrize(
    "page",
    [
        "accelerator_changelist",
        "specvalue_changelist",
        "alias_changelist",
        "source_changelist",
        "vendor_changelist",
        "catalogueload_changelist",
        "accelerator_add",
        "specvalue_add",
        "alias_add",
        "source_add",
    ],
)
def test_every_list_and_form_opens(desk, bandwidth, page):
    assert desk.get(reverse(f"admin:catalog_{page}")).status_code == 200


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("accelerator", "?q=acme"),
        ("specvalue", "?q=acme&group=memory&origin=hand&status__exact=public"),
        ("alias", "?q=one"),
        ("source", "?q=acme&kind__exact=maker"),
    ],
)
def test_lists_are_searched_and_filtered(desk, bandwidth, page, query):
    Alias.objects.create(accelerator=bandwidth.accelerator, name="Acme One 8GB")
    response = desk.get(reverse(f"admin:catalog_{page}_changelist") + query)
    assert "1 " in re.search(r'class="paginator"[^>]*>(.*?)</p>', response.content.decode(), re.DOTALL)[1]


def test_correction_recomputes_and_shows_its_reason(desk, bandwidth):
    form = form_of(bandwidth, value="3.352", unit="TB/s", reason="2619 MHz x 2 x 5120 bit / 8")
    assert desk.post(change_url(bandwidth), form).status_code == 302
    bandwidth.refresh_from_db()
    assert bandwidth.amount == pytest.approx(3.352e12)
    page = desk.get("/accelerators/acme-one/").content.decode()
    assert "3.352 TB/s</span>" in page
    assert "mira" in page
    assert "2619 MHz x 2 x 5120 bit / 8" in page


def test_a_new_figure_under_the_same_source_asks_whether_it_prints_it(desk, bandwidth, sheet_source):
    unconfirmed = form_of(bandwidth, value="3352", reason="2619 MHz")
    del unconfirmed["source_confirmed"]
    refused = desk.post(change_url(bandwidth), unconfirmed)
    (problem,) = refused.context["adminform"].form.errors["source"]
    assert problem == (
        "The figure changes but its source does not. Does “Acme data sheet” print the new figure? "
        "Choose the source that does, or tick “The source prints the new figure”."
    )
    bandwidth.refresh_from_db()
    assert bandwidth.value == "3350"
    other = Source.objects.create(key="other", title="Errata", url="https://example.org/errata", kind="maker")
    assert desk.post(change_url(bandwidth), {**unconfirmed, "source": other.pk}).status_code == 302
    bandwidth.refresh_from_db()
    assert (bandwidth.value, bandwidth.source) == ("3352", other)


def test_a_note_or_a_figure_that_is_not_public_needs_no_second_look_at_the_source(desk, bandwidth):
    note = form_of(bandwidth, note="with boost", reason="said so")
    del note["source_confirmed"]
    assert desk.post(change_url(bandwidth), note).status_code == 302
    SpecValue.objects.filter(pk=bandwidth.pk).update(status="draft", is_preferred=False)
    bandwidth.refresh_from_db()
    draft = form_of(bandwidth, value="3352", reason="typed anew")
    del draft["source_confirmed"]
    assert desk.post(change_url(bandwidth), draft).status_code == 302
    bandwidth.refresh_from_db()
    assert bandwidth.value == "3352"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": "fast"}, "memory_bandwidth_gb_s is a number, not &#x27;fast&#x27;"),
        ({"value": "nan"}, "not a finite quantity"),
        ({"value": "-3"}, "cannot be negative"),
        ({"value": "3350000000000"}, "lies between"),
        ({"unit": "W"}, "measured in GB/s; W measures something else"),
        ({"unit": ""}, "needs a unit, such as GB/s"),
        ({"condition_sparsity": "thick"}, "sparsity is one of dense"),
        ({"condition_link": "a;b=c"}, "unknown key &#x27;b&#x27;"),
        ({"reason": ""}, "Give a reason"),
        ({"status": "draft"}, "A public value can only stay public or be retired."),
        ({"is_preferred": ""}, "To change the preferred value"),
        ({}, "Nothing to change."),
        ({"source": ""}, "A public value needs a source with a web address."),
        ({"field": "colour"}, "Select a valid choice"),
        ({"value": "３３５０"}, "is a number, not"),
        ({"note": "a \x08 b"}, "control characters"),
        ({"note": "a \u2066 b"}, "control characters"),
        ({"said_by": "a \x1b b"}, "control characters"),
        ({"reason": "a \x0b b"}, "control characters"),
    ],
)
def test_mistake_shows_beside_input(desk, bandwidth, changes, words):
    response = desk.post(change_url(bandwidth), form_of(bandwidth, **{"reason": "as printed", **changes}))
    assert response.status_code == 200
    assert any(words in error for error in errors(response)), errors(response)
    bandwidth.refresh_from_db()
    assert bandwidth.value == "3350"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": "fast"}, "memory_bandwidth_gb_s 应为数字，而不是 &#x27;fast&#x27;"),
        ({"value": "-3"}, "不能为负数"),
        ({"unit": ""}, "需要单位，例如 GB/s"),
        ({"unit": "W"}, "的单位是 GB/s；W 度量的是另一种量"),
        ({"condition_link": "a;b=c"}, "未知的键 &#x27;b&#x27;"),
        ({"condition_sparsity": "thick"}, "sparsity 只能是 dense"),
    ],
)
def test_mistake_is_explained_in_chinese(desk, bandwidth, changes, words):
    desk.cookies["django_language"] = "zh-hans"
    response = desk.post(change_url(bandwidth), form_of(bandwidth, **{"reason": "as printed", **changes}))
    assert any(words in error for error in errors(response)), errors(response)
    page = response.content.decode()
    assert "字段" in page
    assert not any(f">{label}:<" in page for label in ("Field", "Unit", "Condition"))


def test_new_preferred_value_replaces_the_old(desk, bandwidth):
    newer = Source.objects.create(key="newer", title="Newer sheet", url="https://acme.example/2", kind="maker")
    form = form_of(bandwidth, value="3000", source=newer.pk, reason="a newer data sheet")
    assert desk.post(reverse(f"{VALUES}_add"), form).status_code == 302
    preferred = SpecValue.objects.filter(field=bandwidth.field, is_preferred=True)
    assert [value.value for value in preferred] == ["3000"]
    bandwidth.refresh_from_db()
    assert (bandwidth.status, bandwidth.is_preferred) == ("public", False)
    assert bandwidth.history.latest().history_change_reason == "gave way to 3000 GB/s: a newer data sheet"


def test_revert_restores_value_and_shows_it(desk, bandwidth):
    desk.post(change_url(bandwidth), form_of(bandwidth, value="3000", reason="typed wrongly"))
    first = bandwidth.history.earliest()
    address = reverse(f"{VALUES}_simple_history", args=[bandwidth.pk, first.history_id])
    assert desk.get(address).status_code == 200
    assert desk.post(address, form_of(bandwidth, reason="back to the data sheet")).status_code == 302
    bandwidth.refresh_from_db()
    assert (bandwidth.value, bandwidth.amount) == ("3350", 3.35e12)
    page = desk.get("/accelerators/acme-one/").content.decode()
    assert "3350 GB/s → 3000 GB/s, typed wrongly" in page
    assert "3000 GB/s → 3350 GB/s, back to the data sheet" in page


def test_the_history_page_lists_who_and_why(desk, bandwidth):
    desk.post(change_url(bandwidth), form_of(bandwidth, value="3000", reason="typed wrongly"))
    page = desk.get(reverse(f"{VALUES}_history", args=[bandwidth.pk])).content.decode()
    assert "typed wrongly" in page
    assert "mira" in page


def test_values_and_names_are_edited_inside_their_accelerator(desk, bandwidth):
    page = desk.get(reverse("admin:catalog_accelerator_change", args=[bandwidth.accelerator_id])).content.decode()
    assert 'name="spec_values-0-value" value="3350"' in page
    assert '<option value="memory_bandwidth_gb_s" selected>Memory bandwidth</option>' in page
    assert 'name="aliases-0-name"' in page


def test_a_name_is_added_inside_its_accelerator(desk, bandwidth):
    card = bandwidth.accelerator
    inline = {
        f"spec_values-0-{name}": value
        for name, value in form_of(bandwidth, id=bandwidth.pk).items()
        if name not in ("said_by", "source", "source_confirmed", "reason")
    }
    inline |= {"spec_values-0-source": bandwidth.source_id, "spec_values-0-condition": bandwidth.condition}
    form = {
        "slug": card.slug,
        "name": card.name,
        "vendor": card.vendor_id,
        "kind": card.kind,
        "family": "",
        "is_public": "on",
        "spec_values-TOTAL_FORMS": 1,
        "spec_values-INITIAL_FORMS": 1,
        **inline,
        "aliases-TOTAL_FORMS": 1,
        "aliases-INITIAL_FORMS": 0,
        "aliases-0-name": "NVIDIA Acme-One",
        "aliases-0-kind": "reported",
    }
    response = desk.post(reverse("admin:catalog_accelerator_change", args=[card.pk]), form)
    assert (response.status_code, errors(response)) == (302, [])
    assert [(alias.name, alias.normalized) for alias in card.aliases.all()] == [("NVIDIA Acme-One", "acme one")]


@pytest.mark.parametrize(
    ("page", "form"),
    [
        ("alias_add", {"name": "Acme\x08 Two", "kind": "reported"}),
        ("source_add", {"key": "two", "title": "Two\x9d", "url": "https://acme.example/2", "kind": "maker"}),
    ],
)
def test_control_characters_are_refused_in_forms(desk, card, page, form):
    response = desk.post(reverse(f"admin:catalog_{page}"), {"accelerator": card.pk, **form})
    assert errors(response) == ["Remove the control characters: they are invisible and break files."]


def test_an_empty_name_is_refused_in_words(desk, card):
    form = {"accelerator": card.pk, "name": "®", "kind": "reported"}
    response = desk.post(reverse("admin:catalog_alias_add"), form)
    assert errors(response) == ["This name consists only of the vendor&#x27;s name."]


def test_publishing_needs_a_source_and_names_what_has_none(desk, bandwidth):
    plain = {"accelerator": bandwidth.accelerator, "unit": "W", "field": "tdp_w"}
    sourced = SpecValue.objects.create(value="700", source=bandwidth.source, **plain)
    unsourced = SpecValue.objects.create(value="650", condition="scope=limit", **plain)
    form = {"action": "publish", "_selected_action": [sourced.pk, unsourced.pk], "reason": "as printed"}
    page = desk.post(reverse(f"{VALUES}_changelist"), form, follow=True).content.decode()
    sourced.refresh_from_db()
    unsourced.refresh_from_db()
    assert (sourced.status, sourced.is_preferred, unsourced.status) == ("public", True, "unreviewed")
    assert "1 proposal made." in page
    assert "Unchanged: tdp_w 650 W (scope=limit): A public value needs a source with a web address." in page


def test_a_retired_value_leaves_the_sheet(desk, bandwidth):
    desk.post(
        reverse(f"{VALUES}_changelist"), {"action": "set_aside", "_selected_action": [bandwidth.pk], "reason": "wrong"}
    )
    bandwidth.refresh_from_db()
    assert (bandwidth.status, bandwidth.is_preferred) == ("retired", False)
    assert "3,350 GB/s" not in desk.get("/accelerators/acme-one/").content.decode()


def test_loads_are_read_only(desk, db):
    assert desk.get(reverse("admin:catalog_catalogueload_add")).status_code == 403


@pytest.mark.parametrize("count", [1, 40])
def test_value_list_query_count_is_constant(desk, bandwidth, django_assert_max_num_queries, count):
    for number in range(count):
        SpecValue.objects.create(
            accelerator=bandwidth.accelerator, field="tdp_w", value=str(100 + number), unit="W", source=bandwidth.source
        )
    with django_assert_max_num_queries(12):
        desk.get(reverse(f"{VALUES}_changelist"))

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
    filled: dict[str, object] = {
        name: getattr(row, name) for name in ("field", "value", "unit", "basis", "note", "status")
    }
    filled |= {f"condition_{name}": content for name, content in parse(row.condition).items()}
    filled |= {"accelerator": row.accelerator_id, "source": row.source_id or "", "said_by": row.said_by}
    filled |= {"reason": "", "source_confirmed": "on", **({"is_preferred": "on"} if row.is_preferred else {})}
    return {**filled, **changes}


def change_url(value: SpecValue) -> str:
    return reverse(f"{VALUES}_change", args=[value.pk])


def errors(response) -> list[str]:
    return re.findall(r'<ul class="errorlist[^>]*><li>(.*?)</li>', response.content.decode())


LISTS = {
    "accelerator": "?q=acme", "specvalue": "?q=acme&group=memory&origin=hand&status__exact=public", "alias": "?q=one",
    "source": "?q=acme&kind__exact=maker", "vendor": "", "catalogueload": "",
}  # fmt: skip


@pytest.mark.parametrize("page", LISTS)
def test_every_list_and_form_opens_and_is_filtered(desk, bandwidth, page):
    Alias.objects.create(accelerator=bandwidth.accelerator, name="Acme One 8GB")
    form = desk.get(reverse(f"admin:catalog_{page}_add"))
    assert form.status_code == (403 if page == "catalogueload" else 200)  # loads are read-only
    address = reverse(f"admin:catalog_{page}_changelist")
    assert desk.get(address).status_code == 200
    text = desk.get(address + LISTS[page]).content.decode()
    assert not LISTS[page] or "1 " in re.search(r'class="paginator"[^>]*>(.*?)</p>', text, re.DOTALL)[1]


def test_correction_recomputes_and_shows_its_reason(desk, bandwidth):
    form = form_of(bandwidth, value="3.352", unit="TB/s", reason="2619 MHz x 2 x 5120 bit / 8")
    assert desk.post(change_url(bandwidth), form).status_code == 302
    bandwidth.refresh_from_db()
    assert bandwidth.amount == pytest.approx(3.352e12)
    page = desk.get("/accelerators/acme-one/").content.decode()
    assert "3.352 TB/s</span>" in page
    assert "mira" in page
    assert "2619 MHz x 2 x 5120 bit / 8" in page


def test_a_new_public_figure_asks_whether_its_source_prints_it(desk, bandwidth, sheet_source):
    def save(status_code: int, **changes):
        bandwidth.refresh_from_db()
        form = form_of(bandwidth, **changes)
        answer = desk.post(change_url(bandwidth), {k: v for k, v in form.items() if k != "source_confirmed"})
        assert answer.status_code == status_code
        bandwidth.refresh_from_db()
        return answer

    refused = save(200, value="3352", reason="2619 MHz")
    assert list(refused.context["adminform"].form.errors) == ["source"]
    save(302, note="with boost", reason="a note needs no second look")
    assert (bandwidth.value, bandwidth.note) == ("3350", "with boost")
    other = Source.objects.create(key="other", title="Errata", url="https://example.org/errata", kind="maker")
    save(302, value="3352", reason="2619 MHz", source=other.pk)
    assert (bandwidth.value, bandwidth.source) == ("3352", other)
    SpecValue.objects.filter(pk=bandwidth.pk).update(status="draft", is_preferred=False)
    save(302, value="3353", reason="nor does a draft")
    assert bandwidth.value == "3353"


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
    page = desk.get(reverse(f"{VALUES}_history", args=[bandwidth.pk])).content.decode()
    assert ("typed wrongly" in page, "mira" in page) == (True, True)
    first = bandwidth.history.earliest()
    address = reverse(f"{VALUES}_simple_history", args=[bandwidth.pk, first.history_id])
    assert desk.get(address).status_code == 200
    assert desk.post(address, form_of(bandwidth, reason="back to the data sheet")).status_code == 302
    bandwidth.refresh_from_db()
    assert (bandwidth.value, bandwidth.amount) == ("3350", 3.35e12)
    page = desk.get("/accelerators/acme-one/").content.decode()
    assert "3350 GB/s → 3000 GB/s, typed wrongly" in page
    assert "3000 GB/s → 3350 GB/s, back to the data sheet" in page


def test_names_and_values_are_edited_inside_an_accelerator(desk, bandwidth):
    card = bandwidth.accelerator
    address = reverse("admin:catalog_accelerator_change", args=[card.pk])
    page = desk.get(address).content.decode()
    assert 'name="spec_values-0-value" value="3350"' in page
    assert '<option value="memory_bandwidth_gb_s" selected>Memory bandwidth</option>' in page
    row = {**form_of(bandwidth), "id": bandwidth.pk, "condition": bandwidth.condition}
    unsent = ("said_by", "source_confirmed", "reason")
    form = {f"spec_values-0-{name}": value for name, value in row.items() if name not in unsent}
    form |= {"slug": card.slug, "name": card.name, "vendor": card.vendor_id, "kind": card.kind, "is_public": "on"}
    form |= {"spec_values-TOTAL_FORMS": 1, "spec_values-INITIAL_FORMS": 1}
    form |= {"aliases-TOTAL_FORMS": 1, "aliases-INITIAL_FORMS": 0}
    form |= {"aliases-0-name": "NVIDIA Acme-One", "aliases-0-kind": "reported"}
    response = desk.post(address, form)
    assert (response.status_code, errors(response)) == (302, [])
    assert [(alias.name, alias.normalized) for alias in card.aliases.all()] == [("NVIDIA Acme-One", "acme one")]


@pytest.mark.parametrize(
    ("page", "form", "words"),
    [
        ("alias_add", {"name": "Acme\x08 Two", "kind": "reported"}, "control characters"),
        ("alias_add", {"name": "®", "kind": "reported"}, "only of the vendor"),
        (
            "source_add",
            {"key": "two", "title": "Two\x9d", "url": "https://acme.example/2", "kind": "maker"},
            "control characters",
        ),
    ],
)
def test_names_of_control_characters_or_nothing_are_refused(desk, card, page, form, words):
    (error,) = errors(desk.post(reverse(f"admin:catalog_{page}"), {"accelerator": card.pk, **form}))
    assert words in error


def test_publishing_needs_a_source_and_names_what_has_none(desk, bandwidth):
    def act(action: str, *values: SpecValue) -> str:
        form = {"action": action, "_selected_action": [value.pk for value in values], "reason": "as printed"}
        page = desk.post(reverse(f"{VALUES}_changelist"), form, follow=True).content.decode()
        for value in values:
            value.refresh_from_db()
        return page

    plain = {"accelerator": bandwidth.accelerator, "unit": "W", "field": "tdp_w"}
    sourced = SpecValue.objects.create(value="700", source=bandwidth.source, **plain)
    unsourced = SpecValue.objects.create(value="650", condition="scope=limit", **plain)
    page = act("publish", sourced, unsourced)
    assert (sourced.status, sourced.is_preferred, unsourced.status) == ("public", True, "unreviewed")
    assert "Unchanged: tdp_w 650 W (scope=limit): A public value needs a source" in page
    act("set_aside", bandwidth)
    assert (bandwidth.status, bandwidth.is_preferred) == ("retired", False)
    assert "3,350 GB/s" not in desk.get("/accelerators/acme-one/").content.decode()


@pytest.mark.parametrize("count", [1, 40])
def test_value_list_query_count_is_constant(desk, bandwidth, django_assert_max_num_queries, count):
    for number in range(count):
        SpecValue.objects.create(
            accelerator=bandwidth.accelerator, field="tdp_w", value=str(100 + number), unit="W", source=bandwidth.source
        )
    with django_assert_max_num_queries(12):
        desk.get(reverse(f"{VALUES}_changelist"))

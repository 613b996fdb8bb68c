"""An accelerator is added with its values on one page: through the form that the page holds, as a browser sends it."""

import re
from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import PermissionDenied
from django.urls import reverse

from stackviz.desk.curation import decide_proposals
from stackviz.records.catalog.models import Accelerator, Proposal, Source, SpecValue, Vendor

ADD = "/admin/catalog/accelerator/add/"
TWELVE = {
    "release_date": ("2023-03-21", "event=launched"), "memory_gb": ("80", ""), "memory_bandwidth_gb_s": ("3350", ""),
    "fp32_tflops": ("66.9", ""), "fp16_tensor_tflops": ("989.4", "sparsity=dense"),
    "bf16_tensor_tflops": ("989.4", "sparsity=dense"), "int8_tensor_tops": ("1979", "sparsity=dense"),
    "tdp_w": ("700", ""), "memory_bus_bits": ("5120", ""), "memory_type": ("HBM3", ""), "l2_cache_mb": ("50", ""),
    "process_node": ("TSMC 4N", ""),
}  # fmt: skip


class Form(HTMLParser):
    """The inputs of the admin's form and what is typed into them; `actions` counts fields filled and choices made."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.typed: dict[str, str] = {}
        self.options: dict[str, list[str]] = {}
        self.boxes: set[str] = set()
        self.actions = 0
        self._select = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        if tag == "select":
            self._select = name
            self.typed[name], self.options[name] = "", []
        elif tag == "option" and self._select:
            self.options[self._select].append(given.get("value", ""))
            if "selected" in given:
                self.typed[self._select] = given.get("value", "")
        elif tag == "input" and given.get("type") == "checkbox":
            self.boxes.add(name)
            if "checked" in given:
                self.typed[name] = "on"
        elif tag == "input" and name and given.get("type") != "submit":
            self.typed[name] = given.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""

    def fill(self, name: str, text: object) -> None:
        assert name in self.typed or name in self.boxes, name
        self.actions += 1
        self.typed[name] = str(text)

    def row_of(self, field: str) -> str:
        """The row that holds this field, or else the first without one, in which it is chosen."""
        rows = [name.removesuffix("-field") for name in self.typed if re.fullmatch(r"spec_values-\d+-field", name)]
        for row in rows:
            if self.typed[f"{row}-field"] == field:
                return row
        row = next(row for row in rows if not self.typed[f"{row}-field"])
        assert field in self.options[f"{row}-field"]
        self.fill(f"{row}-field", field)
        return row

    def fill_row(self, field: str, value: str, condition: str = "") -> str:
        row = self.row_of(field)
        self.fill(f"{row}-value", value)
        if condition:
            self.fill(f"{row}-condition", condition)
        return row


@pytest.fixture(params=["superuser", "staff"])
def editor(request, db) -> User:
    """Who may add accelerators and propose values: everything else, or nothing else."""
    if request.param == "superuser":
        return User.objects.create_superuser("mira")
    user = User.objects.create_user("mira", is_staff=True)
    user.groups.set(Group.objects.filter(name="Curators"))
    user.user_permissions.set(Permission.objects.filter(codename__in=("add_accelerator", "view_vendor")))
    return user


@pytest.fixture
def form(client, editor, sheet_source) -> Form:
    client.force_login(editor)
    return sheet(client, sheet_source)


def sheet(client, source, **given: str) -> Form:
    """The page's form with all but its rows filled."""
    Vendor.objects.get_or_create(slug="acme", defaults={"name": "Acme"})
    made = Form(client.get(ADD).content.decode())
    filled = {"name": "Acme Two", "vendor": Vendor.objects.get(slug="acme").pk, "kind": "gpu"}
    filled |= {"spec_values-all-source": source.pk, "spec_values-all-reason": "data sheet of 2026"}
    for name, text in {**filled, **given}.items():
        made.fill(name, text)
    made.typed["slug"] = "acme-two"  # the page's script makes it of the name
    return made


def send(client, form: Form):
    form.actions += 1
    return client.post(ADD, form.typed)


def kept(response) -> Form:
    """The form that is shown again."""
    assert response.status_code == 200
    assert not Accelerator.objects.filter(slug="acme-two").exists()
    return Form(response.content.decode())


@pytest.mark.parametrize("rows", [{"tdp_w": ("700", "")}, TWELVE], ids=["one row", "twelve rows"])
@pytest.mark.parametrize("editor", ["superuser"], indirect=True)
def test_with_one_approval_a_new_sheet_is_public_at_once(client, form, settings, rows):
    settings.CURATION_APPROVALS = 1
    for field, (value, condition) in rows.items():
        form.fill_row(field, value, condition)
    assert send(client, form).status_code == 302
    saved = {value.field: (value.value, value.condition) for value in SpecValue.objects.filter(is_preferred=True)}
    assert saved == rows
    assert form.actions <= 30
    reasons = {value.history.latest().history_change_reason for value in SpecValue.objects.all()}
    assert reasons == {"data sheet of 2026"}
    assert "data sheet of 2026" in client.get("/accelerators/acme-two/").content.decode()


@pytest.mark.parametrize("rows", [{"tdp_w": ("700", "")}, TWELVE], ids=["one row", "twelve rows"])
def test_with_two_approvals_each_new_value_is_proposed(client, form, editor, settings, rows):
    settings.CURATION_APPROVALS = 2
    for field, (value, condition) in rows.items():
        form.fill_row(field, value, condition)
    assert send(client, form).status_code == 302
    assert not SpecValue.objects.exists()
    made = {
        proposal.field: (proposal.value, proposal.condition) for proposal in Proposal.objects.filter(state="review")
    }
    assert made == rows
    assert form.actions <= 30
    second = User.objects.create_superuser("noor")
    for proposal in Proposal.objects.all():
        assert (proposal.reason, proposal.source.title) == ("data sheet of 2026", "Acme data sheet")
        with pytest.raises(PermissionDenied):
            decide_proposals.approve(proposal.pk, editor)
        decide_proposals.approve(proposal.pk, second)
    assert SpecValue.objects.filter(accelerator__slug="acme-two", status="public").count() == len(rows)


def test_a_row_may_have_a_unit_source_and_reason_of_its_own(client, form):
    other = Source.objects.create(key="x", title="X", url="https://x.example/", kind="press")
    form.fill_row("memory_gb", "80")
    form.fill(f"{form.fill_row('memory_bandwidth_gb_s', '3.35')}-unit", "TB/s")
    row = form.fill_row("tdp_w", "700")
    form.fill(f"{row}-source", other.pk)
    form.fill(f"{row}-reason", "as X read it")
    assert send(client, form).status_code == 302
    made = {item.field: (item.unit, item.source.key, item.reason) for item in Proposal.objects.all()}
    assert made == {
        "memory_gb": ("GB", "acme-sheet", "data sheet of 2026"),
        "memory_bandwidth_gb_s": ("TB/s", "acme-sheet", "data sheet of 2026"),
        "tdp_w": ("W", "x", "as X read it"),
    }


def test_a_sheet_without_values_needs_neither_source_nor_reason(client, editor, sheet_source):
    client.force_login(editor)
    form = sheet(client, sheet_source, **{"spec_values-all-source": "", "spec_values-all-reason": ""})
    assert send(client, form).status_code == 302
    assert Accelerator.objects.filter(slug="acme-two").exists()
    assert not Proposal.objects.exists()


@pytest.mark.parametrize(
    ("changes", "beside", "words"),
    [
        ({"spec_values-all-reason": ""}, "spec_values-all-reason", "Give a reason, here or in each row"),
        ({"spec_values-all-reason": "a \x08 b"}, "spec_values-all-reason", "control characters"),
        ({"spec_values-all-reason": "a \u202e b"}, "spec_values-all-reason", "control characters"),
        ({"spec_values-all-source": ""}, "spec_values-5-source", "A public value needs a source"),
        ({"spec_values-all-source": "x"}, "spec_values-all-source", "Select a valid choice"),
        ({"spec_values-all-source": "9" * 30}, "spec_values-all-source", "Select a valid choice"),
        ({"name": ""}, "name", "This field is required"),
        ({"vendor": ""}, "vendor", "This field is required"),
        ({"slug": "No Slug"}, "slug", ""),
        ({"spec_values-7-value": "much"}, "spec_values-7-value", "tdp_w is a number, not"),
        ({"spec_values-7-unit": "GB"}, "spec_values-7-value", "measures something else"),
        ({"spec_values-7-value": "", "spec_values-7-note": "up to"}, "spec_values-7-value", "This field is required"),
        ({"spec_values-8-field": "", "spec_values-8-value": "5120"}, "spec_values-8-field", "This field is required"),
        ({"spec_values-8-field": "tdp_w", "spec_values-8-value": "7"}, "spec_values-8-field", "Another row has"),
        ({"spec_values-7-condition": "colour=red"}, "spec_values-7-condition", "unknown key"),
        ({"spec_values-7-status": "gone"}, "spec_values-7-status", "Select a valid choice"),
        ({"spec_values-7-is_preferred": "on", "spec_values-7-status": "draft"}, "spec_values-7-is_preferred", "Only a"),
    ],
)
@pytest.mark.parametrize("editor", ["superuser"], indirect=True)
def test_after_a_mistake_what_was_typed_comes_back(client, form, changes, beside, words):
    for field, (value, condition) in TWELVE.items():
        form.fill_row(field, value, condition)
    assert form.typed["spec_values-7-field"] == "tdp_w"
    for name, text in changes.items():
        form.fill(name, text)
    response = send(client, form)
    page = response.content.decode()
    again = kept(response)
    differs = {name for name in form.typed if form.typed[name] != again.typed.get(name, "")}
    assert differs <= {"csrfmiddlewaretoken", *(name for name in changes if name.endswith(("-source", "-status")))}
    assert not Proposal.objects.exists()
    above = page[: re.search(rf'name="{beside}"', page).start()]
    assert words in above[above.rindex('class="errorlist"') :]
    assert "Please correct the error" in page
    assert "Constraint" not in page


@pytest.mark.parametrize("editor", ["superuser"], indirect=True)
def test_the_rows_of_a_new_sheet_are_checked_against_each_other(client, form):
    for field, value in {"memory_bandwidth_gb_s": "1000", "memory_bus_bits": "5120", "memory_type": "HBM3"}.items():
        form.fill_row(field, value)
    page = send(client, form).content.decode()
    assert "The value does not match its formula" in page
    kept_form = Form(page)
    kept_form.fill(f"{kept_form.row_of('memory_bandwidth_gb_s')}-note", "Not by formula: half of its stacks are off")
    assert send(client, kept_form).status_code == 302


@pytest.mark.parametrize("editor", ["staff"], indirect=True)
def test_who_may_not_propose_is_told_so_and_loses_nothing(client, form, editor):
    group = editor.groups.get()
    propose = Permission.objects.get(codename="propose")
    group.permissions.remove(propose)
    form.fill_row("tdp_w", "700")
    response = send(client, form)
    assert kept(response).typed[f"{form.row_of('tdp_w')}-value"] == "700"
    assert "You do not have permission" in response.content.decode()
    group.permissions.add(propose)
    editor.user_permissions.clear()  # who may only propose adds no sheet
    assert (client.get(ADD).status_code, client.post(ADD, {}).status_code) == (403, 403)


def test_one_reason_is_enough_for_many_changed_rows(admin_client, bandwidth):
    plain = {"accelerator": bandwidth.accelerator, "source": bandwidth.source, "status": "public"}
    SpecValue.objects.create(field="tdp_w", value="700", unit="W", **plain)
    address = reverse("admin:catalog_accelerator_change", args=[bandwidth.accelerator_id])
    form = Form(admin_client.get(address).content.decode())
    for field in ("memory_bandwidth_gb_s", "tdp_w"):
        form.fill(f"{form.row_of(field)}-note", "with boost")
    form.fill("spec_values-all-reason", "read again")
    assert admin_client.post(address, form.typed).status_code == 302
    assert {(row.field, row.note, row.reason) for row in Proposal.objects.all()} == {
        ("memory_bandwidth_gb_s", "with boost", "read again"),
        ("tdp_w", "with boost", "read again"),
    }

"""Two persons change a public value: one proposes, the other decides; the record says who, when, why, and from what."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from stackviz.desk.curation import decide_proposals, propose, review_queue
from stackviz.desk.curation.apps import make_groups
from stackviz.desk.curation.differences import differences, wanted
from stackviz.records.catalog.models import Accelerator, CatalogueEdition, Proposal, Source, SpecValue, Vendor
from tests.desk.curation.test_admin import change_url, errors, form_of

QUEUE = "admin:catalog_proposal"


def person(name: str, *groups: str) -> User:
    user = User.objects.create_user(name, password="secret", is_staff=True)
    user.groups.set(Group.objects.filter(name__in=groups))
    return user


@pytest.fixture
def mira(db) -> User:
    return person("mira", "Curators")


@pytest.fixture
def noor(db) -> User:
    return person("noor", "Approvers")


@pytest.fixture
def lone(db) -> User:
    """In both groups: may propose and approve, still not their own."""
    return person("lone", "Curators", "Approvers")


def changed(value: SpecValue, /, **attributes) -> SpecValue:
    """The stored value with these attributes changed, by default with another figure."""
    wanted_value = SpecValue.objects.select_related("source", "accelerator").get(pk=value.pk)
    for name, content in (attributes or {"value": "3352"}).items():
        setattr(wanted_value, name, content)
    return wanted_value


def submit(value: SpecValue, by: User, reason: str = "because", **options) -> Proposal:
    """Propose what `value` is to be."""
    return propose.submit(value, by=by, reason=reason, **options)


def page_of(client, name: str, *arguments, query: str = "", **post) -> str:
    """The text of an admin page of proposals; with values it is posted."""
    address = reverse(f"{QUEUE}_{name}", args=arguments) + query
    answer = client.post(address, post, follow=True) if post else client.get(address)
    return answer.content.decode()


def another(value: SpecValue, /, **attributes) -> SpecValue:
    """A further value of the same thing from a source of its own."""
    number = Source.objects.count()
    kind = attributes.pop("kind", "press")
    source = Source.objects.create(key=f"s{number}", title=f"S{number}", url=f"https://s{number}.example", kind=kind)
    plain = {"accelerator": value.accelerator, "field": value.field, "unit": value.unit, "condition": value.condition}
    return SpecValue(**{**plain, "value": "3300", "source": source, "status": "public", **attributes})


# --- the way of a proposal ---


def test_proposal_needs_second_approval(bandwidth, mira, noor):
    proposal = submit(changed(bandwidth), mira, "2619 MHz")
    bandwidth.refresh_from_db()
    assert (bandwidth.value, proposal.state, proposal.action) == ("3350", "review", "change")
    before = CatalogueEdition.current()
    decide_proposals.approve(proposal.pk, noor, "the sheet says so")
    assert CatalogueEdition.current() != before
    bandwidth.refresh_from_db()
    assert (bandwidth.value, bandwidth.amount, bandwidth.checked_by) == ("3352", 3.352e12, noor)
    record = bandwidth.history.latest()
    assert (record.history_user, record.history_change_reason, record.checked_by) == (mira, "2619 MHz", noor)
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by, proposal.answer) == ("approved", noor, "the sheet says so")


def test_no_one_approves_their_own_proposal(bandwidth, lone):
    boss = User.objects.create_superuser("boss")
    for user in (lone, boss):
        proposal = submit(changed(bandwidth, value=f"33{user.pk:02}"), user)
        with pytest.raises(PermissionDenied):
            decide_proposals.approve(proposal.pk, user)
        decide_proposals.withdraw(proposal.pk, user)
    bandwidth.refresh_from_db()
    assert bandwidth.value == "3350"


def test_single_approval_approves_itself(bandwidth, lone, mira, settings):
    settings.CURATION_APPROVALS = 1
    alone = submit(changed(bandwidth), lone)
    bandwidth.refresh_from_db()
    assert (alone.state, bandwidth.value, bandwidth.checked_by) == ("approved", "3352", lone)
    waiting = propose.submit(changed(bandwidth, value="3353"), by=mira, reason="may not approve")
    assert waiting.state == "review"


@pytest.mark.parametrize("reason", ["", "   ", "a \x08 b"])
def test_a_proposal_without_a_clean_reason_is_refused(bandwidth, mira, noor, reason):
    with pytest.raises(ValidationError, match=r"Give a reason|control characters"):
        propose.propose(changed(bandwidth), by=mira, reason=reason)
    proposal = submit(changed(bandwidth), mira)
    with pytest.raises((ValidationError, decide_proposals.Undecidable), match=r"Give a reason|control characters"):
        decide_proposals.reject(proposal.pk, noor, reason)
    assert Proposal.objects.get().state == "review"


def test_a_rejection_says_why_and_leaves_the_value(bandwidth, mira, noor):
    proposal = submit(changed(bandwidth), mira)
    decide_proposals.reject(proposal.pk, noor, "rounded")
    with pytest.raises(decide_proposals.Undecidable, match="rejected"):
        decide_proposals.approve(proposal.pk, noor)
    bandwidth.refresh_from_db()
    assert (bandwidth.value, Proposal.objects.get().answer) == ("3350", "rounded")


def test_a_draft_waits_with_its_author_until_it_is_sent(client, bandwidth, mira, noor):
    draft = submit(changed(bandwidth), mira, as_draft=True)
    with pytest.raises(decide_proposals.Undecidable, match="still a draft"):
        decide_proposals.approve(draft.pk, noor)
    with pytest.raises(PermissionDenied):
        decide_proposals.send(draft.pk, noor)
    client.force_login(person("cur2", "Curators"))
    assert "3352" not in page_of(client, "changelist", query="?state=all")
    decision = reverse(f"{QUEUE}_decide", args=[draft.pk])
    assert client.post(decision, {"decision": "send"}).status_code == 404
    client.force_login(mira)
    assert 'value="send"' in page_of(client, "change", draft.pk)
    client.post(decision, {"decision": "send"})
    assert decide_proposals.approve(draft.pk, noor).state == "approved"


def test_reproposing_replaces_only_your_own(bandwidth, mira, lone):
    first = submit(changed(bandwidth), mira)
    second = submit(changed(bandwidth, value="3353"), mira)
    first.refresh_from_db()
    assert (first.state, second.state) == ("withdrawn", "review")
    with pytest.raises(ValidationError, match="Decide on that proposal first"):
        submit(changed(bandwidth, value="3354"), lone)
    assert Proposal.objects.filter(state="review").get() == second


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        ({"value": "3350"}, "Nothing to change"),
        ({"status": "draft"}, "can only stay public or be retired"),
        ({"source": None}, "needs a source"),
        ({"value": "3e9"}, "lies between"),
        ({"unit": "W"}, "measures something else"),
        ({"is_preferred": False}, "To change the preferred value"),
    ],
)
def test_what_cannot_be_public_cannot_be_proposed(bandwidth, mira, attributes, problem):
    with pytest.raises(ValidationError, match=problem):
        submit(changed(bandwidth, **attributes), mira)
    assert not Proposal.objects.exists()


# --- exactly one is preferred ---


def preferred(value: SpecValue) -> list[str]:
    rows = SpecValue.objects.filter(accelerator=value.accelerator, field=value.field, is_preferred=True)
    return [f"{row.value} {row.condition}".strip() for row in rows.order_by("condition")]


def test_only_the_first_public_value_becomes_preferred(bandwidth, mira, noor):
    decide_proposals.approve(submit(another(bandwidth, condition="scope=limit"), mira).pk, noor)
    proposal = decide_proposals.approve(submit(another(bandwidth), mira).pk, noor)
    assert preferred(bandwidth) == ["3350", "3300 scope=limit"]
    assert (proposal.target.value, proposal.target.status) == ("3300", "public")


def test_preferring_records_both_values_or_nothing(bandwidth, mira, noor, monkeypatch):
    other = another(bandwidth)
    other.save()
    proposal = submit(changed(other, is_preferred=True), mira, "newer sheet")
    assert proposal.action == "prefer"
    with monkeypatch.context() as broken:
        broken.setattr(decide_proposals, "_decided", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            decide_proposals.approve(proposal.pk, noor)
    assert preferred(bandwidth) == ["3350"]
    decide_proposals.approve(proposal.pk, noor)
    assert preferred(bandwidth) == ["3300"]
    assert bandwidth.history.latest().history_change_reason == "gave way to 3300 GB/s: newer sheet"
    assert other.history.latest().history_change_reason == "newer sheet"


def test_next_best_value_becomes_preferred(bandwidth, mira, noor):
    for kind, basis in (("press", "published"), ("maker", "derived"), ("maker", "published")):
        another(bandwidth, kind=kind, basis=basis, value={"derived": "3301"}.get(basis, f"33{len(kind)}0")).save()
    best = SpecValue.objects.get(source__kind="maker", basis="published", is_preferred=False)
    proposal = propose.submit(changed(bandwidth, status="retired", is_preferred=False), by=mira, reason="preliminary")
    assert proposal.action == "retire"
    decide_proposals.approve(proposal.pk, noor)
    bandwidth.refresh_from_db()
    assert (bandwidth.status, preferred(bandwidth)) == ("retired", [best.value])
    assert best.history.latest().history_change_reason == "preferred instead of 3350 GB/s: preliminary"


def test_value_changing_condition_loses_its_mark(bandwidth, mira, noor):
    another(bandwidth).save()
    proposal = propose.submit(changed(bandwidth, condition="scope=gpu"), by=mira, reason="per GPU")
    decide_proposals.approve(proposal.pk, noor)
    assert preferred(bandwidth) == ["3300", "3350 scope=gpu"]


# --- conflicts ---


def test_concurrent_change_shows_both_values(bandwidth, mira, noor):
    proposal = submit(changed(bandwidth), mira)
    bandwidth.value = "3360"
    bandwidth.save()
    with pytest.raises(decide_proposals.Conflict, match="was 3350 GB/s, now 3360 GB/s"):
        decide_proposals.approve(proposal.pk, noor)
    bandwidth.refresh_from_db()
    assert (bandwidth.value, Proposal.objects.get().state) == ("3360", "review")
    anew = decide_proposals.rebase_proposal(proposal.pk, mira)
    decide_proposals.approve(anew.pk, noor)
    bandwidth.refresh_from_db()
    assert bandwidth.value == "3352"


def test_gone_or_repeated_values_are_not_approved(bandwidth, mira, noor):
    proposal = submit(changed(bandwidth), mira)
    wanted_value = another(bandwidth)
    addition = submit(wanted_value, mira)
    wanted_value.save()
    with pytest.raises(ValidationError, match="already recorded from this source"):
        decide_proposals.approve(addition.pk, noor)
    bandwidth.delete()
    with pytest.raises(decide_proposals.Conflict, match="now deleted"):
        decide_proposals.approve(proposal.pk, noor)
    assert Proposal.objects.filter(state="review").count() == 2


# --- the database holds it too ---


@pytest.mark.parametrize(
    ("attributes", "constraint"),
    [
        ({"reason": ""}, "proposal_has_a_reason"),
        ({"digest": "x"}, "proposal_knows_what_it_changes"),
        ({"source": None}, "proposal_for_the_public_has_source"),
        ({"state": "approved"}, "proposal_decided_has_a_moment"),
        ({"state": "rejected", "decided_at": timezone.now()}, "proposal_rejected_says_why"),
    ],
)
def test_the_database_refuses_a_proposal_that_cannot_be(bandwidth, attributes, constraint):
    plain = {"action": "add", "accelerator": bandwidth.accelerator, "field": "tdp_w", "value": "1", "unit": "W"}
    with pytest.raises(IntegrityError, match=constraint):
        Proposal.objects.create(**{**plain, "source": bandwidth.source, "reason": "because", **attributes})


def test_proposal_lists_changes_by_attribute(bandwidth, mira):
    proposal = submit(changed(bandwidth, value="3.352", unit="TB/s", note="boost"), mira)
    told = [(item.label, item.old, item.new) for item in differences(proposal.before, wanted(proposal))]
    assert told == [("Value", "3350 GB/s", "3.352 TB/s"), ("Note", "", "boost")]


# --- the admin ---


def test_groups_keep_admin_changes(db):
    curators, approvers = Group.objects.get(name="Curators"), Group.objects.get(name="Approvers")
    assert curators.permissions.filter(codename="propose").exists()
    assert not curators.permissions.filter(codename="approve").exists()
    assert approvers.permissions.filter(codename="approve").exists()
    curators.permissions.clear()
    make_groups()
    assert not curators.permissions.exists()


def test_saving_a_public_value_in_the_admin_proposes_it(client, admin_client, bandwidth, mira):
    client.force_login(mira)
    form = form_of(bandwidth, value="3352", reason="2619 MHz")
    (problem,) = errors(client.post(change_url(bandwidth), {k: v for k, v in form.items() if k != "source_confirmed"}))
    assert problem.startswith("The figure changes")
    page = client.post(change_url(bandwidth), form, follow=True).content.decode()
    assert "was changed successfully" not in page
    assert Proposal.objects.get().proposed_by == mira
    assert "waiting for review" in client.get(change_url(bandwidth)).content.decode()
    Proposal.objects.all().delete()
    admin_client.post(change_url(bandwidth), form)  # a superuser's goes the same way
    bandwidth.refresh_from_db()
    assert (bandwidth.value, Proposal.objects.get().state) == ("3350", "review")


def test_a_revert_is_a_proposal_like_any_other(client, bandwidth, mira, noor):
    decide_proposals.approve(submit(changed(bandwidth), mira).pk, noor)
    client.force_login(mira)
    first = bandwidth.history.earliest()
    address = reverse("admin:catalog_specvalue_simple_history", args=[bandwidth.pk, first.history_id])
    assert len(errors(client.post(address, form_of(bandwidth, value="3350")))) == 1  # it lacks a reason
    assert client.post(address, form_of(bandwidth, value="3350", reason="back")).status_code == 302
    bandwidth.refresh_from_db()
    assert bandwidth.value == "3352"
    decide_proposals.approve(Proposal.objects.get(state="review").pk, noor)
    bandwidth.refresh_from_db()
    assert (bandwidth.value, bandwidth.history.latest().history_change_reason) == ("3350", "back")


def test_draft_saves_directly_and_can_be_deleted(client, bandwidth, mira):
    client.force_login(mira)
    hidden = another(bandwidth, status="draft")
    hidden.save()
    client.post(change_url(hidden), form_of(hidden, value="3333", reason="read again"))
    hidden.refresh_from_db()
    assert (hidden.value, hidden.history.latest().history_user) == ("3333", mira)
    assert not Proposal.objects.exists()


def test_public_values_cannot_be_deleted(admin_client, bandwidth):
    card = bandwidth.accelerator
    for address in (
        reverse("admin:catalog_specvalue_delete", args=[bandwidth.pk]),
        reverse("admin:catalog_accelerator_delete", args=[card.pk]),
    ):
        assert admin_client.post(address, {"post": "yes"}).status_code == 403
    for listed in ("specvalue", "accelerator"):
        admin_client.post(
            reverse(f"admin:catalog_{listed}_changelist"),
            {"action": "delete_selected", "_selected_action": [bandwidth.pk, card.pk], "post": "yes"},
        )
    assert SpecValue.objects.filter(pk=bandwidth.pk).exists()


@pytest.fixture
def waiting(bandwidth, mira) -> Proposal:
    return propose.submit(changed(bandwidth, value="3352"), by=mira, reason="2619 MHz")


def test_review_queue_approves_selected(client, waiting, noor):
    client.force_login(noor)
    page = page_of(client, "changelist")
    for shown in ("<del>3350 GB/s</del>", "<ins>3352 GB/s</ins>", "Acme data sheet"):
        assert shown in page
    listed = reverse(f"{QUEUE}_changelist")
    assert f'<a href="{listed}"><b>1</b> Proposals</a>' in client.get(reverse("admin:index")).content.decode()
    page_of(client, "changelist", action="approve_chosen", _selected_action=[waiting.pk])
    waiting.target.refresh_from_db()
    assert waiting.target.value == "3352"


def test_the_queue_rejects_only_with_an_answer(client, waiting, noor):
    client.force_login(noor)
    form = {"action": "reject_chosen", "_selected_action": [waiting.pk]}
    for answer, state in (("", "review"), ("rounded", "rejected")):
        page_of(client, "changelist", **form, answer=answer)
        waiting.refresh_from_db()
        assert (waiting.state, waiting.answer) == (state, answer)


def test_the_queue_is_filtered(client, waiting, noor):
    client.force_login(noor)
    vendor = f"accelerator__vendor__id__exact={waiting.accelerator.vendor_id}"
    for query in ("", "state=all", "field=memory_bandwidth_gb_s", vendor, "q=acme"):
        assert "3352 GB/s" in page_of(client, "changelist", query=f"?{query}"), query
    assert "3352 GB/s" not in page_of(client, "changelist", query="?state=approved")


def test_a_proposals_page_decides_and_tells_the_conflict(client, waiting, noor, bandwidth):
    client.force_login(noor)
    assert 'value="approve"' in page_of(client, "change", waiting.pk)
    bandwidth.value = "3360"
    bandwidth.save()
    page = page_of(client, "change", waiting.pk)
    assert "3360 GB/s" in page
    assert 'value="approve"' not in page
    assert "now 3360 GB/s)" in page_of(client, "decide", waiting.pk, decision="approve")
    page_of(client, "decide", waiting.pk, decision="reject", answer="look again")
    waiting.refresh_from_db()
    assert waiting.state == "rejected"
    assert "look again" in page_of(client, "change", waiting.pk)


@pytest.mark.parametrize(
    ("groups", "status", "decisions"),
    [
        (["Curators"], 403, ["approve", "reject", "withdraw"]),
        ([], 404, ["approve"]),
        (["Approvers"], 403, ["anew"]),
        (["Approvers"], 404, ["explode", ""]),
    ],
)
def test_who_may_not_decide_is_refused(client, waiting, groups, status, decisions):
    client.force_login(person("someone", *groups))
    for decision in decisions:
        answer = client.post(reverse(f"{QUEUE}_decide", args=[waiting.pk]), {"decision": decision})
        assert answer.status_code == status, decision
    waiting.refresh_from_db()
    assert waiting.state == "review"


def test_public_value_needs_propose_permission(client, bandwidth, mira):
    mira.groups.clear()
    mira.user_permissions.set(Group.objects.get(name="Curators").permissions.exclude(codename="propose"))
    client.force_login(mira)
    answer = client.post(change_url(bandwidth), form_of(bandwidth, value="3352", reason="because"))
    assert answer.status_code == 403
    assert not Proposal.objects.exists()


def test_deciding_needs_a_post_with_a_token(waiting, noor):
    client = Client(enforce_csrf_checks=True)
    client.force_login(noor)
    address = reverse(f"{QUEUE}_decide", args=[waiting.pk])
    assert client.get(address).status_code == 405
    assert client.post(address, {"decision": "approve"}).status_code == 403
    waiting.refresh_from_db()
    assert waiting.state == "review"


@pytest.mark.parametrize("count", [1, 30])
def test_the_queue_costs_the_same_queries_for_any_number(
    client, bandwidth, mira, noor, django_assert_num_queries, count
):
    for number in range(count):
        submit(another(bandwidth, value=str(3000 + number)), mira)
    client.force_login(noor)
    client.get(reverse(f"{QUEUE}_changelist"))
    with django_assert_num_queries(11):
        client.get(reverse(f"{QUEUE}_changelist"))


@pytest.mark.parametrize("count", [1, 100])
def test_values_inside_their_accelerator_are_proposed_too(
    admin_client, bandwidth, django_assert_max_num_queries, count
):
    card = bandwidth.accelerator
    rows = [bandwidth, *(another(bandwidth, value=str(3000 + number), status="draft") for number in range(count - 1))]
    form = {"slug": card.slug, "name": card.name, "vendor": card.vendor_id, "kind": card.kind, "is_public": "on"}
    form |= {"spec_values-TOTAL_FORMS": count, "spec_values-INITIAL_FORMS": count}
    form |= {"aliases-TOTAL_FORMS": 0, "aliases-INITIAL_FORMS": 0}
    for row in rows[1:]:
        row.save()
    for place, row in enumerate(SpecValue.objects.order_by("-is_preferred", "pk")):
        cells = {**form_of(row, note="read again"), "id": row.pk, "condition": "", "reason": "looked at all"}
        form |= {f"spec_values-{place}-{name}": text for name, text in cells.items() if name != "said_by"}
    address = reverse("admin:catalog_accelerator_change", args=[card.pk])
    admin_client.get(address)
    with django_assert_max_num_queries(12):
        assert admin_client.get(address).status_code == 200
    answer = admin_client.post(address, form)
    assert (answer.status_code, errors(answer)) == (302, [])
    assert SpecValue.objects.filter(note="read again").count() == count - 1
    assert Proposal.objects.get().note == "read again"


def test_review_shows_a_failing_formula(client, bandwidth, mira, noor, sheet_source):
    proposal = submit(changed(bandwidth, value="1000"), mira, "halved")
    sheet = {"accelerator": bandwidth.accelerator, "source": sheet_source, "status": "public", "is_preferred": True}
    SpecValue.objects.create(field="memory_bus_bits", value="5120", unit="bit", **sheet)
    SpecValue.objects.create(field="memory_type", value="HBM3", **sheet)
    client.force_login(noor)
    assert "The value does not match its formula" in page_of(client, "change", proposal.pk)
    proposal.delete()
    with pytest.raises(ValidationError, match="The value does not match its formula: 5120 bit"):
        propose.check_proposal(changed(bandwidth, value="1000"), bandwidth, by=mira)
    propose.check_proposal(changed(bandwidth, value="1000", note="Not by formula: halved bus"), bandwidth, by=mira)
    propose.check_proposal(changed(bandwidth, value="3352"), bandwidth, by=mira)


def test_bulk_decisions_have_a_limit(client, bandwidth, mira, noor, monkeypatch):
    monkeypatch.setattr(review_queue, "MOST_AT_ONCE", 2)
    made = [submit(another(bandwidth, value=str(n)), mira).pk for n in (3001, 3002, 3003)]
    client.force_login(noor)
    assert "At most 2" in page_of(client, "changelist", action="approve_chosen", _selected_action=made)
    assert Proposal.objects.filter(state="approved").count() == 2


# --- the form ---


def test_form_offers_conditions_and_stores_them_in_order(admin_client, bandwidth):
    page = admin_client.get(change_url(bandwidth)).content.decode()
    assert '<select name="condition_sparsity"' in page
    assert '<input type="text" name="condition_link"' in page
    assert ('<option value="TB/s">' in page, '<option value="MHz">' in page) == (True, False)
    picked = {"condition_accumulate": "fp32", "condition_sparsity": "dense"}
    form = form_of(bandwidth, **picked, field="bf16_tensor_tflops", value="989.4", unit="TFLOPS", reason="new")
    assert admin_client.post(reverse("admin:catalog_specvalue_add"), form).status_code == 302
    assert Proposal.objects.get().condition == "sparsity=dense; accumulate=fp32"


@pytest.mark.parametrize(
    ("typed", "problem", "note"),
    [
        ({"value": "3352"}, "", "Preferred now: 3,350 GB/s (Acme data sheet)."),
        ({"value": "fast"}, "is a number", ""),
        ({"value": "3e9"}, "lies between", ""),
        ({"value": "3352", "condition_sparsity": "thick"}, "sparsity is one of", ""),
        ({"value": "1", "accelerator": "9" * 30}, "lies between", ""),
    ],
)
def test_the_registry_answers_while_somebody_types(admin_client, bandwidth, typed, problem, note):
    form = {"accelerator": bandwidth.accelerator_id, "field": bandwidth.field, "unit": "GB/s", **typed}
    told = admin_client.get(reverse("admin:catalog_specvalue_judge"), form).json()
    assert problem in " ".join(told["problems"])
    assert bool(told["problems"]) == bool(problem)
    assert note in " ".join(told["notes"])
    assert "TB/s" in told["units"]


def test_strangers_do_not_ask_the_registry(client, noor, bandwidth):
    address = reverse("admin:catalog_specvalue_judge")
    assert client.get(address).status_code == 302
    client.force_login(noor)
    assert client.get(address).status_code == 403


# --- races, on a real PostgreSQL ---


def in_thread(act):
    def run(user_id: int):
        try:
            return act(User.objects.get(pk=user_id))
        except (decide_proposals.Undecidable, ValidationError) as error:
            return error
        finally:
            connection.close()

    return run


@pytest.fixture
def two_approvers(on_postgres) -> list[int]:
    return [User.objects.create_superuser(f"approver{n}").pk for n in range(2)]


@pytest.fixture
def card_on_postgres(on_postgres) -> SpecValue:
    vendor = Vendor.objects.create(slug="acme", name="Acme")
    card = Accelerator.objects.create(slug="acme-one", name="Acme One", vendor=vendor, kind="gpu")
    source = Source.objects.create(key="a", title="A", url="https://a.example", kind="maker")
    return SpecValue.objects.create(
        accelerator=card, field="tdp_w", value="700", unit="W", source=source, status="public", is_preferred=True
    )


def test_of_two_who_approve_at_once_one_applies_it_on_postgres(card_on_postgres, two_approvers):
    author = User.objects.create_superuser("author")
    proposal = submit(changed(card_on_postgres, value="650"), author)
    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(in_thread(lambda user: decide_proposals.approve(proposal.pk, user)), two_approvers))
    assert sorted(type(one).__name__ for one in told) == ["Proposal", "Undecidable"]
    assert card_on_postgres.history.filter(value="650").count() == 1


def test_two_additions_at_once_leave_one_preferred_on_postgres(card_on_postgres, two_approvers):
    author = User.objects.create_superuser("author")
    made = [submit(another(card_on_postgres, value=v, is_preferred=True), author).pk for v in ("600", "610")]
    pairs = dict(zip(two_approvers, made, strict=True))
    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(in_thread(lambda user: decide_proposals.approve(pairs[user.pk], user)), two_approvers))
    assert [type(one).__name__ for one in told] == ["Proposal", "Proposal"]
    assert SpecValue.objects.filter(is_preferred=True).count() == 1
    assert SpecValue.objects.filter(status="public").count() == 3


# --- the source ---


def test_public_source_needs_approval_rights(client, bandwidth, mira, lone):
    source, evil = bandwidth.source, {"title": "Evil", "url": "https://evil.example/phish", "kind": "community"}
    unused = Source.objects.create(key="unused", title="Unused", url="https://unused.example")

    def titled(source: Source, **changes) -> str:
        address = reverse("admin:catalog_source_change", args=[source.pk])
        assert client.get(address).status_code == 200
        client.post(
            address, {"key": source.key, "title": source.title, "url": source.url, "kind": source.kind, **changes}
        )
        return Source.objects.get(pk=source.pk).title

    client.force_login(mira)
    assert titled(source, **evil) == source.title
    assert titled(unused, title="Mended") == "Mended"
    bandwidth.accelerator.aliases.create(name="Acme One 8GB", source=unused)  # a name is public too
    assert titled(unused, **evil) == "Mended"
    client.force_login(lone)
    assert titled(source, title="Data sheet, May 2026") == "Data sheet, May 2026"


def test_changed_figure_with_same_source_is_flagged(client, admin_client, bandwidth, mira, noor):
    words = "The figure changes but its source does not."
    other = Source.objects.create(key="other", title="Other", url="https://other.example")
    form = {**form_of(bandwidth, value="3352"), "id": bandwidth.pk}
    for changes, is_flagged in (({}, True), ({"value": "3350"}, False), ({"source": other.pk}, False)):
        told = admin_client.get(reverse("admin:catalog_specvalue_judge"), {**form, **changes}).json()
        assert (words in " ".join(told["notes"])) == is_flagged, changes
    proposal = submit(changed(bandwidth), mira)
    client.force_login(noor)
    assert words in page_of(client, "change", proposal.pk)
    assert "same source" in page_of(client, "changelist")
    submit(changed(bandwidth, value="3352", source=other), mira)
    assert "same source" not in page_of(client, "changelist")


# --- drafts of somebody else ---


def test_approver_can_reject_a_blocking_draft(client, bandwidth, mira, noor, lone):
    draft = submit(changed(bandwidth), mira, as_draft=True)
    with pytest.raises(ValidationError, match=r"mira .* \(draft\)"):
        propose.check_proposal(changed(bandwidth, value="3353"), bandwidth, by=lone)
    client.force_login(person("cur2", "Curators"))
    assert client.get(reverse(f"{QUEUE}_change", args=[draft.pk])).status_code == 302
    client.force_login(noor)
    page = page_of(client, "change", draft.pk)
    assert ("Reject" in page, 'value="approve"' in page) == (True, False)
    page_of(client, "decide", draft.pk, decision="reject", answer="mira has left")
    draft.refresh_from_db()
    assert draft.state == "rejected"
    propose.check_proposal(changed(bandwidth, value="3353"), bandwidth, by=lone)

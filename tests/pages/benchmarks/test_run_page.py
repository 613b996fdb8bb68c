"""One measured result at an address that stays, and the decisions of owners and staff about it."""

import re

import pytest
from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.urls import reverse

from stackviz.records.series.decide_standing import record_decision
from stackviz.records.series.models import Result, ResultDecision
from stackviz.records.series.standing import Standing
from tests.pages.benchmarks.machines import H100, run, seconds
from tests.pages.machines.factories import gemm, make_lab, make_machine
from tests.responses import words_of


@pytest.fixture(autouse=True)
def _nothing_cached():
    cache.clear()


@pytest.fixture
def lab(_loaded):
    return make_lab("north")


@pytest.fixture
def report(lab):
    conditions = {"device_used": "cuda:0", "throttle_reasons": "none", "tf32": False}
    lone = gemm("fp16", [0.1], flags="one-sample", standing="flagged")
    return run(lab, "a", H100, [gemm("bf16", seconds(742), conditions=conditions), lone])


def page_of(report, position=0):
    return reverse("benchmarks:run", args=[report.pk, position])


@pytest.fixture
def owner(client, lab, django_user_model):
    user = django_user_model.objects.create_user("owner")
    lab.memberships.create(user=user, role="owner")
    client.force_login(user)
    return user


def test_everything_about_a_result_is_on_its_page(client, report, django_assert_max_num_queries):
    text = words_of(client.get(page_of(report)))
    for words in (
        "742 TFLOP/s ±1 %",
        "75 % of 989.4 TFLOP/s",
        "bf16 8192³",
        "95 % interval of the median",
        "Samples 8",
        "throttle_reasons",
        "nvidia-driver 535.183.01",
        "python3 accelweb-agent.pyz bench --benchmark gemm --device cuda:0 --case dtype=bf16,m=8192,n=8192,k=8192",
    ):
        assert words in text, words
    assert "Take this result out" not in text
    assert "This result is not ranked: one sample." in words_of(client.get(page_of(report, 1)))
    assert client.get(page_of(report, 9)).status_code == 404
    assert client.get("/benchmarks/runs/00000000-0000-0000-0000-000000000000/0/").status_code == 404
    client.get(page_of(report))
    with django_assert_max_num_queries(9):
        client.get(page_of(report))


def test_an_owner_withdraws_with_a_reason(client, owner, report):
    answer = client.post(page_of(report, 1), {"standing": "accepted", "reason": "trust me"})  # nobody does that here
    assert "Select a valid choice" in words_of(answer)
    assert not ResultDecision.objects.exists()
    assert "Take this result out of the charts" in words_of(client.get(page_of(report)))
    answer = client.post(page_of(report), {"standing": "withdrawn", "reason": " "})
    assert "This field is required." in words_of(answer)
    answer = client.post(page_of(report), {"standing": "withdrawn", "reason": "another job ran"}, follow=True)
    text = words_of(answer)
    assert "This result is not ranked: withdrawn." in text
    assert "another job ran" in text
    assert ResultDecision.objects.get().by == owner
    client.logout()
    log = words_of(client.get("/benchmarks/withdrawn/"))
    assert "Matrix product bf16 8192³ · cuda:0" in log
    assert "another job ran" in log
    assert "owner" not in log.partition("Measured: withdrawn")[2].partition("Cited")[0]


def test_what_supersedes_is_a_later_report_of_the_same_machine(client, owner, report, lab):
    other = run(lab, "b", H100, [gemm("bf16", seconds(700))], day=1)
    later = run(lab, "a", H100, [gemm("bf16", seconds(750))], machine=report.machine, day=1)
    for wrong in ("", str(other.pk), str(report.pk), "nonsense"):
        answer = client.post(page_of(report), {"standing": "superseded", "reason": "new driver", "replaced_by": wrong})
        assert answer.status_code == 200, wrong
        assert not ResultDecision.objects.exists()
    client.post(page_of(report), {"standing": "superseded", "reason": "new driver", "replaced_by": str(later.pk)})
    assert Result.objects.get(report=report, position=0).standing == "superseded"
    assert str(later.pk) in client.get("/benchmarks/withdrawn/").content.decode()


@pytest.mark.parametrize("role", [None, "member"])
def test_others_cannot_decide(client, report, lab, django_user_model, role):
    user = django_user_model.objects.create_user("somebody")
    if role:
        lab.memberships.create(user=user, role=role)
    client.force_login(user)
    assert client.post(page_of(report), {"standing": "withdrawn", "reason": "no"}).status_code == 404
    assert not ResultDecision.objects.exists()


def test_a_decision_after_the_session_ended_leads_back(client, owner, report, lab):
    lab.is_public = False
    lab.save()
    owner.set_password("x")
    owner.save()
    client.logout()
    login = client.post(page_of(report), {"standing": "withdrawn", "reason": "no"}).url
    assert not ResultDecision.objects.exists()
    answer = client.post(login, {"username": "owner", "password": "x"}, follow=True)
    assert (answer.status_code, answer.redirect_chain[-1][0]) == (200, page_of(report))
    assert "Take this result out of the charts" in words_of(answer)


def test_the_log_shows_private_labs_to_members_only(client, django_user_model, admin_user):
    private = make_lab("south", is_public=False)
    report = run(private, "secret-host", H100, [gemm("bf16", seconds(700))])
    record_decision(Result.objects.get(report=report), Standing.WITHDRAWN, "a secret reason", admin_user)
    assert "secret" not in client.get("/benchmarks/withdrawn/").content.decode()
    member = django_user_model.objects.create_user("member")
    private.memberships.create(user=member)
    client.force_login(member)
    answer = client.get("/benchmarks/withdrawn/")
    assert "a secret reason" in words_of(answer)
    assert answer.headers["Cache-Control"] == "private, no-store"


def test_the_log_has_cited_results_and_none_accepted_again(client, report, make_result, admin_user):
    row = make_result(state="withdrawn", reason="the author took it back")
    assert "the author took it back" in words_of(client.get("/benchmarks/withdrawn/"))
    assert row.source.title in words_of(client.get("/benchmarks/withdrawn/?state=withdrawn"))
    assert "state=doubtful&amp;after=" in client.get("/benchmarks/withdrawn/?state=doubtful").content.decode()
    row = Result.objects.get(report=report, position=0)
    record_decision(row, Standing.WITHDRAWN, "a wrong clock", admin_user)
    record_decision(row, Standing.ACCEPTED, "the clock was right", admin_user)
    assert "a wrong clock" not in words_of(client.get("/benchmarks/withdrawn/"))
    text = words_of(client.get(page_of(report)))
    assert "a wrong clock" in text
    assert "the clock was right" in text


def test_the_log_costs_the_same_however_long(client, lab, admin_user, django_assert_max_num_queries):
    machine = make_machine(lab, "a")
    report = run(lab, "a", H100, [gemm("bf16", seconds(700))], machine=machine)
    row = Result.objects.get(report=report)
    for number in range(5):
        record_decision(row, Standing.WITHDRAWN, f"reason {number}", admin_user)
    results = [gemm("bf16", seconds(700), side=256 * n) for n in range(1, 121)]
    for result in Result.objects.filter(report=run(lab, "a", H100, results, machine=machine, day=1)):
        record_decision(result, Standing.WITHDRAWN, "all of them", admin_user)
    client.get("/benchmarks/withdrawn/")
    with django_assert_max_num_queries(8):
        page = client.get("/benchmarks/withdrawn/")
    text = page.content.decode()
    assert text.count("all of them") == 100
    following = re.search(r'href="(\?state=measured&amp;after=\d+)"', text)[1].replace("&amp;", "&")
    rest = client.get("/benchmarks/withdrawn/" + following)
    assert rest.content.decode().count("all of them") == 20
    assert "reason 4" in words_of(rest)
    assert "reason 3" not in words_of(rest)


def test_staff_accept_in_the_admin_with_a_reason(client, report, django_user_model):
    staff = django_user_model.objects.create_user("staff", is_staff=True)
    staff.user_permissions.add(*Permission.objects.filter(codename="view_result"))
    client.force_login(staff)
    odd = Result.objects.get(report=report, position=1)
    change = {"action": "accept", "_selected_action": [odd.pk], "why": "one sample is all this machine gives"}
    client.post("/admin/benchmarks/result/", change)
    assert not ResultDecision.objects.exists()
    staff.user_permissions.add(*Permission.objects.filter(codename="change_result"))
    client.post("/admin/benchmarks/result/", {**change, "why": ""})
    assert not ResultDecision.objects.exists()
    assert "1 result changed." in words_of(client.post("/admin/benchmarks/result/", change, follow=True))
    decision = ResultDecision.objects.get()
    assert (decision.by, decision.standing) == (staff, "accepted")
    assert "This result is not ranked" not in words_of(client.get(page_of(report, 1)))
    detail = words_of(client.get(f"/admin/benchmarks/result/{odd.pk}/change/"))
    assert "one sample is all this machine gives" in detail
    assert client.get("/admin/benchmarks/result/?standing__exact=accepted").status_code == 200

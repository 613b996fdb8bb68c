"""A pasted machine becomes a public host: shown first, private parts left out, a curator's yes, withdrawn at any time."""

import json
import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from stackviz.records.cited.decide_host import publish_host, withdraw_host
from stackviz.records.cited.models import CitedResult, HostProposal
from stackviz.records.hosts.queries import host_named
from stackviz.records.hosts.reported import host_report
from tests.pages.diagnose.conftest import TWO_MACHINES
from tests.report.importers.test_model_benchmarks import CLUB, GENERATED, SCORED, SERVED

ADDRESS = "https://github.com/somebody/rigs/issues/7"
RIG = """marie@rack-7:~$ python -m torch.utils.collect_env
PyTorch version: 2.10.0+cu128
Is debug build: False
CUDA used to build PyTorch: 12.8
OS: Ubuntu 24.04.3 LTS (x86_64)
Python version: 3.12.3 (main) [GCC 13.3.0] (64-bit runtime)
Is CUDA available: True
Nvidia driver version: 580.126.09
marie@rack-7:~$ nvidia-smi -L
GPU 0: NVIDIA GeForce RTX 4090 (UUID: GPU-3b8b0e3c-7d0e-4a7e-9a54-4f2f6a4f0001)
marie@rack-7:~$ llama-bench -m /home/marie/models/llama.gguf
| model | size | params | backend | ngl | test | t/s |
| --- | ---: | ---: | --- | --: | --: | --: |
| llama 7B Q4_0 | 3.56 GiB | 6.74 B | CUDA | 99 | pp512 | 5432.10 ± 12.30 |
| llama 7B Q4_0 | 3.56 GiB | 6.74 B | CUDA | 99 | tg128 | 150.21 ± 0.30 |
"""
FIELDS = {"source_url": ADDRESS, "seen_on": "2026-11-02", "form": "desktop", "note": "Capped at 350 W."}


@pytest.fixture
def visitor(client, db, small_catalogue):
    return client


@pytest.fixture
def curator(db):
    return User.objects.create_superuser("curator", password="x")


def shown(visitor, text=RIG, **fields):
    return visitor.post("/diagnose/publish/", {"text": text, **fields})


def form_of(page, **fields) -> dict[str, str]:
    found = re.search(r'name="ticket" value="([^"]+)"', page.content.decode())
    assert found is not None
    return {"text": page.context["text"], "ticket": unescape(found[1]), **FIELDS, **fields}


def propose_rig(visitor) -> str:
    """The private address of a host that this visitor proposed."""
    return str(visitor.post("/diagnose/publish/", form_of(shown(visitor)))["Location"])


def proposed(visitor, text=RIG, **fields) -> HostProposal:
    answer = visitor.post("/diagnose/publish/", form_of(shown(visitor, text), **fields))
    assert answer.status_code == 302, answer.content
    return HostProposal.objects.get()


def test_every_field_is_shown_before_it_is_sent(visitor):
    page = shown(visitor)
    assert page.status_code == 200
    html = page.content.decode()
    for part in ("NVIDIA GeForce RTX 4090", "5432.10", "150.21"):
        assert part in html
    for private in ("marie", "rack-7", "3b8b0e3c"):
        assert private not in html
    assert not HostProposal.objects.exists()


def test_a_host_is_public_with_its_results_after_a_yes(visitor, curator):
    proposal = proposed(visitor)
    host = proposal.host
    assert (host.state, host.source_url, host.form, host.note) == ("proposed", ADDRESS, "desktop", "Capped at 350 W.")
    assert host_named(host.slug) is None
    assert not CitedResult.objects.filter(host=host).exists()
    assert publish_host(host, curator, "Read beside the post")
    assert not publish_host(host, curator, "Read beside the post")  # done twice it is done once
    rows = CitedResult.objects.filter(host=host).order_by("amount")
    assert [(row.state, row.value, row.params["test"], row.params["model"]) for row in rows] == [
        ("public", "150.21", "tg128", "Llama 2 7B"),
        ("public", "5432.10", "pp512", "Llama 2 7B"),
    ]
    assert {row.accelerator.slug for row in rows} == {"nvidia-geforce-rtx-4090"}
    assert host.history.first().history_user == curator
    public = host_named(host.slug)
    assert public is not None
    report = host_report(public)
    assert [card.reported_name for card in report.cards] == ["NVIDIA GeForce RTX 4090"]
    assert report.facts["torch.version"] == "2.10.0+cu128"
    assert (report.facts["os.name"], report.facts["nvidia.driver_version"]) == ("Ubuntu", "580.126.09")
    assert public.title == "RTX 4090, Ubuntu 24.04.3, driver 580"


STACK = RIG.partition("marie@rack-7:~$ llama-bench")[0]
NO_COMMAND = SERVED[SERVED.index("============ Serving") :]


def published(visitor, curator, text) -> dict[str, list[tuple]]:
    """Benchmark -> value, unit and count of its rows once a curator agreed."""
    proposal = proposed(visitor, text)
    assert publish_host(proposal.host, curator, "Read beside the post")
    rows: dict[str, list[tuple]] = {}
    for row in CitedResult.objects.filter(host=proposal.host).order_by("pk"):
        rows.setdefault(row.benchmark, []).append((row.value, row.unit, row.count, row.state))
    return rows


def test_a_servers_run_is_published_with_its_rate_and_times(visitor, curator):
    rows = published(visitor, curator, STACK + SERVED.replace("--tensor-parallel-size 2", ""))
    assert rows["llm-throughput"] == [("1280.00", "token/s", 1, "public")]
    assert [row[0] for row in rows["llm-time-to-first-token"]] == ["154.82", "136.70", "360.23"]
    assert [row[:2] for row in rows["llm-inter-token-latency"]] == [("11.60", "ms"), ("11.71", "ms")]


def test_what_has_no_benchmark_here_is_named_as_left_out(visitor):
    page = shown(visitor, STACK + SERVED.replace("--tensor-parallel-size 2", ""))
    assert "1 result: this site has no benchmark of it" in page.content.decode()


def test_a_run_on_more_cards_than_the_text_has_is_left_out(visitor):
    page = shown(visitor, STACK + SERVED)
    assert page.context["results"] == ()
    assert "does not say which of the accelerators" in page.content.decode()


def test_a_result_of_an_unknown_model_is_kept_and_doubtful(visitor, curator):
    rows = published(visitor, curator, STACK + NO_COMMAND)
    assert {row[3] for of in rows.values() for row in of} == {"doubtful"}


def test_a_rig_report_is_published_by_itself(visitor, curator):
    rows = published(visitor, curator, CLUB)
    assert rows["llm-decode"] == [("92.55", "token/s", 2, "unmatched"), ("93.56", "token/s", 2, "unmatched")]
    assert rows["llm-prefill"] == [("1195.35", "token/s", 2, "unmatched")]
    host = HostProposal.objects.get().host
    assert (host.system, host.kernel, host.cards.count()) == ("Ubuntu 24.04.4", "6.17.0-29", 2)
    row = CitedResult.objects.filter(host=host, benchmark="llm-decode").first()
    assert row is not None
    assert row.software == {"suite": "club-3090 bench", "vllm": "0.20.2rc1.dev129+g1acd67a79"}


def test_localscore_is_published_by_itself(visitor, curator):
    rows = published(visitor, curator, json.dumps(SCORED, indent=2))
    assert [row[0] for row in rows["localscore"]] == ["4000.10", "100.20", "5123.40", "110.20"]


def test_a_generation_in_mlx_is_published_with_its_peak_memory(visitor, curator):
    published(visitor, curator, STACK + GENERATED)
    row = CitedResult.objects.filter(benchmark="mlx-lm").order_by("pk").last()
    assert row is not None
    assert (row.value, row.params, row.note) == (
        "45.678",
        {"model": "Qwen3-8B", "quant": "4bit", "test": "tg100"},
        "peak memory 5.123 GB",
    )
    assert row.software == {"runtime": "mlx-lm"}


def test_who_proposed_it_withdraws_it_with_its_results(visitor, curator):
    address = propose_rig(visitor)
    publish_host(HostProposal.objects.get().host, curator, "Read")
    stranger = Client()
    assert stranger.get("/diagnose/hosts/" + "a" * 43 + "/").status_code == 404
    page = visitor.get(address)
    assert page["X-Robots-Tag"] == "noindex, nofollow"
    assert Client(enforce_csrf_checks=True).post(address).status_code == 403
    assert visitor.post(address).status_code == 302
    assert visitor.post(address).status_code == 302
    host = HostProposal.objects.get().host
    assert (host.state, host.reason) == ("withdrawn", "Withdrawn by who published it.")
    assert set(CitedResult.objects.filter(host=host).values_list("state", flat=True)) == {"withdrawn"}
    assert "Withdraw it" not in visitor.get(address).content.decode()


def test_a_refused_host_says_why_to_its_proposer(visitor, curator):
    address = propose_rig(visitor)
    assert withdraw_host(HostProposal.objects.get().host, curator, "The post shows another card.")
    assert not withdraw_host(HostProposal.objects.get().host, curator, "Again")
    assert "The post shows another card." in visitor.get(address).content.decode()


def test_a_form_sent_twice_proposes_one_host(visitor):
    form = form_of(shown(visitor))
    first, again = visitor.post("/diagnose/publish/", form), visitor.post("/diagnose/publish/", form)
    assert first["Location"] == again["Location"]
    assert HostProposal.objects.count() == 1
    other = visitor.post("/diagnose/publish/", form_of(shown(visitor)))
    assert other["Location"] != first["Location"]
    assert len(set(HostProposal.objects.values_list("host__slug", flat=True))) == 2


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("source_url", "", "required"),
        ("source_url", "http://localhost/x", "not the address of a page"),
        ("source_url", "https://192.168.1.4/rig", "a machine&#x27;s address"),
        ("source_url", "https://github.com/a/b/raw/x?token=abc", "login or a token"),
        ("seen_on", "2999-01-01", "yet to come"),
        ("seen_on", "yesterday", "valid date"),
        ("form", "spaceship", "valid choice"),
        ("note", "Ask marie@lab.example.org", "an e-mail address"),
        ("note", "Serial number: C02ABC123XYZ", "a serial number"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_stored(visitor, field, value, problem):
    page = visitor.post("/diagnose/publish/", form_of(shown(visitor), **{field: value}))
    assert page.status_code == 422
    assert problem in page.content.decode()
    assert not HostProposal.objects.exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a diary", "not the output of a supported tool"),
        (RIG.partition("marie@rack-7:~$ nvidia-smi")[0], "No accelerator was found"),
        (TWO_MACHINES, "holds 2 machines"),
        (RIG[RIG.index("GPU 0") :], "which operating system"),
    ],
)
def test_a_text_without_one_machine_is_refused(visitor, text, problem):
    page = shown(visitor, text)
    assert page.status_code == 422
    assert problem in page.content.decode()
    assert not HostProposal.objects.exists()


def test_forms_of_others_and_expired_ones_store_nothing(visitor):
    assert Client(enforce_csrf_checks=True).post("/diagnose/publish/", {"text": RIG}).status_code == 403
    page = visitor.post("/diagnose/publish/", {"text": RIG, "ticket": "x", **FIELDS})
    assert "This form has expired" in page.content.decode()
    assert not HostProposal.objects.exists()


def test_curator_decides_in_the_admin(visitor, curator):
    proposal = proposed(visitor)
    staff = Client()
    staff.force_login(curator)
    listed = staff.get("/admin/cited/hostproposal/")
    assert "RTX 4090" in listed.content.decode()
    assert "150.21" in staff.get(f"/admin/cited/hostproposal/{proposal.pk}/change/").content.decode()
    chosen = {"action": "publish", "_selected_action": [proposal.pk]}
    staff.post("/admin/cited/hostproposal/", chosen)  # without a reason
    assert HostProposal.objects.get().host.state == "proposed"
    staff.post("/admin/cited/hostproposal/", {**chosen, "why": "Read beside the post"})
    assert HostProposal.objects.get().host.state == "public"


def test_no_more_hosts_than_fit_wait_for_a_curator(visitor, monkeypatch):
    monkeypatch.setattr("stackviz.records.cited.host_proposals.MOST_WAITING", 0)
    page = visitor.post("/diagnose/publish/", form_of(shown(visitor)))
    assert page.status_code == 507
    assert not HostProposal.objects.exists()

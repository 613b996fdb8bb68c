"""Hostile texts and fields of a machine to be published: refused or cleaned with words, never an error of the server."""

import pytest
from django.test import Client

from stackviz.records.cited.decide_host import publish_host
from stackviz.records.cited.models import CitedResult, CitedSource, HostProposal
from stackviz.records.hosts.models import Host
from tests.pages.diagnose.test_publish import RIG, curator, form_of, proposed, shown, visitor

__all__ = ["curator", "visitor"]  # fixtures

QUERY = """
marie@rack-7:~$ nvidia-smi --query-gpu=name,driver_version,power.limit,memory.total --format=csv
name, driver_version, power.limit [W], memory.total [MiB]
NVIDIA GeForce RTX 4090, 580.126.09, 200000.00 W, 24564 MiB
"""


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("source_url", "ht\ntps://example.com/rig", "not the address of a page"),
        ("source_url", "https://exa\nmple.com/rig", "not the address of a page"),
        ("source_url", "HTTPS://example.com/rig", "not the address of a page"),
        ("source_url", "https://example.com/\u202egpj.exe", "not the address of a page"),
        ("source_url", "https://127.1/rig", "a machine&#x27;s address"),
        ("source_url", "https://0x7f.1/rig", "a machine&#x27;s address"),
        ("source_url", "https://rack-7.local./rig", "a machine&#x27;s address"),
        ("source_url", "https://example.com/rig#access_token=abc", "login or a token"),
        ("seen_on", "0202-11-02", "check the year"),
        ("note", "Capped\u202e at 350 W", "control characters"),
    ],
)
def test_a_hostile_field_is_named_and_not_stored(visitor, field, value, problem):
    page = visitor.post("/diagnose/publish/", form_of(shown(visitor), **{field: value}))
    assert page.status_code == 422
    assert problem in page.content.decode()
    assert not HostProposal.objects.exists()


def test_a_power_limit_that_no_card_has_is_left_out(visitor):
    card = proposed(visitor, RIG + QUERY).host.cards.get()
    assert (card.driver_version, card.power_limit_w) == ("580.126.09", None)


def test_marks_that_turn_text_around_are_not_stored(visitor):
    text = RIG.replace("Ubuntu 24.04.3 LTS", "Ubu\u202entu 24.04.3").replace(
        "GeForce RTX 4090", "GeForce\u202e RTX 4090"
    )
    host = proposed(visitor, text.replace("llama 7B Q4_0", "lla\u202ema 7B Q4_0")).host
    assert (host.system, host.cards.get().reported_name) == ("Ubuntu 24.04.3", "NVIDIA GeForce RTX 4090")
    assert "\u202e" not in str(HostProposal.objects.get().results)


def test_the_builder_of_a_kernel_is_in_no_field(visitor):
    text = f"{RIG}marie@rack-7:~$ uname -a\nLinux rack-7 6.8.0-31-curie #1 SMP x86_64 GNU/Linux\n"
    host = proposed(visitor, text).host
    assert host.kernel == "6.8.0-31"
    assert not [item.value for item in host.components.all() if "curie" in item.value]


def test_more_cards_than_a_machine_has_are_refused(visitor):
    cards = "".join(
        f"GPU {n}: NVIDIA GeForce RTX 4090 (UUID: GPU-3b8b0e3c-7d0e-4a7e-9a54-{n:012x})\n" for n in range(17)
    )
    page = shown(visitor, RIG[: RIG.index("GPU 0")] + cards)
    assert page.status_code == 422
    assert "17 accelerators" in page.content.decode()


def test_hosts_with_one_long_name_have_their_own_sources(visitor, curator):
    text = RIG.replace("Ubuntu 24.04.3 LTS", "U" * 5000)
    for n in range(3):
        form = form_of(shown(visitor, text), source_url=f"https://example.com/rigs/{n}")
        assert visitor.post("/diagnose/publish/", form).status_code == 302
    for proposal in HostProposal.objects.all():
        publish_host(proposal.host, curator, "Read beside the post")
    for result in CitedResult.objects.filter(host__isnull=False).select_related("host", "source"):
        assert result.source.url == result.host.source_url
    assert CitedSource.objects.filter(url__startswith="https://example.com/rigs/").count() == 3


def test_results_that_no_rule_allows_any_more_are_named(visitor, curator):
    proposal = proposed(visitor)
    proposal.results[1]["unit"] = "parsec"
    proposal.save()
    staff = Client()
    staff.force_login(curator)
    chosen = {"action": "publish", "_selected_action": [proposal.pk], "why": "Read beside the post"}
    answer = staff.post("/admin/cited/hostproposal/", chosen, follow=True)
    assert answer.status_code == 200
    assert "cannot be read: unknown &#x27;parsec&#x27;" in answer.content.decode()
    assert Host.objects.get(pk=proposal.host_id).state == "proposed"
    assert not CitedResult.objects.filter(host=proposal.host_id).exists()


@pytest.mark.parametrize(
    "printed",
    [
        "/data/marie/torch",
        "/Volumes/marie/torch",
        "D:\\marie\\torch",
        "\\\\nas\\marie",
        "file:///D:/marie",
        "https://marie.example.org/torch",
        "rack-7-of-marie.local",
        "marie\uff20example.org",
    ],
)
def test_no_value_is_a_path_or_an_address(visitor, printed):
    text = f"{RIG.replace('2.10.0+cu128', printed)}CPU:\nModel name: {printed}\n".replace("| CUDA |", f"| {printed} |")
    proposal = proposed(visitor, text)
    public = [proposal.host.cpu, proposal.host.title, *(item.value for item in proposal.host.components.all())]
    assert "marie" not in f"{public} {proposal.results}"


def test_a_path_is_named_as_left_out(visitor):
    page = shown(visitor, RIG.replace("2.10.0+cu128", "/data/marie/torch")).content.decode()
    assert "<code>pytorch</code>: a path" in page


def test_a_form_that_comes_with_another_text_is_shown_again(visitor):
    form = form_of(shown(visitor))
    page = visitor.post("/diagnose/publish/", form | {"text": RIG.replace("580.126.09", "575.64")})
    assert "changed since you saw it" in page.content.decode()
    assert not HostProposal.objects.exists()
    assert visitor.post("/diagnose/publish/", form_of(page)).status_code == 302
    assert HostProposal.objects.get().host.title.endswith("driver 575")


def test_a_changed_form_sent_again_says_what_is_kept(visitor):
    form = form_of(shown(visitor))
    first = visitor.post("/diagnose/publish/", form, follow=True).content.decode()
    again = visitor.post("/diagnose/publish/", form | {"note": "Without a cap."}, follow=True).content.decode()
    assert "This form was sent before" in again
    assert "This form was sent before" not in first
    assert HostProposal.objects.get().host.note == "Capped at 350 W."

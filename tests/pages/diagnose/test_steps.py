"""A diagnosis in several steps: the facts of the steps before count, causes get fewer, the form cannot be forged."""

import html
import re
from datetime import timedelta

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from stackviz.pages.diagnose.models import PrivateLink
from stackviz.pages.diagnose.steps import (
    MARK,
    MOST_STATE_CHARS,
    MOST_STEPS,
    STEPS_HOLD_S,
    StepsRefused,
    read_state,
    sign_state,
    split_steps,
    under_command,
)
from stackviz.report.dumps.verdict import is_pasted
from stackviz.report.importers import read_all
from stackviz.web.http.rate_limit import text_cost
from tests.pages.diagnose.conftest import CPU_WHEEL, FIXTURES, HOSTILE, MAC_JSON
from tests.responses import words_of

pytestmark = pytest.mark.django_db
NO_KERNEL = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
WITHOUT_CUDA = "AssertionError: Torch not compiled with CUDA enabled"
HEALTHY = (FIXTURES / "dumps/collect_env_cuda.txt").read_text(encoding="utf-8")
TORCH = re.search(r"PyTorch version: (\S+)", HEALTHY)[1]
STATE = re.compile(r'name="state" value="([^"]*)"')
ASKED = re.compile(r'name="asked" value="([^"]*)"')
TYPED_LIST = "- GPU: RTX 3090\n- CUDA: 12.4\n- OS: Ubuntu 22.04\n- Driver: 550.54.14\n"
TORCH_VERSION = 'python -c "import torch; print(torch.__version__)"'


@pytest.fixture
def step(client, curated):
    """Sends a text as the page's own form does: with the state of the page before."""

    def send(text, before=None, **more):
        state = html.unescape(STATE.search(before.content.decode())[1]) if before else ""
        return client.post("/diagnose/", {"text": text, "state": state, **more})

    return send


def rules_of(response):
    return [finding.rule for machine in response.context["diagnosis"].machines for finding in machine.findings]


# --- journeys ---


def test_a_message_asks_for_a_command_that_names_the_cause(step):
    first = step(WITHOUT_CUDA)
    assert first.context["next_step"].command.bash == "python -m torch.utils.collect_env"
    assert rules_of(first) == ["error-message"]
    second = step(CPU_WHEEL, first)
    assert rules_of(second)[0] == "cpu-wheel"
    assert "error-message" not in rules_of(second)  # its cause is found
    changed = second.context["narrowed"]
    assert "cpu-wheel" in [finding.rule for finding in changed.confirmed]
    assert [finding.rule for finding in changed.explained] == ["error-message"]
    assert changed.settled == ()
    said = words_of(second)
    assert "Found with the last step" in said
    assert "Explained by it" in said
    assert "No longer assumed" not in said
    assert [each.tools for each in second.context["steps"]] == [
        ("an error message",),
        ("python -m torch.utils.collect_env",),
    ]


def test_a_cause_that_the_output_excludes_is_said_so(step):
    first = step(NO_KERNEL)
    assert "collect_env" in first.context["diagnosis"].first.findings[0].advice
    second = step(HEALTHY, first)
    narrowed, command = second.context["narrowed"], second.context["next_step"].command
    [message] = narrowed.messages
    newer, dropped, extension = message.causes
    assert newer.excluded_by == dropped.excluded_by == "torch 2.13.0+cu130 carries code for capability 8.9"
    assert extension.excluded_by == ""
    assert newer.excluded_by in words_of(second)
    assert "kernels-missing" in [finding.rule for finding in narrowed.excluded]
    assert narrowed.excluded[0].rule in ("kernels-missing", "cudnn-drops-old-card")  # suspects first
    # what was pasted is not asked for again
    assert command is None or command.bash != "python -m torch.utils.collect_env"
    assert second.context["diagnosis"].first.findings[0].advice == ""


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("python -m pip list", "package-list"),
        ("cat /proc/driver/nvidia/version", "nvidia-module"),
        ("ls -l /dev/nvidia-uvm", "device-files"),
        ("sw_vers", "sw-vers"),
    ],
)
def test_the_output_of_a_tool_with_several_commands_answers_each(command, kind):
    assert is_pasted(command, [kind], {})
    assert not is_pasted("nvidia-smi -q", [kind, "nvidia-smi-table"], {})


def test_three_steps_are_as_one_paste(step, client):
    pages = [step(NO_KERNEL)]
    for text in ("nothing to see", HEALTHY):
        pages.append(step(text, pages[-1]))
    together = client.post("/diagnose/", {"text": f"{NO_KERNEL}\n\nnothing to see\n\n{HEALTHY}"})
    assert rules_of(pages[-1]) == rules_of(together)
    assert [each.number for each in pages[-1].context["steps"]] == [1, 2, 3]
    assert pages[1].context["steps"][1].tools == ()
    assert "changed nothing" in pages[1].context["next_step"].problem


def test_a_dump_of_another_machine_is_a_second_machine(step):
    second = step(MAC_JSON, step(CPU_WHEEL))
    assert len(second.context["diagnosis"].machines) == 2


def test_the_same_cards_with_another_torch_are_one_machine(step):
    broken = HEALTHY.replace(TORCH, "2.5.1+cu121")
    first = step(broken)
    second = step(HEALTHY, first)
    assert len(second.context["diagnosis"].machines) == 1
    assert rules_of(second) == rules_of(step(HEALTHY))
    assert [each.number for each in second.context["steps"]] == [1, 2]
    assert "it is read as this machine after a change" in words_of(second)
    assert "after a change" not in words_of(first)


def test_a_question_leads_to_the_search(step, client):
    refused = step("显存不足")
    assert refused.status_code == 422
    address = re.search(r'<a href="(/search/\?q=[^"]+)"', refused.content.decode())[1]
    assert "out of memory" in words_of(client.get(html.unescape(address)))
    assert "/search/?q=%" not in step("word " * 60).content.decode()


def test_a_second_step_that_cannot_be_read_keeps_the_first(step):
    first = step(NO_KERNEL)
    binary = step("", first, files=[SimpleUploadedFile("core.dump", b"\x7fELF\x00")])
    empty = step("  ", first)
    for answer in (binary, empty):
        assert answer.status_code == 422
        assert rules_of(answer) == ["error-message"]
    assert "There is nothing to read" in empty.context["next_step"].problem
    assert step("again", empty).context["steps"][0].tools == ("an error message",)


def test_two_steps_are_stored_nowhere_and_cost_as_one(step, django_assert_max_num_queries):
    before = {model._meta.label: model._default_manager.count() for model in apps.get_models()}
    first = step(WITHOUT_CUDA)
    step(CPU_WHEEL, first)
    with django_assert_max_num_queries(6):
        step(CPU_WHEEL, first)
    assert {model._meta.label: model._default_manager.count() for model in apps.get_models()} == before


def test_the_box_below_holds_all_steps_and_gives_the_same_answer(step, client):
    second = step(CPU_WHEEL, step(WITHOUT_CUDA))
    again = client.post("/diagnose/", {"text": second.context["text"]})
    assert rules_of(again) == rules_of(second)
    assert len(again.context["steps"]) == 2
    assert MARK not in "".join(again.context["diagnosis"].not_understood)


def test_hostile_text_is_escaped_in_every_step(step):
    page = step(f"{NO_KERNEL} {HOSTILE}", step(f"{WITHOUT_CUDA} {HOSTILE}")).content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page


# --- a private link with several steps ---


def test_a_private_link_holds_several_steps_and_goes_on(step, client):
    second = step(CPU_WHEEL, step(WITHOUT_CUDA))
    masked = client.post("/diagnose/save/", {"text": second.context["text"]})
    saved = client.post(
        "/diagnose/save/", {"text": masked.context["text"], "ticket": masked.context["ticket"]}, follow=True
    )
    assert saved.status_code == 200
    assert [each.tools for each in saved.context["steps"]] == [each.tools for each in second.context["steps"]]
    assert [finding.rule for finding in saved.context["narrowed"].explained] == ["error-message"]
    assert split_steps(PrivateLink.objects.get().text)[0].strip() == WITHOUT_CUDA
    third = step("nvidia-smi -L\nGPU 0: NVIDIA H100 80GB HBM3", saved)
    assert len(third.context["steps"]) == 3
    assert PrivateLink.objects.count() == 1


# --- bare answers ---


def test_a_bare_answer_is_that_of_the_command_asked_for(step):
    first = step(TYPED_LIST)
    asked = html.unescape(ASKED.search(first.content.decode())[1])
    assert asked == first.context["next_step"].command.bash == TORCH_VERSION
    second = step("2.6.0", first, asked=asked)
    assert second.context["steps"][1].tools == ("torch.__version__ and others, printed",)
    assert second.context["text"].endswith(f"$ {TORCH_VERSION}\n2.6.0")
    assert second.context["next_step"].problem == ""
    without = step("2.6.0", first)
    assert without.context["steps"][1].tools == ()
    assert "changed nothing" in without.context["next_step"].problem


@pytest.mark.parametrize(
    ("command", "answer", "fact", "value"),
    [
        ('python -c "import torch; print(torch.cuda.is_available())"', "True\n", "cuda.available", True),
        ('python -c "import torch; print(torch.version.cuda)"', "12.4", "torch.cuda_version", "12.4"),
        ("nvidia-smi --query-gpu=driver_version --format=csv,noheader", "550.54", "nvidia.driver_version", "550.54"),
    ],
)
def test_a_bare_answer_states_the_fact_that_was_asked_for(command, answer, fact, value):
    assert read_all(answer).readings == ()
    (reading,) = read_all(under_command(answer, command)).readings
    assert reading.facts[fact] == value


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("no idea", TORCH_VERSION),
        ("2.6.0", ""),
        ("2.6.0", f"{TORCH_VERSION}\n{HEALTHY}"),
        ("2.6.0", f"{TORCH_VERSION}\x00"),
        ("2.6.0", TORCH_VERSION + " " * 400),
        ("2.6.0" + " " * 2_000, TORCH_VERSION),
        (CPU_WHEEL, TORCH_VERSION),
        (">>> torch.__version__\n'2.5.1'", TORCH_VERSION),
    ],
    ids=["no answer", "nothing asked", "lines", "unprintable", "long command", "long text", "dump", "with its command"],
)
def test_other_texts_stay_as_they_are(text, command):
    assert under_command(text, command) == text


def test_a_forged_command_is_escaped_and_needs_a_step_before(client, step):
    hostile = f"{TORCH_VERSION} # <script>alert(1)</script>"
    answer = step("2.6.0", step(TYPED_LIST), asked=hostile)
    assert "<script>alert(1)" not in answer.content.decode()
    assert client.post("/diagnose/", {"text": "2.6.0", "asked": TORCH_VERSION}).status_code == 422


# --- the state ---


@pytest.mark.parametrize("changed", ["x", "a:b:c", "é", "=" * 50, "eyJ0ZXh0IjoxfQ:1abcde:signature"])
def test_a_forged_state_is_refused_with_the_text_still_there(client, curated, changed):
    answer = client.post("/diagnose/", {"text": CPU_WHEEL, "state": changed})
    assert answer.status_code == 422
    assert "were changed on the way" in words_of(answer)
    assert answer.context["text"].strip() == CPU_WHEEL.strip()
    assert answer.context["refused"].field == "state"


def test_one_changed_character_is_refused():
    signed = sign_state([NO_KERNEL])
    for position in (0, len(signed) // 2, len(signed) - 1):
        changed = signed[:position] + ("A" if signed[position] != "A" else "B") + signed[position + 1 :]
        with pytest.raises(StepsRefused) as refused:
            read_state(changed)
        assert not refused.value.is_old


def test_a_state_that_is_old_or_of_another_form_is_refused(client, curated, time_machine):
    ticket, signed = client.post("/diagnose/save/", {"text": CPU_WHEEL}).context["ticket"], sign_state([NO_KERNEL])
    assert client.post("/diagnose/", {"text": CPU_WHEEL, "state": ticket}).status_code == 422
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/diagnose/", {"text": "", "state": signed}).status_code == 403
    time_machine.move_to(timezone.now() + timedelta(seconds=STEPS_HOLD_S + 60), tick=False)
    answer = client.post("/diagnose/", {"text": CPU_WHEEL, "state": signed})
    assert answer.status_code == 422
    assert "more than a day old" in words_of(answer)


def test_a_state_is_bounded():
    assert read_state(sign_state(["a"] * (MOST_STEPS - 1))) == ["a"] * (MOST_STEPS - 1)
    assert sign_state(["a"] * MOST_STEPS) == ""
    long = "".join(chr(33 + number * 7919 % 90) + str(number * 104729 % 999983) for number in range(60_000))
    assert sign_state([long]) == ""
    with pytest.raises(StepsRefused):
        read_state("x" * (MOST_STATE_CHARS + 1))


def test_a_text_too_long_to_carry_says_where_to_add_the_next(step):
    noise = "\n".join(f"{number * 104729 % 999983:x}{number * 7919 % 65521:x}" for number in range(60_000))
    answer = step(f"{NO_KERNEL}\n{noise}")
    assert answer.status_code == 200
    assert 'name="state"' not in answer.content.decode()
    assert "too long to carry over" in words_of(answer)


def test_all_steps_together_are_bounded(step):
    half = f"{'x' * 99}\n" * (6 * 1024)  # in long lines, which are read in time on a busy machine too
    answer = step(half, step(f"{NO_KERNEL}\n{half}"))
    assert answer.status_code == 413
    assert "All steps together are larger than 1024 KB" in words_of(answer)


@pytest.mark.parametrize("text", ["", "x"])
def test_the_steps_before_count_as_long_as_they_are(step, settings, text):
    """A form of 5 kB carries a megabyte of a log, and sent again without a text it was read for nothing."""
    log = f"{NO_KERNEL}\n" + "the same line of a log\n" * 20_000
    first = step(log)
    settings.DIAGNOSES_PER_MINUTE = 2 * text_cost(log)
    assert [step(text, first).status_code for _ in range(2)][-1] == 429
    assert step(CPU_WHEEL, first).context["text"].strip() == CPU_WHEEL.strip()  # what was pasted is kept


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a", ["a"]),
        (f"a\n{MARK}\nb", ["a", "b"]),
        (f"{MARK}\n{MARK}\nb\n{MARK}", ["b"]),
        (f"a\r\n  {MARK}  \r\nb", ["a", "b"]),
        ("", [""]),
    ],
)
def test_steps_are_split_at_marks(text, steps):
    assert [step.strip() for step in split_steps(text)] == steps
    assert len(split_steps(f"a\n{MARK}\n" * 10_000)) == MOST_STEPS


def test_a_silent_driver_explains_the_message_of_torch(step):
    second = step(
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA "
        "driver is installed and running.",
        step("RuntimeError: Found no NVIDIA driver on your system"),
    )
    assert "smi-no-driver" in rules_of(second)
    assert "error-message" not in rules_of(second)

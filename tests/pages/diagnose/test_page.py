"""`/diagnose/` draws the stack of a pasted dump and names its faults; whatever is pasted is answered, nothing is kept."""

import html
import re

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stackviz.intake.report_parts.pasted import Refused, read_pasted
from stackviz.pages.diagnose.diagnosis import diagnose
from stackviz.records.catalog.models import Accelerator
from stackviz.report.importers.deadline import NEVER
from stackviz.report.rules import Finding
from stackviz.web.http import rate_limit
from stackviz.web.parts import render_part
from tests.languages import chinese
from tests.layout import on_one_line
from tests.pages.diagnose.conftest import CPU_WHEEL, FIXTURES, HOSTILE, MAC_JSON, MIG_XML, TWO_MACHINES
from tests.report.importers import nvidia_dumps as dumps
from tests.responses import words_of
from tests.samples import EXCERPTS, SAMPLES

KB = 1024


@pytest.fixture
def paste(client, curated, db):
    return lambda text: client.post("/diagnose/", {"text": text})


def rows_stored() -> dict[str, int]:
    return {model._meta.label: model._default_manager.count() for model in apps.get_models()}


# --- what it shows ---


def test_the_form_lists_the_tools_it_reads(client, db):
    response = client.get("/diagnose/")
    commands = ("python -m torch.utils.collect_env", "nvidia-smi -q -x", "system_profiler -json")
    assert [command for command in commands if command not in words_of(response)] == []
    assert '<a href="/diagnose/" aria-current="page">Diagnose</a>' in response.content.decode()


def test_a_failure_of_the_driver_is_understood_text(paste):
    text = words_of(paste("$ nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\n"))
    assert "The NVIDIA libraries do not match the loaded driver" in text
    assert text.split("Not understood")[1].startswith(" Everything")


def test_a_cpu_only_wheel_on_nvidia_cards_is_named_and_drawn(paste):
    response = paste(CPU_WHEEL)
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    diagnosis, page, said = response.context["diagnosis"], response.content.decode(), words_of(response)
    worst = diagnosis.first.findings[0]
    assert (worst.rule, worst.severity) == ("cpu-wheel", "broken")
    assert diagnosis.first.verdict.startswith("1 broken")
    assert "torch 2.12.0+cpu is built without CUDA, on a machine with NVIDIA H100 80GB HBM3" in said
    assert said.index("is built without CUDA") < said.index("The stack, from PyTorch down to silicon")
    assert len(diagnosis.drawing.layers) == page.count('<div class="layer layer-') == 8
    assert "2 × NVIDIA H100 80GB HBM3" in said
    assert "INTEL(R) XEON(R) GOLD 6542Y" in said
    assert 'href="/accelerators/nvidia-h100-sxm5-80gb/"' in page
    assert "no spec sheet has this name yet" in page


def test_a_driver_too_old_for_this_torch_is_a_fault(paste):
    text = (FIXTURES / "dumps/collect_env_cuda.txt").read_text().replace("580.65.06", "470.57.02")
    worst = paste(text).context["diagnosis"].first.findings[0]
    assert worst.severity in ("broken", "warning")
    assert "470.57.02" in worst.title


@pytest.mark.parametrize("text", [CPU_WHEEL, MIG_XML], ids=["broken", "note"])
def test_every_finding_of_the_api_is_on_the_page(paste, client, text):
    """Notes too, in the order of the API: what is broken, warnings, notes, then what could not be told."""
    answer = client.post("/api/v1/diagnose/", text, content_type="text/plain").json()
    titles = [finding["title"] for finding in answer["findings"]]
    assert "note" in {finding["severity"] for finding in answer["findings"]}
    page = words_of(paste(text))
    places = [page.find(f" {title} ") for title in titles]
    assert places == sorted(places)
    assert -1 not in places


def test_a_sheet_that_is_not_public_is_not_shown(paste):
    Accelerator.objects.filter(slug="nvidia-h100-sxm5-80gb").update(is_public=False)
    page = paste(CPU_WHEEL).content.decode()
    assert "/accelerators/nvidia-h100-sxm5-80gb/" not in page
    assert "H100 SXM5" not in page


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dumps/nvidia_smi_a100_mig.xml", ["nvidia-smi -q -x", "560.35.03", "NVIDIA A100-SXM4-40GB", "400 W"]),
        ("mac/m3_max_system_profiler.json", ["system_profiler -json", "Apple M3 Max", "Unified memory 48 GiB"]),
    ],
)
def test_the_other_tools_are_read_without_serial_numbers(paste, name, words):
    response = paste((FIXTURES / name).read_text(encoding="utf-8"))
    assert response.status_code == 200
    assert [word for word in words if word not in words_of(response)] == []
    shown = re.sub(r"(?s)<textarea.*?</textarea>", "", response.content.decode())
    assert not re.search("1320621000000|4f0ad2c3", shown)


def test_what_was_odd_is_said(paste):
    response = paste(CPU_WHEEL.replace("[pip3] torch==2.12.0+cpu", "[pip3] torch==2.11.0"))
    assert "torch versions disagree: 2.11.0, 2.12.0+cpu" in words_of(response)


# --- several machines, several files ---


def test_two_machines_draw_side_by_side(paste, django_assert_num_queries):
    response = paste(TWO_MACHINES)
    first, second = response.context["diagnosis"].machines
    assert (first.title, second.title) == ("2 × NVIDIA H100 80GB HBM3 + 1", "Apple M3 Max")
    assert [column.title for column in response.context["diagnosis"].drawing.columns] == [first.title, second.title]
    assert "Apple M3 Max is treated as a separate machine because" in words_of(response)
    page = response.content.decode()
    own = page[page.index('id="machine-1"') : page.index('id="machine-2"')]
    assert "is built without CUDA" in own
    assert 'id="findings-2"' in page
    assert page.index("is built without CUDA") < page.index("stack-frame")
    with django_assert_num_queries(2):
        paste(TWO_MACHINES)


def test_more_machines_than_fit_side_by_side_are_counted(paste):
    texts = [CPU_WHEEL.replace("2.12.0+cpu", f"2.{n}.0").replace("550.54.15", f"55{n}.54.15") for n in range(8)]
    diagnosis = paste("\n".join(texts)).context["diagnosis"]
    assert (len(diagnosis.machines), diagnosis.more) == (6, 2)


def test_files_are_read_together_with_what_was_pasted(client, curated, db):
    files = [SimpleUploadedFile("smi.xml", MIG_XML.encode()), SimpleUploadedFile("mac.json", MAC_JSON.encode())]
    response = client.post("/diagnose/", {"text": "", "files": files})
    assert response.status_code == 200
    assert [[tool.text for tool in machine.tools] for machine in response.context["diagnosis"].machines] == [
        ["nvidia-smi -q -x"],
        ["system_profiler -json"],
    ]
    assert "SPHardwareDataType" in response.context["text"]
    response = client.post("/diagnose/", {"files": [SimpleUploadedFile("core.dump", b"\x7fELF\x00\x00")]})
    assert response.status_code == 422
    assert "core.dump is not text" in words_of(response)


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("CUDA error: no kernel image is available for execution on the device", "错误消息"),
        (MIG_XML, "nvidia-smi -q -x"),
    ],
)
def test_what_was_read_is_named_as_command_or_in_words(client, curated, db, text, drawn):
    page = client.post(chinese("/diagnose/"), {"text": text}).content.decode()
    read_as = page.split("<dt>识别为</dt>")[1].split("</dd>")[0]
    assert re.sub(r"<[^>]+>", "", read_as).strip() == drawn
    assert ("<code>" in read_as) == (drawn != "错误消息")


@pytest.mark.parametrize("text", [CPU_WHEEL, TWO_MACHINES, MIG_XML], ids=["one", "two", "xml"])
def test_a_page_is_below_100_kb_beside_the_text_itself(paste, text):
    response = paste(text)
    shown = re.sub(r"(?s)(<textarea[^>]*>).*?</textarea>", r"\1</textarea>", response.content.decode())
    assert len(shown.encode()) < 100_000


def test_results_of_a_benchmark_are_shown_as_it_states_them(paste):
    table = (
        "| model | size | params | backend | ngl | test | t/s |\n| --- | ---: | ---: | --- | --: | --: | --: |\n"
        "| llama 7B Q4_0 | 3.56 GiB | 6.74 B | CUDA | 99 | pp512 | 5432.10 ± 12.30 |\n"
    )
    said = words_of(paste(table))
    assert "Results in the text" in said
    assert said.index("Results in the text") < said.index("The stack, from PyTorch down to silicon")
    assert "5,432" in said
    assert "model llama 7B Q4_0 · " in said


def test_links_between_cards_are_drawn_without_a_list(paste):
    page = paste(dumps.TOPOLOGY).content.decode()
    assert "How the cards are linked" in page
    assert page.count('<td class="num nvlink">NV18</td>') == 2


def test_too_many_texts_of_one_client_wait(paste, settings, monkeypatch):
    settings.DIAGNOSES_PER_MINUTE = 1
    monkeypatch.setattr(rate_limit, "clock", lambda: 6_000_015.0)
    assert paste(CPU_WHEEL).status_code == 200
    response = paste(CPU_WHEEL)
    assert (response.status_code, response["Retry-After"]) == (429, "45")
    assert "Try again in 45 seconds" in words_of(response)
    assert response.context["text"].strip() == CPU_WHEEL.strip()  # nobody has to paste it again


def test_a_long_text_counts_as_several(paste, settings, time_machine):
    time_machine.move_to("2026-11-23T00:00:10Z", tick=False)  # both in one minute
    settings.DIAGNOSES_PER_MINUTE = 4
    assert [paste(f"{CPU_WHEEL}\n{'x' * (200 * 1024)}").status_code, paste(CPU_WHEEL).status_code] == [200, 429]


# --- what no rule explains ---


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("RuntimeError: HIP error 1234 of tomorrow", ("It is of ROCm", "rocminfo", "Similar messages, not the same")),
        ("Is debug build: False\nthe PyTorch version: is not told", ("The text names PyTorch", "collect_env")),
        ("ValueError: 7 is no flavour", ("names no program that is known here",)),
    ],
    ids=["error", "question", "other"],
)
def test_a_text_that_no_rule_explains_is_answered(paste, text, says):
    response = paste(text)
    assert response.status_code == 200
    assert all(each in words_of(response) for each in says)


# --- what it refuses, and what it survives ---


@pytest.mark.parametrize(
    ("text", "status", "says"),
    [
        ("", 422, "There is nothing to read"),
        (" \n\t", 422, "There is nothing to read"),
        ("hello", 422, "This is not the output of a supported tool"),
        ("flask==3.1.0\nclick==8.1.7\nrequests==2.32.3", 422, "a list of packages"),
        ("{}", 422, "This is not the output of a supported tool"),
        ("PyTorch version:\x00Is debug build:", 422, "NUL bytes"),
        ("\x00", 422, "NUL bytes"),
        ("<nvidia_smi_log><gpu>", 422, "nothing in it could be read"),
        ("x" * (1024 * KB + 1), 413, "larger than 1024 KB"),
        ("図" * (400 * KB), 413, "larger than 1024 KB"),
    ],
    ids=[
        "empty",
        "blank",
        "junk",
        "packages",
        "json",
        "nul",
        "only-nul",
        "torn",
        "too-big",
        "too-big-in-bytes",
    ],
)
def test_what_cannot_be_read_is_answered_with_why(paste, text, status, says):
    response = paste(text)
    assert response.status_code == status
    assert says in words_of(response)
    assert response.context["diagnosis"] is None


def test_a_text_is_read_up_to_the_limit_and_no_body_beyond_it(client, paste):
    text = CPU_WHEEL + "#" * (1024 * KB - len(CPU_WHEEL.encode()) - 2) + "\n"
    assert paste(text).status_code == 200
    body = "text=" + "x" * (6 * KB * KB)
    response = client.post("/diagnose/", body, content_type="application/x-www-form-urlencoded")
    assert response.status_code == 413
    assert "larger than 1024 KB" in words_of(response)
    assert client.post("/diagnose/", {"other": "x"}).status_code == 422
    assert Client(enforce_csrf_checks=True).post("/diagnose/", {"text": CPU_WHEEL}).status_code == 403


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        CPU_WHEEL.replace("NVIDIA H100 80GB HBM3", HOSTILE),
        CPU_WHEEL.replace("2.12.0+cpu", HOSTILE).replace("Frobnicator 9000", HOSTILE),
        CPU_WHEEL.replace("550.54.15", HOSTILE).replace("Ubuntu 22.04.5 LTS", HOSTILE),
        CPU_WHEEL.replace("INTEL(R) XEON(R) GOLD 6542Y", HOSTILE).replace("64\n", HOSTILE + "\n"),
    ],
    ids=["junk", "card", "torch", "system", "processor"],
)
def test_hostile_text_is_only_ever_text(paste, text):
    page = paste(text).content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize("dump", [CPU_WHEEL, MIG_XML[:6000], MAC_JSON[:6000]], ids=["text", "xml", "json"])
def test_html_in_the_place_of_any_value_is_only_ever_text(paste, dump):
    """Each line in turn has its value replaced; what stands between tags or quote marks, in XML and JSON."""
    lines = dump.splitlines()
    for place, line in enumerate(lines):
        hostile = re.sub(r"(: \"?|>)[^<\">]+(?=$|<|\")", lambda found: found[1] + HOSTILE.replace('"', ""), line)
        page = paste("\n".join([*lines[:place], hostile, *lines[place + 1 :]])).content.decode()
        assert "<script>alert" not in page, line
        assert "<img src=x" not in page, line


def test_nothing_is_stored_and_an_empty_site_answers_too(client, db):
    before = rows_stored()
    response = client.post("/diagnose/", {"text": CPU_WHEEL})
    assert response.status_code == 200
    assert "is built without CUDA" in words_of(response)
    for text in (MIG_XML, "junk"):
        client.post("/diagnose/", {"text": text})
    assert rows_stored() == before


@pytest.mark.parametrize("cards", [1, 60])
def test_a_dump_costs_the_same_queries_for_any_number_of_cards(paste, cards, django_assert_num_queries):
    lines = "\n".join(f"GPU {number}: Card of kind {number}" for number in range(cards))
    text = CPU_WHEEL.replace("GPU 2: Frobnicator 9000", "").replace("GPU models and configuration:", f"\n{lines}\n")
    paste(text)  # fills the caches of tables and described stacks
    with django_assert_num_queries(2):  # the editions, names of cards
        assert paste(text).status_code == 200


LINES = CPU_WHEEL.splitlines()
DAMAGE = st.lists(st.tuples(st.integers(0, len(LINES) - 1), st.text(max_size=60)), max_size=12)


@example([(1, "PyTorch version: " + "9" * 4000), (22, "Nvidia driver version: " + "9" * 4000 + ".1")])
@given(DAMAGE)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_dump_is_diagnosed_or_refused_never_more(curated, db, damage):
    lines = list(LINES)
    for place, text in damage:
        lines[place] = lines[place][: len(text)] + text
    try:
        pasted = read_pasted("\n".join(lines), NEVER)
    except Refused:
        return
    assert diagnose(pasted).drawing.layers


# --- real dumps, where they are at hand ---


@pytest.mark.parametrize("folder", SAMPLES)
def test_every_real_dump_is_answered_with_its_stack(paste, folder):
    dumps = sorted(folder.glob("collect_env/*.txt"))
    assert dumps
    wrong = [
        f"{dump.name}: {response.status_code}"
        for dump in dumps
        for response in [paste(dump.read_text(encoding="utf-8", errors="replace"))]
        if response.status_code != 200 or len(response.context["diagnosis"].drawing.layers) != 8
    ]
    assert wrong == []


METAL = """| model                  |     size |  params | backend | ngl | test   |            t/s |
| ---------------------- | -------: | ------: | ------- | --: | ------ | -------------: |
| llama 8B Q4_K - Medium | 4.58 GiB |  8.03 B | Metal   |  99 | pp 512 | 408.23 ± 24.57 |
"""


def test_benchmark_names_its_backend_draws_no_stack(paste):
    response = paste(METAL)
    diagnosis = response.context["diagnosis"]
    assert (diagnosis.first.stack, diagnosis.is_drawn) == ("Apple Metal on macOS", False)
    assert 'class="stack-frame' not in response.content.decode()
    assert "408.2 ± 24.57" in words_of(response)


def test_a_command_of_a_finding_can_be_copied(paste):
    said = paste(CPU_WHEEL).content.decode()
    assert "<code>pip uninstall -y torch</code>" in said
    finding = Finding(
        rule="some-rule", severity="broken", component="pytorch", title="It is broken", advice="Mend it: sudo reboot"
    )
    drawn = on_one_line(render_part("report_parts/_finding.jinja", finding=finding))
    assert '<span>Mend it:</span></p><div class="copy"><pre>sudo reboot</pre>' in drawn
    assert "data-copy" in drawn
    assert "js/copy.js" in said


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (
            (
                "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\n"
                "The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90."
            ),
            "This torch carries no code for NVIDIA GeForce RTX 5090",
        ),
        (
            "RuntimeError: CUDA error: no kernel image is available for execution on the device",
            "CUDA error: no kernel image is available for execution on the device",
        ),
        ("no kernel image is available", "no kernel image is available"),
        ("AssertionError: Torch not compiled with CUDA enabled", "Torch not compiled with CUDA enabled"),
    ],
)
def test_an_error_message_alone_is_explained(paste, text, title):
    response = paste(text)
    first = response.context["diagnosis"].first.findings[0]
    assert (response.status_code, first.severity) == (200, "broken")
    assert title in first.title
    assert "pip install" in first.advice or "paste what it prints" in first.advice


def test_a_dump_of_old_releases_is_drawn_without_what_came_later(paste):
    """The case of a review: torch 1.10.1 on a GeForce MX250, drawn with TorchInductor and GSP firmware."""
    dump = (EXCERPTS / "collect_env/011.txt").read_text(encoding="utf-8")
    column = paste(dump).context["diagnosis"].first.report.column
    drawn = {box.component for box in column.boxes if box.state != "absent"}
    assert {"pytorch", "nvidia-driver", "nvml"} <= drawn
    assert not {"torchdynamo", "aotautograd", "primtorch", "torchinductor", "gsp-firmware", "tensor-core"} & drawn


def test_a_benchmark_on_metal_is_not_of_an_nvidia_machine(paste):
    """The case of a review: a table of llama-bench on Metal beside nvidia-smi was one machine without a fault."""
    smi = "GPU 0: NVIDIA GeForce RTX 2080 SUPER (UUID: GPU-3b8b0e3c-7d0e-4a7e-9a54-4f2f6a4f0001)\n"
    table = METAL + "| llama 8B Q4_K - Medium | 4.58 GiB |  8.03 B | Metal   |  99 | tg 4096 | 11.8 ± 0.1 |\n"
    table += "| llama 8B Q4_K - Medium | 4.58 GiB |  8.03 B | Metal   |  99 | tg 8192 | 1133.0 ± 0.1 |\n"
    response = paste(f"{smi}\n{table}")
    first, second = response.context["diagnosis"].machines
    assert (first.stack, second.stack) == ("NVIDIA CUDA on Linux", "Apple Metal on macOS")
    assert "tg 8192 is 96 times as fast as tg 4096: implausible" in words_of(response)
    assert second.verdict == "1 warning"


# --- examples ---


@pytest.mark.parametrize(
    ("key", "sample", "found"),
    [
        ("old-driver", "collect_env/020.txt", "CUDA 10.2 needs driver 440.33 or newer"),
        ("two-torches", "collect_env/003.txt", "torch versions disagree"),
        ("nvidia-smi", "nvidia_smi_table/022.txt", "Driver branch R550 is no longer supported"),
    ],
)
def test_an_example_fills_the_box_with_a_recorded_dump(client, paste, key, sample, found):
    assert f'href="?example={key}#paste"' in client.get("/diagnose/").content.decode()
    page = client.get(f"/diagnose/?example={key}").content.decode()
    text = html.unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.DOTALL)[1])
    assert text == (EXCERPTS / sample).read_text(encoding="utf-8")
    assert found in words_of(paste(text))


@pytest.mark.parametrize("address", ["?example=../../manage", "?example=%00", "?example=" + "x" * 5000])
def test_an_example_that_does_not_exist_leaves_the_box_empty(client, db, address):
    page = client.get(f"/diagnose/{address}").content.decode()
    assert re.search(r"<textarea[^>]*>\n</textarea>", page)


# --- a card and a version typed beside a message ---

NO_KERNEL = "RuntimeError: CUDA error: no kernel image is available for execution on the device"


@pytest.mark.parametrize(
    "typed", ["RTX 5090, torch 2.4", "NVIDIA GeForce RTX 5090 / torch 2.4.0+cu121", "GPU: RTX 5090"]
)
@pytest.mark.parametrize("between", ["\n", ", "])
def test_a_card_typed_with_a_message_leads_to_its_plan(paste, typed, between):
    response = paste(f"{NO_KERNEL}{between}{typed}")
    diagnosis = response.context["diagnosis"]
    assert [row.label for row in diagnosis.first.cards] == ["NVIDIA GeForce RTX 5090"]
    assert "CUDA" in diagnosis.first.stack
    assert diagnosis.is_all_understood
    assert 'href="/plan/?accelerator=nvidia-geforce-rtx-5090"' in response.content.decode()
    assert diagnosis.first.findings[0].rule == ("kernels-missing" if "torch" in typed else "error-message")


@pytest.mark.parametrize(
    ("text", "has_card"),
    [
        (f"{NO_KERNEL}\nI have an RTX 5090 and it is great", False),
        ("GPU 0: NVIDIA GeForce RTX 5090 (UUID: GPU-1b6c0f7c-0000-0000-0000-000000000001)\n", True),
    ],
    ids=["a sentence states no card", "no fault"],
)
def test_no_plan_is_offered_without_a_fault_of_a_card(paste, text, has_card):
    response = paste(text)
    assert bool(response.context["diagnosis"].first.cards) is has_card
    assert "/plan/?accelerator=" not in response.content.decode()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("RuntimeError: CUDA error: device-side assert triggered", "CUDA error: device-side assert triggered"),
        ("ERROR: No matching distribution found for torch==1.2.3", "No matching distribution found for torch==1.2.3"),
        ("frobnicator: fatal error: cannot glue widget 7", "frobnicator: fatal error: cannot glue widget 7"),
        ("Python version: 3.11.4\nERROR: No matching distribution found for torch==1.2.3", "No matching distribution"),
    ],
)
def test_an_error_alone_is_the_title_of_its_page(paste, text, title):
    response = paste(text)
    assert response.status_code == 200
    heading = html.unescape(re.search("<title>(.*?)</title>", response.content.decode(), re.DOTALL)[1])
    assert title in heading
    assert "CPU" not in heading


def test_a_dump_is_titled_by_its_stack(paste):
    assert "NVIDIA CUDA" in re.search("<title>(.*?)</title>", paste(dumps.TABLE).content.decode(), re.DOTALL)[1]

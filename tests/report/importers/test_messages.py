"""Error messages: alone, wrapped, in a log, above a dump, repeated."""

import time

import pytest

from stackviz.report.dumps import machines
from stackviz.report.importers import read_all
from stackviz.report.importers.messages import LONGEST_QUOTE, find_messages, is_message, read_messages
from stackviz.report.messages import FAMILIES, SYMPTOMS
from tests.report.importers.own_dump import OwnDump, fixture

TOO_OLD = (
    "/usr/lib/python3/dist-packages/torch/cuda/__init__.py:52: UserWarning: CUDA initialization: The NVIDIA driver on "
    "your system is too old (found version 11040). Please update your GPU driver by downloading and installing a new "
    "version from the URL: http://www.nvidia.com/Download/index.aspx (Triggered internally at ...)\n"
)
OWN_DUMPS = (
    OwnDump(
        kind="error-message",
        text=TOO_OLD,
        facts={
            "message.symptoms": "driver-too-old",
            "message.quotes": "The NVIDIA driver on your system is too old (found version 11040)",
            "cuda.driver_api_version": "11.4",
            "cuda.available": False,
        },
        rules=("error-message",),
    ),
)


def symptoms_of(text):
    (machine,) = machines(read_all(text))
    return machine.reading.facts.get("message.symptoms")


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (
            TOO_OLD.replace("your system", "your\nsystem"),
            "The NVIDIA driver on your system is too old (found version 11040)",
        ),
        (
            'File "/home/ann/run.py", line 3\nRuntimeError: CUDA error: no kernel image is available for execution\n',
            "RuntimeError: CUDA error: no kernel image is available for execution",
        ),
        (
            "I ran pip install torch -i https://ann:hunter22@a.example/ -f https://download.pytorch.org/whl/cu114\n",
            "pip install torch -i https://[redacted]@a.example/ -f https://download.pytorch.org/whl/cu114",
        ),
        (
            "rocBLAS error: Cannot read /home/ann/env/lib/rocblas/library/TensileLibrary.dat: No such file\n",
            "rocBLAS error: Cannot read ~/env/lib/rocblas/library/TensileLibrary.dat: No such file",
        ),
        (
            "ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1, version libnvJitLink.so.12\n",
            "ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1, version libnvJitLink.so.12",
        ),
    ],
    ids=["wrapped", "name-of-the-error", "secret", "home", "library"],
)
def test_message_is_quoted_without_personal_names(text, quote):
    assert read_all(text).readings[0].facts["message.quotes"] == quote


def test_a_quote_is_short_and_one_line():
    (reading,) = read_all("No module named 'triton' " + "and more " * 500).readings
    assert len(reading.facts["message.quotes"]) <= LONGEST_QUOTE


def test_messages_of_one_machine_keep_their_quotes():
    (machine,) = machines(read_all(f"{TOO_OLD}\nstep 2 done\n\nError 802: system not yet initialized\n"))
    assert machine.reading.facts["message.symptoms"] == "driver-too-old cuda-802"
    assert machine.reading.facts["message.quotes"] == (
        "The NVIDIA driver on your system is too old (found version 11040) ¶ Error 802: system not yet initialized"
    )


def test_escapes_times_and_quotes_are_stripped():
    lines = "".join(f"> 2026-11-01T10:00:0{n}Z \x1b[31mERROR\x1b[0m line {n}\n" for n in range(5))
    assert symptoms_of(f"{lines}> 2026-11-01T10:00:06Z \x1b[31m{TOO_OLD}\x1b[0m") == "driver-too-old"


def test_repeats_of_a_message_are_not_unread_text():
    paste = read_all("step 1 done\n" + TOO_OLD * 30)
    assert [reading.kind for reading in paste.readings] == ["error-message"]
    assert paste.not_understood == ("step 1 done",)


def test_a_message_above_a_dump_is_of_the_same_machine():
    (machine,) = machines(read_all(TOO_OLD + fixture("dumps/collect_env_cuda.txt")))
    assert machine.reading.facts["message.symptoms"] == "driver-too-old"
    assert machine.reading.cards


def test_what_a_tool_reports_counts_more_than_a_message():
    (machine,) = machines(
        read_all(
            TOO_OLD + "NVIDIA-SMI version  : 580.95.05\nDRIVER version      : 580.95.05\nCUDA Version        : 13.0\n"
        )
    )
    assert machine.reading.facts["cuda.driver_api_version"] == "13.0"


def test_a_letter_that_grows_in_lower_case_moves_no_message():
    (reading,) = read_all("İ" * 50 + "\n" + TOO_OLD).readings
    assert reading.facts["cuda.driver_api_version"] == "11.4"


@pytest.mark.parametrize("filling", [" ", "a", "a.", "A(", '" '])
def test_a_line_of_anchors_costs_what_a_line_costs(filling):
    """Two seconds a line before white space was possessive and windows were joined; now a hundredth of one."""
    anchors = [anchor for wording in (*SYMPTOMS, *FAMILIES) for anchor in wording.anchors]
    started = time.process_time()
    for anchor in anchors:
        is_message(((anchor + filling * 130)[:150] * 70)[:10_000])
    assert (time.process_time() - started) / len(anchors) < 0.012


def test_a_hostile_log_is_read_in_the_time_of_a_log():
    """Each line is a message that repeats, with sixty beginnings of another in front of it: 16 s before."""
    line = ("with the current pytorch" + " " * 130) * 60 + " system not yet initialized\n"
    started = time.process_time()
    paste = read_all(line * 20)
    assert time.process_time() - started < 2
    assert [reading.kind for reading in paste.readings] == ["error-message"]
    assert not paste.not_understood


@pytest.mark.parametrize(
    ("size", "most_s"), [pytest.param(100_000, 0.5), pytest.param(1_000_000, 1.5, marks=pytest.mark.slow)]
)
def test_pattern_cost_is_linear_in_text_length(size, most_s):
    """Beginnings of its own message, cut short and followed by white space: 0.15 s a megabyte when it was written."""
    slow = {}
    of_families = [(family.anchors, next(iter(family.members.values()), family.unlisted)) for family in FAMILIES]
    for anchors, symptom in (*((symptom.anchors, symptom) for symptom in SYMPTOMS), *of_families):
        if anchors:
            half = symptom.message[: len(symptom.message) // 2]
            beginning = f"{anchors[0]} {half}{' ' * 60}{symptom.message[:-3]} "
            text = (beginning * (size // len(beginning) + 1))[:size]
            started = time.process_time()
            find_messages(text)
            read_messages(text)
            if (took_s := time.process_time() - started) >= most_s:
                slow[symptom.key] = took_s
    assert slow == {}


def test_two_cards_close_together_are_both_named():
    text = "".join(
        f"NVIDIA GeForce RTX {number} with CUDA capability sm_120 is not compatible with the current PyTorch "
        "installation.\n"
        for number in (5080, 5090)
    )
    (machine,) = machines(read_all(text))
    assert [card.reported_name for card in machine.reading.cards] == [
        "NVIDIA GeForce RTX 5080",
        "NVIDIA GeForce RTX 5090",
    ]


def test_two_versions_of_the_driver_are_quoted_as_xla_prints_them():
    mismatch = "kernel version 470.103.1 does not match DSO version 470.199.2"
    text = f"E cuda_diagnostics.cc:312] {mismatch} -- cannot find working devices in this configuration\n"
    assert symptoms_of(text) == "libcuda-version-mismatch"
    assert read_all(text).readings[0].facts["message.quotes"].startswith(mismatch)

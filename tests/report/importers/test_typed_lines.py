"""Lines of values beside an error message are read; sentences that name a card, and what works elsewhere, are not."""

import pytest

from stackviz.report.dumps import answer, machines
from stackviz.report.importers import read_all
from stackviz.report.importers.typed_lines import values_of
from stackviz.report.rules import packaged_tables

MESSAGE = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
NVIDIA = "NVIDIA GeForce RTX 5090"
OTHERS = "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"


def cards_and_torch(text: str) -> tuple[list[str], str | None]:
    """The cards, and the version of torch."""
    (machine,) = machines(read_all(text))
    return [card.reported_name for card in machine.reading.cards], machine.reading.facts.get("torch.version")


@pytest.mark.parametrize(
    ("text", "cards", "torch"),
    [
        (f"{MESSAGE}\nRTX 5090, torch 2.4", [NVIDIA], "2.4"),
        (f"RTX 5090, torch 2.4\n\n{MESSAGE}", [NVIDIA], "2.4"),
        (f"{MESSAGE}\n{NVIDIA} / torch 2.4.0+cu121", [NVIDIA], "2.4.0+cu121"),
        (
            f"{MESSAGE}\nmy setup:\n2x RTX 3090 24GB with PyTorch 2.4.0 on Ubuntu 22.04",
            ["NVIDIA GeForce RTX 3090"] * 2,
            "2.4.0",
        ),
        (f"{MESSAGE}\nGPU: RTX 5090", [NVIDIA], None),
        (f"{MESSAGE}\n{OTHERS}\nRTX 5090\n", [NVIDIA], None),
        (f"{MESSAGE}, RTX 5090, torch 2.4", [NVIDIA], "2.4"),
        (f"{MESSAGE} RTX 5090, torch 2.4", [NVIDIA], "2.4"),
        (f"{MESSAGE} (RTX 5090)", [NVIDIA], None),
        (f"RTX 5090, torch 2.4: {MESSAGE}", [NVIDIA], "2.4"),
        ("CUDA error: no kernel image is available on my RTX 5090 with torch 2.4", [NVIDIA], "2.4"),
    ],
)
def test_a_line_of_values_is_read(text, cards, torch):
    assert cards_and_torch(text) == (cards, torch)
    assert not read_all(text).not_understood or OTHERS in text or "setup" in text


@pytest.mark.parametrize(
    "line",
    [
        "I have an RTX 5090 and it is great",
        "RTX 5090 is great, torch 2.4 is not",
        "torch 2.7, CUDA 12.8 works",
        "needs torch 2.7 with cu128",
        "The RTX 5090, torch 2.4 and me",
        "This works:\nRTX 4090, torch 2.4",
        "On my other machine:\nRTX 4090, torch 2.4",
        "Reported for:\nRTX 4090, torch 2.4",
        "RTX 4090, torch 2.4\nRTX 5090, torch 2.4",
        "| RTX 4090 | torch 2.4 | works |",
        "torch 2.4",
        "Python 3.10, CUDA 12.1",
        "A100",
        "loading weights\nRTX 5090\nloading the rest",
    ],
)
def test_what_is_no_line_of_values_states_nothing(line):
    assert cards_and_torch(f"{MESSAGE}\n{OTHERS}{line}\n{OTHERS}") == ([], None)


def test_a_card_alone_needs_a_message():
    assert not read_all("RTX 5090\n").kinds
    assert not read_all("GPU: RTX 5090\n").kinds


@pytest.mark.parametrize(
    "text",
    [
        f"On an RTX 5090 with torch 2.4: {MESSAGE}",
        f"{MESSAGE} when I use the RTX 5090",
        f"{MESSAGE} but it works on RTX 4090, torch 2.5",
        f"{MESSAGE} ; fine on my RTX 4090 with torch 2.5",
        f"{MESSAGE} , not with: RTX 4090, torch 2.5",
    ],
)
def test_a_sentence_around_the_message_is_no_line_of_values(text):
    assert cards_and_torch(text) == ([], None)


def test_a_typed_line_gives_way_to_what_a_tool_lists():
    table = "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1b6c0f7c-0000-0000-0000-000000000001)\n"
    assert cards_and_torch(f"{table}\n{MESSAGE}\nRTX 5090, torch 2.4\n") == (["NVIDIA A100-SXM4-80GB"], "2.4")


def test_the_cause_is_named():
    answered = answer(machines(read_all(f"{MESSAGE}\nRTX 5090, torch 2.4")), packaged_tables())
    finding = answered["findings"][0]
    assert (finding["rule"], finding["severity"]) == ("kernels-missing", "broken")
    assert "torch 2.7 for cu128" in finding["advice"]
    assert "cu128 (torch 2.7 to" in finding["explanation"]
    assert "kernels-missing" not in {f["rule"] for f in answered["findings"] if f["severity"] == "cannot-tell"}


def test_labels_and_counts_are_read_as_in_lists():
    assert [value.topic for value in values_of("GPU: 4 x H100 80GB; driver 550.54; CUDA: 12.4, python 3.11")] == [
        "gpu", "driver", "cuda", "python",
    ]  # fmt: skip
    assert values_of("") == []
    assert values_of("RTX 5090, ") == [("gpu", "RTX 5090")]

"""What is to be typed is taken out of an advice, whole or not at all."""

import pytest

from stackviz.base.advice import MOST_CHARS, Block, Part, blocks_of, causes_of, parts_of

INDEX = "--index-url https://download.pytorch.org/whl/cu128"


def typed(advice: str) -> list[tuple[str, bool]]:
    return [(part.text, part.is_whole) for part in parts_of(advice) if part.is_typed]


@pytest.mark.parametrize(
    ("advice", "commands"),
    [
        (
            f"Newest build known to fit: torch 2.11 for cu128: pip install 'torch==2.11.*' {INDEX}",
            [(f"pip install 'torch==2.11.*' {INDEX}", True)],
        ),
        (
            "Stop what uses the card, then: sudo nvidia-smi --gpu-reset -i 0 (or reboot)",
            [("sudo nvidia-smi --gpu-reset -i 0", True)],
        ),
        (
            "sudo systemctl enable --now nvidia-persistenced, or until the next boot: sudo nvidia-smi -pm 1",
            [("sudo systemctl enable --now nvidia-persistenced", False), ("sudo nvidia-smi -pm 1", True)],
        ),
        (
            'Nothing to do. The version torch uses: python -c "import torch; print(torch.version.cuda)"',
            [('python -c "import torch; print(torch.version.cuda)"', True)],
        ),
        (
            "pip uninstall -y onnxruntime && pip install onnxruntime-gpu, then check session.get_providers().",
            [("pip uninstall -y onnxruntime && pip install onnxruntime-gpu", False)],
        ),
        (
            "pip config unset global.index-url (and unset PIP_INDEX_URL), then: pip install torch",
            [("pip config unset global.index-url", True), ("unset PIP_INDEX_URL", False), ("pip install torch", True)],
        ),
        (
            "unset PYTORCH_ENABLE_MPS_FALLBACK to see which operators are missing.",
            [("unset PYTORCH_ENABLE_MPS_FALLBACK", False)],
        ),
        ("Lower the power limit (sudo nvidia-smi -pl <watts>).", [("sudo nvidia-smi -pl <watts>", False)]),
        (
            "Compare cat /proc/driver/nvidia/version with nvidia-smi. Update the driver.",
            [("cat /proc/driver/nvidia/version", False)],
        ),
        ("pip install --force-reinstall triton==3.3.1", [("pip install --force-reinstall triton==3.3.1", True)]),
        ("Run it: pip install torch. Then look again.", [("pip install torch", True)]),
        ("If there is a GPU: nvidia-smi (or rocminfo) must list it; pip finds nothing.", []),
        (
            'Then: python -c "import torch" (its error names it). To see which runs: python -c "import sys"',
            [('python -c "import torch"', True), ('python -c "import sys"', True)],
        ),
        (
            "Make one: python3 -m venv .venv && . .venv/bin/activate",
            [("python3 -m venv .venv && . .venv/bin/activate", True)],
        ),
        ("ls -l /dev/nvidia-uvm fails.", [("ls -l /dev/nvidia-uvm", False)]),
        ("nvidia-smi -L lists more cards than torch sees.", [("nvidia-smi -L", False)]),
        ('Try: python -c "import torch', [('python -c "import torch', True)]),  # an open quote ends nothing
        ("", []),
    ],
)
def test_commands_are_taken_out(advice, commands):
    assert typed(advice) == commands


@pytest.mark.parametrize(
    "advice", ["Reset it: sudo reboot", "Here unset LD_LIBRARY_PATH or, if not: pip install x. End."]
)
def test_nothing_that_is_said_gets_lost(advice):
    said = " ".join(" ".join(part.text for part in parts_of(advice)).split()).replace(" ,", ",")
    assert [word.strip(".;") for word in said.split()] == [word.strip(".;") for word in advice.split()]


def test_a_command_in_a_box_parts_what_is_said():
    assert blocks_of("Reset it: sudo reboot. Then look (nvidia-smi -q) again.") == [
        Block((Part("Reset it:"),)),
        Block(typed="sudo reboot"),
        Block((Part("Then look ("), Part("nvidia-smi -q", is_typed=True), Part(") again."))),
    ]
    assert blocks_of("pip install torch") == [Block(), Block(typed="pip install torch")]
    assert parts_of("pip install x " * MOST_CHARS) == [Part("pip install x " * MOST_CHARS)]


@pytest.mark.parametrize(
    ("explanation", "lines"),
    [
        ("", []),
        ("One sentence. And another.", ["One sentence. And another."]),
        (
            "It broke. Most likely: the cable. Replace it. Also possible: the board. Less likely: you.",
            ["It broke.", "Most likely: the cable. Replace it.", "Also possible: the board.", "Less likely: you."],
        ),
        (
            "It broke. Most likely: a. Not the cause here (the driver is new): b.",
            ["It broke.", "Most likely: a.", "Not the cause here (the driver is new): b."],
        ),
        ("Less likely: only this.", ["Less likely: only this."]),
    ],
)
def test_the_causes_in_an_explanation_have_lines(explanation, lines):
    assert causes_of(explanation) == lines


def test_a_word_behind_a_command_stays_apart_from_it():
    parts = parts_of("dkms status (is there one for the kernel that uname -r names?); sudo apt install x (Debian)")
    assert [part.text for part in parts] == [
        "dkms status", "(is there one for the kernel that ", "uname -r", " names?);", "sudo apt install x", "(Debian)",
    ]  # fmt: skip

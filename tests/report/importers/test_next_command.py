"""The command to run next, by the words of a text that nobody can read."""

import pytest

from stackviz.report.importers.next_command import command_for_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my Radeon does not work with ROCm", ("Radeon", "rocminfo")),
        ("import torch hangs", ("torch", "python -m torch.utils.collect_env")),
        ("the RTX 4090 is slow", ("RTX", "nvidia-smi")),
        ("Core ML falls back", ("Core ML", "system_profiler SPHardwareDataType SPDisplaysDataType SPSoftwareDataType")),
        ("docker: torch sees nothing", ("docker", "docker info")),
        ("compiling the chipset driver of a torchlight", ("", "")),
    ],
)
def test_the_word_that_narrows_most_chooses_the_command(text, expected):
    assert command_for_words(text) == expected

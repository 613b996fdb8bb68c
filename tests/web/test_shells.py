"""Commands for PowerShell: only where they differ, and never of what Windows has not."""

import pytest

from stackviz.web.shells import MOST_CHARS, powershell_of


@pytest.mark.parametrize(
    ("bash", "powershell"),
    [
        ("unset CUDA_VISIBLE_DEVICES", "Remove-Item Env:CUDA_VISIBLE_DEVICES"),
        (
            "unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL",
            "Remove-Item Env:PIP_INDEX_URL; Remove-Item Env:PIP_EXTRA_INDEX_URL",
        ),
        ("export CUDA_VISIBLE_DEVICES=0,1", '$env:CUDA_VISIBLE_DEVICES = "0,1"'),
        ("CUDA_LAUNCH_BLOCKING=1 python train.py", '$env:CUDA_LAUNCH_BLOCKING = "1"; python train.py'),
        ("echo $CUDA_VISIBLE_DEVICES", "echo $env:CUDA_VISIBLE_DEVICES"),
        ("python3 -m venv .venv && . .venv/bin/activate", r"py -m venv .venv; if ($?) { .venv\Scripts\Activate.ps1 }"),
        ("python -m torch.utils.collect_env", ""),
        ("pip install 'torch==2.7.1' --index-url https://download.pytorch.org/whl/cu128", ""),
        ("nvidia-smi -q", ""),
        ("unset LD_LIBRARY_PATH", ""),
        ("sudo dmesg | grep -iE 'nvrm|xid'", ""),
        ("X" * (MOST_CHARS + 1), ""),
    ],
)
def test_a_command_for_powershell(bash, powershell):
    assert powershell_of(bash) == powershell

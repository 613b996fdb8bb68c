"""The pitfalls of the issue trackers: each has a rule, and the ones that share a rule are told apart by its words."""

import csv
import re
from pathlib import Path

from stackviz.report.rules import RULES
from tests.report.rules.build import UNSET, answer, card, linux, stated

ROOT = Path(__file__).resolve().parents[3]
PITFALLS = ROOT / "tests" / "fixtures" / "facts" / "pitfalls.csv"
COUNT = 56


def listed() -> dict[str, str]:
    """Pitfall -> rule, as the manual has it."""
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8").split("## The pitfalls")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([\w.-]+) \| ([\w.-]+) \|", text, re.MULTILINE)
    assert len({name for name, _rule in rows}) == len(rows)
    return {name: rule for name, rule in rows if name != "pitfall"}


def test_every_pitfall_has_a_rule():
    assert len(listed()) == COUNT
    assert set(listed().values()) <= {rule.id for rule in RULES}


def test_the_manual_lists_the_pitfalls_that_were_collected():
    with PITFALLS.open(encoding="utf-8", newline="") as file:
        assert {row["pitfall"] for row in csv.DictReader(file)} == set(listed())


def kernels(name: str, capability: str, torch: str, cuda: str, driver: str = "580.95.05") -> tuple[str, str]:
    """What the finding explains and advises for such a card under such a build."""
    found = answer(
        "kernels-missing",
        linux(
            card(name=name, compute_capability=capability),
            torch__version=torch,
            torch__cuda_version=cuda,
            torch__arch_list=None,
            nvidia__driver_version=driver,
        ),
    )
    assert found.severity == "broken"
    assert name in found.title
    return found.explanation, found.advice


def test_rtx_50_card_is_offered_cuda_12_8_build():
    explanation, advice = kernels("NVIDIA GeForce RTX 5090", "12.0", "2.6.0+cu124", "12.4", "572.16")
    assert "sm_90" in explanation
    assert "cu128 (torch 2.7 to" in explanation
    assert re.search(
        r"pip install 'torch==2\.\d+\.\*' 'torchvision==0\.\d+\.\*' --index-url https://download.pytorch.org/whl/cu12[89]",
        advice,
    )


def test_pascal_is_offered_last_cuda_12_6_build():
    explanation, advice = kernels("NVIDIA GeForce GTX 1080", "6.1", "2.10.0+cu128", "12.8")
    assert "cu126 (torch 2.7 to 2.14)" in explanation
    build = "torch==2.10.0 'torchvision==0.25.*' --index-url https://download.pytorch.org/whl/cu126"
    assert f"pip install --force-reinstall {build}" in advice


def test_volta_hears_of_both_variants():
    explanation, advice = kernels("Tesla V100-SXM2-32GB", "7.0", "2.11.0+cu128", "12.8")
    assert "cu126 (torch 2.7 to 2.14)" in explanation
    assert "cu128 (torch 2.8 to 2.10)" in explanation
    assert "whl/cu126" in advice


def test_torch_2_15_names_last_release_for_old_cards():
    explanation, _advice = kernels("Tesla V100-SXM2-32GB", "7.0", "2.15.0+cu130", "13.0")
    assert "torch 2.14 is the last release with a build that does" in explanation


def test_sm_60_build_is_fine_for_gtx_10():
    seen = linux(card(name="GeForce GTX 1080", compute_capability="6.1"), torch__arch_list="sm_50 sm_60 sm_70")
    found = answer("kernels-missing", seen)
    assert found.severity == "fits"
    assert "sm_60 runs on it" in found.explanation


def test_pips_own_wheel_for_arm_had_no_cuda_before_2_11():
    seen = linux(python__arch="aarch64", torch__version="2.10.0", torch__cuda_version=None, absent=CPU)
    found = answer("cpu-wheel", seen)
    assert "linux-aarch64" in stated(found.explanation)
    assert "https://download.pytorch.org/whl/cu" in found.advice


def test_driver_below_580_hears_of_cuda_13_default():
    found = answer("driver-too-old", linux(nvidia__driver_version="570.86.10", cuda__available=False))
    assert "plain pip install of torch 2.13 installs CUDA 13" in found.explanation
    assert "580.65.06 or newer" in found.advice
    assert "whl/cu12" in found.advice


CPU = {"torch.cuda_version": UNSET}

"""Packages compiled for one torch: the one that goes with it as a number, and all in one command where torch changes."""

import re
import shlex

import pytest

from stackviz.report.format import Software
from stackviz.report.rules import packaged_tables
from stackviz.report.rules.checks.companions import belonging_releases
from tests.report.rules.build import UNSET, answer, answers, card, linux


def pip(**versions: str) -> tuple[Software, ...]:
    return tuple(Software(slug, version, "pip") for slug, version in versions.items())


@pytest.mark.parametrize(
    ("torch", "vision", "audio"),
    [
        ("2.0.0", "0.15.1", "2.0.1"),
        ("2.3.1+cu121", "0.18.1", "2.3.1"),
        ("2.8.0", "0.23.0", "2.8.0"),
        ("2.12.1", "0.27.1", "2.11.1"),
        ("2.15.0", "0.29.2", "2.11.1"),  # from 0.29.1 and 2.11 on a wheel takes newer torches too
    ],
)
def test_the_tables_name_what_goes_with_a_torch(torch, vision, audio):
    found = [belonging_releases(packaged_tables(), slug, torch)[0].version for slug in ("torchvision", "torchaudio")]
    assert found == [vision, audio]


@pytest.mark.parametrize(
    ("torch", "vision", "is_told"),
    [
        ("2.13.0", "0.25.0", True),
        ("2.11.0", "0.25.0", True),
        ("2.15.0", "0.29.2", False),
        ("2.13.0", "0.29.2", True),
        ("2.13.0", "0.99.0", False),
    ],
)
def test_another_torchvision_than_torchs_is_noticed(torch, vision, is_told):
    seen = linux(torch__version=torch, software=pip(torchvision=vision))
    assert [found.severity for found in answers("companion-version", seen)] == ["warning"] * is_told


@pytest.mark.parametrize(("torch", "vision"), [("2.15.0+cu130", "0.25.0"), ("2.16.0", "0.25.0"), ("1.3.1", "0.4.0")])
def test_the_command_can_be_typed_and_leaves_torch_alone(torch, vision):
    advice = answer("companion-version", linux(torch__version=torch, software=pip(torchvision=vision))).advice
    assert not set("<>") & set(advice)
    assert "--no-deps" in advice or f"torch=={torch.partition('+')[0]}" in advice


def test_torch_upgrade_includes_companions():
    old = {"torch__version": "2.6.0+cu124", "torch__cuda_version": "12.4", "torch__arch_list": "sm_80 sm_90"}
    seen = linux(card(compute_capability="12.0"), software=pip(torchvision="0.21.0", torchaudio="2.6.0"), **old)
    [command] = re.findall(r"pip install .*", answer("kernels-missing", seen).advice)
    torch, vision, audio = shlex.split(command)[2:5]
    assert re.fullmatch(r"torch==2\.\d+\.\*", torch)
    assert re.fullmatch(r"torchvision(==0\.\d+\.\*)?", vision)
    assert audio.startswith("torchaudio")
    alone = linux(card(compute_capability="12.0"), software=(), **old)
    assert "torchvision" not in answer("kernels-missing", alone).advice


def test_so_does_the_advice_on_a_build_for_the_cpu():
    none = {"absent": {"torch.cuda_version": UNSET}, "torch__cuda_version": None}
    advice = answer("cpu-wheel", linux(software=pip(torchvision="0.28.0", torchaudio="2.11.0"), **none)).advice
    assert "pip uninstall -y torch torchvision torchaudio" in advice
    assert re.search(r"pip install '?torch==\S+ '?torchvision\S* torchaudio --index-url", advice)


def test_and_that_on_a_driver_that_is_too_old():
    seen = linux(nvidia__driver_version="550.54.15", cuda__available=False, software=pip(torchvision="0.28.0"))
    assert "'torchvision==0." in answer("driver-too-old", seen).advice


def test_same_release_for_other_cuda_needs_force():
    told = {"torch__version": "2.14.0+cu130", "torch__arch_list": "sm_75 sm_80", "software": ()}
    assert (
        "--force-reinstall torch==2.14.0 "
        in answer("kernels-missing", linux(card(compute_capability="6.1"), **told)).advice
    )


@pytest.mark.parametrize("rule", ["cpu-wheel", "driver-too-old"])
def test_advice_has_no_placeholder_command(rule):
    unknown = card(name="Unheard of", compute_capability=None)
    if rule == "cpu-wheel":
        seen = linux(unknown, absent={"torch.cuda_version": UNSET}, torch__cuda_version=None)
    else:
        seen = linux(unknown, nvidia__driver_version="550.54.15", cuda__available=False)
    assert not set("<>") & set(answer(rule, seen).advice)


@pytest.mark.parametrize(("served", "number"), [("12.4", "12040"), ("11.4", "11040"), (None, None)])
def test_torch_error_number_is_this_drivers(served, number):
    seen = linux(nvidia__driver_version="550.54.15", cuda__available=False, cuda__driver_api_version=served)
    said = answer("driver-too-old", seen).explanation
    assert (f'"found version {number}"' in said) if number else ("found version" not in said)

"""What fits is what the tables say: builds, drivers, Pythons, macOS. The day is given, so nothing here ages."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest

from stackviz.pages.plan.branches import branches, choose_branch, driver_install
from stackviz.pages.plan.builds import (
    MOST_TRIED,
    PlanOutcome,
    builds,
    choose_build,
    command,
    judge_plan,
    newest_working_release,
    outcome_of,
)
from stackviz.pages.plan.planned_machine import SYSTEMS, TITLES, PlannedMachine, features
from stackviz.pages.plan.releases import companions, install_command, needed_macos, pythons
from stackviz.records.stacks.torch_releases import torch_releases
from stackviz.report.format.systems import wheel_variant
from stackviz.report.rules import packaged_tables, registry
from stackviz.report.rules.known_cards import KnownCard
from stackviz.report.rules.torch_cudas import published_cudas
from stackviz.report.rules.versions import is_below

DAY = datetime(2026, 11, 20, tzinfo=UTC)
TABLES = packaged_tables()
T4 = KnownCard(
    reported_name="Tesla T4",
    vendor="nvidia",
    accelerator="nvidia-t4",
    memory_bytes=16_000_000_000,
    compute_capability="7.5",
)
V100 = KnownCard(
    reported_name="Tesla V100-SXM2-16GB",
    vendor="nvidia",
    accelerator="nvidia-v100-sxm2",
    memory_bytes=16_000_000_000,
    compute_capability="7.0",
)
RTX_5090 = KnownCard(
    reported_name="NVIDIA GeForce RTX 5090",
    vendor="nvidia",
    accelerator="nvidia-geforce-rtx-5090",
    memory_bytes=32_000_000_000,
    compute_capability="12.0",
)
H100 = KnownCard(
    reported_name="NVIDIA H100 80GB HBM3",
    vendor="nvidia",
    accelerator="nvidia-h100-sxm5-80gb",
    memory_bytes=80_000_000_000,
    compute_capability="9.0",
)
K80 = KnownCard(
    reported_name="Tesla K80",
    vendor="nvidia",
    accelerator="nvidia-k80",
    memory_bytes=12_000_000_000,
    compute_capability="3.7",
)
M1 = KnownCard(reported_name="Apple M1", vendor="apple", accelerator="apple-m1-8", memory_bytes=None)


def planned(card, torch, system="linux-x86_64", **more) -> PlannedMachine:
    return PlannedMachine(system=SYSTEMS[system], torch=torch, card=card, **more)


def chosen(plan):
    return choose_build(builds(plan, TABLES, DAY), plan, TABLES, DAY)


def outcome(plan, build):
    _report, findings = judge_plan(plan, build, TABLES, DAY)
    return outcome_of(plan, build, findings)


def test_the_build_pip_takes_by_itself_is_chosen_where_it_runs():
    plan = planned(T4, "2.14.1")
    assert [build.name for build in builds(plan, TABLES, DAY)] == ["cu132", "cu130", "cu126"]
    build = chosen(plan)
    assert (build.name, build.is_default, build.command) == (
        "cu130",
        True,
        "pip install torch==2.14.1 torchvision==0.29.2 torchaudio==2.11.1",
    )


def test_plan_picks_build_with_code_for_card():
    build = chosen(planned(RTX_5090, "2.7.1"))
    assert build.name == "cu128"
    assert build.command.endswith("--index-url https://download.pytorch.org/whl/cu128")
    volta = chosen(planned(V100, "2.14.1"))
    assert (volta.name, volta.driver_floor) == ("cu126", "525.60.13")


def test_plan_without_build_names_older_torch():
    plan = planned(V100, "2.15.0")
    assert chosen(plan) is None
    assert outcome(plan, None) is PlanOutcome.FAILS
    assert {finding.rule for build in builds(plan, TABLES, DAY) for finding in build.faults} >= {"kernels-missing"}
    assert newest_working_release(plan, TABLES, DAY) == "2.14.1"


def test_fitting_drivers_serve_build_and_card():
    plan = planned(V100, "2.14.1")
    found = branches(plan, chosen(plan), TABLES, DAY)
    serves = {branch.release.version: branch.serves for branch in found}
    assert serves["580"] is True
    assert serves["595"] is False
    assert choose_branch(found).driver == "580"


def test_branch_comes_from_the_required_driver():
    plan = planned(T4, "2.14.1")
    found = {branch.release.version: branch for branch in branches(plan, chosen(plan), TABLES, DAY)}
    assert (found["580"].driver, found["580"].serves) == ("580.65.06", True)


def test_a_driver_that_is_decided_limits_the_build():
    assert chosen(planned(T4, "2.14.1", driver="535.183.01")).name == "cu126"
    assert chosen(planned(T4, "2.15.0", driver="535.183.01")) is None


def test_branch_without_digits_limits_nothing():
    assert chosen(planned(T4, "2.14.1", driver="580")).name == "cu130"
    newest = planned(T4, "2.15.0", driver="580")
    assert outcome(newest, chosen(newest)) is PlanOutcome.WORKS
    _report, answers = judge_plan(newest, chosen(newest), TABLES, DAY)
    assert [(found.rule, found.severity) for found in answers if found.severity not in ("fits", "warning", "note")] == [
        ("driver-too-old", "cannot-tell")
    ]
    assert chosen(planned(T4, "2.14.1", driver="575")).name == "cu126"


def count_judged(monkeypatch) -> list[object]:
    """The reports that are put to the rules from now on."""
    judged_reports: list[object] = []

    class CountedLook(registry.Look):
        def __init__(self, report, tables) -> None:
            judged_reports.append(report)
            super().__init__(report, tables)

    monkeypatch.setattr(registry, "Look", CountedLook)
    return judged_reports


@pytest.mark.parametrize("driver", ["300", "1", "9999.9999"])
def test_driver_serving_nothing_costs_a_lookup(monkeypatch, driver):
    count = count_judged(monkeypatch)
    plan = planned(V100, "2.15.0", driver=driver)
    newest_working_release(plan, TABLES, DAY)
    assert len(count) <= 2 * MOST_TRIED


@pytest.mark.parametrize("system", ["linux-x86_64", "windows-x86_64", "wsl2"])
def test_no_release_is_judged_under_a_driver_below_every_floor(monkeypatch, system):
    count = count_judged(monkeypatch)
    assert newest_working_release(planned(T4, "2.15.0", system, driver="300"), TABLES, DAY) == ""
    assert count == []


@pytest.mark.parametrize(
    ("plan", "torch"),
    [
        (planned(T4, "2.15.0", driver="450.80.02"), "2.7.1"),
        (planned(K80, "2.15.0"), "2.3.1"),
        (planned(RTX_5090, "2.15.0", driver="470"), ""),
        (planned(M1, "2.15.0", "macos-arm64", macos="12"), "1.11.0"),
    ],
)
def test_a_release_far_back_is_found_among_few(monkeypatch, plan, torch):
    count = count_judged(monkeypatch)
    assert newest_working_release(plan, TABLES, DAY) == torch
    assert len(count) < 10


def test_branches_below_the_floor_are_not_put_to_the_rules(monkeypatch):
    plan = planned(T4, "2.14.1")
    build = chosen(plan)
    count = count_judged(monkeypatch)
    serving = [branch for branch in branches(plan, build, TABLES, DAY) if branch.serves]
    assert {branch.release.version for branch in serving} == {"580", "590", "595", "610", "615", "620"}
    assert len(count) == len(serving)


def test_windows_branches_are_named_from_their_own_driver_on():
    plan = planned(T4, "2.6.0", "windows-x86_64")
    found = {branch.release.version: branch for branch in branches(plan, chosen(plan), TABLES, DAY)}
    assert (found["525"].driver, found["525"].serves) == ("527.41", True)


@pytest.mark.parametrize(("macos", "rules"), [("14", ["mps-old-macos"]), ("26", [])])
def test_a_mac_below_what_torch_asks_for_is_broken(macos, rules):
    plan = planned(M1, "2.15.0", "macos-arm64", macos=macos)
    assert {row.part: row.low for row in needed_macos(plan, TABLES)} == {"mps": "15.0", "wheel": "14.0"}
    _report, answers = judge_plan(plan, None, TABLES, DAY)
    assert [answer.rule for answer in answers if answer.severity == "broken"] == rules
    assert (outcome(plan, None) is PlanOutcome.WORKS) is not bool(rules)


def test_no_bf16_on_turing_is_said():
    lacks = {row.subject for row in features(planned(T4, "2.14.1"), TABLES) if row.values == "no"}
    assert {"tensor-core-bf16", "bf16-arithmetic", "tensor-core-fp8"} <= lacks


def test_pythons_and_releases_are_those_with_wheels():
    assert pythons(planned(T4, "2.15.0"), TABLES) == ("3.11", "3.12", "3.13", "3.14", "3.15")
    assert torch_releases(TABLES, "linux-x86_64")[0] == "2.15.0"


def test_cpu_build_without_a_card():
    plan = planned(None, "2.14.1")
    assert builds(plan, TABLES, DAY) == ()
    packages = "torch==2.14.1 torchvision==0.29.2 torchaudio==2.11.0"
    assert command(plan, None, TABLES) == f"pip install {packages} --index-url https://download.pytorch.org/whl/cpu"
    report, answers = judge_plan(plan, None, TABLES, DAY)
    assert report.facts["torch.version"] == "2.14.1+cpu"
    assert [answer for answer in answers if answer.severity == "broken"] == []


def test_on_a_mac_the_plain_command_is_right():
    plan = planned(M1, "2.14.1", "macos-arm64", macos="26")
    assert command(plan, None, TABLES) == "pip install torch==2.14.1 torchvision==0.29.2 torchaudio==2.11.1"


@pytest.mark.parametrize(
    ("torch", "vision", "audio"),
    [("2.5.1", "0.20.1", "2.5.1"), ("2.10.0", "0.25.0", "2.10.0"), ("2.15.0", "0.29.2", "2.11.1"), ("1.0.1", "", "")],
)
def test_what_belongs_to_a_torch_is_what_a_source_says(torch, vision, audio):
    rows = companions(TABLES, torch, "linux-x86_64")
    assert [(row.package, row.version) for row in rows] == [("torchvision", vision), ("torchaudio", audio)]
    assert all(row.row.source.url.startswith("https://") for row in rows if row.row)
    named = [
        f"{package}=={version}" for package, version in (("torchvision", vision), ("torchaudio", audio)) if version
    ]
    expected = ["pip install", f"torch=={torch}", *named, *(['"numpy<2"'] if is_below(torch, "2.3") else [])]
    assert install_command(TABLES, torch, rows) == " ".join(expected)


def test_a_package_that_outlives_its_torch_is_named_for_the_builds_it_was_published_for():
    """TorchAudio 2.11 goes with every later torch and was published when there were builds for CUDA 12.6, 12.8, 13.0."""
    found = {
        build: {
            row.package: row.version for row in companions(TABLES, "2.14.1", "linux-x86_64", (), build) if row.is_named
        }
        for build in ("", "cpu", "cu126", "cu132")
    }
    audio = {build: named.get("torchaudio") for build, named in found.items()}
    assert audio == {"": "2.11.1", "cpu": "2.11.0", "cu126": "2.11.0", "cu132": None}
    assert {named["torchvision"] for named in found.values()} == {"0.29.2"}


@pytest.mark.parametrize(
    ("torch", "python", "build", "named"),
    [
        ("2.15.0", "3.15", "", ["0.29.2", "2.11.1"]),
        ("2.15.0", "3.15", "cu132", ["0.29.2"]),
        ("2.15.0", "3.15", "cpu", ["0.29.2"]),
        ("2.15.0", "3.14", "cpu", ["0.29.2", "2.11.0"]),
        ("2.5.1", "3.12", "", ["0.20.1", "2.5.1"]),
        ("2.5.1", "3.13", "", []),
    ],
)
def test_a_companion_is_named_where_a_wheel_for_the_python_is_known(torch, python, build, named):
    rows = companions(TABLES, torch, "linux-x86_64", (python,), build)
    assert [row.version for row in rows if row.is_named] == named
    assert all(row.row for row in rows)  # those left out are named as what belongs to the torch, with the source


def test_no_plan_names_a_companion_without_a_wheel_for_its_python():
    """Every platform, release of torch, Python and index that a plan can print."""
    checked = 0
    for system in {system.wheel: system for system in SYSTEMS.values() if system.vendors}.values():
        for torch in torch_releases(TABLES, system.wheel):
            pythons_of_torch = pythons(PlannedMachine(system=system, torch=torch, card=None), TABLES)
            indexes = ["", "cpu", *(wheel_variant(cuda) for cuda in published_cudas(TABLES, torch))]
            for python, build in product(pythons_of_torch, indexes):
                for row in companions(TABLES, torch, system.wheel, (python,), build):
                    if row.is_named:
                        assert python in wheels_of(row, system.wheel), (row, torch, python, build)
                        checked += 1
    assert checked > 1000


def wheels_of(companion, wheel) -> set[str]:
    """The Pythons that the rows of a release name, those from its `low` on written out."""
    rows = TABLES.rows(companion.package, "needs", "python", platform=wheel)
    [row] = [row for row in rows if row.version == companion.version]
    return set(row.values.split()) or {f"3.{minor}" for minor in range(int(row.low.split(".")[1]), 16)}


@pytest.mark.parametrize(
    ("card", "driver", "ubuntu", "own"),
    [
        (T4, "580.65.06", "nvidia-driver-580", "nvidia-open"),
        (RTX_5090, "580", "nvidia-driver-580-open", "nvidia-open"),
        (V100, "580", "nvidia-driver-580", "cuda-drivers"),
    ],
)
def test_a_driver_has_a_command_for_each_distribution(card, driver, ubuntu, own):
    install = driver_install(planned(card, "2.14.1"), driver, TABLES, DAY)
    assert dict(install.commands) == {
        "Ubuntu": f"sudo apt install {ubuntu}",
        "Debian": f"sudo apt install nvidia-driver-pinning-580 && sudo apt install {own}",
        "Fedora": f"sudo dnf versionlock add '*nvidia*580*' && sudo dnf install {own}",
    }
    assert install.fabric == ("nvidia-fabricmanager-580" if card is V100 else "")


def test_a_driver_that_was_packaged_otherwise_has_only_the_command_of_ubuntu():
    install = driver_install(planned(K80, "1.12.1"), "470.256.02", TABLES, DAY)
    assert (dict(install.commands), install.sources) == ({"Ubuntu": "sudo apt install nvidia-driver-470"}, ())


def test_windows_takes_its_driver_from_nvidia_and_a_mac_takes_none():
    for system, is_in_wsl in (("windows-x86_64", False), ("wsl2", True)):
        install = driver_install(planned(T4, "2.14.1", system), "580.88", TABLES, DAY)
        assert (install.is_on_windows, install.is_in_wsl, install.commands) == (True, is_in_wsl, ())
    assert driver_install(planned(M1, "2.14.1", "macos-arm64", macos="26"), "", TABLES, DAY) is None
    assert driver_install(planned(None, "2.14.1"), "", TABLES, DAY) is None


def test_windows_counts_its_own_drivers():
    build = chosen(planned(T4, "2.7.1", "windows-x86_64"))
    linux = chosen(planned(T4, "2.7.1"))
    assert build.driver_full != linux.driver_full
    assert not build.is_default


def test_nothing_that_only_a_run_tells_is_in_a_plan():
    report, _answers = judge_plan(
        replace(planned(T4, "2.14.1"), driver="580.95.05"), chosen(planned(T4, "2.14.1")), TABLES, DAY
    )
    assert not {"cuda.available", "torch.arch_list"} & report.facts.keys()
    assert [found.found_by for found in report.software] == ["planned"] * len(report.software)


@pytest.mark.parametrize(
    ("card", "torch", "said"),
    [
        (RTX_5090, "2.6.0", {"cu126": "fails", "cu124": "fails", "cu118": "fails"}),
        (RTX_5090, "2.7.1", {"cu128": "works", "cu126": "fails", "cu118": "fails"}),
        (H100, "1.7.1", {"cu110": "fails", "cu102": "fails", "cu101": "fails", "cu92": "fails"}),
        (H100, "1.1.0", {"cu100": "fails", "cu90": "fails"}),
        (
            V100,
            "1.7.1",
            {"cu110": "cannot-tell", "cu102": "cannot-tell", "cu101": "cannot-tell", "cu92": "cannot-tell"},
        ),
        (V100, "2.15.0", {"cu132": "fails", "cu130": "fails"}),
    ],
)
def test_silence_of_the_tables_is_no_yes(card, torch, said):
    plan = planned(card, torch)
    assert {build.name: str(build.outcome) for build in builds(plan, TABLES, DAY)} == said
    build = chosen(plan)
    best = "works" if "works" in said.values() else next(iter(said.values()))
    assert outcome(plan, build) == best


def test_known_builds_come_before_unknown_ones():
    plan = planned(T4, "2.6.0")
    row = {"version": "2.6", "component": "pytorch", "relation": "built-for"}
    known = replace(
        TABLES,
        requirements=frozenset(
            one
            for one in TABLES.requirements
            if any(getattr(one, k) != v for k, v in row.items()) or one.variant == "cu124"
        ),
    )
    found = builds(plan, known, DAY)
    assert {build.name: build.outcome for build in found} == {
        "cu126": PlanOutcome.UNKNOWN,
        "cu124": PlanOutcome.WORKS,
        "cu118": PlanOutcome.UNKNOWN,
    }
    assert choose_build(found, plan, known, DAY).name == "cu124"


def test_too_old_and_too_new_drivers_do_not_fit():
    def serving(card, torch):
        plan = planned(card, torch)
        return [branch for branch in branches(plan, chosen(plan), TABLES, DAY) if branch.serves]

    assert min(int(branch.release.version) for branch in serving(RTX_5090, "2.15.0")) >= 570
    assert max(int(branch.release.version) for branch in serving(K80, "2.3.1")) == 470
    assert "developer/evaluation" not in {branch.release.line for branch in serving(K80, "2.3.1")}


def test_a_card_without_a_build_still_has_drivers():
    plan = planned(V100, "2.15.0")
    assert choose_branch(branches(plan, None, TABLES, DAY)).driver == "580"


@pytest.mark.parametrize(("card", "has"), [(RTX_5090, False), (H100, True)])
def test_partial_features_name_their_cards(card, has):
    found = {row.subject: row.values for row in features(planned(card, "2.15.0"), TABLES)}
    assert ("mig" in found) is has


def test_every_feature_of_the_tables_has_a_title():
    rows = [row for row in TABLES.requirements if row.component == "compute-capability" and row.relation == "offers"]
    assert {row.subject for row in rows if row.values in ("yes", "no")} == TITLES.keys()


def test_a_plan_without_a_card_does_not_ask_where_the_card_is():
    _report, answers = judge_plan(planned(None, "2.15.0"), None, TABLES, DAY)
    assert "cpu-only-torch" not in {found.rule for found in answers}

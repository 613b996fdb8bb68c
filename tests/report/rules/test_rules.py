"""All rules together: a healthy machine has no problem, every answer has evidence and a source, tables are complete."""

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stackviz.report.format import CARD_FACTS, COMPONENTS, FACTS, Absent, Card, Report, Software, parse_report, to_json
from stackviz.report.rules import (
    RULES,
    Severity,
    Tables,
    checks,
    find,
    is_broken,
    judge,
    judge_breaking,
    packaged_tables,
    registry,
)
from stackviz.report.rules.compatibility import MOST_REMEMBERED, computed_once
from stackviz.report.rules.drivers import driver_branch
from stackviz.report.rules.rule import command_to_read
from stackviz.report.rules.versions import is_below, numbers, same_line
from tests.report.rules.build import LINUX, MAC, answers, card, linux, mac, problems, report

ROOT = Path(__file__).resolve().parents[3]


NOT_SUPPORTED = Absent("not_supported")
GEFORCE = {  # what a card for games lacks
    "mig_mode": NOT_SUPPORTED,
    "mig_pending": NOT_SUPPORTED,
    "ecc": NOT_SUPPORTED,
    "ecc_pending": NOT_SUPPORTED,
    "ecc_uncorrected": NOT_SUPPORTED,
    "remap_pending": NOT_SUPPORTED,
    "remap_failed": NOT_SUPPORTED,
    "display_attached": True,
    "persistence_mode": False,
}


def geforce(name: str, capability: str, mib: int) -> Card:
    facts = GEFORCE | {"pcie_generation": 4, "pcie_generation_max": 4}
    return card(name=name, compute_capability=capability, memory_bytes=mib * 2**20, **facts)


HEALTHY = {
    "a server with one H100": linux(),
    "a server with eight": linux(*(card(index) for index in range(8))),
    "a Mac": mac(),
    "a card for inference, ECC on": linux(
        card(name="NVIDIA L40S", compute_capability="8.9", memory_bytes=46068 * 2**20)
    ),
    "a desktop": linux(geforce("NVIDIA GeForce RTX 4090", "8.9", 24564)),
    "Windows": linux(
        geforce("NVIDIA GeForce RTX 5090", "12.0", 32607),
        os__name="Windows",
        os__arch="AMD64",
        python__arch="AMD64",
        nvidia__driver_version="581.29",
        **dict.fromkeys(
            ("nvidia__kernel_module_version", "nvidia__uvm_device", "nvidia__nvswitches", "nvidia__fabric_manager")
        ),
    ),
    "Pascal with the build that still carries it": linux(
        geforce("NVIDIA GeForce GTX 1080", "6.1", 8192),
        torch__version="2.14.1+cu126",
        torch__cuda_version="12.6",
        torch__arch_list="sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90",
        cudnn__version="9.10.2",
        cuda__driver_api_version="12.6",
        cuda__toolkit_version="12.6.85",
        software=(Software("pytorch", "2.14.1+cu126", "pip"), Software("triton", "3.8.0", "pip")),
    ),
    "a listing of cards and nothing else": report(
        {"os.name": "Ubuntu", "nvidia.driver_version": "580.95.05"}, (card(),)
    ),
    "a machine for the CPU alone, seen without torch": report({"os.name": "Debian", "cpu.model": "AMD EPYC 9654"}),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_machine_has_no_problem_and_nothing_unclear(name):
    assert problems(HEALTHY[name]) == {}


def test_a_report_that_says_nothing_has_no_finding():
    assert problems(report()) == {}


def test_a_driver_listing_alone_is_judged_as_far_as_it_goes():
    seen = report({"os.name": "Ubuntu", "nvidia.driver_version": "535.183.01"}, (card(),))
    found = problems(seen)
    assert found["driver-branch-ended"] == "note"
    assert found.keys() == {"driver-branch-ended"}  # nobody spoke of torch


def test_where_torch_is_spoken_of_what_is_missing_is_named():
    seen = report({"os.name": "Ubuntu", "torch.version": "2.9.0"}, (card(),))
    found = problems(seen)
    assert found["cpu-wheel"] == found["driver-too-old"] == found["kernels-missing"] == "cannot-tell"


def test_findings_come_worst_first_and_leave_out_what_holds():
    seen = linux(card(power_limit_w=300.0, compute_capability="6.1"), os__wsl="WSL2")
    order = [finding.severity for finding in find(seen, packaged_tables())]
    assert order == sorted(order, key=["broken", "warning", "note", "cannot-tell"].index)
    assert "fits" not in order
    assert "fits" in [finding.severity for finding in judge(linux(), packaged_tables())]


def test_every_rule_is_fully_declared():
    assert len({rule.id for rule in RULES}) == len(RULES) >= 10
    for rule in RULES:
        assert rule.asks
        assert rule.component
        assert rule.worst in {Severity.BROKEN, Severity.WARNING, Severity.NOTE}
        assert rule.source.url.startswith("https://")


def test_every_answer_names_its_source_and_the_facts_it_used():
    seen = [
        linux(card(power_limit_w=1.0, mig_mode="enabled", pcie_width=1)),
        mac(mps__available=False),
        linux(torch__version=None),
    ]
    found = [finding for one in seen for finding in judge(one, packaged_tables())]
    assert len(found) > 3
    for finding in found:
        assert finding.source_title, finding
        assert finding.source_url.startswith("https://"), finding
        assert finding.evidence, finding
        assert all(isinstance(value, str) for value in finding.evidence.values())
        assert finding.severity in set(Severity)


def test_a_problem_says_what_to_do():
    seen = linux(card(compute_capability="6.1", power_limit_w=1.0), nvidia__driver_version="470.10", os__wsl="WSL2")
    problems = [each for each in find(seen, packaged_tables()) if each.severity in ("broken", "warning", "note")]
    assert len(problems) > 2
    for finding in problems:
        assert finding.explanation, finding
        assert finding.advice, finding


def test_rules_agree_after_a_round_trip():
    seen = linux(card(power_limit_w=600.0))
    travelled = parse_report(to_json(seen))
    assert find(travelled, packaged_tables()) == find(seen, packaged_tables())


texts = st.one_of(st.text(max_size=12), st.sampled_from(["..", "+", "x", "2.", "a0", "2.9.0a0+git1", "1.0.1.post2"]))
values = st.one_of(
    texts,
    st.booleans(),
    st.integers(-5, 10**12),
    st.floats(allow_nan=False),
    st.sampled_from([*LINUX.values(), *MAC.values()]),
)
reasons = st.sampled_from(["not_applicable", "not_installed", "not_reported", "failed"])


@settings(max_examples=150)
@given(
    facts=st.dictionaries(st.sampled_from(sorted(FACTS)), values, max_size=30),
    card_facts=st.dictionaries(st.sampled_from(sorted(CARD_FACTS)), values, max_size=10),
    absent=st.dictionaries(st.sampled_from(sorted(FACTS)), reasons, max_size=10),
    vendor=st.sampled_from(["nvidia", "apple", "amd", "", "NVIDIA"]),
    name=st.sampled_from(["X", "...", "NVIDIA RTX A6000", "GeForce GTX 1080", "NVIDIA GeForce RTX 2080 ...", ""]),
    memory=st.one_of(st.none(), st.integers(1, 2**48)),
    software=st.lists(st.tuples(st.sampled_from(sorted(COMPONENTS)), st.one_of(st.none(), texts)), max_size=6),
)
@example({}, {"nvlink_links": math.inf}, {}, "nvidia", "X", None, [])
def test_no_report_however_odd_breaks_a_rule_and_a_quick_answer_is_the_full_one(
    facts, card_facts, absent, vendor, name, memory, software
):
    said = {name: Absent(reason) for name, reason in absent.items()}
    cards = (
        Card(index=0, kind="gpu", vendor=vendor, reported_name=name, memory_bytes=memory, facts=card_facts),
        Card(index=1, kind="gpu", vendor=vendor, reported_name="Y", memory_bytes=None),
    )
    found = tuple(Software(component, version, "pip") for component, version in software)
    seen: Report = report(facts, cards, said, found)
    tables = packaged_tables()
    broken = [finding for finding in find(seen, tables) if finding.severity == Severity.BROKEN]
    assert [found for found in judge_breaking(seen, tables) if found.severity == Severity.BROKEN] == broken
    assert is_broken(seen, tables) is bool(broken)


def test_no_more_rules_run_than_it_takes_to_tell_that_something_is_broken(monkeypatch):
    ran = []
    run = registry.run
    monkeypatch.setattr(registry, "run", lambda rule, *rest: ran.append(rule.id) or run(rule, *rest))
    assert is_broken(linux(nvidia__driver_version="418.87.00", cuda__available=None), packaged_tables())
    assert ran[-1] == "driver-too-old"
    assert len(ran) < len(RULES) / 4


def test_evidence_of_a_rule_is_what_that_rule_read():
    [finding] = answers("name-cut", linux(card(name="NVIDIA GeForce RTX 2080 ...")))
    assert finding.evidence.keys() == {"card 0"}


def test_rules_need_nothing_but_python():
    code = (
        "import sys; sys.path.insert(0, '.'); from stackviz.report.rules import packaged_tables; "
        "print(len(packaged_tables().requirements) > 900, 'django' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]


def test_the_tables_agree_with_what_the_makers_print():
    tables = packaged_tables()
    floors = {row.version: row.low for row in tables.rows("cuda-runtime", "needs", "nvidia-driver", platform="linux")}
    assert (floors["11"], floors["12"], floors["13"]) == ("450.80.02", "525.60.13", "580.65.06")
    mps = {row.version: row.low for row in tables.rows("pytorch", "needs", "macos", part="mps")}
    assert (mps["2.8.0"], mps["2.9.0"], mps["2.15.0"]) == ("13.0", "14.0", "15.0")


@pytest.mark.parametrize(
    ("version", "other", "expected"),
    [
        ("535.183.01", "535.183.2", True),
        ("12.9", "12.10", True),
        ("12.3", "12.3.0", False),
        ("2.13.0+cu130", "2.13.1", True),
        ("580", "580.65.06", True),
        ("", "1", True),
        ("nonsense", "0", False),
    ],
)
def test_versions_compare_as_numbers(version, other, expected):
    assert is_below(version, other) is expected


def test_version_matches_whole_line():
    assert same_line("12.8.1", "12.8")
    assert not same_line("12.80", "12.8")
    assert not same_line("12", "12.8")
    assert not same_line("anything", "")


def test_a_version_of_thousands_of_digits_costs_no_time():
    assert numbers("9" * 100_000) == (999_999_999,)  # no more than nine digits are read


def test_tables_compute_once_and_remember_a_bounded_number():
    computed = []

    @computed_once
    def looked_up(_tables, version):
        computed.append(version)

    tables = Tables(frozenset(), frozenset())
    for _ in range(2):
        looked_up(tables, "1")
    assert computed == ["1"]
    for number in range(2 * MOST_REMEMBERED):
        looked_up(tables, str(number))
        driver_branch(tables, str(number), "linux")
        tables.rows("pytorch", "ships", "cudnn", platform=f"linux-{number}")
    assert len(tables._computed) <= MOST_REMEMBERED
    assert len(tables._selections) <= MOST_REMEMBERED


# What no single command prints: variables of the environment that a program was started with.
WITHOUT_A_COMMAND = {"env.ld_library_path", "mps.fallback"}


def test_each_open_question_comes_with_the_command_that_answers_it():
    folder = Path(checks.__file__).parent
    code = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    needed = set(re.findall(r'\.need\("([\w.]+)"\)|NotReported\("([\w.]+)"', code))
    names = {name for pair in needed for name in pair if name} | {
        name for part in re.findall(r"require_if_mentioned\([^)]*\)", code) for name in re.findall(r'"([\w.]+)"', part)
    }
    assert len(names) > 20
    assert {name for name in names if not command_to_read(name)} == WITHOUT_A_COMMAND

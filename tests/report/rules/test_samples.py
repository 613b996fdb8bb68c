"""Rules over real dumps: every problem a careful reader noted is found, and every firing has been read by somebody.

`tests/report/rules/firings.md` lists which rule fires on which sample, with a verdict. To write its table anew after a
change (verdicts stay, a rule without one is left open): UPDATE_DOCS=1 python -m pytest tests/report/rules/test_samples.py
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from stackviz.report.dumps.machines import machines
from stackviz.report.importers import read_all
from stackviz.report.rules import RULES, Finding, find, packaged_tables
from tests.samples import EXCERPTS, SAMPLES, WHOLE_DUMPS, index, text_of

MANUAL = Path(__file__).parent / "firings.md"
DAY = datetime(2026, 11, 20, tzinfo=UTC)  # ends of support are judged as of this day
NO_VERDICT = "not read yet"

# What INDEX.tsv calls a problem -> how it is told: the rule that finds it, or words of the importer.
TOLD_BY = {
    r"torch versions disagree": "torch-versions-disagree",
    r"older than CUDA [\d.]+ minimum": "driver-too-old",
    r"CUDA toolkit [\d.]+ differs in major": "nvcc-differs",
    r"wheels were CUDA": "torch-cuda-unpublished",
    r"name truncated with": "name-cut",
    r"MIG": "mig-on",
    r"A6000 name with 46068 MiB": "memory-unlike-name",
    r"no GPU available": "cpu-only-torch",
    r"USE_CUDA=0": "cpu-only-torch",
    r"CPU-only wheel": "cpu-only-torch",
    r"torch not installed": "toolkit-alone",
    r"toolkit present, no GPU or driver": "toolkit-alone",
    r"template left empty": "importer: nothing to read",
    r"topo -m not supported|error text only": "importer: does not support",
    r"no product name": "importer: without a product name",
    r"no display section": "importer: display",
    r"failed to import": "importer: import",
}


@dataclass(frozen=True)
class Sample:
    """One dump with what was noted about it, what its importers complained of, and what the rules found."""

    name: str
    problem: str
    complaints: tuple[str, ...]
    findings: tuple[Finding, ...]


@cache
def read_samples(folder: Path) -> tuple[Sample, ...]:
    return tuple(_read(folder, row["file"], row["problem"]) for row in index(folder))


@pytest.fixture(params=SAMPLES)
def samples(request: pytest.FixtureRequest) -> tuple[Sample, ...]:
    return read_samples(request.param)


def _read(folder: Path, name: str, problem: str) -> Sample:
    paste = read_all(text_of(folder, name))
    reports = [replace(machine.report(), created_at=DAY) for machine in machines(paste)]
    complaints = tuple(said for reading in paste.readings for said in reading.problems)
    return Sample(name, problem, complaints, tuple(found for one in reports for found in find(one, packaged_tables())))


def is_told(sample: Sample, part: str) -> bool:
    """Whether a rule or an importer says this part of what was noted."""
    told_by = next((by for pattern, by in TOLD_BY.items() if re.search(pattern, part)), None)
    assert told_by, f"nobody has said yet who tells: {part}"
    if told_by.startswith("importer: "):
        return any(told_by.removeprefix("importer: ") in said for said in sample.complaints)
    return any(found.rule == told_by and found.severity != "cannot-tell" for found in sample.findings)


def test_every_problem_that_was_noted_is_found(samples):
    noted = [sample for sample in samples if sample.problem]
    assert len(noted) >= 24
    parts = [(sample, part) for sample in noted for part in sample.problem.split("; ")]
    missed = [f"{sample.name}: {part}" for sample, part in parts if not is_told(sample, part)]
    print(f"{len(parts) - len(missed)} of {len(parts)} problems noted in {len(noted)} samples are found")
    assert missed == []


def test_the_words_of_a_finding_are_those_of_the_sample(samples):
    by_name = {sample.name: sample for sample in samples}
    expected = {
        "collect_env/003.txt": ["1.12.1", "1.12.0", "1.12.0a0+git3230a4d"],
        "collect_env/020.txt": ["430.26", "440.33", "available"],
        "collect_env/030.txt": ["10.1.105", "9.0.176"],
        "other_env/002.txt": ["1.4.0", "9.2, 10.1", "10.0"],
        "other_env/009.txt": ["3g.40gb, 2g.20gb, 1g.10gb, 1g.10gb"],
        "nvidia_smi_table/004.txt": ["5 instances"],
        "nvidia_smi_table/022.txt": ["46,068 MiB"],
        "collect_env/045.txt": ["13.0.88", "torch is not installed"],
    }
    for name, words in expected.items():
        titles = " ".join(found.title for found in by_name[name].findings)
        assert [word for word in words if word not in titles] == [], name


def fired(samples: Iterable[Sample]) -> dict[tuple[str, str], list[str]]:
    """(rule, severity) -> the samples on which it found a problem."""
    by_rule: dict[tuple[str, str], list[str]] = defaultdict(list)
    for sample in samples:
        for key in dict.fromkeys((found.rule, found.severity) for found in sample.findings):
            if key[1] != "cannot-tell":
                by_rule[key].append(sample.name)
    order = [rule.id for rule in RULES]
    return dict(sorted(by_rule.items(), key=lambda item: (order.index(item[0][0]), item[0][1])))


def short(names: Iterable[str]) -> str:
    """`collect_env 001 002, other_env 007`."""
    by_folder: dict[str, list[str]] = defaultdict(list)
    for name in names:
        folder, _, rest = name.partition("/")
        by_folder[folder].append(rest.partition(".")[0])
    return ", ".join(f"{folder} {' '.join(sorted(rest))}" for folder, rest in sorted(by_folder.items()))


def table(samples: Iterable[Sample], verdicts: dict[tuple[str, str], str]) -> str:
    rows = ["| rule | severity | samples | which | read one by one |", "|---|---|---|---|---|"]
    for (rule, severity), names in fired(samples).items():
        verdict = verdicts.get((rule, severity), NO_VERDICT)
        rows.append(f"| {rule} | {severity} | {len(names)} | {short(names)} | {verdict} |")
    return "\n".join(rows) + "\n"


def written() -> tuple[str, str, str]:
    """The manual before its table, the table, and after it."""
    text = MANUAL.read_text(encoding="utf-8")
    begin = text.index("| rule | severity |")
    end = text.find("\n\n", begin)
    return text[:begin], text[begin:] if end < 0 else text[begin : end + 1], "" if end < 0 else text[end + 1 :]


def judged() -> dict[tuple[str, str], tuple[str, str]]:
    """(rule, severity) -> the samples the manual names for it, and its verdict."""
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in written()[1].splitlines()[2:]]
    return {(row[0], row[1]): (row[3], row[4].strip(" |")) for row in rows}


def named_in(names: str) -> set[str]:
    """`collect_env 001 002, other_env 007` -> {"collect_env/001", ...}."""
    groups = [group.split() for group in names.split(", ")]
    return {f"{folder}/{number}" for folder, *numbers in groups for number in numbers}


def test_every_rule_fires_on_an_excerpt_too():
    found = {key: {name.partition(".")[0] for name in names} for key, names in fired(read_samples(EXCERPTS)).items()}
    assert found.keys() == judged().keys()
    assert {key: names for key, names in found.items() if not names <= named_in(judged()[key][0])} == {}


@pytest.mark.parametrize("folder", SAMPLES)
def test_every_firing_is_reviewed_in_the_manual(folder):
    before, old, after = written()
    new = table(read_samples(folder), {key: verdict for key, (_names, verdict) in judged().items()})
    print("\n" + new)
    assert NO_VERDICT not in new
    if folder == WHOLE_DUMPS:
        if os.environ.get("UPDATE_DOCS"):
            MANUAL.write_text(before + new + after, encoding="utf-8")
            return
        assert new.splitlines() == old.splitlines()


def test_questions_left_open_are_few(samples):
    """A dump that is about something else leaves no question open: at most two on the average dump."""
    unclear = [found for sample in samples for found in sample.findings if found.severity == "cannot-tell"]
    print(f"{len(unclear)} questions left open on {len(samples)} samples")
    assert len(unclear) < len(samples)

"""Every row of the gathered compatibility facts is in the tables, or left out for a reason that is written here."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from stackviz.records.stacks.files import DATA, read_stack_files
from stackviz.records.stacks.terms import all_terms
from stackviz.report.rules import packaged_tables

FACTS = Path(__file__).parents[2] / "fixtures" / "facts" / "compat"
COUNTERPARTS = Path(__file__).parent / "counterpart_rows.csv"
Row = dict[str, str]

# Rows that are no rows here, by file and the first two columns. A row not named here must be found in the tables.
DRIVER = "NVIDIA data-center / Unix driver"
LEFT_OUT = {
    ("cuda_driver.csv", "RULE minor-compat limits", ""): "a rule, not a row: rules/checks/driver.py",
    ("cuda_driver.csv", "RULE below floor", ""): "a rule, not a row: rules/checks/driver.py",
    ("cuda_driver.csv", "RULE forward-compat applicability", ""): "told by the component cuda-compat",
    ("cuda_driver.csv", "RULE forward-compat stale", ""): "a rule, not a row",
    ("cudnn_cuda.csv", "9.28.0.42", "12.x and 13.x"): "its only address is an index of packages",
    ("cuda_cc.csv", "rule", "cubin compatibility"): "a rule, not a row: rules/checks/torch_build.py",
    ("cuda_cc.csv", "rule", "PTX"): "a rule, not a row: rules/checks/driver.py",
    ("cuda_cc.csv", "rule", "a-suffix target"): "a rule, not a row",
    ("others.csv", "nvidia-ml-py", "13.615.71"): "its only address is an index of packages",
    ("lifecycle.csv", "macOS", "support after 27"): "what the press expects, no date",
    ("lifecycle.csv", "PyTorch", "support policy"): "a policy without dates: a minor ends when the next is out",
    ("lifecycle.csv", DRIVER, "branch types"): "a policy; each branch has its own dates",
    ("lifecycle.csv", DRIVER, "R610 Linux"): "corrected: not the day of its first release",
    ("lifecycle.csv", DRIVER, "R610 Windows"): "corrected: not the day of its first release",
    ("lifecycle.csv", DRIVER, "R550 Linux"): "corrected: it ended in 2025-06, says NVIDIA",
    ("lifecycle.csv", DRIVER, "R550 Windows"): "corrected: it ended in 2025-06, says NVIDIA",
}


def facts(name: str) -> list[Row]:
    with (FACTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def requirements(component: str) -> set[tuple[str, str]]:
    """(version, variant) of everything the tables know of a component."""
    tables = packaged_tables()
    rows = {(row.version, row.variant) for row in tables.requirements if row.component == component}
    return rows | {(row.version, row.variant) for row in tables.releases if row.component == component}


def versions(component: str) -> set[str]:
    return {version for version, _variant in requirements(component)}


def first_version(text: str) -> str:
    found = re.search(r"\d+(?:\.\w+)*", text)
    return found[0].removesuffix(".x") if found else ""


def has_cuda_release(row: Row) -> bool:
    if row["cuda_release"].startswith("CUDA"):
        return any(version.startswith(row["cuda_major_minor"]) for version in versions("cuda-toolkit"))
    if row["cuda_release"].startswith("FORWARD"):
        return row["cuda_release"].rpartition("compat-")[2].replace("-", ".") in versions("cuda-compat")
    if row["cuda_release"].startswith("RULE") and (family := first_version(row["cuda_release"])).split(".")[0]:
        return family.split(".")[0] in versions("cuda-runtime")
    return False


def has_capability(row: Row) -> bool:
    if row["kind"] == "arch":
        return row["compute_capability"] in versions("compute-capability")
    if row["kind"] == "rule":
        return all(version in versions("compute-capability") for version in row["compute_capability"].split())
    if row["kind"] == "driver_branch":
        return (row["key"].lstrip("R"), "linux") in requirements("nvidia-driver")
    return first_version(row["key"]).split(".x")[0] in versions("cuda-runtime")


def has_features(row: Row) -> bool:
    return row["key"] in versions("compute-capability" if row["kind"] == "cuda" else "metal-family")


def has_cudnn(row: Row) -> bool:
    return first_version(row["cudnn"]) in versions("cudnn")


def has_torch(row: Row) -> bool:
    return row["torch"] in versions("pytorch")


def has_other(row: Row) -> bool:
    component, version = row["component"], row["version"]
    if component == "mig":
        return version in versions("mig")
    known = versions(component)
    if version in ("any", "<=0.29.3") or version.startswith("current") or "era" in version:
        return bool(known)
    return first_version(version) in known or (component == "tensorrt" and version == "10+" and "10" in known)


PRODUCTS = {
    DRIVER: "nvidia-driver", "CUDA Toolkit": "cuda-toolkit", "macOS": "macos",
    "Python": "python", "Ubuntu": "linux", "Windows": "windows", "PyTorch": "pytorch",
    "torch_npu (Ascend)": "torch-npu", "Intel Extension for PyTorch": "ipex", "PyTorch/XLA": "torch-xla",
}  # fmt: skip


def has_dates(row: Row) -> bool:
    """The release, and its dates where the row has some."""
    component, release = PRODUCTS[row["product"]], row["release"]
    version, line = first_version(release.lstrip("R")), f"Windows {release.split(' (')[0].removesuffix(' IoT')}"
    known = [
        found
        for found in packaged_tables().releases
        if found.component == component
        and (found.line == line if component == "windows" else found.version == version)
        and (component != "nvidia-driver" or found.variant == release.split()[-1].lower())
    ]
    # a preview of a release is not its date
    ends, released = row["end_of_support"], "" if "Preview" in release else row["released"]
    return any(found.support_ends == ends for found in known) and (
        not released or any(found.released == released for found in known)
    )


FILES: dict[str, Callable[[Row], bool]] = {
    "cuda_driver.csv": has_cuda_release,
    "cuda_cc.csv": has_capability,
    "features_cc.csv": has_features,
    "cudnn_cuda.csv": has_cudnn,
    "torch_arch.csv": has_torch,
    "torch_cuda.csv": has_torch,
    "torch_mac.csv": has_torch,
    "others.csv": has_other,
    "lifecycle.csv": has_dates,
}


@pytest.mark.parametrize("name", FILES)
def test_every_fact_row_is_accounted_for(name):
    rows = {(name, *list(row.values())[:2]): row for row in facts(name)}
    assert [key for key, row in rows.items() if key not in LEFT_OUT and not FILES[name](row)] == []


def test_every_file_of_the_facts_is_looked_at():
    assert {path.name for path in FACTS.glob("*.csv")} == {*FILES, "counterparts.csv"}


def went() -> list[Row]:
    """Where each counterpart of the facts went, in their order."""
    with COUNTERPARTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_fact_counterpart_is_accounted_for():
    facts_, rows = (
        [(row["component_a"], row["component_b"]) for row in found] for found in (facts("counterparts.csv"), went())
    )
    assert facts_ == rows


def test_where_a_counterpart_went_is_there():
    files = read_stack_files()
    pairs = {frozenset((line["component"], line["other"])) for line in files.counterparts}
    unfilled = {(line["role"], stack) for line in files.unfilled_roles for stack in line["stacks"].split()}
    pairs |= {
        frozenset((slug, stack))
        for slug, component in files.components.items()
        for role, stack in unfilled
        if component["role"] == role
    }
    words = {term.term for term in all_terms()}
    holds = {
        "pair": lambda what: all(frozenset(pair.split("/")) in pairs for pair in what.split(", ")),
        "word": lambda what: what in words,
        "left out": bool,
    }
    for row in went():
        kind, _, what = row["went_to"].partition(": ")
        assert holds[kind](what), row


def test_every_word_belongs_to_described_components_and_stacks():
    files = read_stack_files()
    for term in all_terms():
        assert {term.stack, term.other_stack} <= files.stacks.keys(), term
        assert {term.component, term.other_component} - {""} <= files.components.keys(), term
        assert term.relation in ("same-role", "partial", "none"), term
        assert (term.relation == "none") == (not term.other_term), term
        assert term.differs.endswith("."), term
    assert (DATA / "terms.csv").is_file()

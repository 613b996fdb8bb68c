"""A claim about versions says what the tables say, from which plans and diagnoses are made."""

import re

import pytest

from stackviz.pages.accelerators.claims import read_claims
from stackviz.report.rules import packaged_tables
from stackviz.report.rules.drivers import driver_floor, is_older_than_card, serves, shipped_drivers
from stackviz.report.rules.torch_cudas import published_cudas
from stackviz.report.rules.versions import major_minor, numbers
from tests.live import ROOT

TABLES = packaged_tables()
CLAIMS = {claim.key: claim for claim in read_claims()}
VERSION = re.compile(r"(?:driver|CUDA|macOS|capability|branch|R(?=\d{3}))\D{0,12}\d+(?:\.\d+)*", re.IGNORECASE)
ELSEWHERE = {
    "nvidia-smi-cuda-version": "what a tool prints",
    "context-1053-mb": "a measurement, and when kernels are loaded",
    "nvidia-on-macs-2019": "CUDA for macOS, which no plan is for",
    "conda-cudatoolkit": "the channels of conda",
    "coremltools-reads-onnx": "a converter",
    "metal-less-optimised": "a count of kernels",
    "tensorflow-macos-needed": "the name of a package",
}


def floors(cuda):
    return [driver_floor(TABLES, cuda, platform).low for platform in ("linux", "windows")]


def shipped(cuda):
    return [shipped_drivers(TABLES, cuda, platform)[0].values for platform in ("linux", "windows")]


def macos_for(torch):
    rows = TABLES.rows("pytorch", "needs", "macos", platform="macos-arm64")
    return [row.low for row in rows if major_minor(row.version) == torch and row.part == "mps" and row.low]


def has_bf16(capability):
    rows = TABLES.rows("compute-capability", "offers", "tensor-core-bf16")
    return {row.version: row.values for row in rows}.get(capability) == "yes"


FIGURES = {  # what of the tables the answer must name
    "cuda-12-0-driver": lambda: floors("12.0"),
    "cuda-11-8-driver": lambda: [*floors("11.8"), shipped("11.8")[0]],
    "rtx-40-driver-516-94": lambda: [*shipped("11.8"), "8.9"],
    "mps-macos-12-3": lambda: [macos_for("2.5")[0].removesuffix(".0"), macos_for("2.9")[0].removesuffix(".0")],
    "v100-bf16": lambda: ["8.0", "7.0"],
    "torch-2-2-cuda-11-6": lambda: ["510", "11.8", "2.7"],
    "newer-cuda-older-driver": lambda: ["CUDA 11"],
}
DECIDED = {  # that the verdict is what the rules decide
    "cuda-12-0-driver": lambda: serves(TABLES, "525.60.13", "12.0", "linux") and serves(TABLES, "527.41", "12.0", "windows"),
    "cuda-11-8-driver": lambda: serves(TABLES, "450.80.02", "11.8", "linux") and serves(TABLES, "452.39", "11.8", "windows"),
    "rtx-40-driver-516-94": lambda: is_older_than_card(TABLES, "516.94", "8.9", "windows"),
    "mps-macos-12-3": lambda: set(macos_for("2.4")) == {"12.3"} and numbers(macos_for("2.5")[0]) == (13, 0),
    "v100-bf16": lambda: has_bf16("8.0") and not has_bf16("7.0"),
    "torch-2-2-cuda-11-6": lambda: (
        serves(TABLES, "510.47.03", "11.8", "linux")
        and "11.8" in published_cudas(TABLES, "2.7.1")
        and "11.8" not in published_cudas(TABLES, "2.8.0")
    ),
    "newer-cuda-older-driver": lambda: (
        serves(TABLES, "525.60.13", "12.8", "linux") and not serves(TABLES, "525.60.13", "13.0", "linux")
    ),
}  # fmt: skip


def test_each_claim_on_versions_is_held_against_the_tables():
    found = {key for key, claim in CLAIMS.items() if VERSION.search(f"{claim.subject} {claim.text} {claim.answer}")}
    assert found - FIGURES.keys() - ELSEWHERE.keys() == set()
    assert FIGURES.keys() == DECIDED.keys()
    assert CLAIMS.keys() >= FIGURES.keys() | ELSEWHERE.keys()


@pytest.mark.parametrize("key", FIGURES)
def test_a_claim_names_the_figures_of_the_tables(key):
    for figure in FIGURES[key]():
        assert figure in CLAIMS[key].answer
    assert DECIDED[key]()


def test_the_book_names_the_figures_of_the_tables():
    """The chapter on versions has two examples of drivers: each figure of theirs is one of the tables."""
    text = (ROOT / "stackviz/pages/learn/texts/en/chapters/02-the-stack-in-one-call.md").read_text(encoding="utf-8")
    section = " ".join(text.partition("{#versions}")[2].partition("\n## ")[0].split())
    linux, windows = shipped("11.8")
    assert (
        f"Ada is known from CUDA 11.8 on,[^cuda-matrix] whose driver is {linux} on Linux and {windows} on Windows"
        in section
    )
    assert f"Its cu118 wheel needs driver {floors('11.8')[0]} or newer" in section
    assert f"only its cu121 wheel needs {floors('12.1')[0]}." in section
    drivers = set(re.findall(r"\b\d{3}\.\d{2,3}(?:\.\d{2})?\b", section))
    assert drivers == {linux, windows, floors("11.8")[0], floors("12.1")[0], "516.94"}

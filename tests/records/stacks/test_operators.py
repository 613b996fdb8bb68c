"""The files of operators: complete, every step with a source, wrong lines refused by number."""

from itertools import product

import pytest

from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.stacks import operators as operators_file
from stackviz.records.stacks.files import DATA, read_stack_files
from stackviz.records.stacks.operators import COMPLETE, DEVICES, EVERY, MODES, operator_coverage, operators, steps_of

ASKED_FOR = {
    "matmul", "linear", "conv2d", "attention", "layer-norm", "embedding", "lstm", "optimizer-step", "all-reduce",
}  # fmt: skip
ALL = [
    step
    for slug in (EVERY, *operators())
    for device in DEVICES
    for mode in MODES
    for step in steps_of(slug, device, mode)
]


def test_operator_paths_are_complete():
    assert set(operators()) >= ASKED_FOR
    assert [pair for pair in product(operators(), COMPLETE) if not steps_of(*pair, "eager")] == []


def test_every_step_has_a_document_and_every_document_a_step():
    assert len(ALL) > 150
    assert all(step.source.url.startswith("https://") and step.source.title for step in ALL)
    named = {line["title"] for line in operators_file._lines("operator_sources.csv")}
    assert {step.source.title for step in ALL} == named


def test_a_component_that_a_step_names_is_described():
    assert {step.component for step in ALL} - {""} <= set(read_stack_files(DATA).components)


@pytest.mark.parametrize(
    ("name", "value"), [("device", "tpu"), ("layer", "cloud"), ("outcome", "maybe"), ("source", "rumour")]
)
def test_a_wrong_line_is_named(monkeypatch, name, value):
    lines = operators_file._lines("operator_steps.csv")
    sources = {line["key"]: line for line in operators_file._lines("operator_sources.csv")}
    lines[4][name] = value
    (problem,) = operators_file._problems(lines, sources)
    assert problem == f"operator_steps.csv, line 6: {name} {value!r} is not known"
    monkeypatch.setattr(operators_file, "_problems", lambda *_: [problem])
    with pytest.raises(CuratedDataError):
        operators_file._steps.__wrapped__()


def test_coverage_grows_with_the_releases_of_torch():
    newest, *_, oldest = operator_coverage()
    assert (newest.torch, newest.mps_overloads, newest.core_with_nothing) == ("2.13.0", 890, 2)
    assert (oldest.torch, oldest.core_all) == ("1.13.1", None)

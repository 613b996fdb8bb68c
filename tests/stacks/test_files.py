"""The curated files: complete, sourced, and refused with the line when they contradict themselves."""

import re
import shutil
import tomllib

import pytest

from stackviz.catalog.problems import CuratedDataError
from stackviz.diagrams.layers import ROLE_TITLES, Layer
from stackviz.rules import packaged_tables
from stackviz.stacks.files import DATA, data_version, read_files
from stackviz.wire import COMPONENTS


@pytest.fixture
def folder(tmp_path):
    """A copy of the files that a test may spoil."""
    return shutil.copytree(DATA, tmp_path / "data")


def spoil(folder, name, old, new):
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))


def test_the_files_are_right():
    files = read_files()
    assert set(files.stacks) == {"nvidia-cuda", "apple-metal", "cpu"}


def test_every_stack_has_something_on_all_eight_layers():
    files = read_files()
    for stack, places in files.places.items():
        assert {files.components[slug]["layer"] for slug, *_ in places} == set(Layer), stack


def test_every_component_is_two_sentences_that_are_no_essay():
    for slug, line in read_files().components.items():
        for text in (line["is"], line["does"]):
            assert 20 < len(text) < 260, (slug, text)
            assert not re.search(r"[.!?] [A-Z]", text), (slug, text)


def test_every_component_stands_somewhere():
    files = read_files()
    standing = {slug for places in files.places.values() for slug, *_ in places}
    assert files.components.keys() == standing


def test_every_role_has_a_title_to_translate():
    files = read_files()
    roles = {line["role"] for line in files.components.values()}
    roles |= {role for places in files.places.values() for *_, role, _note in places if role}
    assert roles - ROLE_TITLES.keys() == set()


def test_what_an_agent_reports_on_our_stacks_is_described():
    described = read_files().components.keys()
    # no stack is described for these yet, or the hardware itself
    elsewhere = {"rocm", "amdgpu-driver", "wsl", "hardware"}
    assert COMPONENTS.keys() - described == elsewhere


def test_every_gap_and_every_pair_between_the_three_stacks_is_explained():
    """Where one stack has a role and another has not, a counterpart line says why."""
    files = read_files()
    roles = {
        stack: {(role or files.components[slug]["role"]): slug for slug, _v, role, _n in places}
        for stack, places in files.places.items()
    }
    explained = {(line["component"], line["other_stack"]) for line in files.counterparts if line["other_stack"]}
    gap_roles = {(files.components[component]["role"], stack) for component, stack in explained}
    moved = {("cpu-math", "cpu"), ("host-memory", "cpu"), ("host-memory", "apple-metal")}
    missing = {
        (role, stack)
        for stack, own in roles.items()
        for role in set().union(*roles.values()) - own.keys()
        if (role, stack) not in gap_roles | moved
    }
    assert missing == set()


def test_the_driver_versions_shown_on_the_stack_are_those_of_the_tables():
    [text] = [version for slug, version, *_ in read_files().places["nvidia-cuda"] if slug == "nvidia-driver"]
    rows = packaged_tables().rows("cuda-runtime", "needs", "nvidia-driver", platform="linux")
    low = {row.version: row.low for row in rows}
    assert text == f"≥ {low['12']} for CUDA 12, ≥ {low['13']} for CUDA 13"


def test_the_macos_versions_shown_on_the_stack_are_those_of_the_tables():
    [text] = [version for slug, version, *_ in read_files().places["apple-metal"] if slug == "macos"]
    low = {row.version: row.low for row in packaged_tables().rows("pytorch", "needs", "macos", part="mps")}
    assert text == f"≥ {low['2.9.0']} for torch 2.9, ≥ {low['2.15.0']} for 2.15"


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("components.toml", 'layer = "framework"', 'layer = "attic"', "unknown layer attic"),
        ("components.toml", 'source = "pytorch-docs"', 'source = "hearsay"', "no source is called hearsay"),
        ("components.toml", 'part_of = "pytorch"', 'part_of = "torch"', "part of the unknown torch"),
        ("components.toml", "data and a device.", "data and a device", "is not a sentence"),
        ("stacks.toml", '"cudnn",', '"cudnnn",', "unknown component cudnnn"),
        ("stacks.toml", '"cudnn",\n  "cublas"', '"cudnn",\n  "cudnn",\n  "cublas"', "holds a component twice"),
        ("stacks.toml", "cublas -> cuda-runtime", "cublas -> metal", "but metal does not stand there"),
        ("counterparts.csv", "triton,mps-inductor,", "triton,hip,", "unknown component hip"),
        ("counterparts.csv", "nccl,,apple-metal,none", "nccl,,atari,none", "unknown stack atari"),
        ("counterparts.csv", "nccl,,apple-metal,none", "nccl,,apple-metal,same-role", "name the other component"),
        ("sources.csv", "https://docs.python.org/3/", "a colleague", "has no web address"),
        ("sources.csv", "python-docs,Python documentation", "pytorch-docs,Python documentation", "is there twice"),
    ],
)
def test_a_wrong_line_is_named(folder, name, old, new, problem):
    spoil(folder, name, old, new)
    with pytest.raises(CuratedDataError) as refused:
        read_files(folder)
    assert problem in str(refused.value)


def test_hundreds_of_problems_are_cut_to_a_readable_number(folder):
    text = (folder / "counterparts.csv").read_text()
    (folder / "counterparts.csv").write_text(re.sub(r"(?m)^(?!component,)(\w[\w-]*),", r"no-\1,", text))
    with pytest.raises(CuratedDataError) as refused:
        read_files(folder)
    assert len(str(refused.value).splitlines()) == 21


def test_any_byte_changes_the_version(folder):
    before = data_version(folder)
    assert before == data_version()
    spoil(folder, "stacks.toml", "order = 1", "order = 4")
    assert data_version(folder) != before


def test_text_of_the_components_holds_no_markup():
    text = (DATA / "components.toml").read_text()
    assert tomllib.loads(text)
    assert not re.search(r"<[a-z/]", text)

"""Home folders are masked alike wherever they are: in a dump that is kept, in one that is read, by the agent."""

import pytest

from stackviz.agent.privacy import mask_of
from stackviz.report.dumps.masking import mask_text
from stackviz.report.importers.collect_env import read_collect_env

REPORT = "PyTorch version: 2.9.0+cu128\nIs debug build: False\nLD_LIBRARY_PATH={folder}\n"


@pytest.mark.parametrize(
    ("folder", "masked"),
    [
        (r"C:\Users\Bob Smith\x", r"~\x"),
        ("C:/Users/Bob/x", "~/x"),
        ("/usr/lib:/home/bob.smith/x", "/usr/lib:~/x"),
        ("/mnt/c/Users/Bob Smith/x", "~/x"),
        ("/data/home2/bob/x", "/data~/x"),
        ("/Users/bob", "~"),
    ],
)
def test_a_home_folder_is_masked_alike_everywhere(folder, masked):
    assert mask_text(folder) == masked
    assert mask_of([], [], []).text(folder) == masked
    assert read_collect_env(REPORT.format(folder=folder)).facts["env.ld_library_path"] == masked


@pytest.mark.parametrize(
    ("name", "text", "masked"),
    [
        ("bob", "owner bob and Bob, not bobby", "owner user and user, not bobby"),
        ("alice", "Alice and ALICE", "user and user"),
        ("josé", "by josé", "by user"),
        ("ada", "NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX 6000 Ada Generation"),
        ("max", "CPU max MHz, Apple M3 Max", "CPU max MHz, Apple M3 Max"),
        ("al", "al dente", "al dente"),
    ],
)
def test_name_is_masked_everywhere_in_any_case(name, text, masked):
    assert mask_text(f"x /home/{name}/y\n{text}") == f"x ~/y\n{masked}"
    assert mask_of([name], [], []).text(text).replace("<user>", "user") == masked


def test_common_name_is_masked_where_labelled():
    assert mask_text("User Name: Max") == "User Name: [redacted]"
    assert mask_text("User Name: root") == "User Name: root"

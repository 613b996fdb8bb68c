"""Each recipe of docs/recipes/, applied to a copy of the repository: it touches what it names, and does what it says."""

import pytest

from tests.recipes.recipe import RECIPES, Copy, copy_to

# Recipe -> the files it names besides the changelog, what its commands print, the page that `make docs` changes, and
# lines of that page.
FOLLOWED = {
    "rule": (
        {"stackviz/report/rules/checks/compute_mode.py", "tests/report/rules/test_compute_mode.py"},
        "",
        "docs/rules.md",
        ["| `compute-mode` | `hardware` | programs may use the card | broken |"],
    ),
    "importer": (
        {"stackviz/report/importers/hostnamectl.py", "tests/report/importers/test_hostnamectl.py"},
        "",
        "docs/diagnose.md",
        ["| hostnamectl | `hostnamectl` | Linux: kernel, maker and model | 71 |"],
    ),
    "message": ({"stackviz/report/messages/messages/cudnn.py"}, "cudnn-no-plan", "", []),
    "fact": (
        {"stackviz/report/format/facts/huge_pages.py", "tests/agent/test_huge_pages.py"},
        "memory.huge_page_bytes",
        "docs/wire-format.md",
        ["| `memory.huge_page_bytes` | integer | B | size of a huge page |"],
    ),
    "benchmark": (
        {"stackviz/report/measuring/memory_read.py", "tests/records/series/test_memory_read.py"},
        "memory-read",
        "docs/agent.md",
        ["| `memory-read` 1 | sum of random 4-byte numbers"],
    ),
    "chapter": ({"stackviz/pages/learn/texts/en/chapters/12-what-a-byte-costs.md"}, "2 passed", "", []),
    "page": (
        {"stackviz/pages/home/about.py", "templates/home/about.html", "tests/pages/home/test_about.py"},
        "",
        "",
        [],
    ),
    "field": (
        {
            "stackviz/records/catalog/fields/memory_rate.py",
            "tests/records/catalog/test_memory_rate.py",
            "stackviz/records/catalog/data/specs/nvidia.csv",
        },
        "",
        "docs/catalogue.md",
        [
            "| `memory_rate_gbit_s` | Memory data rate | Gbit/s | higher | 1 to 100 | `memory-rate` |",
            "| `memory-rate` | bandwidth × 8 / bus width |",
        ],
    ),
}
# What Python prints in the copy afterwards.
DOES = {
    "rule": ("from stackviz.report.rules import RULES; print('compute-mode' in [rule.id for rule in RULES])", "True\n"),
    "message": (
        (
            "from stackviz.report.importers import read_all;"
            "print(read_all('x: Error: No valid execution plans built.').readings[0].facts['message.symptoms'])"
        ),
        "cudnn-no-plan\n",
    ),
    "importer": (
        (
            "from pathlib import Path; from stackviz.agent.bundle import build_zipapp;"
            "Path('agent.pyz').write_bytes(build_zipapp())"
        ),
        "",
    ),
}


@pytest.fixture
def copy(tmp_path) -> Copy:
    return copy_to(tmp_path)


def test_every_recipe_is_followed_here():
    assert FOLLOWED.keys() == {path.stem for path in RECIPES.glob("*.md")}


@pytest.mark.parametrize("name", FOLLOWED)
def test_recipe(copy, name):
    files, printed, page, lines = FOLLOWED[name]
    named = copy.apply(name)
    assert named == {*files, "CHANGELOG.md"}
    if any(path.endswith(".py") for path in files):
        copy.lint(named)
    assert printed in copy.run(name)
    assert copy.changed() == named | ({page} if page else set())
    assert [line for line in lines if line not in copy.read(page)] == []
    if name in DOES:
        code, expected = DOES[name]
        assert copy.python(code) == expected
    if name == "importer":
        assert "  hostnamectl\n" in copy.command("python agent.pyz diagnose manage.py")

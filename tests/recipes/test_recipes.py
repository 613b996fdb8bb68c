"""Each recipe of docs/recipes/, applied to a copy of the repository: it touches what it names, and does what it says."""

import pytest

from tests.recipes.recipe import RECIPES, Copy, copy_to


@pytest.fixture
def copy(tmp_path) -> Copy:
    return copy_to(tmp_path)


def test_every_recipe_is_followed_here():
    followed = {name.removeprefix("test_recipe_") for name in globals() if name.startswith("test_recipe_")}
    assert followed == {path.stem for path in RECIPES.glob("*.md")}


def test_recipe_rule(copy):
    named = copy.apply("rule")
    assert named == {
        "stackviz/report/rules/checks/compute_mode.py",
        "tests/report/rules/test_compute_mode.py",
        "CHANGELOG.md",
    }
    copy.lint(named)
    copy.run("rule")
    assert copy.changed() == named | {"docs/rules.md"}
    assert "| `compute-mode` | `hardware` | programs may use the card | broken |" in copy.read("docs/rules.md")
    assert copy.python("from stackviz.report.rules import RULES; print(RULES[-2].id)") == "compute-mode\n"


def test_recipe_importer(copy):
    named = copy.apply("importer")
    assert named == {
        "stackviz/report/importers/hostnamectl.py",
        "tests/report/importers/test_hostnamectl.py",
        "CHANGELOG.md",
    }
    copy.lint(named)
    copy.run("importer")
    assert copy.changed() == named | {"docs/diagnose.md"}
    assert "| hostnamectl | `hostnamectl` | Linux: kernel, maker and model | 71 |" in copy.read("docs/diagnose.md")
    copy.python(
        "from pathlib import Path; from stackviz.agent.bundle import build_zipapp;"
        "Path('agent.pyz').write_bytes(build_zipapp())"
    )
    assert "  hostnamectl\n" in copy.command("python agent.pyz diagnose manage.py")


def test_recipe_message(copy):
    named = copy.apply("message")
    assert named == {"stackviz/report/messages/messages/cudnn.py", "CHANGELOG.md"}
    copy.lint(named)
    assert "cudnn-not-initialized" in copy.run("message")
    assert copy.changed() == named
    found = copy.python(
        "from stackviz.report.importers import read_all;"
        "print(read_all('x: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED').readings[0].facts['message.symptoms'])"
    )
    assert found == "cudnn-not-initialized\n"


def test_recipe_fact(copy):
    named = copy.apply("fact")
    assert named == {"stackviz/report/format/facts/huge_pages.py", "tests/agent/test_huge_pages.py", "CHANGELOG.md"}
    copy.lint(named)
    assert "memory.huge_page_bytes" in copy.run("fact")
    assert copy.changed() == named | {"docs/wire-format.md"}
    assert "| `memory.huge_page_bytes` | integer | B | size of a huge page |" in copy.read("docs/wire-format.md")


def test_recipe_benchmark(copy):
    named = copy.apply("benchmark")
    assert named == {
        "stackviz/report/measuring/memory_read.py",
        "tests/records/series/test_memory_read.py",
        "CHANGELOG.md",
    }
    copy.lint(named)
    assert "memory-read" in copy.run("benchmark")
    assert copy.changed() == named | {"docs/agent.md"}
    assert "| `memory-read` 1 | sum of random 4-byte numbers" in copy.read("docs/agent.md")


def test_recipe_chapter(copy):
    named = copy.apply("chapter")
    assert named == {"stackviz/pages/learn/texts/en/chapters/12-what-a-byte-costs.md", "CHANGELOG.md"}
    assert "14 passed" in copy.run("chapter")  # one for each chapter, and two
    assert copy.changed() == named


def test_recipe_page(copy):
    named = copy.apply("page")
    assert named == {
        "stackviz/pages/home/about.py",
        "templates/home/about.html",
        "tests/pages/home/test_about.py",
        "CHANGELOG.md",
    }
    copy.lint(named)
    copy.run("page")
    assert copy.changed() == named


def test_recipe_field(copy):
    values = "stackviz/records/catalog/data/specs/nvidia.csv"
    named = copy.apply("field")
    assert named == {
        "stackviz/records/catalog/fields/memory_rate.py",
        "tests/records/catalog/test_memory_rate.py",
        values,
        "CHANGELOG.md",
    }
    copy.lint(named)
    copy.run("field")
    assert copy.changed() == named | {"docs/catalogue.md"}
    page = copy.read("docs/catalogue.md")
    assert "| `memory_rate_gbit_s` | Memory data rate | Gbit/s | higher | 1 to 100 | `memory-rate` |" in page
    assert "| `memory-rate` | bandwidth × 8 / bus width |" in page

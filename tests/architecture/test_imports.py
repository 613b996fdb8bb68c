"""Who may import whom. A missing tool fails here: a contract nobody checks is none."""

import ast
from pathlib import Path

from tests.live import ROOT


def test_every_floor_is_in_the_contract():
    contracts = (ROOT / "pyproject.toml").read_text()
    floors = [path.parent.name for path in ROOT.glob("stackviz/*/__init__.py")]
    assert [floor for floor in floors if f'"stackviz.{floor}",' not in contracts] == []
    assert [path.name for path in ROOT.glob("stackviz/*.py")] == ["__init__.py"]


def test_a_lab_machine_needs_nothing_but_python(run_python):
    # -S leaves site-packages out, -I the environment and the current folder: only the standard library is there.
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import stackviz.agent, stackviz.agent.__main__; print('imported')"
    done = run_python("-I", "-S", "-c", code)
    assert (done.returncode, done.stdout) == (0, "imported\n"), done.stderr


def test_charts_and_diagrams_know_neither_a_request_nor_a_table():
    """import-linter knows Django as one module; these rooms may use its translation, and nothing else of it."""
    paths = [
        *ROOT.glob("stackviz/draw/charts/*.py"),
        *ROOT.glob("stackviz/draw/diagrams/*.py"),
        *ROOT.glob("stackviz/base/stats/*.py"),
    ]
    imported = {(path.name, name) for path in paths for name in _imported_from(path)}
    assert len(paths) > 5
    assert {name for _path, name in imported if name.startswith("django.")} <= {
        "django.utils.translation",
        "django.utils.functional",
    }


def _imported_from(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    named = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return named | {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}


def test_no_process_starts_with_a_spreadsheet_library():
    """openpyxl takes a tenth of a start, and is needed by the process that reads or writes a workbook alone."""
    lines = [line for path in ROOT.glob("stackviz/**/*.py") for line in ast.parse(path.read_text()).body]
    imports = [line for line in lines if isinstance(line, ast.Import | ast.ImportFrom)]
    modules = {getattr(line, "module", None) or alias.name for line in imports for alias in line.names}
    assert "tablib" in modules
    assert {name for name in modules if name.partition(".")[0] == "openpyxl"} == set()


def test_the_package_the_agent_ships_starts_empty():
    assert (ROOT / "stackviz/__init__.py").read_text() == ""


def test_no_import_inside_functions():
    """import-linter sees imports inside functions too; only `importlib` with a text could hide one."""
    hiding = [
        str(path.relative_to(ROOT))
        for path in ROOT.glob("stackviz/**/*.py")
        if "import_module(" in path.read_text() and "stackviz" in _texts_given_to_import_module(path)
    ]
    assert hiding == []


def _texts_given_to_import_module(path: Path) -> str:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return " ".join(
        argument.value
        for call in calls
        if getattr(call.func, "attr", getattr(call.func, "id", "")) == "import_module"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    )

"""Which tests `make test-changed` chooses for a file."""

import pytest

from tools.changed import reasons


@pytest.mark.parametrize(
    ("changed", "chosen"),
    [
        (
            "stackviz/pages/compare/matrix.py",
            {"tests/pages/compare", "tests/pages/compare/test_matrix.py", "tests/pages/compare/test_leading.py"},
        ),
        ("stackviz/base/units.py", {"tests/base/test_units.py"}),
        ("templates/compare/page.html", {"tests/pages/compare", "tests/architecture/test_templates.py"}),
        ("static/css/sheet.css", {"tests/pages/accelerators", "tests/web/test_static.py"}),
        ("stackviz/records/catalog/data/specs/any.csv", {"tests/records/catalog"}),
        ("tests/report/importers/test_tidy.py", {"tests/report/importers/test_tidy.py"}),
        (
            "tests/report/importers/tool_outputs.py",
            {"tests/report/importers", "tests/report/importers/test_tool_outputs.py"},
        ),
        ("docs/testing.md", {"tests/architecture/test_docs.py"}),
        ("LICENSE", set()),
    ],
)
def test_each_kind_of_file_has_its_tests(changed, chosen):
    found = set().union(*(tests for _why, tests in reasons(changed)))
    assert found >= chosen
    assert bool(found) == bool(chosen)

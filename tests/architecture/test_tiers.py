"""Where the line between fast and slow tests is drawn, and that the list of slow ones is kept true."""

from argparse import ArgumentTypeError
from types import SimpleNamespace

import pytest

from tests import tiers

HERE = "tests/architecture/test_tiers.py"


def test_slow_list_keeps_tests_of_half_the_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(tiers, "LIST", tmp_path / "slow.txt")
    tiers.LIST.write_text("tests/a.py::half\ntests/a.py::mended\ntests/a.py::not_run\n")
    tiers.write(
        {
            "tests/a.py::half": (1.1, 1.2),
            "tests/a.py::mended": (0.9, 2.9),
            "tests/a.py::new": (1.9, 5.9),
            "tests/a.py::works": (2.1, 2.1),
            "tests/a.py::waits": (0.1, 6.1),
            "tests/a.py::on_a_busy_machine": (0.7, 6.9),
        }
    )
    assert [name.partition("::")[2] for name in tiers.listed()] == ["half", "not_run", "waits", "works"]


@pytest.mark.parametrize(
    ("name", "argument", "found"),
    [
        (f"{HERE}::gone", "tests", True),
        ("tests/gone.py::test_it", "tests", True),
        (f"{HERE}::gone", f"{HERE}::one", False),
        ("tests/conftest.py::not_collected", "tests/architecture", False),
    ],
)
def test_a_line_without_its_test_fails_where_that_can_be_told(request, name, argument, found):
    config = SimpleNamespace(args=[argument], invocation_params=SimpleNamespace(dir=tiers.ROOT))
    item = SimpleNamespace(nodeid=f"{HERE}::one", session=request.session)
    failures = list(tiers.stale(config, [item], [name, item.nodeid]))
    assert [line.name for line in failures] == ([name] if found else [])
    for line in failures:
        with pytest.raises(pytest.fail.Exception, match="remove or rename"):
            line.runtest()


def test_each_folder_of_the_slow_tier_is_in_one_slice():
    for part in tiers.SLOW_PARTS:
        assert (tiers.ROOT / part).exists()
        assert sum(part.startswith(slice_) for slice_ in tiers.SLICES if slice_) <= 1
    assert tiers.slice_of("tests/report/format/test_parse.py::test_x") == len(tiers.SLICES)
    assert 1 <= tiers.slice_number("commit") <= len(tiers.SLICES)
    with pytest.raises(ArgumentTypeError, match="choose 1 to"):
        tiers.slice_number("0")

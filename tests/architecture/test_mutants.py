"""The faults of `make mutants`: what is changed, what is left alone, and that a test which notices none is found out."""

import subprocess
from pathlib import Path

import pytest

from tools.mutants import Room, main, sample
from tools.mutation import mutants_of, parses


def changes(source: str) -> list[str]:
    return [mutant.change for mutant in mutants_of(source.encode())]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a <= b < c", ["<= -> <", "< -> <="]),
        ("(a) is not (b)", ["is not -> is"]),
        ("a and b or c", ["and -> or", "or -> and"]),
        ("not (a or b)", ["not -> nothing", "or -> and"]),
        ("x = a - 7", ["- -> +", "7 -> 8"]),
        ("x = 0.8", ["0.8 -> 0.88"]),
        ("f(status='received', age=1)", ["f(status='received', age=1) -> pass", "status='received', -> nothing"]),
        ("x = f(rows, *WORST, NOTE)", ["rows, -> nothing", "*WORST, -> nothing", "NOTE -> nothing"]),
        ("def f():\n    raise Gone", ["raise Gone -> pass"]),
        ("def f(x):\n    return x", ["return x -> return None"]),
        ("y = [x for x in xs if x]", ["x -> (not (x))"]),
    ],
)
def test_each_kind_of_fault_is_known(source, expected):
    assert [change for change in changes(source) if change in expected] == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "x: int | None",
        "def f(x: 'int' = y) -> 'str | None': pass",
        "__all__ = ['a', 'b']",
        "@dataclass(frozen=True, slots=True)\nclass A(B): pass",
        "log.warning('broker unreachable', 3)",
        "text = 'Reload the page.'",
        "text = _('compare')",
        "if TYPE_CHECKING:\n    from x import y",
        "f'{a < b} {3}'",
    ],
)
def test_prose_annotations_and_logs_are_left_alone(source):
    assert changes(source) == []


def test_fault_changes_only_its_place():
    source = Path(__file__).read_bytes()
    mutants = mutants_of(source)
    assert len(mutants) > 10
    for mutant in mutants:
        changed = mutant.of(source)
        assert changed != source
        assert changed.startswith(source[: mutant.start])
        assert changed.endswith(source[mutant.end :])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of one room, `grown`, with one test that looks at half of it."""
    (tmp_path / "room").mkdir()
    (tmp_path / "room/__init__.py").write_text("")
    (tmp_path / "room/grown.py").write_text(
        "def is_adult(age):\n    return age >= 18\n\n\ndef is_old(age):\n    return age > 90\n"
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_grown.py").write_text(
        "from room.grown import is_adult\n\n\ndef test_it():\n    assert [is_adult(n) for n in (17, 18)] == [False, True]\n"
    )
    (tmp_path / "tests/test_slow.py").write_text(
        "import pytest\nfrom room.grown import is_old\n\n\n"
        "@pytest.mark.slow\ndef test_it():\n    assert [is_old(n) for n in (90, 92)] == [False, True]\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = -p no:django\nmarkers = slow\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


ROOM = Room("grown", "room/grown.py", "tests")


def test_what_no_test_notices_is_named_and_counted(repository, capsys):
    before = (repository / "room/grown.py").read_bytes()
    assert main(["--each", "9", "--jobs", "2"], repository, (ROOM,)) == 0
    said = capsys.readouterr().out
    assert sorted(line for line in said.splitlines() if "room/grown.py" in line) == [
        "noticed by the slow tier only: room/grown.py:6: > -> >=",
        "noticed by the slow tier only: room/grown.py:6: return age > 90 -> return None",
        "survived: room/grown.py:6: 90 -> 91",
    ]
    assert "| grown | 6 | 6 | 3 | 2 | 1 |" in said
    assert (repository / "room/grown.py").read_bytes() == before


def test_a_room_whose_tests_fail_by_themselves_is_refused(repository, capsys):
    (repository / "tests/test_grown.py").write_text("def test_it():\n    assert False\n")
    assert main([], repository, (ROOM,)) == 1
    assert "fail without any fault" in capsys.readouterr().err


def test_the_same_seed_takes_the_same_sample(repository):
    first, again, other = (sample(repository, ROOM, 3, seed) for seed in (1, 1, 2))
    assert first == again
    assert first[0] == 6
    assert first != other
    assert all(parses(trial.mutant.of((repository / trial.file).read_bytes())) for trial in first[1])

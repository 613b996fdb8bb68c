"""The figures of `make house` count what they say they count."""

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import house


def module(path: str, text: str) -> house.Module:
    return house.Module(path, text, ast.parse(text))


def test_banned_words_match_whole_words_only():
    banned = [
        name
        for name in ("told", "place", "_told_of_all", "read_asked", "keyword", "OneToOne", "placement")
        if house.is_banned(name)
    ]
    assert banned == ["told", "place", "_told_of_all", "read_asked"]


def test_names_defined_in_two_modules_are_listed_with_both():
    code = [
        module("stackviz/a.py", "class Row: ...\nclass _Own: ..."),
        module("stackviz/b.py", "class Row: ...\nclass _Own: ..."),
    ]
    figure = house.names_defined_twice(code, (ast.ClassDef,), "classes")
    assert (figure.value, figure.details) == ("1 of 1 names", ["2 × Row: stackviz/a.py, stackviz/b.py"])


def test_a_call_with_six_positional_arguments_is_found():
    figure = house.positional_calls([module("stackviz/a.py", "f(1, 2, 3, 4, 5)\ng(1, 2, 3, 4, 5, 6)\n")])
    assert figure.details == ["    6 stackviz/a.py:2 g"]


def test_rooms_are_packages_and_a_large_one_is_counted():
    code = [module("stackviz/large/a.py", "x = 1\n" * 95), module("stackviz/units.py", "x = 1\n" * 5)]
    figure = house.rooms(code)
    assert figure.value == "100 lines in 2; largest large 95 (95.0%); 1 over 10%"


def test_no_room_has_more_than_a_tenth_of_the_code():
    figure = house.rooms(house.modules(house.ROOT))
    assert figure.value.endswith("; 0 over 10%"), figure.details


@pytest.mark.parametrize(("layout", "share"), [("{}", "4 of 8"), ("{}\n", "4 of 8")])
def test_duplicates_are_found_whatever_the_layout(tmp_path, layout, share, monkeypatch):
    monkeypatch.setattr(house, "TEMPLATE_RUN", 2)
    (tmp_path / "templates").mkdir()
    for name, end in (("a.html", "<i></i>"), ("b.html", "<b></b>")):
        (tmp_path / "templates" / name).write_text(layout.format("<p class='x'>") + "{{ name }}" + end)
    assert house.template_duplicates(tmp_path).value.startswith(f"{share} tokens (50.0%)")


def test_the_longest_template_line_is_named(tmp_path):
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "a.html").write_text("x\n" + "y" * 130 + "\n")
    figure = house.template_lines(tmp_path)
    assert figure.value == "longest 130; 1 of 2 over 120 characters, 0 over 200"
    assert figure.details == ["  130 templates/a.html:2"]

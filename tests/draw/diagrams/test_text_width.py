"""Widths that hold in any font, and where lines are broken."""

import pytest

from stackviz.draw.diagrams.text_width import Style, lines_of, printable_line, width_of

PLAIN, BOLD, MONO = Style(12), Style(12, bold=True), Style(12, mono=True)


def test_bold_is_wider_and_wide_characters_are_as_wide_as_high():
    assert width_of("cuDNN", BOLD) > width_of("cuDNN", PLAIN)
    assert width_of("内存", PLAIN) >= 24


@pytest.mark.parametrize(
    "text", ["NVIDIA GeForce RTX 4090 Laptop GPU", "x" * 200, "内存" * 40, "a b", "5.15.0-1078-nvidia"]
)
@pytest.mark.parametrize("width", [20, 90, 400])
def test_no_line_is_wider_than_its_place_and_nothing_is_lost(text, width):
    lines = lines_of(text, width, PLAIN)
    assert all(width_of(line, PLAIN) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_version_is_torn_only_where_it_must_be():
    assert lines_of("needs CUDA runtime 13.0.48", 140, PLAIN)[-1].endswith("13.0.48")


def test_too_many_lines_end_in_an_ellipsis():
    lines = lines_of("word " * 50, 80, PLAIN, most=2)
    assert len(lines) == 2
    assert lines[-1].endswith("…")


def test_invalid_xml_characters_are_removed():
    assert printable_line("a\x00b\ud800c\u202ed\ufffe\n\te") == "a b cd e"


def test_an_empty_text_has_no_line():
    assert lines_of("", 100, MONO) == lines_of(" \n", 100, MONO) == []

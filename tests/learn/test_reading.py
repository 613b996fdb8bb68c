"""How chapters read: the counts by hand, and no chapter too long or too heavy."""

import pytest

from stackviz.learn.chapters import read_chapters
from stackviz.learn.text_files import without_sources
from tools.reading import read_prose, syllables

ENGLISH = read_chapters("en")
HARDEST, LONGEST, MOST_MINUTES = 9, 6, 10  # years of school, sentences a paragraph


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("the", 1),
        ("memory", 3),
        ("bandwidth", 2),
        ("little", 2),
        ("cores", 1),
        ("sizes", 2),
        ("compiled", 2),
        ("3.7", 1),
    ],
)
def test_syllables_by_hand(word, count):
    assert syllables(word) == count


def test_the_grade_of_two_sentences_by_hand():
    reading = read_prose(["The cat sat on the mat. It waits for memory."])
    assert (reading.sentences, reading.words, reading.syllables) == ((2,), 10, 12)
    assert reading.grade == pytest.approx(0.39 * 5 + 11.8 * 1.2 - 15.59)


def test_a_decimal_an_abbreviation_and_a_file_end_no_sentence():
    assert read_prose(["It takes 3.7 pJ, i.e. little, in `a.py`. “Quick” is another word."]).sentences == (2,)


def test_code_notes_and_cells_are_no_sentences():
    text = "Two words.[^a]\n\n```python\nimport torch\n```\n\n| a | b |\n|---|---|\n| three | more words |\n\n```figure f\nA caption.\n```"
    reading = read_prose([text])
    assert (reading.sentences, reading.words, reading.tables) == ((1, 1), 4, 5)


@pytest.mark.parametrize("chapter", ENGLISH, ids=lambda chapter: chapter.slug)
def test_no_chapter_is_long_or_heavy(chapter):
    reading = read_prose([chapter.lead, *(without_sources(section.body) for section in chapter.sections)])
    assert reading.grade < HARDEST
    assert max(reading.sentences) <= LONGEST
    assert 1 <= chapter.minutes <= MOST_MINUTES

"""A tile says what the figures say, and no more."""

from dataclasses import replace

import pytest

from stackviz.pages.compare.answers import QUESTIONS, SubjectFigure
from stackviz.pages.compare.tiles import tile_of

BY_KEY = {question.key: question for question in QUESTIONS}


def figure(subject: str, amount: float | None = None, text: str = "", slot: int = 0, **more) -> SubjectFigure:
    return SubjectFigure(subject=subject, slot=slot, amount=amount, text=text, **more)


H100 = figure("H100 SXM", 3.35e12, "3.35 TB/s")
MAX = figure("M3 Max", 4e11, "400 GB/s", slot=1)


def test_more_bandwidth_is_a_factor_of_what_the_other_has():
    tile = tile_of(BY_KEY["bandwidth"], [MAX, H100])
    assert tile.lead == "H100 SXM has 8.4× the memory bandwidth of M3 Max"
    assert [(line.name, line.figure, line.share) for line in tile.lines] == [
        ("M3 Max", "400 GB/s", 11.9),
        ("H100 SXM", "3.35 TB/s", 100.0),
    ]


@pytest.mark.parametrize(
    ("amount", "is_bound", "lead"),
    [
        (209.5, False, "B has at least 12× the bf16 matrix rate of A"),
        (16.2, False, "B has at least 1× the bf16 matrix rate of A"),
        (14.1, False, "cannot tell"),
        (14.1, True, "cannot tell"),
    ],
)
def test_a_bound_bounds_the_factor_or_tells_nothing(amount, is_bound, lead):
    """The smaller may be smaller still; where the larger is a bound, either may have more."""
    bound, other = figure("A", 16.159, "x", is_bound=True), figure("B", amount, "y", slot=1, is_bound=is_bound)
    tile = tile_of(BY_KEY["bf16"], [bound, other])
    assert (tile.lead, tile.is_known) == (lead, lead != "cannot tell")


def test_unpublished_figure_is_never_zero():
    figures = [figure("H100 SXM", 989.4e12, "989.4 TFLOP/s"), figure("M3 Max", None, slot=1)]
    tile = tile_of(BY_KEY["bf16"], figures)
    assert (tile.lead, tile.is_known) == ("known only for H100 SXM", False)
    assert [(line.figure, line.note, line.share) for line in tile.lines] == [
        ("989.4 TFLOP/s", "", 100.0),
        ("", "not published", None),
    ]


def test_figures_of_two_kinds_have_no_factor():
    observed = figure("M3 Max", 60, "60 W", condition="observed", is_beside=True, slot=1)
    tile = tile_of(BY_KEY["power"], [figure("H100 SXM", 700, "700 W"), observed])
    assert (tile.lead, tile.is_known) == ("not like for like", False)
    assert [line.css for line in tile.lines] == ["s1", "s2 beside"]


@pytest.mark.parametrize(
    ("whys", "rest"),
    [
        (("", ""), "no value is published for any of these"),
        (("sold in Macs, not by itself", ""), "sold in Macs, not by itself: A; not published: B"),
    ],
)
def test_without_figures_a_tile_says_why(whys, rest):
    figures = [figure(name, None, why=why, slot=slot) for slot, (name, why) in enumerate(zip("AB", whys, strict=True))]
    tile = tile_of(BY_KEY["price"], figures)
    assert (tile.lead, tile.rest, tile.lines) == ("cannot tell", rest, ())


@pytest.mark.parametrize(
    ("question", "amounts", "lead"),
    [
        ("power", (70, 700), "B has 10× the power of A"),
        ("bandwidth", (2.039e12, 2.0e12), "about equal"),
        ("memory", (1.04, 1.0), "A has 1.04× the memory of B"),
    ],
)
def test_a_lead_names_the_one_with_more_of_it(question, amounts, lead):
    figures = [figure("AB"[slot], amount, str(amount), slot) for slot, amount in enumerate(amounts)]
    assert tile_of(BY_KEY[question], figures).lead == lead


def test_from_three_subjects_on_a_tile_has_ranks_and_no_sentence():
    amounts = (2, None, 5, 5, 1)
    figures = [figure(f"G{n}", amount, f"{amount} GB", slot=n) for n, amount in enumerate(amounts)]
    figures.append(figure("G5", 3, "3 GB", is_beside=True, slot=5))
    tile = tile_of(BY_KEY["memory"], figures)
    assert tile.lead == ""
    assert [line.rank for line in tile.lines] == [1, 1, 3, 4, 0]
    assert [line.name for line in tile.lines] == ["G2", "G3", "G0", "G4", "G5"]
    assert [line.share for line in tile.lines] == [100.0, 100.0, 40.0, 20.0, 60.0]
    assert tile.rest == "not published: G1"


def test_a_kind_is_said_once_only_where_all_are_of_it():
    cited, measured = (figure(kind, 5, "5 token/s", kind=kind, slot=n) for n, kind in enumerate(("cited", "measured")))
    others = [replace(cited, slot=2), replace(cited, slot=3)]
    tile = tile_of(BY_KEY["bandwidth"], [cited, measured, *others])
    assert tile.title == "Memory bandwidth"
    assert [line.note for line in tile.lines] == ["cited", "measured", "cited", "cited"]
    assert tile_of(BY_KEY["bandwidth"], [cited, *others]).title == "Memory bandwidth, cited"


def test_the_least_power_is_the_first():
    figures = [figure(f"G{n}", amount, f"{amount} W", slot=n) for n, amount in enumerate((700, 60, 350))]
    tile = tile_of(BY_KEY["power"], figures)
    assert (tile.title, [line.name for line in tile.lines]) == ("Power, least first", ["G1", "G2", "G0"])


def test_what_all_figures_hold_under_is_said_once():
    figures = [figure(f"G{n}", n, f"{n} TFLOPS", condition="dense", slot=n) for n in (1, 2)]
    tile = tile_of(BY_KEY["fp32"], figures)
    assert (tile.title, [line.note for line in tile.lines]) == ("fp32, dense", ["", ""])
    most = tile_of(BY_KEY["fp32"], [*figures, figure("G3", 3, "3 TFLOPS", condition="dense", kind="derived", slot=3)])
    assert (most.title, [line.note for line in most.lines]) == ("fp32, dense", ["derived", "", ""])
    unmarked = tile_of(BY_KEY["fp32"], [*figures, figure("G3", 3, "3 TFLOPS", slot=3)])
    assert (unmarked.title, [line.note for line in unmarked.lines]) == ("fp32", ["", "dense", "dense"])
    of_two_kinds = tile_of(BY_KEY["fp32"], [figures[0], replace(figures[1], kind="derived")])
    assert (of_two_kinds.title, [line.note for line in of_two_kinds.lines]) == ("fp32, dense", ["", "derived"])
    of_most = tile_of(BY_KEY["fp32"], [*figures, figure("G3", 3, "3 TFLOPS", condition="sparse", slot=3)])
    assert (of_most.title, [line.note for line in of_most.lines]) == ("fp32", ["sparse", "dense", "dense"])

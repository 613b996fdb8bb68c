"""A verdict says what the figures say, and no more."""

import pytest

from stackviz.compare.answers import SubjectFigure
from stackviz.compare.summary import QUESTIONS, judge

BY_KEY = {question.key: question for question in QUESTIONS}
H100 = SubjectFigure("H100 SXM", 3.35e12, "3.35 TB/s")
MAX = SubjectFigure("M3 Max", 4e11, "400 GB/s")


def test_more_bandwidth_is_stated_as_a_factor_of_the_least():
    verdict = judge(BY_KEY["bandwidth"], [MAX, H100])
    assert verdict.lead == "H100 SXM is 8.4× M3 Max"
    assert verdict.rest == "H100 SXM 3.35 TB/s, M3 Max 400 GB/s"


def test_power_reads_the_other_way_round():
    verdict = judge(BY_KEY["power"], [SubjectFigure("H100 SXM", 700, "700 W"), SubjectFigure("T4", 70, "70 W")])
    assert verdict.lead == "H100 SXM is 10× T4"


def test_unpublished_figure_is_never_zero():
    verdict = judge(
        BY_KEY["bf16"], [SubjectFigure("H100 SXM", 989.4e12, "989.4 TFLOP/s"), SubjectFigure("M3 Max", None)]
    )
    assert verdict.lead == "H100 SXM: 989.4 TFLOP/s"
    assert verdict.rest == "not published: M3 Max"


@pytest.mark.parametrize("figures", [[], [SubjectFigure("A", None), SubjectFigure("B", None)]])
def test_without_figures_the_verdict_is_that_nobody_can_tell(figures):
    assert not judge(BY_KEY["price"], figures).is_known


def test_rounding_differences_are_not_differences():
    verdict = judge(
        BY_KEY["bandwidth"], [SubjectFigure("A", 2.039e12, "2.04 TB/s"), SubjectFigure("B", 2.0e12, "2 TB/s")]
    )
    assert verdict.lead == "about equal"


def test_six_figures_rank_best_first():
    verdict = judge(BY_KEY["memory"], [SubjectFigure(f"G{n}", n * 1e9, f"{n} GB") for n in range(1, 7)])
    assert verdict.rest == "G6 6 GB, G5 5 GB, G4 4 GB, G3 3 GB, G2 2 GB, G1 1 GB"

"""Rates per watt over the years: derived, with formula and figures, and the kind of power said where it is observed."""

import csv
import gzip
import io
import re
from datetime import date

import pytest
from django.core.cache import cache
from hypothesis import given
from hypothesis import strategies as st

from stackviz.pages.explore.axes import read_plot_data
from stackviz.pages.explore.composed import ENDING, RATES, RELEASED, decimal_year, per_watt_names
from stackviz.pages.explore.scatter import draw_scatter, plotly_scatter
from stackviz.pages.explore.selection import DECODE, ScatterChoice
from tests.pages.explore.test_ladder_page import LIMIT_BYTES, LIMIT_COMPRESSED
from tests.responses import words_of

VIEW = f"/explore/?x={RELEASED}&y=compute-rate-per-watt&size=none"
H100, M3_MAX, M2_ULTRA = "nvidia-h100-sxm5-80gb", "apple-m3-max-40", "apple-m2-ultra-76"
DAYS = st.dates(min_value=date(1990, 1, 1), max_value=date(2100, 12, 31))


@pytest.fixture
def loaded(db, cited):
    """All cited results."""
    cache.clear()


def drawing(rate="compute-rate", **chosen):
    return draw_scatter(read_plot_data(), ScatterChoice(x=RELEASED, y=f"{rate}{ENDING}", size="none", **chosen))


def point_of(found, slug):
    return next(point for point in found.points if point.subject.slug == slug)


@given(DAYS, DAYS)
def test_years_are_in_the_order_of_the_dates(day, other):
    year, other_year = decimal_year(day.isoformat()), decimal_year(other.isoformat())
    assert int(year) == day.year
    if day < other:
        assert year < other_year


def test_a_year_or_a_month_alone_lies_in_its_middle():
    assert decimal_year("2022") == 2022.5
    assert 2022 < decimal_year("2022-01") < decimal_year("2022-02") < decimal_year("2022") < 2023


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize("rate", RATES)
def test_it_is_the_rate_over_the_power_of_the_same_accelerator(rate):
    catalogue = read_plot_data()
    found, rates, powers = drawing(rate), catalogue.axis(rate), catalogue.axis("power")
    assert len(found.points) > 30
    for point in found.points:
        pk = point.subject.pk
        assert point.y.amount == pytest.approx(rates.figures[pk].amount / powers.figures[pk].amount)
        assert "÷" in point.y.remark
    assert {"apple", "nvidia"} <= {point.subject.vendor for point in found.points}


def test_the_formula_and_kinds_of_power_are_shown(client, loaded):
    found = drawing()
    assert point_of(found, H100).y.remark == "989.4 TFLOPS ÷ 700 W"
    assert point_of(found, H100).y.text == "1.413"
    assert any("= Compute: bf16, else fp16 or fp32 ÷ Power: board, else observed." in note for note in found.notes)
    page = words_of(client.get(f"{VIEW}&year=2022"))
    assert "989.4 TFLOPS ÷ 700 W" in page
    assert "derived" in page
    found = drawing(DECODE)
    assert "GPU alone" in point_of(found, M3_MAX).y.instead
    assert "at the wall" in point_of(found, M2_ULTRA).y.instead
    assert point_of(found, M3_MAX).look == " other"
    assert any("at the wall" in note for note in found.notes)
    assert found.is_hollow
    assert found.kinds == ("cited", "derived")
    reasons = {why for group in drawing().unplaced for _subject, why in group.subjects}
    assert "no power is published or was observed" in reasons


def test_the_front_is_who_led_when_it_came_out(client, loaded):
    found = drawing()
    assert len(found.front) > 5
    assert [point.y.amount for point in found.front] == sorted(point.y.amount for point in found.front)
    for leader in found.front:
        assert not any(point.x.amount < leader.x.amount and point.y.amount >= leader.y.amount for point in found.points)
    assert "Released: earlier counts" in words_of(client.get(VIEW))


def test_years_have_no_comma_and_plotly_the_same_points(loaded):
    found = drawing()
    assert found.x_kind == "year"
    assert all(re.fullmatch(r"20\d\d", mark.label) for mark in found.x_marks)
    figure = plotly_scatter(read_plot_data(), ScatterChoice(x=RELEASED, y=f"compute-rate{ENDING}", size="none"))
    assert len(figure["data"][-1]["x"]) == len(found.drawn)
    assert figure["layout"]["xaxis"]["type"] == "linear"


def test_files_equal_what_is_drawn(client, loaded):
    found = drawing()
    rows = list(csv.DictReader(io.StringIO(client.get(f"{VIEW}&format=csv").content.decode())))
    assert [row["slug"] for row in rows] == [point.subject.slug for point in found.points]
    for row, point in zip(rows, found.points, strict=True):
        assert float(row["y_value"]) == pytest.approx(found.y.measure.scaled(point.y.amount))
        assert float(row["x_value"]) == pytest.approx(point.x.amount)
        assert (row["y_unit"], row["y_basis"]) == ("TFLOPS/W", "derived")
        assert row["on_front"] == str(point.is_on_front)


def test_the_time_line_leads_to_each_and_no_ladder_to_dates(client, loaded):
    page = client.get("/timeline/?vendor=apple").content.decode()
    for name in per_watt_names(RATES):
        address = f"/explore/?vendor=apple&amp;x={RELEASED}&amp;y={name}&amp;size=none"
        assert f'href="{address}"' in page
        assert "Unknown" not in words_of(client.get(address.replace("&amp;", "&")))
    assert "Unknown field" in words_of(client.get(f"/ladder/?field={RELEASED}"))
    assert f'value="{RELEASED}"' not in client.get("/ladder/").content.decode()
    assert client.get(f"/ladder/?field=fp32_tflops{ENDING}").status_code == 200


def test_queries_do_not_depend_on_results(client, loaded, django_assert_num_queries):
    client.get(VIEW)
    cache.clear()
    with django_assert_num_queries(1):  # the editions
        answer = client.get(VIEW)
    assert len(answer.content) < LIMIT_BYTES
    assert len(gzip.compress(answer.content)) < LIMIT_COMPRESSED

"""Lanes: names at their years, a row further down where one would cover another."""

from stackviz.draw.charts.timeline import Event, place_timeline


def test_a_name_stands_at_its_year_in_every_lane():
    drawn = place_timeline([[Event("a", "Tesla", 2006), Event("b", "Fermi", 2010)], [Event("c", "M1", 2010)]])
    lefts = {place.key: place.left for lane in drawn.lanes for place in lane.events}
    years = dict(drawn.years)
    assert lefts == {"a": years[2006], "b": years[2010], "c": years[2010]}
    assert list(years) == [2006, 2007, 2008, 2009, 2010]


def test_names_that_would_touch_stand_in_rows():
    drawn = place_timeline([[Event("a", "Ada Lovelace", 2022), Event("b", "Hopper", 2022), Event("c", "Far", 2040)]])
    (lane,) = drawn.lanes
    assert [place.row for place in lane.events] == [0, 1, 0]
    assert lane.rows == 2


def test_nothing_to_show_is_an_empty_line():
    assert place_timeline([]).years == ()
    assert place_timeline([[]]).lanes[0].events == ()

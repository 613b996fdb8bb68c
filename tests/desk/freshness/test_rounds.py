"""Cited results are stale when their sources have published more, whenever somebody looked at the table."""

from datetime import date

import pytest

from stackviz.desk.freshness import rounds
from stackviz.desk.freshness.rounds import CITED_RESULTS, RoundStanding, SourceRound, is_behind_its_sources
from stackviz.records.cited.models import CitedResult, CitedSource
from stackviz.records.stacks.table_checks import checked_tables
from tests.responses import words_of

DAY = date(2026, 11, 29)


def source(newest="v6.1", months=(4, 9), most_days_behind=0):
    return SourceRound(
        key="mlperf",
        title="MLPerf",
        page="https://example.org/",
        sources="mlperf-",
        newest=newest,
        seen_on=DAY,
        months=months,
        most_days_behind=most_days_behind,
    )


@pytest.mark.parametrize(
    ("version", "day", "is_behind"),
    [
        ("v6.1", DAY, False),
        ("v5.1", DAY, True),
        ("v10.0", DAY, False),
        ("", DAY, True),
        ("v6.1", date(2027, 4, 20), False),
        ("v6.1", date(2027, 5, 20), True),  # the round of April should be out
    ],
)
def test_a_source_with_rounds_is_held_against_the_newest(version, day, is_behind):
    assert RoundStanding(source(), version, None).is_behind(day) is is_behind


@pytest.mark.parametrize(
    ("newest_on", "is_behind"), [(None, True), (date(2026, 10, 29), True), (date(2026, 11, 1), False)]
)
def test_a_source_without_rounds_may_be_some_days_behind(newest_on, is_behind):
    assert RoundStanding(source("", (), 30), "", newest_on).is_behind(DAY) is is_behind


@pytest.mark.parametrize(("seen_on", "expected"), [(date(2026, 11, 29), "2027-04"), (date(2027, 4, 2), "2027-09")])
def test_the_next_round_comes_in_its_month(seen_on, expected):
    known = SourceRound(**{field: getattr(source(), field) for field in SourceRound.__slots__} | {"seen_on": seen_on})
    assert f"{known.next_month:%Y-%m}" == expected


@pytest.fixture
def stored(cited, db, monkeypatch):
    """The curated results, held against the rounds that a test knows."""

    def known(*sources):
        rounds._standings.cache_clear()
        monkeypatch.setattr(rounds, "source_rounds", lambda: sources)

    yield known
    rounds._standings.cache_clear()


def test_a_round_that_is_not_here_makes_the_table_stale(client, stored):
    versions = {
        (int(match[1]), int(match[2]))
        for key in CitedSource.objects.values_list("key", flat=True)
        if (match := rounds._VERSION.search(key)) and key.startswith("mlperf-inference-")
    }
    ours = "v{}.{}".format(*max(versions))
    table = checked_tables()[CITED_RESULTS]
    known = SourceRound(
        **{field: getattr(source(), field) for field in SourceRound.__slots__}
        | {"sources": "mlperf-inference-", "newest": "v99.1"}
    )
    stored(known)
    assert not table.is_stale(DAY)
    assert is_behind_its_sources(CITED_RESULTS, DAY)
    assert not is_behind_its_sources("operators", DAY)
    text = words_of(client.get("/freshness/"))
    assert f"MLPerf v99.1 seen 2026-11-29 {ours}" in text
    assert "behind 2027-04" in text
    items = client.get("/api/v1/freshness/").json()["items"]
    assert next(item["is_stale"] for item in items if item["table"] == CITED_RESULTS)


def test_withdrawn_results_do_not_count_as_ours(stored):
    stored(source("", (), 30))
    CitedResult.objects.filter(source__key__startswith="mlperf-").update(state="withdrawn", reason="for this test")
    [standing] = rounds.round_standings()
    assert (standing.version, standing.newest_on) == ("", None)

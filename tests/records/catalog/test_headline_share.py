"""The share of headline fields that are filled: what cannot be is not missing."""

from django.core.management import call_command

from stackviz.records.catalog.headline import HeadlineShare, headline_share


def test_a_share_is_of_the_fields_that_can_be_filled():
    share = HeadlineShare(filled=3, fields=4, absent=2, missing={"tdp_w": ["acme-one"]})
    assert [*share.lines()][1:] == [
        " 75.0 % (3) filled (goal 85 %)",
        " 50.0 % (3) filled, those proven absent counted as missing",
    ]
    assert [*share.missing_lines()] == ["tdp_w: 1 missing: acme-one"]
    assert "0.0 % (0)" in [*HeadlineShare(0, 0, 0, {}).lines()][1]


def test_the_curated_catalogue_reaches_its_goal(curated, db, django_assert_max_num_queries, capsys):
    with django_assert_max_num_queries(6):
        share = headline_share()
    assert share.filled / share.fields >= 0.86
    assert share.fields - share.filled == sum(map(len, share.missing.values()))
    call_command("headline_share", "--missing")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{share.fields} headline fields")
    assert len(lines) == 3 + len(share.missing)

"""Conditions: one canonical text, words for people, variants apart from meaning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackviz.records.catalog.conditions import (
    KEYS,
    ConditionError,
    canonical,
    describe_condition,
    parse,
    split_variants,
    write,
)


@pytest.mark.parametrize(
    ("given_text", "text"),
    [
        ("", ""),
        ("accumulate=fp32;sparsity=dense", "sparsity=dense; accumulate=fp32"),
        ("  sparsity = sparse ; ", "sparsity=sparse"),
        ("configuration=48 GB; direction=both", "direction=both; configuration=48 GB"),
    ],
)
def test_a_condition_has_one_canonical_text(given_text, text):
    assert canonical(given_text) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("dense", "not key=value"),
        ("sparsity=thick", "sparsity is one of dense"),
        ("colour=red", "unknown key 'colour'"),
        ("sparsity=dense; sparsity=dense", "given twice"),
        ("sparsity=", "not key=value"),
        ("edition=a=b", "not allowed"),
        ("edition=" + "x" * 300, "longer than 200"),
    ],
)
def test_a_condition_that_cannot_be_read_says_why(text, problem):
    with pytest.raises(ConditionError, match=problem):
        parse(text)


def test_people_read_words():
    assert describe_condition("sparsity=dense; accumulate=fp32") == "dense, fp32 accumulate"
    assert describe_condition("configuration=48 GB; machine=Mac15,9") == "48 GB model, in Mac15,9"


def test_a_condition_nobody_can_read_is_shown_as_it_is():
    assert describe_condition("what; is this") == "what; is this"


def test_variants_are_told_apart_from_what_the_figure_means():
    assert split_variants("sparsity=dense; edition=Founders Edition") == ("sparsity=dense", "edition=Founders Edition")


words = st.text(alphabet="abcXYZ 0123456789-,.", min_size=1, max_size=12).map(str.strip).filter(bool)
values = st.fixed_dictionaries(
    {}, optional={key.name: st.sampled_from(sorted(key.values)) if key.values else words for key in KEYS}
)


@given(values)
def test_what_is_written_is_read_again(parts):
    text = write(dict(list(parts.items())[:5]))
    assert parse(text) == dict(
        sorted(dict(list(parts.items())[:5]).items(), key=lambda item: text.index(item[0] + "="))
    )
    assert canonical(text) == text

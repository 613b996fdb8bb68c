"""Sentences: English texts that know their keys."""

import copy
import json
import pickle

import pytest

from stackviz.base.sentence import Sentence, join_sentences, say

NESTED = say("{wants}: has {driver}", say("CUDA {cuda} needs driver {low} or newer", "13.0", "580"), "535")


def test_a_sentence_is_its_english():
    assert NESTED == "CUDA 13.0 needs driver 580 or newer: has 535"
    assert {NESTED: 1}[str(NESTED)] == 1
    assert json.loads(json.dumps([NESTED])) == [str(NESTED)]
    assert type(str(NESTED)) is str


@pytest.mark.parametrize("value", ["{low}", "{cuda} {0} %s", "\0", "<b>", "x" * 6_000])
def test_values_are_not_formatted(value):
    assert say("CUDA {cuda} needs {low}", value, "{cuda}") == f"CUDA {value} needs {{cuda}}"


def test_a_key_survives_copies_and_pickles():
    for other in (copy.copy(NESTED), copy.deepcopy(NESTED), pickle.loads(pickle.dumps(NESTED))):
        assert (other, other.key, other.values["wants"].key) == (NESTED, NESTED.key, NESTED.values["wants"].key)


@pytest.mark.parametrize("values", [(), ("13.0",), ("13.0", "580", "535")])
def test_as_many_values_as_places(values):
    with pytest.raises(ValueError, match="argument"):
        say("CUDA {cuda} needs {low}", *values)


def test_a_sentence_does_not_change():
    with pytest.raises(AttributeError):
        NESTED.key = "another"
    with pytest.raises(TypeError):
        NESTED.values["driver"] = "another"
    with pytest.raises(ValueError, match="places"):
        Sentence("CUDA {cuda}", {"low": "580"})


def test_joined_texts_keep_their_parts():
    text = join_sentences(["", NESTED, "", "nvidia-smi"])
    assert text == f"{NESTED} nvidia-smi"
    assert text.joined == (NESTED, "nvidia-smi")
    assert (NESTED.joined, join_sentences([]).joined, join_sentences([NESTED, "x"], ", ").joined) == ((), (), ())

"""Text out of an address, before it meets the database."""

import pytest
from django.http import QueryDict
from django.test import RequestFactory

from stackviz.web.http.address import LONGEST_TEXT, AddressReader, row_key, text_parameter, whole_number


@pytest.mark.parametrize(
    ("given", "text"), [("  H100 ", "H100"), ("a\x00b", "ab"), ("x" * 5000, "x" * LONGEST_TEXT), ("", "")]
)
def test_text_is_trimmed_cut_and_without_nul(given, text):
    assert text_parameter(RequestFactory().get("/", {"q": given}), "q") == text
    assert text_parameter(RequestFactory().get("/"), "q") == ""


def reader(query: str) -> AddressReader:
    return AddressReader(QueryDict(query))


def texts(address: AddressReader, known: str = "") -> list[str]:
    return [note.text for note in address.notes(known.split())]


def test_unknown_choice_falls_back_with_a_note():
    address = reader("vendor=acme&kind=gpu")
    assert address.choice("kind", ["gpu"], "kind") == "gpu"
    assert address.choice("year", ["2020"], "year", "2020") == "2020"
    assert address.choice("vendor", ["nvidia"], "vendor", "all") == "all"
    assert texts(address, "vendor kind") == ["Unknown vendor “acme”; it was ignored."]


def test_a_choice_is_found_in_any_letter_case():
    reader = AddressReader({"precision": "Q4_K_M", "quant": "f16", "dtype": "Fp16", "split": "tensor"})
    assert reader.choice("precision", {"q4_k_m": 1, "q4_0": 2}, "precision") == "q4_k_m"
    assert reader.choice("quant", ("F16", "f16"), "quant") == "f16"
    assert reader.choice("dtype", ("fp16", "FP16"), "dtype") == "FP16"
    assert reader.choice("split", ("pipeline", "tensor"), "split") == "tensor"
    assert reader.respelled == {"precision": "q4_k_m", "dtype": "FP16"}
    assert reader.notes({"precision", "quant", "dtype", "split"}) == ()


def test_choices_accept_repeats_commas_and_case():
    address = reader("v=NVIDIA,apple&v=nvidia&v=acme")
    assert address.choices("v", ["nvidia", "apple"], "vendor") == ("nvidia", "apple")
    assert texts(address, "v") == ["Unknown vendor “acme”; it was ignored."]


@pytest.mark.parametrize(
    ("text", "number"), [("007", 7), ("0", 0), ("", None), ("-1", None), (" 1", None), ("1_0", None), ("١٢", None), ("12345", None)]
)  # fmt: skip
def test_number_is_limited_ascii_digits(text, number):
    assert whole_number(text, max_digits=4) == number
    assert [row_key(text) for text in ("12", "x", "9" * 18)] == [12, 0, 0]  # the key of no row


@pytest.mark.parametrize(("text", "year"), [("2020", 2020), ("1989", None), ("2101", None), ("20200", None)])
def test_a_year_lies_within_the_years_of_accelerators(text, year):
    address = reader(f"since={text}")
    assert address.year("since") == year
    assert bool(texts(address, "since")) == (year is None)


@pytest.mark.parametrize(
    ("text", "amount"), [("80", 80.0), ("80 GB", 80.0), ("80gb", 80.0), (".5", 0.5), ("1e1", 10.0), ("1_0", None), ("٨٠", None), ("inf", None), ("0", None), ("-1", None), ("nan", None), ("101", None)]
)  # fmt: skip
def test_a_quantity_is_a_number_above_zero_up_to_its_bound(text, amount):
    address = reader(f"memory={text}")
    assert address.quantity("memory", "GB", 100, "“%(value)s” is not a size") == amount
    assert bool(texts(address, "memory")) == (amount is None)


def test_what_is_read_once_but_given_twice_has_one_note():
    address = reader("vendor=amd&vendor=nvidia")
    assert address.choice("vendor", ("amd", "nvidia"), "vendor") == "nvidia"
    assert address.text("vendor") == "nvidia"
    assert texts(address, "vendor") == ["“vendor” is given more than once; the last value is used."]
    repeated = reader("kind=gpu&kind=tpu")
    assert repeated.choices("kind", ("gpu", "tpu"), "kind") == ("gpu", "tpu")
    assert texts(repeated, "kind") == []


@pytest.mark.parametrize("query", ["kind=%00gpu%1f", "ki%00nd=gpu", "kind=%E2%80%AEgpu"])
def test_notes_repeat_no_control_characters(query):
    address = reader(query)
    address.choices("kind", ("tpu",), "kind")
    [note] = address.notes({"kind"})
    assert f"{note.parameter}{note.problem}".isprintable()


def test_long_bad_values_are_cut_to_three_notes():
    address = reader("a=" + "x" * 5000 + "&b=1&c=1&d=1&e=1")
    address.choice("a", [], "thing")
    notes = address.notes({"a"})
    assert notes[0].problem == "Unknown thing “" + "x" * 40 + "”"
    assert [note.parameter for note in notes] == ["a", "b", "c"]


def test_a_percent_sign_in_a_bad_value_is_shown_as_it_is():
    address = reader("at=%25s%25(value)s")
    assert address.parsed("at", lambda _text: None, "“%(value)s” is not a moment") is None
    assert texts(address, "at") == ["“%s%(value)s” is not a moment; it was ignored."]

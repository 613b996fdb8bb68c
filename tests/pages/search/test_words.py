"""How texts are cut into words, and how the index weighs them."""

import pytest

from stackviz.pages.search.index import SearchEntry, SearchIndex, SearchKind
from stackviz.pages.search.words import character_pairs, neighbours, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NVIDIA_H100 (SXM5)", ("nvidia", "h100", "sxm5")),
        ("ＲＴＸ　４０９０", ("rtx", "4090")),
        ("显存带宽GB/s", ("显存带宽", "gb", "s")),
        ("%_%'; DROP TABLE--", ("drop", "table")),
        ("...!?", ()),
        ("x" * 500, ("x" * 40,)),
    ],
)
def test_words_have_no_case_signs_or_width(text, words):
    assert split_words(text) == words


def test_neighbours_are_in_one_piece():
    assert set(neighbours(("rtx", "4090", "ti"))) == {"rtx4090", "4090ti", "rtx4090ti"}
    assert character_pairs("显存带宽") == ("显存", "存带", "带宽")


def entry(title: str, *names: str, line: str = "") -> SearchEntry:
    return SearchEntry(kind=SearchKind.COMPONENT, title=title, url=f"/{title}/", line=line, names=names)


INDEX = SearchIndex(
    [entry("cuDNN", line="Kernels for networks."), entry("cuBLAS", line="Kernels; called by cuDNN."), entry("RTX 4090")]
)


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("cudnn", ["cuDNN", "cuBLAS"]),  # the name before the text
        ("cudn", ["cuDNN"]),  # begun
        ("cdnn", ["cuDNN"]),  # a letter left out
        ("cubals", ["cuBLAS"]),  # two letters exchanged
        ("rtx4090", ["RTX 4090"]),
        ("4080", []),
        ("", []),
    ],
)
def test_the_best_comes_first(query, titles):
    assert [hit.entry.title for hit in INDEX.search(query)] == titles

"""Citing a sheet: the version is dated, the address keeps showing it, BibTeX reads it."""

from datetime import UTC, datetime, timedelta

from stackviz.pages.accelerators.sheet_files import cite
from stackviz.web.escaping import bibtex_text

CHANGED = datetime(2026, 11, 20, 16, 28, 9, 250_000, tzinfo=UTC)
ADDRESS = "https://accelweb.example/accelerators/acme-one/"


def test_the_permalink_names_the_second_after_the_last_change():
    found = cite("Acme One", "acme-one", ADDRESS, CHANGED, CHANGED + timedelta(days=1))
    assert found["permalink"] == ADDRESS + "?at=2026-11-20T16:28:10Z"
    assert found["day"] == "2026-11-20"


def test_current_second_uses_exact_moment():
    found = cite("Acme One", "acme-one", ADDRESS, CHANGED, CHANGED + timedelta(milliseconds=10))
    assert found["permalink"] == ADDRESS + "?at=2026-11-20T16:28:09.250000Z"


def test_the_sentence_has_name_site_version_and_address():
    found = cite("Acme One", "acme-one", ADDRESS, CHANGED, CHANGED + timedelta(days=1))
    assert found["plain"] == (
        "Acme One: published figures with their sources. accelweb, version of 2026-11-20. "
        "https://accelweb.example/accelerators/acme-one/?at=2026-11-20T16:28:10Z"
    )


def test_the_bibtex_entry_is_whole():
    found = cite("Acme One & Two", "acme-one", ADDRESS, CHANGED, CHANGED + timedelta(days=1))
    assert found["bibtex"] == (
        "@misc{accelweb-acme-one-20261120,\n"
        "  title        = {{Acme One \\& Two: published figures with their sources}},\n"
        "  organization = {accelweb},\n"
        "  year         = {2026},\n"
        "  month        = {11},\n"
        "  note         = {Version of 2026-11-20 16:28 UTC},\n"
        "  howpublished = {\\url{https://accelweb.example/accelerators/acme-one/?at=2026-11-20T16:28:10Z}}\n"
        "}"
    )


def test_what_tex_takes_for_commands_is_escaped():
    assert bibtex_text(r"50% of {A_1} & B\C #2 ~ $3^x") == (
        r"50\% of \{A\_1\} \& B\textbackslash{}C \#2 \textasciitilde{} \$3\textasciicircum{}x"
    )

"""The CSV of /fit/ has exactly what its page draws: the bars of memory, and the ranking with its rates."""

import csv
import html
import io
import re

import pytest

from stackviz.base.units import format_number, quantity_label
from stackviz.pages.fit.words import PARTS

CHOSEN = "model=llama-3-70b&accelerator=apple-m4-max-40&accelerator=nvidia-geforce-rtx-5090"


def file_of(site, query=""):
    answer = site.get(f"/fit/?{query}&format=csv" if query else "/fit/?format=csv")
    assert answer.headers["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def page_of(site, query=""):
    return html.unescape(site.get(f"/fit/?{query}").content.decode())


def tokens(rate):
    return format_number(float(rate), 2 if float(rate) < 100 else 3)


@pytest.mark.parametrize("query", ["", "model=qwen-3-32b&precision=q8_0"])
def test_the_file_has_every_row_of_the_ranking_in_its_order(fit_site, query):
    rows = [row for row in file_of(fit_site, query) if row["rank"]]
    drawn = []
    for number in range(1, len(rows) // 25 + 2):
        page = page_of(fit_site, f"{query}&page={number}")
        table = page.partition('class="data cards runs"')[2].partition("</table>")[0]
        drawn += re.findall(
            r'<td class="num place">(\d+)</td><th scope="row"><a href="/accelerators/([^/]+)/">.*?--p:(\d+(?:\.\d)?)".*?'
            r'<td class="num" data-label="Decode, tokens/s">(?:<span><b>([^<]*)</b> <small>([^<]*)</small>)?',
            table,
            re.DOTALL,
        )
    assert len(drawn) == len(rows) > 25
    for (rank, slug, used, mid, low_high), row in zip(drawn, rows, strict=True):
        assert (rank, slug) == (row["rank"], row["slug"])
        share = float(row["fullest_card_percent"])
        assert used == ("99.9" if share >= 99.5 else f"{share:.0f}")
        assert mid == (tokens(row["decode_mid"]) if row["decode_mid"] else "")
        assert low_high == (f"{tokens(row['decode_low'])}–{tokens(row['decode_high'])}" if row["decode_mid"] else "")


def test_the_file_has_every_part_of_the_bars_of_memory(fit_site):
    rows = {row["slug"]: row for row in file_of(fit_site, CHOSEN.replace("-40", "-40:64"))}
    assert list(rows) == ["nvidia-geforce-rtx-5090", "apple-m4-max-40"]
    assert [(row["rank"], row["fits"]) for row in rows.values()] == [("", "False"), ("1", "True")]
    page = page_of(fit_site, CHOSEN.replace("-40", "-40:64"))
    scale = max(float(row[column]) for row in rows.values() for column in ("needed_bytes", "usable_bytes"))
    figures = re.findall(r'<figure class="needs">.*?</figure>', page, re.DOTALL)
    assert len(figures) == 2
    for figure in figures:
        row = rows[re.search(r'href="/accelerators/([^/]+)/"', figure)[1]]
        bars = re.findall(r'<i class="[^"]*" style="--p:([\d.]+)" title="([^"]*): ([^":]*)"', figure)
        sizes = {str(PARTS[key]): float(row[f"{key}_bytes"]) for key in PARTS if row[f"{key}_bytes"]}
        sizes = {name: size for name, size in sizes.items() if size}
        assert {name: size for _share, name, size in bars} == {
            name: quantity_label(size, "B", binary=True, digits=3) for name, size in sizes.items()
        }
        assert [share for share, name, _size in bars] == [f"{sizes[name] / scale * 100:.2f}" for _s, name, _z in bars]
        assert sum(sizes.values()) == pytest.approx(float(row["needed_bytes"]))


def test_the_page_leads_to_its_file(fit_site):
    (address,) = re.findall(r'href="(\?[^"]*format=csv)"', page_of(fit_site, CHOSEN))
    rows = csv.DictReader(io.StringIO(fit_site.get(f"/fit/{address}").content.decode()))
    assert list(rows) == file_of(fit_site, CHOSEN)


def test_the_file_costs_as_many_queries_as_the_page(fit_site, django_assert_num_queries):
    """The editions, and the state of public machines; the process has read the catalogue before."""
    fit_site.get("/fit/")
    for query in (CHOSEN, f"{CHOSEN}&format=csv"):
        with django_assert_num_queries(2):
            fit_site.get(f"/fit/?{query}")

"""A name that leaves something out is the one sheet it equals, or what the reviewed table says."""

import pytest

from stackviz.records.catalog.bare_names import bare_names, family_slugs
from stackviz.records.catalog.match import sheets_of_bare_names
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.models import CitedResult

# Every name of the shipped results that only words of makers and families set apart from its sheet, each looked at.
BARE = {
    "AMD AI Pro R9700": "amd-radeon-ai-pro-r9700", "AMD Pro W7700": "amd-radeon-pro-w7700", "AMD RX 580": "amd-rx-580",
    "AMD RX 6500 XT": "amd-rx-6500-xt", "AMD RX 6700 XT": "amd-rx-6700-xt", "AMD RX 7600": "amd-rx-7600",
    "AMD RX 7900 XT": "amd-rx-7900-xt", "GTX 1070 Ti": "nvidia-geforce-gtx-1070-ti",
    "GTX 1660": "nvidia-geforce-gtx-1660", "Hailo-8L": "hailo-8l", "K20": "nvidia-k20",
    "RTX 2000 Ada": "nvidia-rtx-2000-ada", "RTX 2060 SUPER": "nvidia-geforce-rtx-2060-super",
    "RTX 3050 6GB": "nvidia-geforce-rtx-3050-6gb", "RTX 4090 D": "nvidia-geforce-rtx-4090-d",
    "RX 6800 XT": "amd-rx-6800-xt", "RX 6900 XT": "amd-rx-6900-xt", "RX 7800 XT": "amd-rx-7800-xt",
    "RX 7900 GRE": "amd-rx-7900-gre", "RX 7900 XT": "amd-rx-7900-xt", "Radeon 780M": "amd-radeon-780m",
    "Radeon 8060S": "amd-radeon-8060s",
}  # fmt: skip


def slugs_of(names):
    slugs = dict(Accelerator.objects.values_list("pk", "slug"))
    return {name: slugs[pk] for name, pk in sheets_of_bare_names(names).items()}


def test_names_without_the_family_are_their_one_sheet(curated, db):
    assert slugs_of(BARE) == BARE


def test_a_bare_name_is_the_variant_people_mean(curated, db):
    names = ("RTX 3060", "NVIDIA GeForce RTX 3080", "TitanX Pascal", "Maxwell Titan X")
    assert list(slugs_of(names).values()) == [
        "nvidia-geforce-rtx-3060", "nvidia-geforce-rtx-3080", "nvidia-titan-x-pascal", "nvidia-geforce-gtx-titan-x",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["H100", "RTX 4060 Ti", "RTX A5000M", "RTX 4090 of a friend", "Radeon", "GeForce RTX 4090 Mobile", "M2 ()"]
)
def test_what_says_more_or_less_than_a_sheet_is_none(curated, db, name):
    assert sheets_of_bare_names([name]) == {}


def test_every_line_of_the_table_names_sheets_and_a_reason(curated, db):
    slugs = set(Accelerator.objects.filter(is_public=True).values_list("slug", flat=True))
    for line in bare_names().values():
        assert set(line.slugs) <= slugs, line
        assert len(set(line.slugs)) == len(line.slugs) >= 1
        assert len(line.reason) > 10
    assert family_slugs("H100 80 GB") == ("nvidia-h100-sxm5-80gb", "nvidia-h100-pcie-80gb")
    assert family_slugs("RTX 3060") == family_slugs("a card of tomorrow") == ()


def test_shipped_results_are_matched_by_their_bare_names(cited, db):
    rows = CitedResult.objects.filter(reported_name__in=BARE)
    assert rows.count() > 380
    assert {row.accelerator.slug == BARE[row.reported_name] for row in rows.select_related("accelerator")} == {True}
    assert not rows.filter(state="unmatched").exists()

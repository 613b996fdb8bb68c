"""The names that rules carry with them are the catalogue's, and lead where the catalogue leads."""

import pytest
from django.core.management import call_command

from stackviz.records.catalog.match import CardName, card_table, known_cards, match_cards
from stackviz.records.catalog.models import Alias, SpecValue
from stackviz.report.rules import packaged_tables
from stackviz.report.rules.compatibility import packaged_cards

MIB = 2**20


def test_the_packaged_names_are_the_catalogues(curated, db):
    """If this fails: manage.py load_catalogue && manage.py write_card_table."""
    assert known_cards() == packaged_cards()


def test_the_command_writes_the_same_file_again(curated, db, tmp_path, monkeypatch):
    (tmp_path / "tables").mkdir()
    monkeypatch.setattr(
        "stackviz.records.catalog.management.commands.write_card_table.resources.files", lambda _: tmp_path
    )
    call_command("write_card_table", verbosity=0)
    written = (tmp_path / "tables" / "cards.csv").read_text(encoding="utf-8")
    assert written == card_table(packaged_cards())


def test_rules_and_site_take_every_name_for_the_same_product(curated, db):
    """Whatever a card says besides: nothing, the printed size, a size somewhat less, another size, its core count."""
    names = Alias.objects.exclude(kind=Alias.Kind.MACHINE).values_list("name", "accelerator__vendor__slug", "gpu_cores")
    cards = [
        CardName(name, vendor, memory, cores)
        for name, vendor, own_cores in names
        for memory in (None, 8188 * MIB, 12288 * MIB, 16384 * MIB, 24564 * MIB, 81559 * MIB)
        for cores in (None, own_cores)
    ]
    tables = packaged_tables()
    for card, match in zip(cards, match_cards(cards), strict=True):
        known = tables.known_card(card.vendor, card.reported_name, card.memory_bytes, card.gpu_cores)
        assert (known.accelerator if known else None) == (match.accelerator and match.accelerator.slug), card


def test_a_name_that_was_cut_is_nobodys_for_rules_and_site(curated, db):
    """Cut as tools cut it: after some letters, or behind the whole name."""
    names = Alias.objects.exclude(kind=Alias.Kind.MACHINE).values_list("name", "accelerator__vendor__slug")
    cards = [CardName(f"{name[:end]}...", vendor, 81559 * MIB) for name, vendor in names for end in (8, 16, None)]
    tables = packaged_tables()
    for card, match in zip(cards, match_cards(cards), strict=True):
        assert match.accelerator is None, card
        assert match.how != "ambiguous" or match.needs, card
        assert tables.known_card(card.vendor, card.reported_name, card.memory_bytes) is None, card


@pytest.mark.parametrize("status", [SpecValue.Status.DRAFT, SpecValue.Status.RETIRED])
def test_what_is_not_public_is_not_told(card, status):
    Alias.objects.create(accelerator=card, name="Acme One")
    SpecValue.objects.create(accelerator=card, field="compute_capability", value="9.9", status=status, said_by="x")
    [known] = [known for known in known_cards() if known.accelerator == "acme-one"]
    assert (known.reported_name, known.compute_capability, known.memory_bytes) == ("Acme One", "", None)


def test_a_sheet_that_is_not_public_is_not_told(card):
    Alias.objects.create(accelerator=card, name="Acme One")
    assert [known.reported_name for known in known_cards() if known.accelerator == "acme-one"] == ["Acme One"]
    card.is_public = False
    card.save()
    assert not [known for known in known_cards() if known.accelerator == "acme-one"]

"""Loading changed files: what changed follows, what was corrected here stays."""

import hashlib
import time
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from stackviz.records.catalog.files import read_catalogue
from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import Accelerator, Alias, CatalogueLoad, Source, SpecValue
from stackviz.records.catalog.past import public_values_at
from stackviz.records.curated.change import LOADED
from stackviz.records.curated.rows import CuratedDataError
from tests.records.catalog.fixtures import PRODUCT_FILES, change, files_of

T4_POWER = "nvidia-t4/tdp_w//nvidia-t4-product-page"


@pytest.fixture
def folder(tmp_path) -> Path:
    return files_of(tmp_path, "nvidia-t4", "nvidia-l4")


def new_power(folder: Path) -> None:
    change(folder, "specs/nvidia.csv", "nvidia-t4,tdp_w,70,W", "nvidia-t4,tdp_w,72,W")


def without(folder: Path, slug: str) -> dict[Path, str]:
    """Take the lines of an accelerator out of all files; what was in them."""
    before = {folder / name: (folder / name).read_text(encoding="utf-8") for name in PRODUCT_FILES}
    for path, text in before.items():
        left = [line for line in text.splitlines(keepends=True) if not line.startswith(f"{slug},")]
        path.write_text("".join(left), encoding="utf-8")
    return before


def t4_power() -> SpecValue:
    return SpecValue.objects.get(data_key=T4_POWER)


def test_every_line_of_the_files_becomes_a_row_in_seconds(db):
    started = time.process_time()
    load_catalogue()
    assert time.process_time() - started < 10
    catalogue = read_catalogue()
    counts = [model.objects.count() for model in (Accelerator, SpecValue, Alias, Source)]
    sources = [line for line in catalogue.sources if line.url]
    assert counts == [*map(len, (catalogue.accelerators, catalogue.specs, catalogue.aliases, sources))]


def test_changed_line_updates_row_and_history_and_no_other_past(folder, db):
    load_catalogue(folder)
    before = timezone.now()
    new_power(folder)
    assert str(load_catalogue(folder).tables["values"]) == "1 updated"
    power = t4_power()
    assert (power.value, power.amount) == ("72", 72.0)
    assert power.history.first().history_change_reason.startswith(LOADED)
    then, now = (
        {value.pk: value.value for value in public_values_at([power.accelerator_id], moment)}
        for moment in (before, timezone.now())
    )
    assert (then[power.pk], now[power.pk]) == ("70", "72")
    assert {pk for pk in then if then[pk] != now[pk]} == {power.pk}
    assert len(then) == power.accelerator.spec_values.filter(status="public").count() > 20


def test_older_source_gets_its_reading_date_from_files(folder, db):
    load_catalogue(folder)
    Source.objects.filter(key="sysrqmts-nvidia-tesla-t4").update(read_as="", read_on=None)
    before = Source.objects.get(key="sysrqmts-nvidia-tesla-t4")
    digest = hashlib.blake2b(repr((before.key, before.title, before.url, "press")).encode(), digest_size=16)
    Source.objects.filter(pk=before.pk).update(loaded_digest=digest.hexdigest())  # as an older release left it
    load_catalogue(folder, force=True)
    after = Source.objects.get(pk=before.pk)
    assert (after.read_as, str(after.read_on)) == ("first-hand", "2026-11-20")


def test_a_line_that_is_gone_takes_its_row_into_the_past(folder, db):
    load_catalogue(folder)
    before, pk = timezone.now(), t4_power().accelerator_id
    change(folder, "specs/nvidia.csv", "nvidia-t4,tdp_w,70,W,,published,public,nvidia-t4-product-page,\n", "")
    assert str(load_catalogue(folder).tables["values"]) == "1 deleted"
    assert not SpecValue.objects.filter(data_key=T4_POWER).exists()
    assert T4_POWER in {value.data_key for value in public_values_at([pk], before)}
    assert T4_POWER not in {value.data_key for value in public_values_at([pk], timezone.now())}


def test_a_value_corrected_here_is_left_alone(folder, db):
    load_catalogue(folder)
    value = t4_power()
    value.value = "75"
    value.save()
    new_power(folder)
    assert str(load_catalogue(folder).tables["values"]) == "1 left as corrected here"
    assert t4_power().value == "75"


def test_what_the_files_change_nobody_has_checked_yet(folder, db, admin_user):
    load_catalogue(folder)
    SpecValue.objects.filter(data_key=T4_POWER).update(checked_by=admin_user, checked_at=timezone.now())
    new_power(folder)
    load_catalogue(folder)
    assert (t4_power().value, t4_power().checked_by, t4_power().checked_at) == ("72", None, None)


def test_a_value_deleted_here_does_not_come_back(folder, db):
    load_catalogue(folder)
    t4_power().delete()
    assert str(load_catalogue(folder, force=True).tables["values"]) == "1 left as corrected here"
    assert not SpecValue.objects.filter(data_key=T4_POWER).exists()


def test_returning_line_is_loaded_again(folder, db):
    load_catalogue(folder)
    everything = without(folder, "nvidia-t4")
    load_catalogue(folder)
    gone = SpecValue.history.filter(data_key=T4_POWER, history_type="-").get()
    assert gone.history_change_reason.startswith(LOADED)
    for path, text in everything.items():
        path.write_text(text, encoding="utf-8")
    load_catalogue(folder)
    assert t4_power().value == "70"


def test_the_files_give_way_to_a_value_preferred_here(folder, db):
    """An admin adds a value of their own and prefers it: the files' value becomes the alternative, at the next load too."""
    load_catalogue(folder)
    theirs = t4_power()
    theirs.is_preferred = False
    theirs.save()
    SpecValue.objects.create(
        accelerator=theirs.accelerator, field="tdp_w", value="71", unit="W", source=theirs.source, status="public",
        is_preferred=True,
    )  # fmt: skip
    load_catalogue(folder, force=True)
    change(folder, "specs/nvidia.csv", "launch coverage said 75 W", "launch coverage said 75 W and then 70 W")
    load_catalogue(folder)
    preferred = SpecValue.objects.filter(accelerator=theirs.accelerator, field="tdp_w", is_preferred=True)
    assert [value.value for value in preferred] == ["71"]


def test_two_values_may_swap_their_preference(folder, db):
    load_catalogue(folder)
    for figure, old, new in (("320", "public", "alternative"), ("300", "alternative", "public")):
        line = f"nvidia-t4,memory_bandwidth_gb_s,{figure},GB/s,,published,"
        change(folder, "specs/nvidia.csv", f"{line}{old},", f"{line}{new},")
    assert str(load_catalogue(folder).tables["values"]) == "2 updated"
    preferred = SpecValue.objects.get(accelerator__slug="nvidia-t4", field="memory_bandwidth_gb_s", is_preferred=True)
    assert preferred.value == "300"


def test_an_accelerator_whose_lines_are_gone_goes(folder, db):
    load_catalogue(folder)
    without(folder, "nvidia-l4")
    assert str(load_catalogue(folder).tables["accelerators"]) == "1 deleted"
    assert [item.slug for item in Accelerator.objects.all()] == ["nvidia-t4"]


def test_an_accelerator_somebody_works_on_stays(folder, db):
    load_catalogue(folder)
    value = t4_power()
    value.note = "checked against the card"
    value.save()
    without(folder, "nvidia-t4")
    load_catalogue(folder)
    assert list(Accelerator.objects.get(slug="nvidia-t4").spec_values.values_list("note", flat=True)) == [value.note]


def test_wrong_files_change_nothing(folder, db):
    load_catalogue(folder)
    change(folder, "specs/nvidia.csv", "nvidia-t4,tdp_w,70,W", "nvidia-t4,tdp_w,70,K")
    with pytest.raises(
        CuratedDataError, match=r"specs/nvidia\.csv:\d+: tdp_w is measured in W; K measures something else"
    ):
        load_catalogue(folder)
    assert (t4_power().value, CatalogueLoad.objects.count()) == ("70", 1)


def test_the_command_says_what_it_did(folder, db, capsys, monkeypatch):
    monkeypatch.setattr("stackviz.records.catalog.load.load_catalogue.__defaults__", (folder,))
    call_command("load_catalogue")
    call_command("load_catalogue")
    first, second = capsys.readouterr().out.splitlines()
    assert "accelerators: 2 new; values: " in first
    assert second.endswith("already loaded")


def test_the_command_ends_with_what_is_wrong_in_the_files(folder, db, monkeypatch):
    change(folder, "accelerators.csv", "nvidia-t4,NVIDIA T4,nvidia", "nvidia-t4,NVIDIA T4,nobody")
    monkeypatch.setattr("stackviz.records.catalog.load.load_catalogue.__defaults__", (folder,))
    with pytest.raises(CommandError, match=r"nothing was loaded:\naccelerators\.csv:\d: unknown vendor 'nobody'"):
        call_command("load_catalogue")

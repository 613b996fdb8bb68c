"""Loading changed files: what changed follows, what was corrected here stays."""

import hashlib
import shutil
import time
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from stackviz.records.catalog.files import DATA
from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import Accelerator, CatalogueLoad, Source, SpecValue
from stackviz.records.catalog.past import public_values_at
from stackviz.records.curated.change import LOADED
from stackviz.records.curated.rows import CuratedDataError

T4_POWER = "nvidia-t4/tdp_w//nvidia-t4-product-page"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A copy of the curated files with two cards, that a test may change."""
    data = tmp_path / "data"
    (data / "specs").mkdir(parents=True)
    for name in ("vendors.csv", "sources.csv"):
        shutil.copy(DATA / name, data / name)
    for name in ("accelerators.csv", "aliases.csv", "specs/nvidia.csv"):
        lines = (DATA / name).read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines[1:] if line.startswith(("nvidia-t4,", "nvidia-l4,"))]
        (data / name).write_text("\n".join([lines[0], *kept, ""]), encoding="utf-8")
    return data


def change(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")


def t4_power() -> SpecValue:
    return SpecValue.objects.get(data_key=T4_POWER)


def test_the_whole_catalogue_loads_in_seconds(db):
    started = time.process_time()
    load_catalogue()
    assert time.process_time() - started < 10


def test_changed_line_updates_row_and_history(folder, db):
    load_catalogue(folder)
    change(folder, "specs/nvidia.csv", "nvidia-t4,tdp_w,70,W", "nvidia-t4,tdp_w,72,W")
    summary = load_catalogue(folder)
    assert str(summary.tables["values"]) == "1 updated"
    assert (t4_power().value, t4_power().amount) == ("72", 72.0)
    assert t4_power().history.first().history_change_reason.startswith("Loaded from the curated files, version ")


def test_older_source_gets_its_reading_date_from_files(folder, db):
    load_catalogue(folder)
    Source.objects.filter(key="sysrqmts-nvidia-tesla-t4").update(read_as="", read_on=None)
    before = Source.objects.get(key="sysrqmts-nvidia-tesla-t4")
    digest = hashlib.blake2b(repr((before.key, before.title, before.url, "press")).encode(), digest_size=16)
    Source.objects.filter(pk=before.pk).update(loaded_digest=digest.hexdigest())  # as an older release left it
    load_catalogue(folder, force=True)
    after = Source.objects.get(pk=before.pk)
    assert (after.read_as, str(after.read_on)) == ("first-hand", "2026-11-20")


def test_a_line_that_is_gone_takes_its_row_along(folder, db):
    load_catalogue(folder)
    change(
        folder,
        "specs/nvidia.csv",
        "nvidia-t4,tdp_w,70,W,,published,public,nvidia-t4-product-page,\n",
        "",
    )
    assert str(load_catalogue(folder).tables["values"]) == "1 deleted"
    assert not SpecValue.objects.filter(data_key=T4_POWER).exists()


def test_a_value_corrected_here_is_left_alone(folder, db):
    load_catalogue(folder)
    value = t4_power()
    value.value = "75"
    value.save()
    change(folder, "specs/nvidia.csv", "nvidia-t4,tdp_w,70,W", "nvidia-t4,tdp_w,72,W")
    assert str(load_catalogue(folder).tables["values"]) == "1 left as corrected here"
    assert t4_power().value == "75"


def test_what_the_files_change_nobody_has_checked_yet(folder, db, admin_user):
    load_catalogue(folder)
    SpecValue.objects.filter(data_key=T4_POWER).update(checked_by=admin_user, checked_at=timezone.now())
    change(folder, "specs/nvidia.csv", "nvidia-t4,tdp_w,70,W", "nvidia-t4,tdp_w,72,W")
    load_catalogue(folder)
    assert (t4_power().value, t4_power().checked_by, t4_power().checked_at) == ("72", None, None)


def test_a_value_deleted_here_does_not_come_back(folder, db):
    load_catalogue(folder)
    t4_power().delete()
    assert str(load_catalogue(folder, force=True).tables["values"]) == "1 left as corrected here"
    assert not SpecValue.objects.filter(data_key=T4_POWER).exists()


def test_returning_line_is_loaded_again(folder, db):
    load_catalogue(folder)
    everything = {name: (folder / name).read_text(encoding="utf-8") for name in ("specs/nvidia.csv", "aliases.csv")}
    for name, text in everything.items():
        kept = [line for line in text.splitlines(keepends=True) if not line.startswith("nvidia-t4,")]
        (folder / name).write_text("".join(kept), encoding="utf-8")
    load_catalogue(folder)
    gone = SpecValue.history.filter(data_key=T4_POWER, history_type="-").get()
    assert gone.history_change_reason.startswith(LOADED)
    for name, text in everything.items():
        (folder / name).write_text(text, encoding="utf-8")
    load_catalogue(folder)
    assert t4_power().value == "70"


def test_the_files_give_way_to_a_value_preferred_here(folder, db):
    """An admin adds a value of their own and prefers it: the files' value becomes the alternative, at the next load too."""
    load_catalogue(folder)
    theirs = t4_power()
    theirs.is_preferred = False
    theirs.save()
    SpecValue.objects.create(
        accelerator=theirs.accelerator,
        field="tdp_w",
        value="71",
        unit="W",
        source=theirs.source,
        status="public",
        is_preferred=True,
    )
    load_catalogue(folder, force=True)
    change(folder, "specs/nvidia.csv", "launch coverage said 75 W", "launch coverage said 75 W and then 70 W")
    load_catalogue(folder)
    preferred = SpecValue.objects.filter(accelerator=theirs.accelerator, field="tdp_w", is_preferred=True)
    assert [value.value for value in preferred] == ["71"]


def test_two_values_may_swap_their_preference(folder, db):
    load_catalogue(folder)
    change(
        folder,
        "specs/nvidia.csv",
        "nvidia-t4,memory_bandwidth_gb_s,320,GB/s,,published,public,",
        "nvidia-t4,memory_bandwidth_gb_s,320,GB/s,,published,alternative,",
    )
    change(
        folder,
        "specs/nvidia.csv",
        "nvidia-t4,memory_bandwidth_gb_s,300,GB/s,,published,alternative,",
        "nvidia-t4,memory_bandwidth_gb_s,300,GB/s,,published,public,",
    )
    assert str(load_catalogue(folder).tables["values"]) == "2 updated"
    preferred = SpecValue.objects.get(accelerator__slug="nvidia-t4", field="memory_bandwidth_gb_s", is_preferred=True)
    assert preferred.value == "300"


def test_an_accelerator_whose_lines_are_gone_goes(folder, db):
    load_catalogue(folder)
    for name in ("accelerators.csv", "aliases.csv", "specs/nvidia.csv"):
        lines = (folder / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / name).write_text(
            "".join(line for line in lines if not line.startswith("nvidia-l4,")), encoding="utf-8"
        )
    assert str(load_catalogue(folder).tables["accelerators"]) == "1 deleted"
    assert [item.slug for item in Accelerator.objects.all()] == ["nvidia-t4"]


def test_an_accelerator_somebody_works_on_stays(folder, db):
    load_catalogue(folder)
    value = t4_power()
    value.note = "checked against the card"
    value.save()
    for name in ("accelerators.csv", "aliases.csv", "specs/nvidia.csv"):
        lines = (folder / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / name).write_text(
            "".join(line for line in lines if not line.startswith("nvidia-t4,")), encoding="utf-8"
        )
    load_catalogue(folder)
    assert [value.note for value in Accelerator.objects.get(slug="nvidia-t4").spec_values.all()] == [
        "checked against the card"
    ]


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


# --- what a load does to the past ---


def test_a_load_changes_the_past_of_nothing_before_it(folder, db):
    load_catalogue(folder)
    before = timezone.now()
    change(folder, "specs/nvidia.csv", "nvidia-t4,tdp_w,70,W", "nvidia-t4,tdp_w,72,W")
    load_catalogue(folder)
    power = SpecValue.objects.get(data_key=T4_POWER)
    stood = {value.pk: value.value for value in public_values_at([power.accelerator_id], before)}
    stands = {value.pk: value.value for value in public_values_at([power.accelerator_id], timezone.now())}
    assert (stood[power.pk], stands[power.pk]) == ("70", "72")
    assert {pk for pk in stood if stood[pk] != stands[pk]} == {power.pk}
    assert len(stood) == power.accelerator.spec_values.filter(status="public").count() > 20


def test_a_value_a_load_took_away_is_in_the_past_only(folder, db):
    load_catalogue(folder)
    t4 = Accelerator.objects.get(slug="nvidia-t4")
    before = timezone.now()
    change(
        folder,
        "specs/nvidia.csv",
        "nvidia-t4,tdp_w,70,W,,published,public,nvidia-t4-product-page,\n",
        "",
    )
    load_catalogue(folder)
    assert T4_POWER in {value.data_key for value in public_values_at([t4.pk], before)}
    assert T4_POWER not in {value.data_key for value in public_values_at([t4.pk], timezone.now())}

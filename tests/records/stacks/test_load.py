"""Loading the curated files: repeatable, quick when nothing changed, never over what somebody corrected."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import CatalogueEdition, Source
from stackviz.records.curated.change import LOADED
from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.stacks.files import DATA
from stackviz.records.stacks.load import load_stacks
from stackviz.records.stacks.models import (
    Call,
    Component,
    Counterpart,
    Edition,
    Placement,
    Release,
    Requirement,
    Stack,
    StacksLoad,
    UnfilledRole,
)
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules import packaged_tables
from tests.records.catalog.fixtures import change

TABLES = (Source, Component, Stack, Placement, Call, Counterpart, UnfilledRole, Release, Requirement)


def counts() -> list[int]:
    return [model.objects.count() for model in TABLES]


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(DATA, tmp_path / "data")


def test_the_first_load_brings_everything(db):
    summary = load_stacks()
    assert Stack.objects.count() == 15
    assert Component.objects.count() > 150
    assert UnfilledRole.objects.filter(done_by=None).count() > 10
    assert Requirement.objects.count() > 1500
    assert str(summary.tables["components"]).startswith(str(Component.objects.count()))


def test_a_second_load_changes_nothing_and_asks_one_question(stacks, django_assert_num_queries):
    before, edition = counts(), Edition.current()
    with django_assert_num_queries(1):
        assert load_stacks().is_unchanged
    assert (counts(), Edition.current()) == (before, edition)


def test_a_forced_load_finds_everything_unchanged(stacks):
    before = counts()
    summary = load_stacks(force=True)
    assert {str(table) for table in summary.tables.values()} == {"unchanged"}
    assert counts() == before


@pytest.mark.parametrize(
    ("model", "which", "field", "table"),
    [
        (Component, {"slug": "cudnn"}, "what_it_is", "components"),
        (
            Requirement,
            {"release__component__slug": "cuda-runtime", "release__version": "12", "platform": "linux", "relation": "needs"},
            "low", "requirements",
        ),
    ],
)  # fmt: skip
def test_a_correction_survives_the_next_load_and_is_counted(stacks, model, which, field, table):
    row = model.objects.get(**which)
    setattr(row, field, "999.1")
    row.save()
    summary = load_stacks(force=True)
    row.refresh_from_db()
    assert (getattr(row, field), summary.tables[table].protected) == ("999.1", 1)


def test_what_somebody_deleted_stays_deleted(stacks):
    Counterpart.objects.get(component__slug="triton", other__slug="cpp-inductor").delete()
    load_stacks(force=True)
    assert not Counterpart.objects.filter(component__slug="triton", other__slug="cpp-inductor").exists()


def test_changed_line_updates_its_row_with_history(stacks, folder):
    change(folder, "components.toml", 'name = "cuDNN"', 'name = "cuDNN 9"')
    summary = load_stacks(folder)
    component = Component.objects.get(slug="cudnn")
    assert component.name == "cuDNN 9"
    assert (summary.tables["components"].updated, summary.tables["components"].created) == (1, 0)
    assert component.history.first().history_change_reason.startswith(LOADED)


def test_a_line_that_is_gone_takes_its_row_along(stacks, folder):
    lines = (folder / "counterparts.csv").read_text().splitlines(keepends=True)
    (folder / "counterparts.csv").write_text("".join(line for line in lines if not line.startswith("triton,cpp")))
    assert load_stacks(folder).tables["counterparts"].deleted == 1


def test_a_row_made_by_hand_is_left_alone(stacks):
    component = Component.objects.get(slug="cudnn")
    Release.objects.create(component=component, version="99.0", source=component.source)
    load_stacks(force=True)
    assert Release.objects.filter(version="99.0").exists()


def test_a_role_that_was_added_here_stays(stacks):
    row = UnfilledRole.objects.get(stack__slug="cpu", role="sparse")
    source = row.source
    row.delete()
    kept = UnfilledRole.objects.create(stack=row.stack, role="sparse", explanation="Ours.", source=source)
    load_stacks(force=True)
    assert UnfilledRole.objects.get(stack__slug="cpu", role="sparse").explanation == kept.explanation == "Ours."


def test_wrong_files_change_nothing(stacks, folder):
    before = counts()
    (folder / "counterparts.csv").write_text("component,other,relation,differs,source\nx,y,same-role,No.,z\n")
    with pytest.raises(ValueError, match="unknown component x"):
        load_stacks(folder)
    assert counts() == before


@pytest.mark.parametrize("order", [(load_catalogue, load_stacks), (load_stacks, load_catalogue)])
def test_the_catalogue_and_the_stacks_load_in_either_order(db, order):
    for load in order:
        load()
    for load in order:
        load(force=True)
    assert Source.objects.filter(components__isnull=False).exists()


def test_a_source_the_catalogue_has_already_is_not_named_twice(db):
    Source.objects.create(key="by-hand", title="NumPy documentation", url="https://numpy.org/doc/stable/")
    load_stacks()
    assert Component.objects.get(slug="numpy").source.key == "by-hand"
    assert str(load_stacks(force=True).tables["sources"]) == "unchanged"


def test_the_command_says_what_it_did(db):
    said = StringIO()
    call_command("load_stacks", stdout=said)
    call_command("load_stacks", stdout=said)
    first, second = said.getvalue().splitlines()
    assert "231 new" in first
    assert second.endswith("already loaded")
    assert StacksLoad.objects.count() == 1


def test_the_command_names_what_is_wrong_with_the_files(db, monkeypatch):
    def refuse(**_):
        raise CuratedDataError(["stacks.toml: no"])

    monkeypatch.setattr("stackviz.records.stacks.management.commands.load_stacks.Command.load", staticmethod(refuse))
    with pytest.raises(CommandError, match=r"nothing was loaded:\nstacks.toml: no"):
        call_command("load_stacks")


def load_in_thread(_number: int) -> bool:
    try:
        return load_stacks().is_unchanged
    finally:
        connection.close()


def test_two_sites_that_start_together_load_once_on_postgres(on_postgres):
    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(load_in_thread, range(2))) == [False, True]
    assert StacksLoad.objects.count() == 1


def test_catalogue_load_renews_stacks_edition(stacks):
    """It may have renamed a source that a component names."""
    before = Edition.current()
    load_catalogue()
    assert Edition.current() != before


def test_stacks_load_renews_catalogue_edition(stacks):
    before = CatalogueEdition.current()
    load_stacks(force=True)
    assert CatalogueEdition.current() != before


def test_the_stacks_load_on_postgresql_too(on_postgres):
    load_stacks()
    assert Requirement.objects.count() > 1500
    assert {str(table) for table in load_stacks(force=True).tables.values()} == {"unchanged"}
    assert rule_tables() == packaged_tables()

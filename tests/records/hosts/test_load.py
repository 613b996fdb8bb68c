from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.hosts.load import load_hosts
from stackviz.records.hosts.models import Host, HostCard, HostComponent, HostEdition, HostLoad
from tests.records.hosts.conftest import CARD, COMPONENT, HOST

pytestmark = pytest.mark.django_db


def test_host_is_loaded_with_card_and_software(folder, rtx_4090):
    summary = load_hosts(folder())
    host = Host.objects.get()
    assert (host.slug, host.state, str(host.seen_on)) == ("rtx-4090-desktop-2026-07", "public", "2026-07-25")
    assert host.cards.get().accelerator == rtx_4090
    assert [str(part) for part in host.components.all()] == ["pytorch 2.10.0+cu128", "torch.cuda_version 12.8"]
    assert str(summary.tables["hosts"]) == "1 new"


def test_second_load_of_the_same_files_is_cheap(folder, rtx_4090, django_assert_num_queries):
    load_hosts(folder())
    edition = HostEdition.current()
    with django_assert_num_queries(2):
        assert load_hosts(folder()).is_unchanged
    assert HostEdition.current() == edition


def test_changed_and_removed_lines_change_the_rows(folder, rtx_4090):
    other = HOST | {"host": "rtx-4090-other"}
    load_hosts(folder(hosts=[HOST, other], cards=[CARD, CARD | {"host": "rtx-4090-other"}]))
    summary = load_hosts(folder(hosts=[HOST | {"note": "Capped at 350 W."}], components=[COMPONENT]))
    assert {name: str(did) for name, did in summary.tables.items()} == {
        "hosts": "1 updated, 1 deleted",
        "cards": "unchanged",
        "components": "1 deleted",
    }
    assert Host.objects.get().note == "Capped at 350 W."
    assert not HostCard.objects.filter(host__slug="rtx-4090-other").exists()


def test_host_that_left_the_files_can_come_back(folder, rtx_4090):
    load_hosts(folder())
    load_hosts(folder(hosts=[], cards=[], components=[]))
    assert not HostComponent.objects.exists()
    load_hosts(folder())
    assert HostComponent.objects.count() == 2


def test_correction_survives_a_load(folder, rtx_4090):
    load_hosts(folder())
    host = Host.objects.get()
    host.cpu = "AMD Ryzen 9 9950X3D"
    host.save()
    summary = load_hosts(folder(hosts=[HOST | {"cpu": "AMD Ryzen 7 9700X"}]))
    assert Host.objects.get().cpu == "AMD Ryzen 9 9950X3D"
    assert summary.tables["hosts"].protected == 1


def test_host_deleted_here_stays_deleted_with_its_cards(folder, rtx_4090):
    files = folder(hosts=[HOST, HOST | {"host": "other"}], cards=[CARD, CARD | {"host": "other"}])
    load_hosts(files)
    Host.objects.get(slug=HOST["host"]).delete()
    load_hosts(files, force=True)
    assert [host.slug for host in Host.objects.all()] == ["other"]
    assert (HostCard.objects.count(), HostComponent.objects.count()) == (1, 0)


def test_hosts_that_were_all_deleted_here_stay_deleted(folder, rtx_4090):
    load_hosts(folder())
    Host.objects.get().delete()
    summary = load_hosts(folder(), force=True)
    assert not Host.objects.exists()
    assert str(summary.tables["hosts"]) == "1 left as corrected here"


def test_wrong_files_change_nothing(folder, rtx_4090, monkeypatch):
    load_hosts(folder())
    wrong = folder(hosts=[HOST | {"seen_on": ""}])
    with pytest.raises(CuratedDataError, match=r"hosts\.csv:2: seen_on: missing"):
        load_hosts(wrong)
    assert (Host.objects.count(), HostLoad.objects.count()) == (1, 1)
    module = "stackviz.records.hosts.management.commands.load_hosts.load_hosts"
    monkeypatch.setattr(module, lambda **_: load_hosts(wrong))
    with pytest.raises(CommandError, match=r"nothing was loaded:\nhosts.csv:2"):
        call_command("load_hosts", stdout=StringIO())


def test_catalogue_without_the_vendor_is_named(folder):
    with pytest.raises(CuratedDataError, match="load the catalogue first: it lacks nvidia"):
        load_hosts(folder())


def test_first_load_is_in_the_history(folder, rtx_4090):
    load_hosts(folder())
    record = Host.objects.get().history.get()
    assert record.history_change_reason.startswith("Loaded from the curated files, version ")


def test_demo_off_leaves_hosts_out_and_corrections_in(folder, rtx_4090, settings):
    files = folder(hosts=[HOST, HOST | {"host": "other"}], cards=[CARD, CARD | {"host": "other"}])
    load_hosts(files)
    corrected = Host.objects.get(slug="other")
    corrected.note = "Limited to 350 W."
    corrected.save()
    settings.DEMO = False
    load_hosts(files)
    assert [host.slug for host in Host.objects.all()] == ["other"]
    assert load_hosts(files).is_unchanged
    settings.DEMO = True
    load_hosts(files)
    assert Host.objects.count() == 2

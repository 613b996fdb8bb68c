"""Keeps the words of machines as their names are: written when a machine is made or renamed, or its lab is."""

from collections.abc import Collection, Iterable

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.signals import post_save

from stackviz.pages.search.beginnings import beginnings
from stackviz.pages.search.models import LONGEST, MachineWord
from stackviz.records.labs.models import Lab, Machine

AT_ONCE = 200  # machines
OF_A_NAME = {"name", "slug", "lab", "lab_id"}


def write_words(machines: QuerySet[Machine]) -> None:
    """Make the stored words of these machines those of their names. Two reads and at most two writes for AT_ONCE."""
    batch: list[Machine] = []
    for machine in machines.select_related("lab").iterator(chunk_size=AT_ONCE):
        batch.append(machine)
        if len(batch) == AT_ONCE:
            _write(batch)
            batch = []
    if batch:
        _write(batch)


@transaction.atomic
def _write(machines: Collection[Machine]) -> None:
    stored = {
        (machine, text): pk
        for pk, machine, text in MachineWord.objects.filter(machine__in=machines).values_list(
            "pk", "machine_id", "beginning"
        )
    }
    wanted = {(machine.pk, text) for machine in machines for text in words_of(machine)}
    outdated = [pk for key, pk in stored.items() if key not in wanted]
    if outdated:
        MachineWord.objects.filter(pk__in=outdated).delete()
    _add(wanted - stored.keys())


def _add(words: Iterable[tuple[int, str]]) -> None:
    MachineWord.objects.bulk_create(
        (MachineWord(machine_id=machine, beginning=text) for machine, text in sorted(words)),
        batch_size=2000,
        ignore_conflicts=True,  # of two requests that name a machine at once, both write the same
    )


def words_of(machine: Machine) -> frozenset[str]:
    return beginnings((machine.name, machine.slug, machine.lab.name), LONGEST)


def follow_names() -> None:
    """Called once, when Django is set up."""
    post_save.connect(_machine_saved, sender=Machine, dispatch_uid="words of a machine")
    post_save.connect(_lab_saved, sender=Lab, dispatch_uid="words of a lab")


def _machine_saved(instance: Machine, *, created: bool, update_fields: frozenset[str] | None, **_: object) -> None:
    if created:
        _add((instance.pk, text) for text in words_of(instance))
    elif update_fields is None or OF_A_NAME & update_fields:
        write_words(Machine.objects.filter(pk=instance.pk))


def _lab_saved(instance: Lab, *, created: bool, update_fields: frozenset[str] | None, **_: object) -> None:
    if not created and (update_fields is None or "name" in update_fields):
        write_words(Machine.objects.filter(lab=instance))

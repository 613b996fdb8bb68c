"""Keys: made once, shown once, known by their digest."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from stackviz.records.labs.keys import (
    KeyForbidden,
    KeyUnknown,
    authenticate,
    check_again,
    check_with_machine,
    create_key,
    key_digest,
    note_use,
    recognise,
    revoke,
)
from stackviz.records.labs.models import AgentKey, Lab, Machine


@pytest.fixture
def made(lab) -> tuple[AgentKey, str]:
    return create_key(lab=lab, name="cron on dgx-07")


def bearer(secret: str) -> str:
    return f"Bearer {secret}"


def test_a_key_reads_as_documented(made):
    key, secret = made
    mark, prefix, rest = secret.split("_", 2)
    assert (mark, prefix, len(rest)) == ("aw", key.prefix, 43)


def test_the_secret_is_nowhere_in_the_database(made):
    key, secret = made
    assert secret not in f"{key} {key!r}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM labs_agentkey")
        row = " ".join(map(str, cursor.fetchone()))
    assert secret.split("_", 2)[2] not in row
    assert key_digest(secret) in row


def test_a_key_speaks_for_its_lab_or_machine(made, lab, machine):
    sender = authenticate(bearer(made[1]))
    assert (sender.lab_id, sender.lab_is_public, sender.machine_id) == (lab.pk, True, None)
    sender = authenticate(bearer(create_key(lab=lab, machine=machine, name="k")[1]))
    assert (sender.machine_id, sender.machine_identity) == (machine.pk, None)


def test_a_key_for_a_machine_of_another_lab_is_not_made(dark, machine):
    with pytest.raises(ValueError, match="does not belong to lab dark"):
        create_key(lab=dark, machine=machine, name="k")


@pytest.mark.parametrize("header", ["", "Bearer", "Token aw_x", "Bearer aw_short_x", "Bearer aw_ABCDEFGH_" + "x" * 43])
def test_what_is_no_key_is_unknown(db, header):
    with pytest.raises(KeyUnknown):
        authenticate(header)


def test_every_changed_letter_makes_a_key_unknown(made):
    _, secret = made
    for place in range(len("aw_"), len(secret), 7):
        wrong = secret[:place] + ("a" if secret[place] != "a" else "b") + secret[place + 1 :]
        with pytest.raises(KeyUnknown):
            authenticate(bearer(wrong))


def test_that_a_key_was_revoked_is_told_only_to_who_has_it(made):
    key, secret = made
    revoke(key)
    with pytest.raises(KeyForbidden, match="revoked"):
        authenticate(bearer(secret))
    with pytest.raises(KeyUnknown):
        authenticate(bearer(secret[:-2] + "xx"))


def test_a_key_ends_when_it_was_said_to(lab):
    _, secret = create_key(lab=lab, name="k", expires_at=timezone.now() + timedelta(days=1))
    assert authenticate(bearer(secret))
    AgentKey.objects.update(created_at=timezone.now() - timedelta(days=2), expires_at=timezone.now())
    with pytest.raises(KeyForbidden, match="expired"):
        authenticate(bearer(secret))


def test_a_key_cannot_end_before_it_begins(lab):
    with pytest.raises(IntegrityError, match="agentkey_expires_after_creation"):
        create_key(lab=lab, name="k", expires_at=timezone.now() - timedelta(days=1))


def test_revoking_twice_keeps_the_first_time(made):
    key, _ = made
    revoke(key)
    first = key.revoked_at
    revoke(key)
    assert key.revoked_at == first


def test_a_key_is_looked_up_with_one_query_whatever_it_is(made, django_assert_num_queries):
    for text in (made[1], made[1][:-2] + "xx", "aw_00000000_" + "x" * 43):
        with django_assert_num_queries(1):
            try:
                authenticate(bearer(text))
            except KeyUnknown:
                continue


def test_a_recognised_key_costs_no_query_for_a_while(made, django_assert_num_queries):
    recognise(bearer(made[1]))
    with django_assert_num_queries(0):
        assert recognise(bearer(made[1])).key_id == made[0].pk


def test_what_is_recognised_is_checked_again_before_it_matters(made):
    key, secret = made
    sender = recognise(bearer(secret))
    check_again(sender)
    revoke(key)
    with pytest.raises(KeyForbidden):
        check_again(sender)
    key.delete()
    with pytest.raises(KeyUnknown):
        check_again(sender)


def test_key_is_checked_with_its_machine_in_one_query(made, django_assert_num_queries):
    key, secret = made
    sender = recognise(bearer(secret))
    known = Machine.objects.create(lab=key.lab, slug="one", name="One", identity="1" * 64)
    Machine.objects.create(lab=key.lab, slug="two", name="Two", identity="2" * 64, merged_into=known)
    with django_assert_num_queries(2):
        assert check_with_machine(sender, "1" * 64) == (sender, known.pk)
        assert check_with_machine(sender, "2" * 64) == (sender, known.pk)
    assert check_with_machine(sender, "3" * 64) == (sender, None)
    revoke(key)
    for identity in ("1" * 64, "3" * 64):
        with pytest.raises(KeyForbidden):
            check_with_machine(sender, identity)


def test_a_wrong_secret_is_never_recognised_for_a_right_one(made):
    recognise(bearer(made[1]))
    with pytest.raises(KeyUnknown):
        recognise(bearer(made[1][:-2] + "xx"))


def test_use_is_noted_at_most_once_a_minute(made, django_assert_num_queries):
    key, _ = made
    now = timezone.now()
    with django_assert_num_queries(1):
        note_use(key.pk, now)
        note_use(key.pk, now + timedelta(seconds=59))
    with django_assert_num_queries(1):
        note_use(key.pk, now + timedelta(seconds=61))
    key.refresh_from_db()
    assert key.last_used_at == now + timedelta(seconds=61)


def test_a_labs_keys_go_with_the_lab_and_reports_stay_readable(made, lab):
    Lab.objects.filter(pk=lab.pk).delete()
    assert not AgentKey.objects.exists()
    assert not Machine.objects.exists()

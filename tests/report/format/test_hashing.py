"""Identifiers leave a machine as these hashes. They are stored: another hash of one identifier is another machine."""

import pytest

from stackviz.report.format import hashed, hashed_uuid

UUID = "6f1c1d2e-1111-2222-3333-444455556666"
CARD = "4b404dd5e623c6303febf20c411e21eee031951b8cc7e83be308dc74bf37481a"
MACHINE = "5d009ff55a963ab54f6330bfc64e00d9208a0ec2299b687f6b90e753633eda82"


@pytest.mark.parametrize("identifier", ["0123456789abcdef0123456789abcdef", " 0123456789ABCDEF0123456789abcdef\n"])
def test_an_identifier_has_the_hash_it_had_in_every_version(identifier):
    assert hashed("machine-id", identifier) == MACHINE


@pytest.mark.parametrize("written", [UUID, f"GPU-{UUID}", f"MIG-{UUID}", f" gpu-{UUID.upper()} "])
def test_a_card_has_one_hash_however_a_tool_writes_its_uuid(written):
    assert hashed_uuid(written) == CARD


def test_one_identifier_of_two_kinds_has_two_hashes():
    assert hashed("machine-id", UUID) != hashed("card-uuid", UUID) == CARD

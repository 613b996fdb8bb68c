"""A computer stays one machine: in containers, after a restart, when a card is lost, and for whoever names it."""

import json

import pytest

from stackviz.agent.identity import machine_identity
from stackviz.report.format import hashed
from tests.agent.machines_to_ask import machine

HOST_ID = "b08dfa6083e7567a1921a715000001fb"
IMAGE_ID = "11111111222222223333333344444444"
BOARD = "4c4c4544-0042-3510-8052-b4c04f4e4d32"
MOUNT = "36 25 0:31 / / rw - overlay overlay rw\n99 36 8:1 {} /etc/machine-id ro - ext4 /dev/sda1 rw\n"
IN_DOCKER = {"machine.container": "docker"}


@pytest.fixture(autouse=True)
def system_state(monkeypatch, tmp_path):
    monkeypatch.setattr("stackviz.agent.identity.system_folder", lambda: tmp_path / "system")
    return tmp_path / "system"


def cards(*names, **facts):
    return [{"uuid_hash": hashed("card", name), "facts": facts} for name in names]


FILES = {
    "boot": "/proc/sys/kernel/random/boot_id", "board": "/sys/class/dmi/id/product_uuid",
    "mounts": "/proc/self/mountinfo", "machine_id": "/etc/machine-id", "run_host": "/run/host/etc/machine-id",
}  # fmt: skip


def container(root, **files):
    files = {"boot": "boot-1", "machine_id": IMAGE_ID} | files
    return machine(root, {FILES[name]: text for name, text in files.items()})


def of(around, told, folder, facts=None, explicit=None):
    return machine_identity(around, IN_DOCKER if facts is None else facts, told, folder, explicit)


def test_an_id_that_somebody_gave_comes_first(tmp_path):
    inside = container(tmp_path / "c", board=BOARD)
    first = of(inside, cards("a"), tmp_path / "s", explicit="rack 7, slot b")
    again = of(machine(tmp_path / "other"), [], tmp_path / "t", {}, explicit="rack 7, slot b")
    assert (first.value, first.source) == (again.value, "explicit")
    assert "rack" not in first.value


def test_a_container_that_is_given_its_hosts_id_is_its_host(tmp_path):
    host = machine_identity(machine(tmp_path / "h", {"/etc/machine-id": HOST_ID}), {}, cards("a"), tmp_path / "hs")
    assert host.source == "system"
    given = of(container(tmp_path / "c"), [], tmp_path / "s", explicit=HOST_ID.upper())
    mounted = of(
        container(tmp_path / "m", machine_id=HOST_ID, mounts=MOUNT.format("/etc/machine-id")), [], tmp_path / "s"
    )
    toolbox = of(container(tmp_path / "t", run_host=HOST_ID), [], tmp_path / "s")
    assert {given.value, mounted.value, toolbox.value} == {host.value}
    assert (mounted.source, toolbox.source) == ("host", "host")


def test_without_cards_a_stored_id_stays_even_as_root(tmp_path):
    first = of(container(tmp_path / "c"), [], tmp_path / "s")
    assert first.source == "file"
    assert of(container(tmp_path / "d", board=BOARD), [], tmp_path / "s").value == first.value
    assert hashed("machine", IMAGE_ID) not in {
        first.value,
        of(container(tmp_path / "c"), cards("a"), tmp_path / "t").value,
    }


def test_as_root_a_container_is_the_board_it_runs_on(tmp_path):
    first = of(container(tmp_path / "c", board=BOARD), cards("a", "b"), tmp_path / "s")
    restarted = of(container(tmp_path / "d", boot="boot-2", board=BOARD.upper()), cards("b"), tmp_path / "t")
    assert (first.value, first.source) == (restarted.value, "board")
    assert first.by_cards != restarted.by_cards


@pytest.mark.parametrize(
    "uuid",
    ["", "Not Settable", "0" * 8, "00000000-0000-0000-0000-000000000000", "03000200-0400-0500-0006-000700080009"],
)
def test_a_boards_id_that_many_have_is_none(tmp_path, uuid):
    assert of(container(tmp_path / "c", board=uuid), cards("a"), tmp_path / "s").source == "cards"


def test_a_lost_card_does_not_make_another_machine(tmp_path):
    eight = [f"card {number}" for number in range(8)]
    before = of(container(tmp_path / "c"), cards(*eight), tmp_path / "s")
    lost = of(container(tmp_path / "c"), cards(*eight[:-1]), tmp_path / "s")
    rebooted = of(container(tmp_path / "d", boot="boot-2"), cards(*eight[2:]), tmp_path / "s")
    assert before.value == before.by_cards
    assert {lost.value, rebooted.value} == {before.value}
    assert lost.by_cards != before.by_cards


def test_shared_home_keeps_two_machines_apart(tmp_path):
    one = of(container(tmp_path / "c"), cards("a", "b"), tmp_path / "s")
    other = of(container(tmp_path / "d", boot="boot-2"), cards("x", "y"), tmp_path / "s")
    assert one.value != other.value
    assert of(container(tmp_path / "c", boot="boot-3"), cards("b"), tmp_path / "s").value == one.value
    assert of(container(tmp_path / "d", boot="boot-4"), cards("x"), tmp_path / "s").value == other.value


def test_instances_of_a_card_say_nothing_about_the_machine(tmp_path):
    whole = of(container(tmp_path / "c"), cards("a"), tmp_path / "s")
    cut = of(container(tmp_path / "c"), cards("a") + cards("mig-1", "mig-2", mig_parent_index=0), tmp_path / "t")
    assert whole.by_cards == cut.by_cards


def test_where_nothing_can_be_stored_the_boot_tells(tmp_path, system_state):
    system_state.write_text("a file, where a folder should be")
    (tmp_path / "s").write_text("and here")
    inside = container(tmp_path / "c")
    first = of(inside, [], tmp_path / "s")
    assert (first.value, first.source) == (of(inside, [], tmp_path / "s").value, "boot")


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"machines": [1]}', '{"machines": [{"boot": "x", "cards": 1, "identity": 2}]}']
)
def test_a_damaged_list_of_machines_is_no_crash(tmp_path, content):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "machines-by-cards.json").write_text(content)
    assert of(container(tmp_path / "c"), cards("a"), tmp_path / "s").source == "cards"
    assert json.loads((tmp_path / "s" / "machines-by-cards.json").read_text())["machines"][-1]["cards"]


def test_how_it_is_recognised_is_reported(tmp_path):
    told = of(container(tmp_path / "c", board=BOARD), cards("a"), tmp_path / "s")
    assert told.facts == {"machine.recognised_by": "board", "machine.identity_by_cards": told.by_cards}
    assert of(container(tmp_path / "d"), [], tmp_path / "t").facts == {"machine.recognised_by": "file"}

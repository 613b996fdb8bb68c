"""What must not leave a machine does not."""

import json
import os
import stat
import sys

import pytest

from stackviz.agent import identity
from stackviz.agent.privacy import mask_of
from stackviz.report.format import hashed
from tests.agent.machines_to_ask import machine

MASK = mask_of(["wilhelmina"], ["gpu-node-17.lab.example", "gpu-node-17"], ["/data/people/wilhelmina"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/data/people/wilhelmina/venv/lib/libcudnn.so", "~/venv/lib/libcudnn.so"),
        ("/home/other/x and /Users/other/y", "~/x and ~/y"),
        ("C:\\Users\\other\\torch", "~\\torch"),
        ("permission denied for wilhelmina", "permission denied for <user>"),
        ("Wilhelmina's process", "<user>'s process"),
        ("gpu-node-17.lab.example: lost; gpu-node-17 too", "<host>: lost; <host> too"),
        ("GPU-6f1c1d2e-1111-2222-3333-444455556666", "<uuid>"),
        ("id 6F1C1D2E-1111-2222-3333-444455556666.", "id <uuid>."),
        ("eth0 aa:bb:cc:dd:ee:ff", "eth0 <address>"),
        ("connect to 10.1.2.3 failed", "connect to <address> failed"),
        ("MASTER_ADDR=10.0.0.5:29500.", "MASTER_ADDR=<address>:29500."),
        ("tcp://192.168.7.9/", "tcp://<address>/"),
        ("route 10.0.0.0/8", "route <address>/8"),
        ("[2001:db8::1]:443 refused", "[<address>]:443 refused"),
        ("2001:db8::1: refused", "<address>: refused"),
        ("2001:db8:: and inet6 addr:fe80::a00:27ff:fe4e:66a1%eth0", "<address> and inet6 addr:<address>"),
        ("2001:0db8:0:0:0:0:0:1", "<address>"),
        ("::ffff:10.1.2.3", "<address>"),
        ("64:ff9b::a01:203.", "<address>."),
        ("eth0 AA-BB-CC-DD-EE-FF up", "eth0 <address> up"),
        ("ib0 80:00:02:08:fe:80:00:00:00:00:00:00:e4:1d:2d:03:00:aa:bb:cc", "ib0 <address>"),
        ("C:\\Users\\Bob Smith\\torch\\lib", "~\\torch\\lib"),
        ("no module in 'C:\\Users\\Bob Smith'", "no module in '~'"),
        ("c:\\users\\Sean O'Brien\\x", "~\\x"),
        ("C:/Users/Bob Smith/x", "~/x"),
        ("'C:\\\\Users\\\\Bob Smith\\\\x'", "'~\\\\x'"),
        ("C:\\Users\\Bob Smith", "~"),
    ],
)
def test_names_folders_ids_and_addresses_are_masked(text, expected):
    assert MASK.text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "driver 31.0.101.4", "version 10.3.2.106", "nvidia-curand-cu12==10.3.2.106", "libcudart.so.12.1.3.1",
        "v2.0.9.0 and 2.0.9.0-rc1", "5.15.153.1-microsoft-standard-WSL2", "vbios 96.00.74.00.01, driver 31.0.15.3623",
        "127.0.0.1 and 0.0.0.0 and ::1", "c10::Error at::native a::b std::add ::add dead", "0000:18:00.0 at 12:30:45",
        "2026-11-20T12:59:00Z", "sm_90 12.4 560.35.03", "00000000:18:00.0", "wilhelminas",
    ],
)  # fmt: skip
def test_versions_and_times_are_no_addresses(text):
    assert MASK.text(text) == text
    facts = {"cudnn.version": "9.1.0.70", "os.kernel": "10.0.1.2", "machine.model": "10.0.1.2"}
    assert MASK.document({"facts": facts})["facts"] == {**facts, "machine.model": "<address>"}


def test_a_whole_document_is_masked_but_for_its_own_words():
    document = {
        "id": "0f8b5b1e-6c0f-4f0e-9d39-5f3a2b9e6a11",
        "machine": {"identity": "ab" * 32, "name": "gpu-node-17"},
        "facts": {"machine.model": "gpu-node-17 chassis", "cpu.cores_logical": 8},
        "probes": [{"probe": "torch", "detail": "no file /home/wilhelmina/x"}],
    }
    masked = MASK.document(document)
    assert masked["id"] == document["id"]
    assert masked["machine"]["name"] == "gpu-node-17"  # a label that somebody chose with --name
    assert masked["facts"] == {"machine.model": "<host> chassis", "cpu.cores_logical": 8}
    assert masked["probes"][0]["detail"] == "no file ~/x"


def test_names_that_identify_nobody_do_not_mangle_our_words():
    text = "nvidia driver of ubuntu, cuda 12 on ab, root, 1000 MHz, Apple M3"
    for name in ("nvidia", "root", "ubuntu", "cuda", "ab", "1000", "Apple"):
        assert mask_of([name], [], []).text(text) == text
    assert mask_of([], [], ["/", ""]).text("/usr/lib/x") == "/usr/lib/x"
    document = {"vendor": "habana", "reported_name": "habana Gaudi"}
    assert mask_of(["habana"], [], []).document(document) == document | {"reported_name": "<user> Gaudi"}


def machine_identity(*arguments):
    return identity.machine_identity(*arguments).value


@pytest.fixture(autouse=True)
def system_state(monkeypatch, tmp_path):
    """The system's folder for state, where an id is stored that any agent of this machine shall find."""
    monkeypatch.setattr("stackviz.agent.identity.system_folder", lambda: tmp_path / "system")
    return tmp_path / "system"


MACHINE_ID = "b08dfa6083e7567a1921a715000001fb"


def test_the_identity_is_the_systems_id_hashed_and_stays(tmp_path):
    linux = machine(tmp_path, {"/etc/machine-id": MACHINE_ID})
    value = machine_identity(linux, {}, [], tmp_path / "state")
    assert value == machine_identity(linux, {"os.name": "changed"}, [{"uuid_hash": "x"}], tmp_path / "other")
    assert MACHINE_ID not in value
    assert not (tmp_path / "state").exists()
    cards, docker = [{"uuid_hash": "aa"}, {"uuid_hash": "bb"}], {"machine.container": "docker"}
    by_cards = machine_identity(linux, docker, cards, tmp_path)  # an image's id is not trusted
    assert by_cards == machine_identity(linux, docker, cards[::-1], tmp_path / "other") != value


@pytest.mark.parametrize("content", ["", "uninitialized", "0" * 32, "not hex at all, but thirty-two c"])
def test_an_id_that_is_none_is_replaced_by_one_that_is_kept(tmp_path, content):
    linux = machine(tmp_path / "root", {"/etc/machine-id": content})
    first = machine_identity(linux, {}, [], tmp_path / "state")
    assert first == machine_identity(linux, {}, [], tmp_path / "state")


def store_id(folder, text):
    folder.mkdir()
    (folder / "machine.json").write_text(text)


def test_agents_with_different_spool_folders_are_one_machine(tmp_path, system_state):
    """`make run` has a spool folder of its own; the agent that `/machines/add/` gives takes the system's."""
    nowhere = machine(tmp_path / "root")
    of_site = machine_identity(nowhere, {}, [], tmp_path / "var" / "spool")
    assert machine_identity(nowhere, {}, [], system_state) == of_site
    assert machine_identity(nowhere, {}, [], tmp_path / "third") == of_site


@pytest.mark.parametrize("of_system", ["second", None])
def test_a_stored_id_stays_and_others_join_it(tmp_path, system_state, of_system):
    """Where another folder has another it stays too; a site that ran before keeps the history of its machine."""
    nowhere = machine(tmp_path / "root")
    store_id(tmp_path / "spool", json.dumps({"id": "first"}))
    if of_system:
        store_id(system_state, json.dumps({"id": of_system}))
    assert machine_identity(nowhere, {}, [], tmp_path / "spool") == hashed("machine-by-file", "first")
    assert machine_identity(nowhere, {}, [], system_state) == hashed("machine-by-file", of_system or "first")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_stored_id_is_private_and_follows_no_link(tmp_path):
    nowhere = machine(tmp_path / "root")
    machine_identity(nowhere, {}, [], tmp_path / "state")
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["machine.json"]
    assert stat.S_IMODE((tmp_path / "state" / "machine.json").stat().st_mode) == 0o600
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "machine.json").symlink_to(tmp_path / "victim")
    machine_identity(nowhere, {}, [], tmp_path / "linked")
    assert not (tmp_path / "victim").exists()


def test_an_id_is_kept_without_hard_links_and_replaced_if_damaged(tmp_path, monkeypatch):
    def refused(*_paths):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    nowhere = machine(tmp_path / "root")
    first = machine_identity(nowhere, {}, [], tmp_path / "state")
    assert machine_identity(nowhere, {}, [], tmp_path / "state") == first
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["machine.json"]
    store_id(tmp_path / "damaged", "{")
    assert len(machine_identity(nowhere, {}, [], tmp_path / "damaged")) == 64

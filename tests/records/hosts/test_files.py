from datetime import date, timedelta

import pytest

from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.hosts.files import read_hosts
from tests.records.hosts.conftest import CARD, COMPONENT, HOST


def problems_of(folder, **lines):
    with pytest.raises(CuratedDataError) as refused:
        read_hosts(folder(**lines))
    return refused.value.problems


def test_all_curated_hosts_can_be_read():
    files = read_hosts()
    assert len(files.hosts) >= 152
    assert {line.host for line in files.cards} == {line.slug for line in files.hosts}


def test_empty_cells_are_not_guessed(folder):
    empty = dict.fromkeys(["form", "kernel", "cpu", "cpu_cores", "memory_bytes"], "")
    host = read_hosts(folder(hosts=[HOST | empty])).hosts[0]
    assert (host.form, host.kernel, host.cpu, host.cpu_cores, host.memory_bytes) == ("", "", "", None, None)


@pytest.mark.parametrize(("text", "day", "is_month"), [("2025-05", 1, True), ("2025-05-23", 23, False)])
def test_month_without_day_is_marked_as_such(folder, text, day, is_month):
    host = read_hosts(folder(hosts=[HOST | {"seen_on": text}])).hosts[0]
    assert (host.seen_on, host.is_month_only) == (date(2025, 5, day), is_month)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"seen_on": ""}, "seen_on: missing: give the day (2026-07-25) or the month (2026-07) of the source"),
        ({"seen_on": "25 July"}, "seen_on: must be like 2026-07-25 or 2026-07, not '25 July'"),
        ({"seen_on": "2026-02-30"}, "seen_on: there is no day 2026-02-30: year, month, day"),
        ({"vendor": "nvidea"}, "vendor: 'nvidea' is not in the catalogue: give a slug it has"),
        ({"form": "tower"}, "form: must be one of desktop, laptop, mini, server, cloud, not 'tower'"),
        ({"host": "RTX 4090"}, "host: lower case letters, digits and single dashes only"),
        ({"title": ""}, "title: missing"),
        ({"title": "x" * 121}, "title: longer than 120 characters"),
        ({"cpu_cores": "0"}, "cpu_cores: must be a whole number from 1 to 10,000, not '0'"),
        ({"note": "left\u202eright"}, "note: Remove the control characters: they are invisible and break files."),
        ({"source_kind": ""}, "source_kind: missing"),
    ],
)
def test_wrong_host_is_named_by_line_and_field(folder, changes, problem):
    assert f"hosts.csv:2: {problem}" in problems_of(folder, hosts=[HOST | changes])


def test_day_to_come_is_refused(folder):
    day = date.today() + timedelta(days=3)  # noqa: DTZ011 - any day that is to come everywhere
    problem = f"hosts.csv:2: seen_on: '{day}' is yet to come: give the day of the source"
    assert problems_of(folder, hosts=[HOST | {"seen_on": str(day)}]) == [problem]


@pytest.mark.parametrize(
    ("note", "what"),
    [
        ("ask jane.doe@example.org", "an e-mail address or a login"),
        ("logged in as jane@rig", "an e-mail address or a login"),
        ("models lie in /home/jane/models", "the folder of a user"),
        (r"models lie in C:\Users\Jane\models", "the folder of a user"),
        ("GPU-5f8a0c52-7e5f-4a0b-9d0e-1f2a3b4c5d6e", "a UUID"),
        ("Serial Number: 1654922006536", "a serial number"),
        ("bought as C02XK0AZJGH5", "a serial number"),
        ("reached at 192.168.7.31", "an address of a network"),
        ("runs with HF_TOKEN=hf_abcdefghijklmnopqrst", "a password or key"),
        ("the rig of somebody77", "the account of the source"),
    ],
)
@pytest.mark.parametrize("field", ["title", "note", "teaches"])
def test_text_that_says_whose_it_is_is_refused(folder, field, note, what):
    problem = f"hosts.csv:2: {field}: holds {what}: remove it, nothing may say whose it is"
    assert problems_of(folder, hosts=[HOST | {field: note}]) == [problem]


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("github.com/a/b", "not the address of a page on the web"),
        ("https://github.com/", "not the address of a page on the web"),
        ("ftp://example.org/rig", "not the address of a page on the web"),
        ("http://localhost:8000/rig", "not the address of a page on the web"),
        ("http://rig.local/report", "a machine's address, not a page that everybody can open"),
        ("http://10.0.0.7/report", "a machine's address, not a page that everybody can open"),
        ("https://me:pw@example.org/rig", "holds a login or a token: such a page is not public"),
        (
            "https://raw.githubusercontent.com/a/private/main/rig.md?token=GHSAT0AAA",
            "holds a login or a token: such a page is not public",
        ),
    ],
)
def test_link_that_is_no_public_page_is_refused(folder, address, problem):
    assert problems_of(folder, hosts=[HOST | {"source_url": address}]) == [f"hosts.csv:2: source_url: {problem}"]


def test_two_hosts_with_one_slug_are_refused(folder):
    assert problems_of(folder, hosts=[HOST, HOST]) == [
        "hosts.csv:3: host: duplicate rtx-4090-desktop-2026-07: keep one of the lines"
    ]


def test_host_without_a_card_is_refused(folder):
    other = HOST | {"host": "rtx-4090-other"}
    assert problems_of(folder, hosts=[HOST, other]) == [
        "cards.csv:1: host: rtx-4090-other has no card: add a line for it"
    ]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"host": "rtx-9090"}, "host: unknown 'rtx-9090': add it to hosts.csv"),
        (
            {"accelerator": "nvidia-rtx-9090"},
            "accelerator: 'nvidia-rtx-9090' is not in the catalogue: give a slug it has",
        ),
        ({}, "index: duplicate rtx-4090-desktop-2026-07/0: keep one of the lines"),
        ({"index": "1", "power_limit_w": "nan"}, "power_limit_w: must be watts from 1 to 99,999, not 'nan'"),
        ({"index": "-1"}, "index: must be a whole number from 0 to 1,000, not '-1'"),
        ({"index": "1", "reported_name": ""}, "reported_name: missing"),
    ],
)
def test_wrong_card_is_named_by_line_and_field(folder, changes, problem):
    assert problems_of(folder, cards=[CARD, CARD | changes]) == [f"cards.csv:3: {problem}"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"host": "rtx-9090"}, "host: unknown 'rtx-9090': add it to hosts.csv"),
        (
            {"name": "torche"},
            "name: unknown 'torche': give a component or fact of a report, or add it to hosts/software.py",
        ),
        ({"name": "vllm", "value": ""}, "value: give one where the state is installed, and none where it is absent or unknown"),
        ({"name": "vllm", "state": "absent"}, "value: give one where the state is installed, and none where it is absent or unknown"),
        ({"name": "vllm", "state": "gone"}, "state: must be one of installed, absent, unknown, not 'gone'"),
        ({"name": "mps.available", "value": "1"}, "value: must be one of yes, no, not '1'"),
        (
            {"name": "cpu.cores_physical", "value": "8"},
            "name: 'cpu.cores_physical' is a number, which belongs to the host or its card",
        ),
        ({}, "name: duplicate rtx-4090-desktop-2026-07/pytorch: keep one of the lines"),
    ],
)  # fmt: skip
def test_wrong_component_is_named_by_line_and_field(folder, changes, problem):
    assert problems_of(folder, components=[COMPONENT, COMPONENT | changes]) == [f"components.csv:3: {problem}"]


@pytest.mark.parametrize(
    ("same", "problems"),
    [
        ({"a": "nobody"}, ["2: same_machine_as: unknown 'nobody': give the slug of a host"]),
        ({"a": "a"}, ["2: same_machine_as: leads back to this host"]),
        (
            {"a": "b", "b": "a"},
            ["2: same_machine_as: leads back to this host", "3: same_machine_as: leads back to this host"],
        ),
        ({"a": "b", "b": "c", "c": "b"}, ["3: same_machine_as: leads back", "4: same_machine_as: leads back"]),
        ({"a": "b", "b": "c"}, []),
    ],
)
def test_a_machine_on_another_day_is_a_host_and_no_circle(folder, same, problems):
    hosts = [HOST | {"host": name, "same_machine_as": same.get(name, "")} for name in "abc"]
    path = folder(hosts=hosts, cards=[CARD | {"host": name} for name in "abc"], components=[])
    if not problems:
        assert [line.same_machine_as for line in read_hosts(path).hosts] == ["b", "c", ""]
        return
    with pytest.raises(CuratedDataError) as wrong:
        read_hosts(path)
    assert len(wrong.value.problems) == len(problems)
    for found, expected in zip(wrong.value.problems, problems, strict=True):
        assert found.startswith(f"hosts.csv:{expected}")

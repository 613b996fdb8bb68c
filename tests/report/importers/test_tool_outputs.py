"""Outputs of many tools: as printed, under their command, torn, quoted, with markup in every field."""

import re

import pytest

from stackviz.report.dumps import machines
from stackviz.report.importers import read_all
from tests.report.importers.own_dump import own_dumps
from tests.report.importers.test_importers import fits_a_report
from tests.report.importers.tool_outputs import OWN_DUMPS as OUTPUTS

NAMES = [f"{dump.kind}-{number}" for number, dump in enumerate(OUTPUTS)]
HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'


@pytest.mark.parametrize("dump", [dump for dump in OUTPUTS if dump.commands], ids=lambda dump: dump.commands[0])
def test_the_command_above_an_output_is_no_unread_line(dump):
    paste = read_all(f"me@lab:~$ {dump.commands[0]}\n{dump.text}")
    assert dump.kind in paste.kinds
    assert not any(dump.commands[0] in line for line in paste.not_understood)


@pytest.mark.parametrize("before", ["> ", "2026-11-03T10:00:00Z ", "```\n"], ids=["quote", "log", "fence"])
def test_what_wraps_an_output_is_taken_off(before):
    def wrapped(text: str) -> str:
        if before == "```\n":
            return f"{before}{text}\n```"
        return "\n".join(f"{before}{line}" for line in [*text.split("\n"), "", ""])

    lost = [
        name
        for name, dump in zip(NAMES, OUTPUTS, strict=True)
        if dump.kind not in read_all(wrapped(dump.text.rstrip("\n"))).kinds
    ]
    assert lost == []


@pytest.mark.parametrize("dump", own_dumps(), ids=lambda dump: dump.kind)
def test_a_torn_output_makes_up_nothing(dump):
    """Every card of a half has the beginning of a whole one's name; nothing raises, and all fits a report."""
    whole = [card.reported_name for machine in machines(read_all(dump.text)) for card in machine.reading.cards]
    for cut in range(0, len(dump.text), max(1, len(dump.text) // 17)):
        for machine in (*machines(read_all(dump.text[:cut])), *machines(read_all(dump.text[cut:]))):
            assert fits_a_report(machine.reading)
        for machine in machines(read_all(dump.text[:cut])):
            names = [card.reported_name.removesuffix("...").rstrip(" (") for card in machine.reading.cards]
            assert dump not in OUTPUTS or all(any(name.startswith(known) for name in whole) for known in names), names


@pytest.mark.parametrize("dump", OUTPUTS, ids=NAMES)
def test_markup_in_every_field_stays_text(dump):
    """Values may be refused or be text: what escapes text is the page's; no importer may raise or answer a number."""
    for position, match in enumerate(re.finditer(r"[:=] ?(\S[^\n]{0,80})$", dump.text, re.MULTILINE)):
        text = f"{dump.text[: match.start(1)]}{HOSTILE}{dump.text[match.end(1) :]}"
        for machine in machines(read_all(text)):
            assert machine.report().facts == machine.reading.facts
        if position == 24:
            break


def test_two_machines_in_one_paste_stay_two():
    lab = next(dump.text for dump in OUTPUTS if dump.kind == "gpustat")
    mac = next(dump.text for dump in OUTPUTS if dump.kind == "mlx-device")
    found_machines = machines(read_all(f"{lab}\n\nand on my Mac:\n\n{mac}"))
    assert [len(machine.reading.cards) for machine in found_machines] == [2, 1]
    assert found_machines[1].differs


def test_modprobe_without_rights_says_nothing_of_secure_boot():
    """Who is not root is told the same as who is locked out."""
    (machine,) = machines(read_all("modprobe: ERROR: could not insert 'nvidia': Operation not permitted"))
    assert "os.secure_boot" not in machine.reading.facts
    assert machine.reading.facts["nvidia.module_installed"] is True
    assert machine.reading.absent["nvidia.kernel_module_version"].reason == "not_applicable"

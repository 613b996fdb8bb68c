"""Dumps of one machine become one machine; dumps that contradict each other are of two, and it is said why."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from stackviz.report.dumps import DumpedMachine, machines
from stackviz.report.dumps.agreement import same_card
from stackviz.report.format import Result, parse_report, to_json
from stackviz.report.importers import Paste, Reading
from stackviz.report.importers.reading import CardReading
from stackviz.report.rules import judge, packaged_tables

VENDORS = {"Radeon": "amd", "Apple": "apple"}


def reading(kind: str, facts: dict | None = None, cards: list[tuple] = (), absent: dict | None = None) -> Reading:
    made = Reading(kind=kind)
    for name, value in (facts or {}).items():
        made.sheet.state(name, value)
    for name, reason in (absent or {}).items():
        made.sheet.mark_missing(name, reason)
    for index, (name, memory) in enumerate(cards):
        vendor = next((vendor for word, vendor in VENDORS.items() if word in name), "nvidia")
        card = CardReading(index=index, kind="gpu", vendor=vendor, reported_name=name, memory_bytes=memory)
        if memory is None:
            card.sheet.mark_missing("memory_bytes", "not_reported")
        made.cards.append(card.card())
    return made


RESULT = Result(
    benchmark="llama-bench", version=1, device="not in the text", card=None, params={"test": "pp512"}, state="ok",
    reason=None, unit="token/s", samples=(100.0,), started_at=None, duration_s=None, conditions={},
)  # fmt: skip


def on_back_end(back_end: str) -> Reading:
    """A table of llama-bench, which names its back end and no device."""
    made = reading("llama-bench")
    made.results.append(replace(RESULT, params={"test": "pp512", "backend": back_end}))
    return made


def read(*readings: Reading) -> tuple[DumpedMachine, ...]:
    return machines(Paste(tuple(readings)))


def test_no_dump_is_no_machine():
    assert machines(Paste()) == ()


TORCH = {"torch.version": "2.5.1+cu124", "torch.cuda_version": "12.4"}
UBUNTU = {"os.name": "Ubuntu", "os.version": "22.04"}


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("readings", "facts"),
    [
        (
            [reading("collect-env", TORCH), reading("lscpu", {"cpu.model": "AMD EPYC 9654"})],
            TORCH | {"cpu.model": "AMD EPYC 9654"},
        ),
        (  # the better tool
            [
                reading(
                    "collect-env", {"cuda.toolkit_version": "12.1"}, absent={"nvidia.driver_version": "not_reported"}
                ),
                reading("nvcc-version", {"cuda.toolkit_version": "12.4.131"}),
                reading("nvidia-smi-table", {"nvidia.driver_version": "550.54.15"}),
            ],
            {"cuda.toolkit_version": "12.4.131", "nvidia.driver_version": "550.54.15"},
        ),
        ([reading("lscpu", {"os.name": "Linux", "os.build": "5.15"}), reading("collect-env", UBUNTU)], UBUNTU),
        (  # nvidia-smi knows little of the system
            [reading("nvidia-smi-table", {"os.name": "Windows", "os.wsl": "2"}), reading("collect-env", UBUNTU)],
            UBUNTU | {"os.wsl": "2"},
        ),
        ([reading("issue-template", {"torch.version": "2.4"}), reading("collect-env", TORCH)], TORCH),
        (  # one version in two lengths
            [
                reading("collect-env", TORCH | {"nvidia.driver_version": "535.104"}),
                reading("transformers-env", {"torch.version": "2.5.1"}),
                reading("nvidia-smi-xml", {"nvidia.driver_version": "535.104.05"}),
            ],
            TORCH | {"nvidia.driver_version": "535.104.05"},
        ),
    ],
)
def test_dumps_of_one_machine_become_one(readings, facts, order):
    (one,) = read(*readings[::order])
    assert one.kinds == tuple(each.kind for each in readings[::order])
    assert dict(one.reading.facts) == facts
    assert not one.reading.absent.keys() & facts.keys()
    assert one.differs == ""


def test_cards_are_completed_by_number_and_name():
    cut = reading("nvidia-smi-table", {}, [("NVIDIA GeForce RTX 2080 ...", 8 * 2**30), ("Tesla T4", 15 * 2**30)])
    whole = reading("collect-env", {}, [("NVIDIA GeForce RTX 2080 SUPER", None), ("Tesla T4", None)])
    for order in ((cut, whole), (whole, cut)):
        (one,) = read(*order)
        assert [(card.index, card.reported_name, card.memory_bytes) for card in one.reading.cards] == [
            (0, "NVIDIA GeForce RTX 2080 SUPER", 8 * 2**30),
            (1, "Tesla T4", 15 * 2**30),
        ]
        assert not any("memory_bytes" in card.absent for card in one.reading.cards)


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        (("nvidia-smi-table", {}, [("NVIDIA L4", 2**34)] * 4), ("accelerate-env", {}, [("NVIDIA L4", None)]), 4),
        (
            ("rocm-smi", {}, [("Navi 31 [Radeon RX 7900 XTX]", 24 * 2**30)]),
            ("rocminfo", {}, [("AMD Radeon RX 7900 XTX", None)]),
            1,
        ),
    ],
    ids=["fewer", "other names"],
)
def test_cards_of_two_tools_are_of_one_machine(first, second, count):
    (one,) = read(reading(*first), reading(*second))
    assert len(one.reading.cards) == count


LINUX = reading("collect-env", {"os.name": "Ubuntu"})
MAC = reading("system-profiler-json", {"os.name": "macOS"}, [("Apple M4", None)])
MAC_RUN = reading("llama-bench", {}, [("Apple M4", None)])
L4 = reading("nvidia-smi-table", {}, [("NVIDIA L4", 2**34)])
TWO_SYSTEMS = "the system is Linux in one dump and macOS in another"
TWO_VENDORS = "one dump has an Apple GPU and another an NVIDIA GPU"


def versions(name: str, *values: str) -> list[Reading]:
    return [reading("collect-env", {name: value}) for value in values]


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (LINUX, MAC, TWO_SYSTEMS),
        (LINUX, MAC_RUN, TWO_SYSTEMS),
        (LINUX, on_back_end("MTL"), TWO_SYSTEMS),
        (L4, MAC_RUN, TWO_VENDORS),
        (L4, on_back_end("Metal,BLAS"), TWO_VENDORS),
        (on_back_end("CUDA"), MAC, TWO_VENDORS),
        (L4, reading("collect-env", {}, [("NVIDIA A100", None)]), "NVIDIA A100 is in one dump and not in another"),
        (reading("nvidia-smi-table", {}, [("NVIDIA L4", 2**34)] * 2), L4, "2 cards in one dump and 1 in another"),
        (*versions("torch.version", "2.3.0", "2.5.1+cu124"),
         "torch.version is 2.3.0 in one dump and 2.5.1+cu124 in another"),
        (
            *versions("nvidia.driver_version", "535.104.05", "550.54.15"),
            "nvidia.driver_version is 535.104.05 in one dump and 550.54.15 in another",
        ),
        (
            reading("nvidia-smi-table", cards=[("NVIDIA A100-PCIE", 40 * 2**30)]),
            reading("nvidia-smi-xml", cards=[("NVIDIA A100-PCIE", 80 * 2**30)]),
            "NVIDIA A100-PCIE is in one dump and not in another",
        ),
    ],
)  # fmt: skip
def test_a_contradiction_begins_a_second_machine(first, second, why):
    one, two = read(first, second)
    assert (one.differs, two.differs) == ("", why)
    assert (one.kinds, two.kinds) == ((first.kind,), (second.kind,))


@pytest.mark.parametrize(
    ("one_gib", "other_gib", "is_same"),
    [
        (80, 80, True),
        (80, 64.5, True),  # what a driver reserves: one tool counts it and the other does not
        (80, 64, False),  # a quarter more
        (80, 40, False),  # another model of the same name
        (24, 12, False),
        (None, 80, True),
        (80, None, True),
    ],
)
def test_same_name_merges_on_similar_memory(one_gib, other_gib, is_same):
    one, other = (
        reading(kind, cards=[("NVIDIA A100-PCIE", gib and int(gib * 2**30))]).cards[0]
        for kind, gib in (("collect-env", one_gib), ("nvidia-smi-table", other_gib))
    )
    assert same_card(one, other) is is_same
    assert same_card(other, one) is is_same


def test_a_later_dump_joins_the_machine_it_agrees_with():
    ubuntu = reading("collect-env", {"os.name": "Ubuntu", "nvidia.driver_version": "535.104.05"})
    mac = reading("system-profiler-json", {"os.name": "macOS", "apple.chip": "Apple M3"})
    smi = reading("nvidia-smi-table", {"nvidia.driver_version": "535.104.05"})
    one, two = read(ubuntu, mac, smi)
    assert (one.kinds, two.kinds) == (("collect-env", "nvidia-smi-table"), ("system-profiler-json",))


def test_two_versions_in_a_dump_are_listed():
    env = reading("collect-env")
    env.add_software("pytorch", "2.5.1", "pip")
    env.add_software("pytorch", "2.4.0", "conda")
    other = reading("transformers-env")
    other.add_software("pytorch", "2.5.1+cu124", "transformers-cli")
    other.add_software("pytorch", "1.13", "transformers-cli")
    other.add_software("transformers", "4.46", "transformers-cli")
    (one,) = read(env, other)
    assert [(s.component, s.version) for s in one.reading.software] == [
        ("pytorch", "2.5.1+cu124"),
        ("pytorch", "2.4.0"),
        ("transformers", "4.46"),
    ]


def test_a_result_follows_its_card_when_cards_are_renumbered():
    bench = reading("llama-bench", {}, [("NVIDIA L4", None)])
    bench.results.append(replace(RESULT, card=0))
    (one,) = read(reading("nvidia-smi-table", {}, [("Tesla T4", 2**34), ("NVIDIA L4", 2**34)]), bench)
    assert one.reading.results[0].card == 1
    report = one.report()
    assert parse_report(to_json(report)) == report
    assert report.created_at.date() == datetime.now(UTC).date()


def test_an_apple_chip_named_as_the_processor_is_a_card_too():
    (one,) = read(reading("collect-env", {"os.name": "macOS", "os.arch": "arm64", "cpu.model": "Apple M4 Max"}))
    assert one.reading.facts["apple.chip"] == "Apple M4 Max"
    (card,) = one.reading.cards
    assert (card.vendor, card.reported_name, card.memory_bytes) == ("apple", "Apple M4 Max", None)
    assert card.absent["gpu_cores"].reason == "not_reported"
    assert parse_report(to_json(one.report()).encode()).cards[0].reported_name == "Apple M4 Max"


def test_mps_use_on_intel_mac_is_open():
    facts = {"os.name": "macOS", "os.version": "15.5", "cpu.model": "Apple M4 Max", "torch.version": "2.9.0"}
    (one,) = read(reading("collect-env", facts))
    answers = {finding.rule: finding.severity for finding in judge(one.report(), packaged_tables())}
    assert answers["mps-unavailable"] == "cannot-tell"


@pytest.mark.parametrize(
    ("facts", "cards"),
    [
        ({"os.name": "macOS", "cpu.model": "Apple M4 Max"}, [("Apple M4 Max", None)]),  # listed already
        ({"os.name": "macOS", "cpu.model": "Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz"}, []),
        ({"os.name": "macOS", "cpu.model": "Apple M1 (Virtual)"}, []),
        ({"os.name": "Ubuntu", "cpu.model": "Apple M2"}, []),  # nothing but the processor computes there
    ],
)
def test_a_card_that_is_listed_or_is_none_is_not_added(facts, cards):
    (one,) = read(reading("collect-env", facts, cards))
    assert len(one.reading.cards) == len(cards)

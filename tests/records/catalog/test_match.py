"""From the names cards report to sheets: every name resolves, or is ambiguous with what would decide it."""

import pytest

from stackviz.records.catalog.match import CardName, Match, match_cards
from stackviz.report.rules.known_cards import memory_distance

MIB = 2**20


def match_of(*card, **facts) -> Match:
    (match,) = match_cards([CardName(*card, **facts)])
    return match


@pytest.mark.parametrize(
    ("name", "memory_bytes", "slug", "how"),
    [
        ("NVIDIA H100 80GB HBM3", 81559 * MIB, "nvidia-h100-sxm5-80gb", "name"),
        ("NVIDIA H100", 81559 * MIB, "nvidia-h100-sxm5-80gb", "name+memory"),
        ("A100-SXM4-40GB", 40536 * MIB, "nvidia-a100-sxm4-40gb", "name"),
        ("NVIDIA_A100-SXM4-80GB", None, "nvidia-a100-sxm4-80gb", "name"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", 4864 * MIB, "nvidia-a100-sxm4-40gb", "name"),
        ("NVIDIA GeForce RTX 3060", 12288 * MIB, "nvidia-geforce-rtx-3060", "name+memory"),
        ("NVIDIA GeForce RTX 3060", 8192 * MIB, "nvidia-geforce-rtx-3060-8gb", "name+memory"),
        ("NVIDIA GeForce RTX 5090 D", 32607 * MIB, "nvidia-geforce-rtx-5090-d", "name"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", 16376 * MIB, "nvidia-geforce-rtx-4090-laptop", "name"),
        ("NVIDIA GeForce RTX 5060 Ti", 8151 * MIB, "nvidia-geforce-rtx-5060-ti-8gb", "name+memory"),
        ("NVIDIA GeForce RTX 5060 Ti", 16311 * MIB, "nvidia-geforce-rtx-5060-ti-16gb", "name+memory"),
        ("Tesla V100-SXM2-32GB", 32510 * MIB, "nvidia-v100-sxm2", "name"),
        ("NVIDIA GH200 480GB", 97871 * MIB, "nvidia-gh200-96gb", "name"),
    ],
)
def test_a_card_is_recognised(curated, db, name, memory_bytes, slug, how):
    match = match_of(name, "nvidia", memory_bytes)
    assert (match.accelerator.slug, match.how) == (slug, how)


@pytest.mark.parametrize(
    ("name", "memory_bytes", "needs"),
    [
        ("NVIDIA H100", None, "the memory size"),
        ("NVIDIA H20-3e", 141 * 1024 * MIB, "141 GB of HBM3e"),
        ("NVIDIA GeForce GTX 1650", 4096 * MIB, "the PCI device id decides"),
        ("Orin (nvgpu)", None, "the memory size"),
    ],
)
def test_a_name_that_is_not_enough_says_what_would_decide(curated, db, name, memory_bytes, needs):
    match = match_of(name, "nvidia", memory_bytes)
    assert (match.accelerator, match.how) == (None, "ambiguous")
    assert match.candidates
    assert needs in match.needs


@pytest.mark.parametrize(("cores", "slug"), [(30, "apple-m3-max-30"), (40, "apple-m3-max-40")])
def test_chip_and_gpu_core_count_choose_the_sheet(curated, db, cores, slug):
    assert match_of("Apple M3 Max", "apple", gpu_cores=cores).accelerator.slug == slug


def test_mac_model_decides_without_core_count(curated, db):
    match = match_of("Apple M3 Max", "apple", machine_model="Mac15,9")
    assert (match.accelerator.slug, match.how) == ("apple-m3-max-40", "name+machine")


def test_an_apple_chip_alone_has_several_sheets(curated, db):
    match = match_of("Apple M3 Max", "apple", memory_bytes=48 * 2**30)
    assert {item.slug for item in match.candidates} == {"apple-m3-max-30", "apple-m3-max-40"}
    assert match.needs == "the number of GPU cores"
    assert match_of("Apple M3 Max", "apple", gpu_cores=76).accelerator is None  # nobody sells that


@pytest.mark.parametrize("card", [("Voodoo 2 <script>", "3dfx", 12), ("H100 80GB HBM3", "amd")])
def test_a_name_nobody_knows_or_of_another_vendor_is_unknown(curated, db, card):
    match = match_of(*card)
    assert (match.accelerator, match.how, match.candidates) == (None, "unknown", ())


@pytest.mark.parametrize("count", [1, 64])
def test_any_number_of_cards_costs_one_query(curated, db, django_assert_num_queries, count):
    cards = [CardName("NVIDIA H100 80GB HBM3", "nvidia", 81559 * MIB)] * count
    with django_assert_num_queries(1):
        found = match_cards(cards)
    assert [match.accelerator.vendor.name for match in found] == ["NVIDIA"] * count


def test_no_card_costs_no_query(db, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert match_cards([]) == []


@pytest.mark.parametrize(
    ("printed_gb", "reported_mib", "is_near"),
    [
        *(
            (80, 81559, True),
            (141, 143771, True),
            (48, 46068, True),
            (24, 23034, True),
            (24, 24564, True),
            (94, 95830, True),
        ),
        *((10, 12288, False), (80, 97871, False), (8, 6144, False)),
    ],
)
def test_what_cards_report_is_near_what_is_printed(printed_gb, reported_mib, is_near):
    distance = memory_distance(printed_gb * 10**9, reported_mib * MIB)
    assert distance < 0.07 if is_near else distance > 0.15

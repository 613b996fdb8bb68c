"""What a reported name may mean: real names of drivers against names of the catalogue."""

import pytest

from stackviz.desk.curation.name_suggestions import MOST_SUGGESTED, CatalogueName, suggest

GB = 10**9
GIB = 2**30
NAMES = {
    1: ("NVIDIA H100 SXM5 80GB", "nvidia", 80),
    2: ("NVIDIA H100 PCIe 80GB", "nvidia", 80),
    3: ("NVIDIA H100 NVL 94GB", "nvidia", 94),
    4: ("NVIDIA H200 SXM 141GB", "nvidia", 141),
    5: ("AMD Radeon RX 7900 XTX", "amd", 24),
    6: ("AMD Radeon RX 7900 XT", "amd", 20),
    7: ("AMD Radeon RX 7800 XT", "amd", 16),
    8: ("NVIDIA Jetson AGX Orin 64GB", "nvidia", 64),
    9: ("NVIDIA Jetson Orin Nano 8GB", "nvidia", 8),
    10: ("NVIDIA A100 SXM4 40GB", "nvidia", 40),
    11: ("NVIDIA A100 SXM4 80GB", "nvidia", 80),
    12: ("NVIDIA A100 PCIe 40GB", "nvidia", 40),
    13: ("NVIDIA GeForce RTX 4090", "nvidia", 24),
    14: ("NVIDIA GeForce RTX 4080", "nvidia", 16),
    15: ("NVIDIA GeForce RTX 3090", "nvidia", 24),
    16: ("Apple M3 Max (40-core GPU)", "apple", 128),
    17: ("Intel Gaudi 3", "intel", 128),
    18: ("NVIDIA RTX 6000 Ada Generation", "nvidia", 48),
    19: ("NVIDIA RTX A6000", "nvidia", 48),
    20: ("AMD Instinct MI300X", "amd", 192),
    21: ("AMD Instinct MI300A", "amd", 128),
}
KNOWN = [CatalogueName(pk, name, vendor, (size * GB,)) for pk, (name, vendor, size) in NAMES.items()]


def found(reported: str, **seen) -> list[str]:
    return [NAMES[item.accelerator_id][0] for item in suggest(reported, KNOWN, **seen)]


@pytest.mark.parametrize(
    ("reported", "memory_bytes", "first"),
    [
        ("NVIDIA H100", [81_559 * 2**20], {"NVIDIA H100 SXM5 80GB", "NVIDIA H100 PCIe 80GB"}),
        ("NVIDIA H100", [95_830 * 2**20], {"NVIDIA H100 NVL 94GB"}),
        ("Radeon RX 7900 XTX", [24 * GIB], {"AMD Radeon RX 7900 XTX"}),
        ("Radeon RX 7900 XT", [20 * GIB], {"AMD Radeon RX 7900 XT"}),
        ("Orin (nvgpu)", [62_841 * 2**20], {"NVIDIA Jetson AGX Orin 64GB"}),
        ("Orin (nvgpu)", [7_620 * 2**20], {"NVIDIA Jetson Orin Nano 8GB"}),
        ("A100-SXM-64GB", [], {"NVIDIA A100 SXM4 40GB", "NVIDIA A100 SXM4 80GB"}),
        ("NVIDIA GeForce RTX 4090 D", [24_564 * 2**20], {"NVIDIA GeForce RTX 4090"}),
        ("Apple M3 Max", [], {"Apple M3 Max (40-core GPU)"}),
        ("Gaudi3", [], {"Intel Gaudi 3"}),
        ("NVIDIA RTX 6000 Ada Generation", [], {"NVIDIA RTX 6000 Ada Generation"}),
        ("AMD Instinct MI300X OAM", [192 * GIB], {"AMD Instinct MI300X"}),
    ],
)
def test_the_likeliest_accelerator_comes_first(reported, memory_bytes, first):
    assert found(reported, memory_bytes=memory_bytes)[0] in first


@pytest.mark.parametrize(
    ("reported", "never"),
    [
        ("NVIDIA H100", "NVIDIA H200 SXM 141GB"),
        ("Radeon RX 7900 XTX", "AMD Radeon RX 7800 XT"),
        ("A100-SXM-64GB", "NVIDIA H100 SXM5 80GB"),
        ("NVIDIA GeForce RTX 4090 D", "NVIDIA GeForce RTX 4080"),
        ("NVIDIA GeForce RTX 4090 D", "NVIDIA GeForce RTX 3090"),
        ("NVIDIA RTX A6000", "NVIDIA RTX 6000 Ada Generation"),
        ("AMD Instinct MI300X", "AMD Instinct MI300A"),
    ],
)
def test_another_model_number_is_never_suggested(reported, never):
    assert never not in found(reported)


def test_the_same_number_with_another_word_ranks_below():
    exact, variant = suggest("Radeon RX 7900 XTX", KNOWN)[:2]
    assert [NAMES[item.accelerator_id][0] for item in (exact, variant)] == [
        "AMD Radeon RX 7900 XTX",
        "AMD Radeon RX 7900 XT",
    ]
    assert exact.score == 100 > variant.score + 20
    (unsure, *_rest) = suggest("NVIDIA GeForce RTX 4090 D", KNOWN, memory_bytes=[24_564 * 2**20])
    assert unsure.score <= 75  # the same number is never certain


def test_memory_that_differs_lowers_a_suggestion_and_is_said():
    same = suggest("A100-SXM-80GB", KNOWN)[:2]
    told = [("NVIDIA A100 SXM4 80GB", True), ("NVIDIA A100 SXM4 40GB", False)]
    assert [(NAMES[item.accelerator_id][0], item.memory) for item in same] == told
    assert same[0].score > same[1].score + 20
    assert found("A100-SXM-80GB", memory_bytes=[40_536 * 2**20])[0] == "NVIDIA A100 SXM4 40GB"  # reported beats named
    assert suggest("NVIDIA GeForce RTX 4090", KNOWN)[0].memory is None  # nobody reports it: unknown, not different


def test_cards_of_another_vendor_are_not_suggested():
    assert found("Radeon RX 7900 XTX", vendor="nvidia") == []
    assert found("Radeon RX 7900 XTX", vendor="other")[0] == "AMD Radeon RX 7900 XTX"


@pytest.mark.parametrize("reported", ["", "   ", "(TM)", "gfx942", "Microsoft Basic Display Adapter", "🦊", "\x00"])
def test_where_nothing_is_like_the_name_nothing_is_suggested(reported):
    assert found(reported) == []


def test_one_accelerator_is_suggested_once_by_its_likest_name():
    names = [*KNOWN, CatalogueName(13, "GeForce RTX 4090", "nvidia"), CatalogueName(13, "RTX4090 OEM", "nvidia")]
    assert [item.accelerator_id for item in suggest("GeForce RTX 4090", names)].count(13) == 1


def test_there_are_only_so_many_suggestions():
    many = [CatalogueName(pk, f"NVIDIA H100 variant {pk}", "nvidia") for pk in range(50)]
    assert len(suggest("NVIDIA H100", many)) == MOST_SUGGESTED

"""The nvidia probe against a libnvidia-ml.so.1 in C, as a lab runs it: through ctypes, in processes of its own."""

import json
from itertools import pairwise

import pytest

from stackviz.report.format import parse_report
from stackviz.report.rules import find, packaged_tables
from tests.agent.nvml_library import library_folder, needs_library, reported
from tests.agent.processes import TOY_TORCH, end, start_agent

pytestmark = needs_library

ONE_CARD = """cat <<'END'
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log><driver_version>580.95.05</driver_version><cuda_version>13.0</cuda_version>
<attached_gpus>1</attached_gpus><gpu id="00000000:18:00.0"><product_name>NVIDIA H100 80GB HBM3</product_name>
<fb_memory_usage><total>81559 MiB</total></fb_memory_usage></gpu></nvidia_smi_log>
END"""


def test_eight_cards_of_which_one_is_lost():
    report = reported("h100")
    assert [card.index for card in report.cards] == [0, 1, 2, 4, 5, 6, 7]
    assert (report.facts["nvidia.card_count"], report.facts["nvidia.cards_lost"]) == (8, 1)
    assert (report.cards[0].memory_bytes, report.cards[0].facts["cuda_cores"]) == (85520809984, 16896)


def test_links_processes_fabric_and_temperatures_of_eight_cards():
    report = reported("h100")
    cards = {card.index: card.facts for card in report.cards}
    assert (cards[7]["nvlink_links"], cards[7]["nvlink_links_down"], cards[0]["nvlink_links_down"]) == (17, 1, 0)
    topology = dict(pair.split(":") for pair in report.facts["nvidia.topology"].split())
    assert len(topology) == 21  # seven cards answer
    assert (topology["0-1"], topology["0-7"]) == ("NV18", "NV17")
    assert [cards[index]["compute_processes"] for index in (0, 2)] == [0, 2]
    assert (cards[0]["fabric_state"], cards[0]["nvlink_version"]) == ("completed", 4)
    assert (cards[5]["temperature_c"], cards[5]["memory_temperature_c"], cards[5]["slowdown_temperature_c"]) == (
        88,
        97,
        87,
    )
    assert (cards[0]["ecc_corrected_ever"], cards[0]["remapped_rows"], cards[0]["sm_clock_hz"]) == (12, 2, 345e6)


def test_each_fault_of_the_eight_cards_is_found():
    found = {finding.rule: finding for finding in find(reported("h100"), packaged_tables())}
    assert (found["cards-lost"].severity, found["nvlink-down"].severity) == ("broken", "warning")
    for rule, index in (("nvlink-down", 7), ("thermal-throttle", 5), ("card-busy", 2)):
        assert f"(card {index})" in found[rule].title
    assert "17 of 18" in found["nvlink-down"].title
    assert found["card-busy"].evidence["card 2 compute_processes"] == "2"


def test_instances_have_their_share_and_are_not_cards():
    report = reported("mig")
    shares = [card for card in report.cards if "mig_parent_index" in card.facts]
    assert [(card.facts["mig_profile"], card.facts["multiprocessors"]) for card in shares] == [
        ("3g.40gb", 42),
        ("2g.20gb", 28),
        ("1g.10gb", 14),
    ]
    assert (shares[0].facts["memory_used_bytes"], shares[0].facts["compute_processes"]) == (30 * 2**30, 1)
    assert (report.facts["nvidia.card_count"], report.facts["nvidia.topology"]) == (2, "0-1:NV12")


def test_cards_of_other_kinds():
    large, small = reported("geforce").cards
    assert (large.facts["compute_capability"], small.facts["compute_capability"]) == ("8.9", "6.1")
    assert (large.facts["display_attached"], small.facts["display_attached"]) == (False, True)
    assert small.absent["power_limit_w"].reason == "not_supported"
    (card,) = reported("gb10").cards
    assert (card.memory_bytes, card.facts["unified_memory"], card.facts["addressing_mode"]) == (None, True, "ATS")
    assert "pcie-width" not in {finding.rule for finding in find(reported("gb10"), packaged_tables())}
    (card,) = reported("vgpu").cards
    assert (card.facts["virtualization_mode"], card.memory_bytes) == ("vgpu", 12 * 2**30)
    assert reported("not-loaded").facts["nvidia.nvml_error"] == "Driver Not Loaded"


def test_figures_meaning_unknown_do_not_cost_the_card():
    (card,) = reported("sentinel").cards
    assert (card.reported_name, card.memory_bytes) == ("NVIDIA H100 80GB HBM3", None)
    assert card.absent["memory_bytes"].reason == "not_reported"
    assert "unified_memory" not in card.facts
    for name in ("power_w", "temperature_c", "sm_clock_max_hz", "ecc_uncorrected", "power_max_limit_w", "busy_ratio"):
        assert card.absent[name].reason == "not_reported", name
    assert not [name for name, value in card.facts.items() if not isinstance(value, str) and value > 2**31 - 2]
    assert card.facts["compute_capability"] == "9.0"


def test_version_mismatch_is_named_and_the_rest_is_read():
    report = reported("mismatch")
    assert report.facts["nvidia.nvml_error"] == "Driver/library version mismatch"
    assert report.facts["nvidia.nvml_version"] == "13.580.95.05"
    assert "no sign of" not in str(report.absent["cuda.init_code"].detail)


@pytest.mark.parametrize(("machine", "how"), [("crash", "SIGSEGV"), ("hang", "timed out")])
def test_where_nvml_hangs_or_crashes_nvidia_smi_is_asked(machine, how):
    report = reported(machine, {"nvidia-smi": ONE_CARD}, within_s=15)
    assert how in report.facts["nvidia.nvml_error"]
    (card,) = report.cards
    assert card.memory_bytes == 81559 * 2**20
    assert report.facts["nvidia.uvm_device"] is False


def test_answers_before_a_crash_stay_if_smi_fails_too():
    report = reported("crash", {"nvidia-smi": "echo 'Unable to determine the device handle'; exit 255"})
    assert [card.index for card in report.cards] == [0]
    assert report.facts["nvidia.driver_version"] == "580.95.05"
    assert "SIGSEGV" in report.facts["nvidia.nvml_error"]


@pytest.mark.parametrize(("machine", "rule"), [("crash", "nvml-crashes"), ("hang", "nvml-hangs")])
def test_machine_without_nvidia_smi_has_a_finding(machine, rule):
    assert rule in {finding.rule for finding in find(reported(machine, within_s=12), packaged_tables())}


@pytest.mark.parametrize(("index", "watts"), [(0, 71), (2, 640), (5, 71)])
def test_energy_is_the_difference_of_the_card_counter(index, watts, tmp_path):
    """Cards 0, 2, and 5, which comes after the one that is lost."""
    reads = tmp_path / "reads"
    toy = {"card": f"GPU-0000000{index}-1111-2222-3333-444455556666", "seconds": 0.005}
    code, out, err = end(
        start_agent(
            "bench", "--quick", "--device", "cuda:0", "--case", "dtype=fp16,m=2048", "--benchmark", "gemm", "--json",
            "-q", folder=tmp_path, path=[TOY_TORCH], TOY_TORCH=json.dumps(toy), LD_LIBRARY_PATH=library_folder(),
            FAKE_NVML="h100", FAKE_NVML_READS=str(reads),
        )
    )  # fmt: skip
    assert code == 0, err
    (result,) = parse_report(out.encode()).results
    runs = result.conditions["runs_per_block"]
    seen = [tuple(map(int, line.split())) for line in reads.read_text().splitlines()]
    steps = {(later[1] - earlier[1]) / 1e3 for earlier, later in pairwise(seen)}
    for energy_j in result.energy_j:
        assert min(abs(step - energy_j * runs) for step in steps) < 1e-6
    span_s, all_j = (seen[-1][0] - seen[0][0]) / 1e9, (seen[-1][1] - seen[0][1]) / 1e3
    assert all_j == pytest.approx(watts * span_s, abs=watts * 0.021)
    of_blocks_j = sum(result.energy_j) * runs
    # The sum is taken of divided values: it may end in the sixteenth digit above the counter's own.
    assert 0 < of_blocks_j <= result.conditions["energy_j"] + 1e-6 <= all_j + 2e-6
    assert of_blocks_j >= watts * (sum(result.samples) * runs - 0.02 * len(result.samples))
    assert result.card == index

"""Every output of NVIDIA's tools: whole, torn, wrapped, masked, failing."""

import textwrap

import pytest

from stackviz.report.importers import Reading, read_all
from stackviz.report.importers.nvidia_smi_table import find_nvidia_smi_table
from tests.report.importers import nvidia_dumps as dumps
from tests.report.importers.test_importers import fits_a_report

MIB = 2**20


def read(text: str, kind: str = "") -> Reading:
    """What the first dump (of this kind) in a text tells, fit for a report."""
    reading = next(one for one in read_all(text).readings if kind in ("", one.kind))
    assert fits_a_report(reading)
    return reading


ALL = {
    "nvidia-smi-table": dumps.TABLE,
    "nvidia-smi-q": dumps.Q_TEXT,
    "nvidia-smi-xml": dumps.XML,
    "nvidia-smi-csv": dumps.CSV,
    "nvidia-smi-topo": dumps.TOPOLOGY,
    "nvidia-smi-list": dumps.LIST,
    "nvidia-smi-version": dumps.VERSION,
    "nvcc-version": dumps.NVCC,
}


@pytest.mark.parametrize("kind", ALL)
def test_each_output_is_told_apart_and_read_to_its_end(kind):
    paste = read_all(ALL[kind])
    assert paste.kinds == (kind,)
    assert paste.not_understood == ()


# ---- one card, three notations --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["nvidia-smi-q", "nvidia-smi-xml", "nvidia-smi-csv"])
def test_text_xml_and_csv_tell_the_same_of_a_card(kind):
    reading = read(ALL[kind])
    (card,) = reading.cards
    assert (card.reported_name, card.memory_bytes) == ("NVIDIA H100 80GB HBM3", 81559 * MIB)
    assert {name: card.facts.get(name) for name in dumps.CARD_FACTS} == pytest.approx(dumps.CARD_FACTS)
    assert card.absent["driver_model"].reason == "not_supported"
    assert reading.facts["nvidia.driver_version"] == card.facts["driver_version"] == "580.65.06"
    assert reading.facts["nvidia.card_count"] == 1
    assert card.uuid_hash == read(dumps.LIST).cards[0].uuid_hash is not None


# ---- the table ------------------------------------------------------------------------------------------------------


def check_table(reading: Reading) -> None:
    first, second = reading.cards
    assert (reading.facts["nvidia.driver_version"], reading.facts["cuda.driver_api_version"]) == ("580.65.06", "13.0")
    assert (first.reported_name, first.memory_bytes) == ("NVIDIA H100 80GB HBM3", 81559 * MIB)
    assert (second.reported_name, second.memory_bytes) == ("NVIDIA RTX 6000 Ada Gene...", 49140 * MIB)
    told = {
        name: first.facts.get(name) for name in ("ecc", "ecc_uncorrected", "busy_ratio", "power_w", "power_limit_w")
    }
    assert told == {"ecc": True, "ecc_uncorrected": 2, "busy_ratio": 0.37, "power_w": 212, "power_limit_w": 700}
    assert (first.facts["compute_mode"], first.facts["mig_mode"]) == ("exclusive-process", "disabled")
    assert first.facts["mig_pending"] == "enabled"  # the star
    assert (second.facts["display_attached"], second.facts["ecc"]) == (True, False)
    assert second.absent["power_w"].reason == "not_supported"


def test_the_table_tells_cards_memory_driver_and_modes():
    check_table(read(dumps.TABLE))
    assert any("truncated a name" in problem for problem in read(dumps.TABLE).problems)


@pytest.mark.parametrize("width", [60, 72, 80])
def test_a_table_that_a_forum_wrapped_at_blanks_reads_the_same(width):
    lines = dumps.TABLE.splitlines()
    wrapped = [part for line in lines for part in textwrap.wrap(line, width, break_long_words=False) or [""]]
    check_table(read("\n".join(wrapped)))


def test_a_table_without_its_head_still_tells_its_cards():
    reading = read(dumps.TABLE.split("\n", 4)[4])
    assert [card.index for card in reading.cards] == [0, 1]
    assert reading.absent["nvidia.driver_version"].reason == "not_reported"


def test_a_table_cut_off_in_a_card_keeps_what_stands_before():
    text = dumps.TABLE[: dumps.TABLE.index("49140MiB")]
    first, second = read(text).cards
    assert first.memory_bytes == 81559 * MIB
    assert second.memory_bytes is None
    assert second.absent["memory_bytes"].reason == "not_reported"


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (dumps.OLD_TABLE, {"nvidia.driver_version": "430.11"}),
        (dumps.NEW_TABLE, {"nvidia.driver_version": "610.10.01", "cuda.driver_api_version": "13.4"}),
        (dumps.VERSION, {"nvidia.nvml_version": "580.65", "cuda.driver_api_version": "13.0"}),
        (dumps.NVCC, {"cuda.toolkit_version": "12.8.61"}),
    ],
    ids=["narrow", "new", "version", "nvcc"],
)
def test_versions_are_read(text, facts):
    assert facts.items() <= read(text).facts.items()


def test_the_narrow_table_of_old_drivers_tells_its_cards():
    card = read(dumps.OLD_TABLE).cards[0]
    assert (card.reported_name, card.memory_bytes) == ("GeForce GTX 108...", 11178 * MIB)


def test_a_driver_model_is_of_windows():
    reading = read(dumps.WINDOWS_TABLE)
    assert reading.cards[0].facts["driver_model"] == "WDDM"
    assert "persistence_mode" not in reading.cards[0].facts
    assert reading.facts["os.name"] == "Windows"
    assert "os.name" not in read(dumps.TABLE).facts


def test_programs_of_linux_under_a_driver_of_windows_mean_wsl():
    text = dumps.Q_TEXT.replace("Current                           : N/A", "Current                           : WDDM")
    assert "os.wsl" not in read(text).facts
    assert read(text + "    Processes\n            Name      : /Xwayland\n").facts["os.wsl"] == "2"


def test_mig_instances_follow_whole_cards():
    whole, first, second = read(dumps.MIG_TABLE).cards
    assert (whole.facts["mig_mode"], whole.memory_bytes) == ("enabled", 81559 * MIB)
    assert [first.memory_bytes, second.memory_bytes] == [40448 * MIB, 9984 * MIB]
    assert (second.facts["mig_parent_index"], second.facts["multiprocessors"]) == (0, 16)


def test_two_cards_of_one_number_are_told_apart_and_said():
    reading = read(dumps.TABLE.replace("|   1  NVIDIA", "|   0  NVIDIA"))
    assert [card.index for card in reading.cards] == [0, 1]
    assert "two cards have the number 0" in reading.problems


def test_two_tables_are_two_dumps():
    assert len(read_all(f"{dumps.TABLE}\n$ nvidia-smi\n{dumps.OLD_TABLE}").readings) == 2


# ---- how nvidia-smi fails -------------------------------------------------------------------------------------------

FAILURES = [
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that a driver is running.",
    "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.54",
    "Failed to initialize NVML: Unknown Error",
    "No devices were found",
    "Unable to determine the device handle for GPU0000:1B:00.0: Unknown Error",
    "Unable to determine the device handle for GPU 0000:1B:00.0: GPU is lost.  Reboot the system to recover this GPU",
]


@pytest.mark.parametrize("text", FAILURES)
def test_how_nvidia_smi_failed_is_a_fact(text):
    paste = read_all(f"$ nvidia-smi\n{text}\n")
    assert paste.kinds == ("nvidia-smi-table",)
    (reading, *_) = paste.readings
    assert reading.facts["nvidia.nvml_error"] in text
    assert reading.absent["nvidia.driver_version"].reason == "failed"
    assert paste.not_understood == ()
    assert reading.facts.get("nvidia.cards_lost") == (1 if "handle" in text else None)
    told_library = [one.facts["nvidia.nvml_version"] for one in paste.readings if "nvidia.nvml_version" in one.facts]
    assert told_library == (["550.54"] if "550.54" in text else [])


# ---- -q -------------------------------------------------------------------------------------------------------------


def test_unindented_log_reads_the_same():
    flat = "\n".join(line.strip() for line in dumps.Q_TEXT.splitlines())
    (card,) = read(flat).cards
    assert card.memory_bytes == 81559 * MIB
    for fact in ("mig_pending", "ecc_pending", "pcie_generation", "pcie_width", "throttle_reasons", "ecc_uncorrected"):
        assert card.facts[fact] == dumps.CARD_FACTS[fact]


def test_sections_without_names_give_no_cards_and_say_so():
    text = "Attached GPUs : 2\n" + "".join(
        f"GPU 0000000{number}:00:00.0\n    Retired Pages\n        Pending Page Blacklist : No\n\n" for number in (1, 2)
    )
    reading = read(f"==============NVSMI LOG==============\n\nDriver Version : 535.10\n\n{text}")
    assert reading.cards == []
    assert reading.facts["nvidia.card_count"] == 2
    assert reading.problems == ["2 cards without a product name: the output lacks the section that contains it"]


def test_pages_to_be_retired_count_as_a_pending_replacement():
    text = dumps.Q_TEXT.replace("Remapped Rows\n        Pending  ", "Retired Pages\n        Pending Page Blacklist  ")
    text = text.replace("Remapping Failure Occurred        : No", "Remapped Rows : N/A")
    assert read(text).cards[0].facts["remap_pending"] is True


def test_a_card_without_row_remapping_says_so():
    text = dumps.Q_TEXT.split("    Remapped Rows")[0] + "    Remapped Rows                         : N/A\n"
    (card,) = read(text).cards
    assert {card.absent[fact].reason for fact in ("remap_pending", "remap_failed")} == {"not_supported"}


# ---- --query-gpu ----------------------------------------------------------------------------------------------------


def test_units_that_were_left_out_come_from_the_header():
    bare = dumps.CSV.replace(" MiB,", ",").replace(" W,", ",").replace(" %,", ",").replace(" MHz", "")
    bare = bare.replace("[MHz]", "[MHz]")
    (card,) = read(bare).cards
    assert card.memory_bytes == 81559 * MIB
    assert card.facts["busy_ratio"] == 0.37


def test_what_a_query_did_not_ask_for_was_not_collected():
    reading = read("index, name, memory.total [MiB]\n3, NVIDIA L4, 23034 MiB\n5, NVIDIA L4, 23034 MiB\n")
    assert [card.index for card in reading.cards] == [3, 5]
    assert reading.cards[0].absent["power_w"].reason == "not_collected"
    assert reading.absent["nvidia.driver_version"].reason == "not_collected"


def test_rows_without_header_are_read_by_their_command():
    text = "$ nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader\nNVIDIA L4, 23034 MiB, 550.54\n"
    reading = read(text)
    assert (reading.cards[0].reported_name, reading.cards[0].memory_bytes) == ("NVIDIA L4", 23034 * MIB)
    assert reading.facts["nvidia.driver_version"] == "550.54"


def test_what_a_shell_says_below_such_rows_is_no_card():
    text = "+ nvidia-smi --query-gpu=gpu_name --format=csv,noheader --id=2\nNVIDIA L4\n+ STATUS=0\n+ echo done\ndone\n"
    assert [(card.index, card.reported_name) for card in read(text).cards] == [(2, "NVIDIA L4")]


def test_rows_without_a_header_or_a_command_are_not_guessed_at():
    reading = read("NVIDIA L4, 23034 MiB, 550.54.15\n")
    assert reading.cards == []
    assert reading.problems == ["the columns are not named: run the query again without noheader"]


def test_a_row_that_is_cut_off_is_said():
    reading = read("name, driver_version\nNVIDIA L4, 550.54\n", "nvidia-smi-csv")
    assert reading.problems == []
    text = "name, driver_version, memory.total [MiB]\nNVIDIA L4, 550.54, 23034 MiB\nNVIDIA L4, 55"
    assert len(read(text).cards) == 1
    assert read_all(text).not_understood == ("NVIDIA L4, 55",)


@pytest.mark.parametrize(
    "text", ["name, age\nAnn, 3\n", "name,size,type\na,b,c\n", "NVIDIA, of course, wrote 3 drivers\n"]
)
def test_other_tables_are_not_taken_for_a_query(text):
    assert read_all(text).readings == ()


def test_a_query_in_a_loop_tells_each_card_once():
    row = "2026/03/03 09:15:00.000, NVIDIA L4, 00000000:1B:00.0, 550.54\n"
    assert len(read("timestamp, name, pci.bus_id, driver_version\n" + row * 40).cards) == 1


# ---- the short ones -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", [lambda text: text, lambda text: text.expandtabs(8), lambda text: f"\x1b[4m{text}\x1b[0m"]
)
def test_links_between_cards_are_told_once_for_each_pair(change):
    reading = read(change(dumps.TOPOLOGY))
    assert reading.facts["nvidia.topology"] == "0-1:NV18 0-2:SYS 1-2:NODE"
    assert reading.facts["nvidia.card_count"] == 3


def test_a_topology_that_was_refused_says_so():
    reading = read("ERROR: Option -m is missing its value. Please run 'nvidia-smi -h' for help.\n")
    assert reading.absent["nvidia.topology"].reason == "not_supported"


def test_vgpu_profiles_are_recognised():
    _whole, other, first, second = read(dumps.LIST).cards
    assert (first.facts["mig_profile"], second.facts["mig_profile"]) == ("3g.40gb", "1g.10gb")
    assert (first.facts["mig_parent_index"], second.index) == (0, 3)
    assert other.uuid_hash is None
    assert read(dumps.LIST).facts["nvidia.card_count"] == 2


def test_masked_numbers_are_withheld():
    for text in (dumps.LIST, dumps.Q_TEXT, dumps.CSV):
        masked = text.replace("GPU-11112222-3333-4444-5555-666677778888", "[redacted]")
        assert read(masked).cards[0].uuid_hash is None


@pytest.mark.parametrize(
    ("head", "wsl"),
    [
        ("NVIDIA-SMI 535.112                Driver Version: 537.42       CUDA Version: 12.2", "2"),
        ("NVIDIA-SMI 560.28.03              Driver Version: 560.70       CUDA Version: 12.6", "2"),
        ("NVIDIA-SMI 535.183.01             Driver Version: 535.183.01   CUDA Version: 12.2", None),
        ("NVIDIA-SMI 537.42                 Driver Version: 537.42       CUDA Version: 12.2", None),
        ("NVIDIA-SMI 445.75                 Driver Version: 445.87       CUDA Version: 11.0", None),
    ],
)
def test_a_tool_of_another_version_than_its_driver_runs_in_wsl2(head, wsl):
    [reading] = read_all(f"+{'-' * 79}+\n| {head} |\n+{'-' * 79}+\n").readings
    assert reading.facts.get("os.wsl") == wsl


def test_err_for_the_cuda_version_is_a_failure_and_no_version():
    head = "| NVIDIA-SMI 550.76.01              Driver Version: 552.22         CUDA Version: ERR!     |"
    [reading] = read_all(f"+{'-' * 79}+\n{head}\n+{'-' * 79}+\n").readings
    assert reading.absent["cuda.driver_api_version"].reason == "failed"


@pytest.mark.parametrize("said", ["GPU has fallen off the bus", "GPU is lost", "No devices were found"])
def test_a_line_of_the_kernel_is_not_taken_for_the_tool(said):
    assert find_nvidia_smi_table(said)
    assert not find_nvidia_smi_table(f"[ 12.3] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, {said}.\n[ 12.4] NVRM: {said}.")

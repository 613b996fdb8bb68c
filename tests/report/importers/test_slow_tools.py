"""Tools that answer why a machine is slow: what each prints is read, whole and torn."""

import pytest

from stackviz.report.importers import BY_KIND, read_all
from tests.report.importers.own_dump import OwnDump, fixture, reading_of

DCGMI_DMON = (
    "#Entity   GPUTL   FBUSD   POWER   SMCLK   TMPTR   DRAMA   PCIRX\nID\n"
    + "GPU 0     97      61234   612.4   1755    64      0.412   1200456\nGPU 1     0       61234   98.1    1980    41      N/A     0\n"
    * 6
)
PMON = (
    "# gpu         pid   type     sm    mem    enc    dec    jpg    ofa    command\n"
    "# Idx           #    C/G      %      %      %      %      %      %    name\n"
    + "    0       4121     C     61     30      -      -      -      -    python\n"
    "    0       4390     C     20     10      -      -      -      -    python\n" * 6
)
LAYERS = (
    "load_tensors: offloading 24 repeating layers to GPU\nload_tensors: offloaded 24/49 layers to GPU\n"
    "load_tensors:   CPU_Mapped model buffer size =  9182.12 MiB\n"
)
OLLAMA_PS = "NAME         ID              SIZE      PROCESSOR          UNTIL\ngemma3:27b   a418f5838eaf    31 GB     62%/38% CPU/GPU    4 minutes from now\n"
VLLM = (
    "(APIServer pid=41) INFO 11-20 10:01:12 [api_server.py:1896] vLLM API server version 0.14.1\n"
    "(EngineCore_DP0 pid=77) INFO 11-20 10:01:40 [gpu_model_runner.py:2653] Model loading took 15.2683 GiB and 12.1 seconds\n"
    "(EngineCore_DP0 pid=77) INFO 11-20 10:01:58 [kv_cache_utils.py:1087] GPU KV cache size: 41,280 tokens\n"
    "some other program\n"
    "(APIServer pid=41) INFO 11-20 10:05:31 [loggers.py:257] Engine 000: Avg prompt throughput: 12068.8 tokens/s, Avg "
    "generation throughput: 734.9 tokens/s, Running: 18 reqs, Waiting: 43 reqs, GPU KV cache usage: 97.7%, Prefix cache "
    "hit rate: 0.0%\n"
)
VLLM_BEFORE_0_8 = (
    "INFO 07-24 09:55:30 metrics.py:334] Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 2136.3 tokens/s, "
    "Running: 247 reqs, Swapped: 0 reqs, Pending: 740 reqs, GPU KV cache usage: 99.7%, CPU KV cache usage: 0.0%\n"
    "WARNING 07-24 09:55:33 scheduler.py:1057] Sequence group 0 is preempted by PreemptionMode.RECOMPUTE mode because "
    "there is not enough KV cache space. total_cumulative_preemption_cnt=51\n"
)
NSYS = (
    " ** CUDA API Summary (cuda_api_sum):\n\n"
    " Time (%)  Total Time (ns)  Num Calls    Avg (ns)     Name\n --------  ---------------  ---------  -----------  ----\n"
    "     81.0    8,100,000,000     13,185  1,424,683.3  cudaStreamSynchronize\n"
    "     19.0    1,900,000,000    210,118      9,042.5  cudaLaunchKernel\n\n"
    " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n"
    " Time (%)  Total Time (ns)  Instances    Avg (ns)     Name\n --------  ---------------  ---------  -----------  ----\n"
    "    100.0    2,000,000,000    210,118      9,518.4  ampere_sgemm_128x64_tn\n"
)
IOSTAT = (
    "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           4.10    0.00    1.20   1.70    0.00   93.00\n\n"
    "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           6.00    0.00    2.00   42.00    0.00   50.00\n\n"
    "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           6.00    0.00    2.00   38.00    0.00   54.00\n"
)
VMSTAT = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- -------cpu-------\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st gu\n"
    " 1  4      0 812340  10240 901232    0    0 90120    12 4012 8011  5  3 50 42  0  0\n"
    " 0  5      0 811000  10240 901232    0    0 88120    40 4112 8111  5  3 54 38  0  0\n"
)
DSTAT = (
    "--total-cpu-usage-- -dsk/total- -net/total- ---paging-- ---system--\n"
    "usr sys idl wai stl| read  writ| recv  send|  in   out | int   csw\n"
    "  5   3  50  42   0| 101M    0 |9100B 4200B|   0     0 |6100  9012\n"
    "  5   3  54  38   0|  98M   24k|8800B 4100B|   0     0 |6012  8900\n"
)
TOP = "%Cpu(s):  5.1 us,  2.0 sy,  0.0 ni, 52.9 id, 40.0 wa,  0.0 hi,  0.0 si,  0.0 st\n"
MEMORY_PRESSURE = (
    "The system has 17179869184 (1048576 pages with a page size of 16384).\nSystem-wide memory free percentage: 12%\n"
    "kern.memorystatus_vm_pressure_level: 2\n"
    "vm.swapusage: total = 6144.00M  used = 5120.00M  free = 1024.00M  (encrypted)\n"
)
MACMON = (
    '{"temp":{"cpu_temp_avg":61.2,"gpu_temp_avg":70.1},"memory":{"ram_total":17179869184,"ram_usage":16106127360,'
    '"swap_total":6442450944,"swap_usage":5368709120},"gpu_usage":[1398,0.99],"gpu_power":18.2}\n'
)
ASITOP = "RAM Usage: 15.2/16.0GB - swap:5.0/6.0GB\nCPU+GPU+ANE Power: 21.4W (avg: 20.1W W peak: 28.3W) throttle: yes\n"
NCCL = (
    "gpu01:9621:9692 [0] NCCL INFO NCCL version 2.27.5+cuda12.9\n"
    "gpu01:9621:9692 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
    "gpu01:9621:9692 [7] NCCL INFO Channel 14/0 : 15[7] -> 0[0] [send] via NET/Socket/0\n"
)
LSPCI_VV = (
    "01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1) (prog-if 00 [VGA controller])\n"
    "\tSubsystem: Gigabyte Technology Co., Ltd Device 4043\n"
    "\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L1, Exit Latency L1 <4us\n"
    "\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x4 (downgraded)\n"
    "\tKernel driver in use: nvidia\n"
)
DIAG = fixture("slow/narrow-link.txt")
PROFILE = fixture("slow/host-sync.txt")

OWN_DUMPS = (
    OwnDump(kind="dcgmi-dmon", text=DCGMI_DMON, cards=2),
    OwnDump(kind="nvidia-smi-pmon", text=PMON, cards=1),
    OwnDump(kind="layer-offload", text=LAYERS, facts={"model.layers": 49, "model.layers_on_card": 24}),
    OwnDump(
        kind="ollama-ps",
        text=OLLAMA_PS,
        facts={"model.cpu_ratio": 0.62, "model.memory_bytes": 31_000_000_000},
        commands=("ollama ps",),
    ),
    OwnDump(
        kind="vllm-log",
        text=VLLM,
        facts={"vllm.requests_waiting": 43, "vllm.cache_ratio": 0.977, "vllm.cache_tokens": 41_280},
        rules=("vllm-queue",),
    ),
    OwnDump(kind="nsys-stats", text=NSYS, facts={"profile.calls_s": 10.0, "profile.device_s": 2.0}),
    OwnDump(kind="host-load", text=IOSTAT, facts={"cpu.iowait_ratio": 0.4}, rules=("storage-waits",)),
    OwnDump(
        kind="mac-memory",
        text=MEMORY_PRESSURE,
        facts={"memory.free_ratio": 0.12, "memory.pressure": "warning", "memory.swap_used_bytes": 5 * 2**30},
        commands=("memory_pressure -Q",),
        rules=("mac-memory",),
    ),
    OwnDump(kind="nccl-log", text=NCCL, facts={"nccl.transports": "P2P/CUMEM NET/Socket/0"}, rules=("nccl-transport",)),
    OwnDump(
        kind="dcgmi-diag",
        text=DIAG,
        facts={"nvidia.dcgm_failed": "pcie", "nvidia.driver_version": "580.95.05"},
        cards=1,
        commands=("dcgmi diag -r 2",),
        rules=("pcie-width",),
    ),
    OwnDump(kind="torch-profiler", text=PROFILE, facts={"profile.host_s": 1.93, "profile.syncs": 1000}),
)


@pytest.mark.parametrize(
    "text",
    [
        "llm_load_tensors: offloaded 20/33 layers to GPU\n",
        'level=INFO msg="offload to cuda" layers.requested=-1 layers.model=33 layers.offload=20 layers.split=""\n',
    ],
    ids=["llama.cpp", "ollama"],
)
def test_layers_are_read_of_each_program(text):
    facts = reading_of(text).facts
    assert (facts["model.layers_on_card"], facts["model.layers"]) == (20, 33)


def test_columns_of_ollama_ps_may_be_tabs():
    text = (
        "<pre>ollama ps\nNAME        \tID          \tSIZE  \tPROCESSOR      \tUNTIL               \n"
        "codellama:7b\t8fdf8f752f6e\t6.8 GB\t43%/57% CPU/GPU\t25 minutes from now</pre>\n"
    )
    assert reading_of(text).facts["model.cpu_ratio"] == 0.43


@pytest.mark.parametrize("text", [IOSTAT, VMSTAT, DSTAT, TOP], ids=["iostat", "vmstat", "dstat", "top"])
def test_waiting_for_storage_is_read_of_each_tool(text):
    assert reading_of(text).facts["cpu.iowait_ratio"] == pytest.approx(0.4)


@pytest.mark.parametrize("text", [MEMORY_PRESSURE, MACMON, ASITOP], ids=["memory_pressure", "macmon", "asitop"])
def test_swap_of_a_mac_is_read_of_each_tool(text):
    facts = reading_of(text).facts
    assert (facts["memory.total_bytes"], facts["memory.swap_used_bytes"]) == (16 * 2**30, 5 * 2**30)


def test_preempted_requests_of_an_older_vllm_are_counted():
    facts = reading_of(VLLM_BEFORE_0_8).facts
    assert (facts["vllm.requests_waiting"], facts["vllm.preemptions"]) == (740, 51)


def test_lanes_are_read_of_lspci_and_an_idle_link_is_no_fault():
    (card,) = reading_of(LSPCI_VV).cards
    assert (card.facts["pcie_width"], card.facts["pcie_width_max"]) == (4, 16)
    assert "pcie_generation" not in card.facts  # it drops when idle, and lspci does not say how busy the card is


def test_load_of_nvitop_is_read():
    (card,) = reading_of(fixture("dumps/tools/nvitop.txt")).cards
    names = ("busy_ratio", "power_w", "power_limit_w", "temperature_c", "memory_used_bytes")
    assert [card.facts[name] for name in names] == [0, 62, 400, 34, 3 * 2**20]


def test_dcgm_names_busy_and_idle_cards():
    first, second = reading_of(DCGMI_DMON).cards
    assert first.facts["watched_busy_ratio"] == pytest.approx(0.97)
    assert first.facts["watched_power_w"] == 612.4
    assert second.facts["watched_idle_ratio"] == 1
    assert "watched_busy_ratio" not in second.facts


def test_processes_of_a_card_are_added_up():
    (card,) = reading_of(PMON).cards
    assert (card.facts["watched_readings"], card.facts["watched_busy_ratio"]) == (6, pytest.approx(0.81))


def test_dmon_with_all_its_columns_and_times():
    head = (
        "#Date       Time        gpu   pwr gtemp mtemp    sm   mem  mclk  pclk pviol tviol    fb rxpci txpci\n"
        "#YYYYMMDD   HH:MM:SS    Idx     W     C     C     %     %   MHz   MHz     %  bool    MB  MB/s  MB/s\n"
    )
    row = " 20261120   10:00:{:02}      3   318    79     -    99    61  9501  1410    62     0 20110   577    95\n"
    (card,) = reading_of(head + "".join(row.format(second) for second in range(10))).cards
    assert card.index == 3
    assert (card.facts["watched_s"], card.facts["watched_throttle_reasons"]) == (9, "sw_power_cap")
    assert (card.facts["watched_sm_clock_hz"], card.facts["watched_received_bytes_per_s"]) == (1.41e9, 577e6)


def test_a_row_that_was_cut_states_nothing():
    reading = BY_KIND["nvidia-smi-dmon"].read("# gpu   pwr    sm   mem\n    0    40    99    30\n    0    40\n")
    assert [len(samples) for samples in reading.series.values()] == [1]


def test_few_tables_are_single_looks_and_no_series():
    table = "timestamp, index, name, utilization.gpu [%]\n" + "".join(
        f"2026/11/20 10:00:0{second}.000, 0, NVIDIA L4, 99 %\n" for second in range(3)
    )
    assert "watched_readings" not in reading_of(table).cards[0].facts


def test_a_loop_without_numbers_of_cards_tells_them_apart():
    rows = "".join(
        f"2026/11/20 10:00:0{second}.{100 + 10 * number}, NVIDIA L4, {99 - 90 * number} %\n"
        for second in range(6)
        for number in range(2)
    )
    cards = reading_of(f"timestamp, name, utilization.gpu [%]\n{rows}").cards
    assert [card.facts["watched_idle_ratio"] for card in cards] == [0, 1]


def test_text_around_these_tools_is_left_to_others():
    paste = read_all(f"why so slow?\n$ nvidia-smi pmon -c 6\n{PMON}\nthanks\n")
    assert (paste.kinds, paste.not_understood) == (("nvidia-smi-pmon",), ("why so slow?", "thanks"))

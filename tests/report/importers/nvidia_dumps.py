"""Dumps of NVIDIA's tools with invented values, in each layout that is read."""

from tests.report.importers.own_dump import OwnDump, fixture

TABLE = """\
Tue Mar  3 09:15:00 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.65.06              Driver Version: 580.65.06      CUDA Version: 13.0     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    2 |
| N/A   41C    P0            212W /  700W |    1024MiB /  81559MiB |     37%   E. Process |
|                                         |                        |            Disabled* |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA RTX 6000 Ada Gene...    Off |   00000000:3C:00.0  On |                  Off |
| ERR!  30C    P8            N/A /  300W  |       0MiB /  49140MiB |      0%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A            4321      C   python                                  700MiB |
|    1   N/A  N/A            4322    C+G   ...bin\\something.exe                  N/A      |
+-----------------------------------------------------------------------------------------+
"""

OLD_TABLE = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 430.11       Driver Version: 430.11       CUDA Version: 10.1     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  GeForce GTX 108...  Off  | 00000000:02:00.0  On |                  N/A |
| 23%   38C    P8     9W / 250W |    345MiB / 11178MiB |      1%      Default |
+-------------------------------+----------------------+----------------------+
"""

NEW_TABLE = TABLE.replace(
    "Driver Version: 580.65.06      CUDA Version: 13.0     ", "KMD Version: 610.10.01   CUDA UMD Version: 13.4      "
)

WINDOWS_TABLE = TABLE.replace("Persistence-M", " Driver-Model").replace("HBM3          On  ", "HBM3         WDDM ")

MIG_TABLE = """\
| NVIDIA-SMI 580.65.06              Driver Version: 580.65.06      CUDA Version: 13.0     |
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                   On |
| N/A   36C    P0            295W /  700W |   16959MiB /  81559MiB |     N/A      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| MIG devices:                                                                            |
+------------------+----------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |
|==================+==================================+===========+=======================|
|  0    1   0   0  |              44MiB / 40448MiB    | 60      0 |  3   0    3    0    3 |
|                  |               0MiB / 32767MiB    |           |                       |
+------------------+----------------------------------+-----------+-----------------------+
|  0    9   0   1  |              12MiB /  9984MiB    | 16      0 |  1   0    1    0    1 |
|                  |               0MiB / 16383MiB    |           |                       |
+------------------+----------------------------------+-----------+-----------------------+
"""

Q_TEXT = """\

==============NVSMI LOG==============

Timestamp                                 : Tue Mar  3 09:15:00 2026
Driver Version                            : 580.65.06
CUDA Version                              : 13.0

Attached GPUs                             : 1
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Product Architecture                  : Hopper
    Display Attached                      : No
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Disabled
        Pending                           : Enabled
    Driver Model
        Current                           : N/A
    GPU UUID                              : GPU-11112222-3333-4444-5555-666677778888
    VBIOS Version                         : 96.00.00.00.01
    PCI
        Device Id                         : 0x233010DE
        Bus Id                            : 00000000:1B:00.0
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 3
            Link Width
                Max                       : 16x
                Current                   : 8x
    Clocks Event Reasons
        Idle                              : Not Active
        SW Power Cap                      : Active
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Active
            HW Power Brake Slowdown       : Not Active
    FB Memory Usage
        Total                             : 81559 MiB
        Reserved                          : 500 MiB
        Used                              : 1024 MiB
    Compute Mode                          : Default
    Utilization
        GPU                               : 37 %
    ECC Mode
        Current                           : Enabled
        Pending                           : Disabled
    ECC Errors
        Volatile
            SRAM Correctable              : 1
            SRAM Uncorrectable Parity     : 1
            SRAM Uncorrectable SEC-DED    : 0
            DRAM Correctable              : 4
            DRAM Uncorrectable            : 2
    Remapped Rows
        Pending                           : Yes
        Remapping Failure Occurred        : No
    Temperature
        GPU Current Temp                  : 41 C
    GPU Power Readings
        Average Power Draw                : 212.50 W
        Current Power Limit               : 700.00 W
    Max Clocks
        SM                                : 1980 MHz
        Memory                            : 2619 MHz
"""

XML = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log><driver_version>580.65.06</driver_version><cuda_version>13.0</cuda_version>
<attached_gpus>1</attached_gpus><gpu id="00000000:1B:00.0"><product_name>NVIDIA H100 80GB HBM3</product_name>
<product_architecture>Hopper</product_architecture><display_attached>No</display_attached>
<persistence_mode>Enabled</persistence_mode>
<mig_mode><current_mig>Disabled</current_mig><pending_mig>Enabled</pending_mig></mig_mode>
<driver_model><current_dm>N/A</current_dm></driver_model>
<uuid>GPU-11112222-3333-4444-5555-666677778888</uuid><vbios_version>96.00.00.00.01</vbios_version>
<pci><pci_device_id>233010DE</pci_device_id><pci_bus_id>00000000:1B:00.0</pci_bus_id><pci_gpu_link_info>
<pcie_gen><max_link_gen>5</max_link_gen><current_link_gen>3</current_link_gen></pcie_gen>
<link_widths><max_link_width>16x</max_link_width><current_link_width>8x</current_link_width></link_widths>
</pci_gpu_link_info></pci><clocks_event_reasons>
<clocks_event_reason_gpu_idle>Not Active</clocks_event_reason_gpu_idle>
<clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>
<clocks_event_reason_hw_slowdown>Active</clocks_event_reason_hw_slowdown>
<clocks_event_reason_hw_thermal_slowdown>Active</clocks_event_reason_hw_thermal_slowdown></clocks_event_reasons>
<fb_memory_usage><total>81559 MiB</total><reserved>500 MiB</reserved><used>1024 MiB</used></fb_memory_usage>
<compute_mode>Default</compute_mode><utilization><gpu_util>37 %</gpu_util></utilization>
<ecc_mode><current_ecc>Enabled</current_ecc><pending_ecc>Disabled</pending_ecc></ecc_mode>
<ecc_errors><volatile><sram_correctable>1</sram_correctable>
<sram_uncorrectable_parity>1</sram_uncorrectable_parity><sram_uncorrectable_secded>0</sram_uncorrectable_secded>
<dram_correctable>4</dram_correctable><dram_uncorrectable>2</dram_uncorrectable></volatile></ecc_errors>
<remapped_rows><remapped_row_pending>Yes</remapped_row_pending>
<remapped_row_failure>No</remapped_row_failure></remapped_rows><temperature><gpu_temp>41 C</gpu_temp></temperature>
<gpu_power_readings><power_draw>212.50 W</power_draw><current_power_limit>700.00 W</current_power_limit>
</gpu_power_readings><max_clocks><sm_clock>1980 MHz</sm_clock><mem_clock>2619 MHz</mem_clock></max_clocks>
</gpu></nvidia_smi_log>
"""

CSV_COLUMNS = {
    "index": "0",
    "name": "NVIDIA H100 80GB HBM3",
    "driver_version": "580.65.06",
    "uuid": "GPU-11112222-3333-4444-5555-666677778888",
    "count": "1",
    "display_attached": "No",
    "persistence_mode": "Enabled",
    "mig.mode.current": "Disabled",
    "mig.mode.pending": "Enabled",
    "driver_model.current": "[N/A]",
    "vbios_version": "96.00.00.00.01",
    "pci.device_id": "0x233010DE",
    "pci.bus_id": "00000000:1B:00.0",
    "pcie.link.gen.max": "5",
    "pcie.link.gen.current": "3",
    "pcie.link.width.max": "16",
    "pcie.link.width.current": "8",
    "clocks_event_reasons.active": "0x000000000000004C",
    "memory.total [MiB]": "81559 MiB",
    "memory.reserved [MiB]": "500 MiB",
    "memory.used [MiB]": "1024 MiB",
    "compute_mode": "Default",
    "utilization.gpu [%]": "37 %",
    "ecc.mode.current": "Enabled",
    "ecc.mode.pending": "Disabled",
    "ecc.errors.corrected.volatile.total": "5",
    "ecc.errors.uncorrected.volatile.total": "3",
    "remapped_rows.pending": "Yes",
    "remapped_rows.failure": "No",
    "temperature.gpu": "41",
    "power.draw [W]": "212.50 W",
    "enforced.power.limit [W]": "700.00 W",
    "clocks.max.sm [MHz]": "1980 MHz",
    "clocks.max.memory [MHz]": "2619 MHz",
}
CSV = f"{', '.join(CSV_COLUMNS)}\n{', '.join(CSV_COLUMNS.values())}\n"

CARD_FACTS = {
    "display_attached": False,
    "persistence_mode": True,
    "mig_mode": "disabled",
    "mig_pending": "enabled",
    "vbios_version": "96.00.00.00.01",
    "pci_device_id": "0x233010DE",
    "pci_bus_id": "00000000:1B:00.0",
    "pcie_generation_max": 5,
    "pcie_generation": 3,
    "pcie_width_max": 16,
    "pcie_width": 8,
    "throttle_reasons": "sw_power_cap hw_slowdown hw_thermal_slowdown",
    "memory_reserved_bytes": 500 * 2**20,
    "memory_used_bytes": 1024 * 2**20,
    "compute_mode": "default",
    "busy_ratio": 0.37,
    "ecc": True,
    "ecc_pending": False,
    "ecc_corrected": 5,
    "ecc_uncorrected": 3,
    "remap_pending": True,
    "remap_failed": False,
    "temperature_c": 41,
    "power_w": 212.5,
    "power_limit_w": 700,
    "sm_clock_max_hz": 1.98e9,
    "memory_clock_max_hz": 2.619e9,
}
"""What Q_TEXT, XML and CSV all say of their one card."""

TOPOLOGY = """\
\tGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV18\tSYS\tPIX\t0-31\t0\t\tN/A
GPU1\tNV18\t X \tNODE\tSYS\t0-31\t0\t\tN/A
GPU2\tSYS\tNODE\t X \tSYS\t32-63\t1\t\tN/A
NIC0\tPIX\tSYS\tSYS\t X \t\t\t

Legend:

  X    = Self
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

  NIC0: mlx5_0
"""

LIST = """\
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-11112222-3333-4444-5555-666677778888)
  MIG 3g.40gb     Device  0: (UUID: MIG-22223333-4444-5555-6666-777788889999)
  MIG 1g.10gb     Device  1: (UUID: MIG-33334444-5555-6666-7777-888899990000)
GPU 1: NVIDIA RTX A6000 (UUID: GPU-00000000-0000-0000-0000-000000000000)
"""

VERSION = """\
NVIDIA-SMI version  : 580.65.06
NVML version        : 580.65
DRIVER version      : 580.65.06
CUDA Version        : 13.0
"""

NVCC = """\
nvcc: NVIDIA (R) Cuda compiler driver
Copyright (c) 2005-2025 NVIDIA Corporation
Built on Wed_Jan_15_19:20:09_PST_2025
Cuda compilation tools, release 12.8, V12.8.61
Build cuda_12.8.r12.8/compiler.35404655_0
"""


OWN_DUMPS = (
    OwnDump(
        kind="nvidia-smi-xml",
        text=fixture("dumps/nvidia_smi_a100_mig.xml"),
        facts={"nvidia.driver_version": "560.35.03"},
        cards=3,
        rules=("mig-on",),
    ),
    OwnDump(
        kind="nvidia-smi-table",
        text=TABLE,
        facts={"cuda.driver_api_version": "13.0"},
        cards=2,
        rules=("ecc-uncorrectable", "name-cut"),
    ),
    OwnDump(
        kind="nvidia-smi-q",
        text=Q_TEXT,
        facts={"nvidia.driver_version": "580.65.06"},
        cards=1,
        rules=("row-remap-pending",),
    ),
    OwnDump(kind="nvidia-smi-csv", text=CSV, facts={"nvidia.driver_version": "580.65.06"}, cards=1),
    OwnDump(kind="nvidia-smi-topo", text=TOPOLOGY, commands=("nvidia-smi topo -m",)),
    OwnDump(kind="nvidia-smi-list", text=LIST, cards=4, rules=("mixed-capability",)),
    OwnDump(kind="nvidia-smi-version", text=VERSION, facts={"cuda.driver_api_version": "13.0"}),
    OwnDump(kind="nvcc-version", text=NVCC, facts={"cuda.toolkit_version": "12.8.61"}),
)

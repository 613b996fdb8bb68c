"""What is stated of one card. The nvidia probe reads most of it from NVML."""

from stackviz.facts.table import FactTable

__all__ = ["CARD_FACTS"]

CARD_FACTS = FactTable(order=10)

CARD_FACTS.text("compute_capability", "9.0", command="nvidia-smi --query-gpu=index,name,compute_cap --format=csv")
CARD_FACTS.text("architecture", "the maker's architecture name: Hopper")
CARD_FACTS.text("driver_version", "driver of this card")
CARD_FACTS.text("vbios_version", "firmware version")
CARD_FACTS.text("pci_bus_id", "00000000:18:00.0")
CARD_FACTS.text("pci_device_id", "device and vendor: 0x233010DE")
CARD_FACTS.text("pci_subsystem_id", "board: 0x16C110DE")
CARD_FACTS.text("addressing_mode", "HMM, ATS or none: how the card sees main memory")
CARD_FACTS.truth("unified_memory", "the card computes in the machine's main memory and has none of its own")
CARD_FACTS.truth(
    "persistence_mode",
    "the driver stays loaded between users",
    command="nvidia-smi --query-gpu=index,persistence_mode --format=csv",
)
CARD_FACTS.truth("ecc", "error correction of the memory is on")
CARD_FACTS.truth("ecc_pending", "error correction of the memory will be on after the next reset")
CARD_FACTS.count("ecc_corrected", "memory errors corrected since the driver was loaded", least=0)
CARD_FACTS.count(
    "ecc_uncorrected",
    "memory errors that could not be corrected since the driver was loaded",
    least=0,
    command="nvidia-smi -q -d ECC",
)
CARD_FACTS.truth(
    "remap_pending",
    "rows of memory wait for a reset to be replaced (pages to be retired, on older cards)",
    command="nvidia-smi -q -d ROW_REMAPPER",
)
CARD_FACTS.truth("remap_failed", "a row of memory could not be replaced", command="nvidia-smi -q -d ROW_REMAPPER")
CARD_FACTS.text(
    "throttle_reasons",
    "why the clock is held back, space separated, in NVML's words; none when it is not",
    command="nvidia-smi -q -d PERFORMANCE",
)
CARD_FACTS.number("busy_ratio", "share of the last moments in which the card worked", unit="1")
CARD_FACTS.number("temperature_c", "temperature of the card", unit="°C", least=None)
CARD_FACTS.number("power_w", "power drawn by the card", unit="W")
CARD_FACTS.size("memory_used_bytes", "device memory in use, by all", least=0)
CARD_FACTS.truth("display_attached", "a display is connected")
CARD_FACTS.text("mig_mode", "enabled or disabled: the card is cut into instances")
CARD_FACTS.text("mig_pending", "mode after the next reset: enabled or disabled")
CARD_FACTS.text("mig_profile", "of an instance: 1g.10gb")
CARD_FACTS.integer("mig_parent_index", "of an instance: index of the card it is cut from", least=0)
CARD_FACTS.text("virtualization_mode", "none, pass-through, vgpu, host-vgpu")
CARD_FACTS.text("compute_mode", "default, exclusive-process, prohibited")
CARD_FACTS.text("driver_model", "WDDM, TCC or MCDM, on Windows")
CARD_FACTS.count("cuda_cores", "FP32 lanes as the driver counts them")
CARD_FACTS.count("gpu_cores", "GPU cores as Apple counts them")
CARD_FACTS.count("multiprocessors", "streaming multiprocessors or compute units")
CARD_FACTS.count("memory_bus_bits", "width of the memory bus")
CARD_FACTS.size("memory_reserved_bytes", "memory the driver keeps for itself", least=0)
CARD_FACTS.number("power_limit_w", "power limit in force", unit="W", least=1, command="nvidia-smi -q -d POWER")
CARD_FACTS.number(
    "power_default_limit_w", "power limit from the factory", unit="W", least=1, command="nvidia-smi -q -d POWER"
)
CARD_FACTS.number("power_max_limit_w", "highest power limit that can be set", unit="W", least=1)
CARD_FACTS.number("sm_clock_max_hz", "highest clock of the multiprocessors", unit="Hz", least=1)
CARD_FACTS.number("memory_clock_max_hz", "highest memory clock as the driver states it", unit="Hz", least=1)
CARD_FACTS.count("pcie_generation", "PCI Express generation of the link in use now (drops when idle)")
CARD_FACTS.count("pcie_width", "lanes of the link in use now")
CARD_FACTS.count("pcie_generation_max", "highest generation this card reaches in this slot")
CARD_FACTS.count("pcie_width_max", "most lanes this card reaches in this slot")
CARD_FACTS.count("nvlink_links", "NVLink links that are up", least=0)
CARD_FACTS.text("metal_family", "Metal support as macOS words it")
CARD_FACTS.text("gfx_target", "what kernels for an AMD card are built for: gfx942")
CARD_FACTS.text("registry_class", "class in the IORegistry: AGXAcceleratorG15X")
CARD_FACTS.size("recommended_max_memory_bytes", "largest working set the maker recommends on this card")

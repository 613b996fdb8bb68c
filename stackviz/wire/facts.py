"""The registry of facts: every name a report may state, its type, its SI unit and its meaning.

Three tables of one shape: FACTS about a machine, CARD_FACTS about one card, CONDITIONS around one result. A name
that is missing here is kept and listed as not understood; a known name with a value of the wrong type is refused.
To add one, add one line here and a probe that reads it: docs/recipes/probe-fact.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from stackviz.wire.limits import LIMITS

__all__ = ["ABSENT_REASONS", "CARD_ABSENT_NAMES", "CARD_FACTS", "CONDITIONS", "FACTS", "MOMENTS", "Fact", "FactType"]

ABSENT_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "not_reported": "asked, and the device or tool did not say",
        "not_supported": "the device, driver or version cannot tell",
        "not_installed": "the software that would tell is not installed",
        "not_applicable": "the question has no meaning on this machine",
        "not_collected": "this agent does not ask, or was told not to",
        "withheld": "known, and kept back by choice",
        "failed": "asking ended in an error; the detail says which",
        "timeout": "asking did not end in time",
    }
)
"""Why a fact is absent. Unknown is never 0."""


class FactType(StrEnum):
    """What a value may be: a truth is not an integer, an integer may stand where a number is asked for."""

    TEXT = "text"
    TRUTH = "truth"
    INTEGER = "integer"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing a report may state. `unit` is an SI symbol, "count", or "" for text and truths.

    `least` is the smallest value that can be meant: sizes and clocks start above 0, because tools write 0 where
    they do not know. None means no bound. Text is at most LIMITS.string_chars long.
    """

    name: str
    kind: FactType
    unit: str
    meaning: str
    least: float | None = None
    types: frozenset[type] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", _PYTHON_TYPES[self.kind])

    def problem_with(self, value: object) -> str | None:
        """What is wrong with this value, as ReportError says it; None if nothing is."""
        if type(value) not in self.types:
            return f"is {_described(value)}, not {_NOUNS[self.kind]}"
        if self.least is not None and value < self.least:  # type: ignore[operator]  # a number: see types
            return f"is {value}, below {self.least}: an unknown value is left out and named in absent"
        return None


_PYTHON_TYPES: dict[FactType, frozenset[type]] = {
    FactType.TEXT: frozenset({str}),
    FactType.TRUTH: frozenset({bool}),
    FactType.INTEGER: frozenset({int}),
    FactType.NUMBER: frozenset({int, float}),
}
_NOUNS = {
    FactType.TEXT: "text",
    FactType.TRUTH: "true or false",
    FactType.INTEGER: "an integer",
    FactType.NUMBER: "a number",
}
_DESCRIBED = {
    str: "text",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    dict: "an object",
    list: "a list",
}


def _described(value: object) -> str:
    return "null" if value is None else _DESCRIBED.get(type(value), type(value).__name__)


def _table(facts: Iterable[Fact]) -> Mapping[str, Fact]:
    return MappingProxyType({fact.name: fact for fact in facts})


def _text(name: str, meaning: str) -> Fact:
    return Fact(name, FactType.TEXT, "", meaning)


def _truth(name: str, meaning: str) -> Fact:
    return Fact(name, FactType.TRUTH, "", meaning)


def _count(name: str, meaning: str, least: int = 1) -> Fact:
    return Fact(name, FactType.INTEGER, "count", meaning, least)


def _bytes(name: str, meaning: str, least: int = 1) -> Fact:
    return Fact(name, FactType.INTEGER, "B", meaning, least)


def _number(name: str, unit: str, meaning: str, least: float | None = 0) -> Fact:
    return Fact(name, FactType.NUMBER, unit, meaning, least)


FACTS = _table(
    [
        # operating system and machine
        _text("os.name", "operating system or distribution: Ubuntu, macOS, Windows"),
        _text("os.version", "its version: 24.04, 15.3.1"),
        _text("os.build", "its build: 24D70"),
        _text("os.kernel", "kernel name and release: Linux 6.8.0-45-generic"),
        _text("os.arch", "machine word as uname states it: x86_64, arm64"),
        _text("os.wsl", "version of the Windows Subsystem for Linux this runs under; absent elsewhere"),
        _text("os.libc", "C library: glibc 2.39"),
        _text(
            "os.modules", "kernel modules of graphics cards that are loaded, space separated: nvidia nvidia_uvm nouveau"
        ),
        _truth("os.secure_boot", "the firmware loads signed kernels only"),
        _text("env.ld_library_path", "LD_LIBRARY_PATH as set, home folders masked; absent if unset"),
        _text("machine.model", "the maker's model identifier: Mac15,9"),
        _text("machine.vendor", "the maker of the machine"),
        _text("machine.container", "kind of container this runs in: docker, podman, lxc, kubernetes; absent outside"),
        _text("machine.virtualization", "kind of virtual machine this runs in: kvm, hyperv; absent on bare metal"),
        _text("machine.power_source", "ac or battery"),
        _truth("machine.low_power_mode", "a power-saving mode of the system is on"),
        _text("cpu.model", "the processor's brand string"),
        _text("cpu.arch", "instruction set: x86_64, aarch64, arm64"),
        _text("cpu.features", "vector and matrix extensions, space separated, sorted: avx2 avx512f amx_bf16"),
        _count("cpu.cores_physical", "physical cores this system sees"),
        _count("cpu.cores_logical", "logical processors this system sees"),
        _count("cpu.cores_usable", "logical processors this process may use (affinity, container quota rounded up)"),
        _count("cpu.sockets", "processor packages"),
        _bytes("cpu.cache_last_level_bytes", "largest single last-level data cache"),
        _number("cpu.clock_max_hz", "Hz", "highest clock of the first processor", 1),
        _text("cpu.governor", "frequency governor of the first processor"),
        _bytes("memory.total_bytes", "main memory the system can use"),
        _bytes("memory.limit_bytes", "memory limit of the container or group this runs in"),
        _bytes(
            "memory.gpu_limit_bytes",
            "how much main memory the GPU may use: the wired limit if one is set, else the recommended working set",
        ),
        # Python and frameworks
        _text("python.version", "3.12.4"),
        _text("python.implementation", "CPython, PyPy"),
        _text("python.arch", "the interpreter's own machine word; arm64 hardware may run x86_64 Python"),
        _truth("python.rosetta", "this interpreter is translated by Rosetta"),
        _truth("python.free_threaded", "built without the global interpreter lock"),
        _text("torch.version", "torch.__version__, with its local part: 2.13.0+cu130"),
        _text("torch.git_version", "commit torch was built from"),
        _text("torch.cuda_version", "CUDA version torch was built with; absent for other builds"),
        _text("torch.hip_version", "HIP version torch was built with; absent for other builds"),
        _truth("torch.debug", "torch was built for debugging"),
        _count("torch.operators", "overloads of operators in torch's namespace aten"),
        _count("torch.kernels_cpu", "of these, with a kernel of their own for the CPU", 0),
        _count("torch.kernels_cuda", "of these, with a kernel of their own for CUDA or ROCm", 0),
        _count("torch.kernels_mps", "of these, with a kernel of their own for mps", 0),
        _text("torch.import_error", "how importing torch failed; absent if it did not"),
        _text("flash_attn.import_error", "how importing flash_attn failed; absent if it did not"),
        _text("onnxruntime.providers", "execution providers ONNX Runtime offers, space separated"),
        _text("pip.index_url", "package index pip is set to, credentials taken out; absent if unset"),
        _text("torch.arch_list", "GPU architectures torch carries kernels for, space separated: sm_80 sm_90"),
        _text("torch.cpu_capability", "vector level torch chose on this processor: AVX512, NEON"),
        _count("torch.num_threads", "threads torch uses inside one operator"),
        _truth("cuda.available", "torch.cuda.is_available()"),
        _text("cuda.runtime_version", "version of the CUDA runtime library in use"),
        _text("cuda.driver_api_version", "newest CUDA version the driver serves"),
        _text("cuda.toolkit_version", "version nvcc states"),
        Fact("cuda.init_code", FactType.INTEGER, "", "what cuInit answered: 0, or the number of the error", 0),
        _text("cuda.libcuda_path", "the libcuda that a program would load"),
        _text("cuda.visible_devices", "CUDA_VISIBLE_DEVICES as set; UUIDs masked"),
        _text("cudnn.version", "version of the cuDNN that is loaded: 9.5.1"),
        _text("cudnn.libraries", "cuDNN libraries outside Python's packages, space separated"),
        _text("nccl.version", "version of the NCCL that torch uses: 2.21.5"),
        _text("rocm.version", "version of the ROCm installed"),
        _text("rocm.hip_runtime_version", "version of the HIP runtime"),
        _text("rocm.miopen_version", "version of the MIOpen that torch uses"),
        _text("nvidia.driver_version", "kernel driver: 560.35.03"),
        _text("nvidia.driver_kind", "open, proprietary, WDDM, TCC or MCDM"),
        _count("nvidia.card_count", "cards the driver lists, lost ones included", 0),
        _count("nvidia.cards_lost", "cards the driver lists that do not answer", 0),
        _text("nvidia.kernel_module_version", "version of the kernel module that is loaded"),
        _text("nvidia.nvml_version", "version of NVML, the library nvidia-smi asks"),
        _text(
            "nvidia.nvml_error", "how NVML or nvidia-smi failed: Driver/library version mismatch; absent if it did not"
        ),
        _truth("nvidia.uvm_device", "the device file /dev/nvidia-uvm is there"),
        _truth("nvidia.module_installed", "a kernel module of NVIDIA is installed for the running kernel"),
        _count("nvidia.nvswitches", "NVSwitch chips of the machine", 0),
        _text("nvidia.fabric_manager", "state of the fabric manager's service: active, inactive, failed"),
        _text("nvidia.topology", "links between cards as nvidia-smi topo prints them: 0-1:NV12 0-2:SYS"),
        # Apple
        _truth("mps.built", "torch was built with the mps device"),
        _truth("mps.available", "torch can use the mps device here"),
        _text("mps.fallback", "PYTORCH_ENABLE_MPS_FALLBACK as set; absent if unset"),
        _text("mps.high_watermark_ratio", "PYTORCH_MPS_HIGH_WATERMARK_RATIO as set; absent if unset"),
        _bytes("mps.recommended_max_memory_bytes", "torch.mps.recommended_max_memory()"),
        _text("apple.chip", "Apple M3 Max"),
        _count("apple.gpu_cores", "GPU cores of the chip; with the chip's name it tells the bin"),
        _count("apple.cpu_p_cores", "performance cores (the largest kind this chip has)"),
        _count("apple.cpu_e_cores", "efficiency cores (all smaller kinds together)"),
        _text("apple.metal_family", "Metal support as macOS words it; follows the system, not the chip"),
        _truth("xpu.available", "torch.xpu.is_available()"),
    ]
)

CARD_FACTS = _table(
    [
        _text("compute_capability", "9.0"),
        _text("architecture", "the maker's architecture name: Hopper"),
        _text("driver_version", "driver of this card"),
        _text("vbios_version", "firmware version"),
        _text("pci_bus_id", "00000000:18:00.0"),
        _text("pci_device_id", "device and vendor: 0x233010DE"),
        _text("pci_subsystem_id", "board: 0x16C110DE"),
        _text("addressing_mode", "HMM, ATS or none: how the card sees main memory"),
        _truth("unified_memory", "the card computes in the machine's main memory and has none of its own"),
        _truth("persistence_mode", "the driver stays loaded between users"),
        _truth("ecc", "error correction of the memory is on"),
        _truth("ecc_pending", "error correction of the memory will be on after the next reset"),
        _count("ecc_corrected", "memory errors corrected since the driver was loaded", 0),
        _count("ecc_uncorrected", "memory errors that could not be corrected since the driver was loaded", 0),
        _truth("remap_pending", "rows of memory wait for a reset to be replaced (pages to be retired, on older cards)"),
        _truth("remap_failed", "a row of memory could not be replaced"),
        _text("throttle_reasons", "why the clock is held back, space separated, in NVML's words; none when it is not"),
        _number("busy_ratio", "1", "share of the last moments in which the card worked"),
        _number("temperature_c", "°C", "temperature of the card", None),
        _number("power_w", "W", "power drawn by the card"),
        _bytes("memory_used_bytes", "device memory in use, by all", 0),
        _truth("display_attached", "a display is connected"),
        _text("mig_mode", "enabled or disabled: the card is cut into instances"),
        _text("mig_pending", "mode after the next reset: enabled or disabled"),
        _text("mig_profile", "of an instance: 1g.10gb"),
        Fact("mig_parent_index", FactType.INTEGER, "", "of an instance: index of the card it is cut from", 0),
        _text("virtualization_mode", "none, pass-through, vgpu, host-vgpu"),
        _text("compute_mode", "default, exclusive-process, prohibited"),
        _text("driver_model", "WDDM, TCC or MCDM, on Windows"),
        _count("cuda_cores", "FP32 lanes as the driver counts them"),
        _count("gpu_cores", "GPU cores as Apple counts them"),
        _count("multiprocessors", "streaming multiprocessors or compute units"),
        _count("memory_bus_bits", "width of the memory bus"),
        _bytes("memory_reserved_bytes", "memory the driver keeps for itself", 0),
        _number("power_limit_w", "W", "power limit in force", 1),
        _number("power_default_limit_w", "W", "power limit from the factory", 1),
        _number("power_max_limit_w", "W", "highest power limit that can be set", 1),
        _number("sm_clock_max_hz", "Hz", "highest clock of the multiprocessors", 1),
        _number("memory_clock_max_hz", "Hz", "highest memory clock as the driver states it", 1),
        _count("pcie_generation", "PCI Express generation of the link in use now (drops when idle)"),
        _count("pcie_width", "lanes of the link in use now"),
        _count("pcie_generation_max", "highest generation this card reaches in this slot"),
        _count("pcie_width_max", "most lanes this card reaches in this slot"),
        _count("nvlink_links", "NVLink links that are up", 0),
        _text("metal_family", "Metal support as macOS words it"),
        _text("gfx_target", "what kernels for an AMD card are built for: gfx942"),
        _text("registry_class", "class in the IORegistry: AGXAcceleratorG15X"),
        _bytes("recommended_max_memory_bytes", "largest working set the maker recommends on this card"),
    ]
)

MOMENTS = ("before.", "after.")
"""A condition that is read twice carries one of these before its name: `before.power_w`."""

_READINGS = [
    _number("sm_clock_hz", "Hz", "clock of the multiprocessors"),
    _number("memory_clock_hz", "Hz", "memory clock"),
    _number("power_w", "W", "power drawn by the card"),
    _number("power_limit_w", "W", "power limit in force", 1),
    _number("temperature_c", "°C", "temperature of the card or processor", None),
    _number("memory_temperature_c", "°C", "temperature of the card's memory", None),
    _number("busy_ratio", "1", "share of the last moments in which the device worked"),
    _bytes("memory_used_bytes", "device memory in use, by all", 0),
    _text("throttle_reasons", "why the clock is held back, space separated; none when it is not"),
    _number("cpu_clock_hz", "Hz", "mean clock of the processors"),
    _number("load_average_1m", "1", "mean number of runnable tasks over one minute"),
]

CONDITIONS = _table(
    [
        *(Fact(moment + r.name, r.kind, r.unit, r.meaning, r.least) for moment in MOMENTS for r in _READINGS),
        _text("throttle_reasons", "every reason seen before, between and after the blocks, space separated; none"),
        _text("device_used", "device of the output tensor, as torch states it"),
        _truth("fallback", "an operator ran on the CPU instead"),
        _text("fallback_allowed", "PYTORCH_ENABLE_MPS_FALLBACK as set"),
        _truth("synchronized", "the device was synchronised before each reading of the clock"),
        _text("timer", "the clock that was read"),
        _count("rounds", "rounds the blocks were spread over, interleaved with the other benchmarks"),
        _count("blocks", "blocks timed, one sample each"),
        _count("runs_per_block", "runs inside one block; a sample is the block's time divided by these"),
        _count("warmup_runs", "runs before the first block", 0),
        _bytes("working_set_bytes", "memory the runs touch"),
        _bytes("last_level_cache_bytes", "cache the working set was chosen against"),
        _text("inputs", "how the inputs were made: uniform, normal"),
        _truth("tf32", "float32 products may be rounded to TF32"),
        _text("matmul_precision", "torch.get_float32_matmul_precision()"),
        _truth("reduced_precision_reduction", "16-bit products may be accumulated in 16 bits"),
        _count("num_threads", "threads torch used inside the operator"),
        _text("torch_version", "torch that ran it"),
        _truth("quick", "a short run: fewer blocks, smaller sizes"),
    ]
)


_CARD_FIELDS = [
    _bytes("memory_bytes", "memory of the card"),
    _text("uuid_hash", "hash of the card's UUID"),
]
CARD_ABSENT_NAMES = _table([*CARD_FACTS.values(), *_READINGS, *_CARD_FIELDS])
"""What a card may lack: its facts, the readings that conditions would hold, and fields of its own."""


def _check_limits() -> None:
    longest = max(len(name) for table in (FACTS, CARD_FACTS, CONDITIONS) for name in table)
    if longest > LIMITS.name_chars:
        raise ValueError("a fact's name is longer than LIMITS.name_chars")


_check_limits()

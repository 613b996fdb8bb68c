"""What is stated of the conditions around one result."""

from dataclasses import replace

from stackviz.report.format.facts import cards
from stackviz.report.format.facts.table import CardFactTable, FactTable

__all__ = ["CONDITIONS", "MOMENTS", "READINGS"]

MOMENTS = ("before.", "during.", "after.")
"""A condition that is read carries one of these before its name: `during.power_w`. Before: after the warm-up; during:
the mean of what was sampled while blocks were timed, of temperatures the highest; after: at once after them.
"""

READINGS = CardFactTable(probe="nvidia")
"""What is read of a card or a processor before, while and after the blocks are timed."""


READINGS.number("sm_clock_hz", "clock of the multiprocessors", unit="Hz")(cards.sm_clock_hz)
READINGS.number("memory_clock_hz", "memory clock", unit="Hz")(cards.memory_clock_hz)
READINGS.number("power_w", "power drawn by the card", unit="W")(cards.power_w)
READINGS.number("power_limit_w", "power limit in force", unit="W", least=1)(cards.power_limit_w)
READINGS.number("temperature_c", "temperature of the card or processor", unit="°C", least=None)(cards.temperature_c)
READINGS.number("memory_temperature_c", "temperature of the card's memory", unit="°C", least=None)(
    cards.memory_temperature_c
)
READINGS.number("busy_ratio", "share of the last moments in which the device worked", unit="1")(cards.busy_ratio)
READINGS.size("memory_used_bytes", "device memory in use, by all", least=0)(cards.memory_used_bytes)
READINGS.text(
    "throttle_reasons",
    "why the clock is throttled, space separated; none if it is not",
)(cards.throttle_reasons)
READINGS.number("cpu_clock_hz", "mean clock of the processors", unit="Hz")
READINGS.number("load_average_1m", "mean number of runnable tasks over one minute", unit="1")

CONDITIONS = FactTable(order=10)
for moment in MOMENTS:
    CONDITIONS.extend(replace(reading, name=moment + reading.name) for reading in READINGS)
CONDITIONS.text("throttle_reasons", "every reason seen before, between and after the blocks, space separated; none")
CONDITIONS.number("throttled.power_s", "seconds in which the power limit held the clock back", unit="s")
CONDITIONS.number("throttled.thermal_s", "seconds in which heat held the clock back", unit="s")
CONDITIONS.number("throttled.sync_boost_s", "seconds in which another card of the group held it back", unit="s")
CONDITIONS.number("throttled.board_limit_s", "seconds in which a limit of the board held it back", unit="s")
CONDITIONS.number("throttled.reliability_s", "seconds in which the voltage held it back", unit="s")
CONDITIONS.number("throttled.sw_thermal_s", "seconds of slowdown by the driver because of heat", unit="s")
CONDITIONS.number("throttled.hw_thermal_s", "seconds of slowdown by the hardware because of heat", unit="s")
CONDITIONS.number("throttled.hw_power_brake_s", "seconds of slowdown by the power supply", unit="s")
CONDITIONS.number("energy_j", "energy of all timed blocks, by the card's own counter", unit="J")
CONDITIONS.text("device_used", "device of the output tensor, as torch states it")
CONDITIONS.truth("fallback", "an operator ran on the CPU instead")
CONDITIONS.text("fallback_allowed", "PYTORCH_ENABLE_MPS_FALLBACK as set")
CONDITIONS.truth("synchronized", "the device was synchronised before each reading of the clock")
CONDITIONS.text("timer", "the clock that was read")
CONDITIONS.count("rounds", "rounds the blocks were spread over, interleaved with the other benchmarks")
CONDITIONS.count("blocks", "blocks timed, one sample each")
CONDITIONS.count("runs_per_block", "runs inside one block; a sample is the block's time divided by these")
CONDITIONS.count("warmup_runs", "runs before the first block", least=0)
CONDITIONS.size("working_set_bytes", "memory the runs touch")
CONDITIONS.size("last_level_cache_bytes", "cache the working set was chosen against")
CONDITIONS.text("inputs", "how the inputs were made: uniform, normal")
CONDITIONS.number(
    "relative_error",
    "largest difference from float64 in what was checked of the output, as a part of the largest number expected",
    unit="1",
)
CONDITIONS.truth("tf32", "float32 products may be rounded to TF32")
CONDITIONS.text("matmul_precision", "torch.get_float32_matmul_precision()")
CONDITIONS.truth("reduced_precision_reduction", "16-bit products may be accumulated in 16 bits")
CONDITIONS.truth("fp16_accumulation", "products of fp16 are accumulated in fp16")
CONDITIONS.text("blas_library", "library that multiplies: cublas, cublaslt, mkl, openblas, onednn")
CONDITIONS.truth("cudnn_benchmark", "cuDNN tries its algorithms and takes the quickest")
CONDITIONS.truth("cudnn_deterministic", "cuDNN takes deterministic algorithms only")
CONDITIONS.truth("deterministic", "torch takes deterministic algorithms only")
CONDITIONS.text("math_environment", "variables of OpenMP, MKL, cuBLAS, HIP and torch's allocator that are set; none")
CONDITIONS.text("kernels", "kernels of one run by torch.profiler, the longest first; on a processor torch's operators")
CONDITIONS.number("compile_s", "seconds of compilation by torch before the runs", unit="s")
CONDITIONS.count("num_threads", "threads torch used inside the operator")
CONDITIONS.text("torch_version", "torch that ran it")
CONDITIONS.text("mlx_version", "MLX that ran it")
CONDITIONS.truth("quick", "a short run: fewer blocks, smaller sizes")
CONDITIONS.text("llama_cpp_version", "build and commit of llama.cpp that ran it")
CONDITIONS.text("nccl_version", "NCCL that ran it")
CONDITIONS.text("printed_model", "model, size and parameters as llama-bench printed them")
CONDITIONS.count("cpu_threads", "threads of the processor that llama.cpp used")
CONDITIONS.truth("mean_of_runs", "the one sample is the mean of several runs: the tool printed no others")
CONDITIONS.text("framework", "what computed: torch, mlx, llama.cpp, other")
CONDITIONS.text("round_sizes", "samples of each round, in order: the rounds bound the interval")
CONDITIONS.truth("peer_access", "one card reaches the memory of the other by itself")
CONDITIONS.text("cards_used", "cards that worked together, by index")
CONDITIONS.number("energy_per_run_j", "energy of one run, by the card's own counter", unit="J")
CONDITIONS.number("enqueue_ratio", "share of a run's time that handing it over took", unit="1")
CONDITIONS.number("interference.foreign_cpu_ratio", "share of the processors that other programs used", unit="1")
CONDITIONS.number("interference.steal_ratio", "share of the processors that the hypervisor gave to others", unit="1")
CONDITIONS.text("interference.processes", "other programs at work, the busiest first")
CONDITIONS.number("interference.card_ratio", "share of the card that other processes used", unit="1")
CONDITIONS.text("interference.card_processes", "other programs that compute on the card")
CONDITIONS.count("interference.rounds_disturbed", "rounds with more than 5 % in foreign hands", least=0)
CONDITIONS.count("interference.reruns", "rounds measured a second time because of that", least=0)
CONDITIONS.number("mean_stddev", "standard deviation that the tool printed beside that mean", unit="token/s")

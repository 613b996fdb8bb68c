"""What says why a machine is slow: a card looked at again and again, profiles, layers left on the processor, swap.

Read from pasted text alone: the agent measures instead.
"""

from stackviz.report.format.facts.table import CardFactTable, FactTable

__all__ = ["CARD_FACTS", "FACTS"]

CARD_FACTS = CardFactTable(order=20)
FACTS = FactTable(order=910)

CARD_FACTS.count("watched_readings", "how often a tool looked at the card")
CARD_FACTS.number("watched_s", "time from the first reading of the card to the last", unit="s")
CARD_FACTS.number("watched_idle_ratio", "share of the readings in which the card did next to nothing", unit="1")
CARD_FACTS.count("watched_pauses", "how often it stopped between work", least=0)
CARD_FACTS.number("watched_busy_ratio", "how busy it was in the readings in which it worked, mean", unit="1")
CARD_FACTS.number(
    "watched_memory_activity_ratio", "share of time in which its memory was read or written while it worked", unit="1"
)
CARD_FACTS.number("watched_power_w", "power drawn while it worked, median", unit="W")
CARD_FACTS.number("watched_sm_clock_hz", "clock while it worked, median", unit="Hz")
CARD_FACTS.number("watched_sm_clock_most_hz", "highest clock of all readings", unit="Hz")
CARD_FACTS.number("watched_temperature_c", "highest temperature of all readings", unit="°C", least=None)
CARD_FACTS.size("watched_memory_used_bytes", "most device memory in use in any reading", least=0)
CARD_FACTS.number("watched_received_bytes_per_s", "data received over PCIe while it worked, median", unit="B/s")
CARD_FACTS.text("watched_throttle_reasons", "what held the clock back in a third of the readings with work or more")

FACTS.count("model.layers", "layers of the model that a program loaded")
FACTS.count("model.layers_on_card", "layers of it that were put on a card", least=0)
FACTS.number("model.cpu_ratio", "share of a loaded model that the processor computes", unit="1")
FACTS.size("model.memory_bytes", "memory that a loaded model takes, with its context")
FACTS.number("profile.host_s", "time of the processor in a profile", unit="s")
FACTS.number("profile.calls_s", "time in calls of CUDA in a profile, a part of the processor's", unit="s")
FACTS.number("profile.device_s", "time of the GPU in a profile", unit="s")
FACTS.number("profile.loader_ratio", "share of the processor's time in which a profile waits for data", unit="1")
FACTS.number("profile.sync_ratio", "share of the processor's time in which a profile waits for the GPU", unit="1")
FACTS.count("profile.syncs", "how often a profiled program fetched a value from the GPU and waited for it", least=0)
FACTS.number("profile.launch_ratio", "share of the processor's time in which a profile launches kernels", unit="1")
FACTS.number("profile.copy_ratio", "share of the GPU's time in which a profile copies from or to main memory", unit="1")
FACTS.number("cpu.iowait_ratio", "share of time in which processors waited for storage, mean", unit="1")
FACTS.number(
    "memory.free_ratio", "share of main memory that is free or can be freed, as the system states it", unit="1"
)
FACTS.text("memory.pressure", "how short main memory is, in the words of macOS: normal, warning, critical")
FACTS.size("memory.swap_used_bytes", "main memory that was moved to storage", least=0)
FACTS.text("nccl.transports", "how NCCL connects cards, space separated: P2P/CUMEM SHM/direct NET/Socket")
FACTS.text("nvidia.dcgm_failed", "tests of dcgmi diag that failed, with commas between them")
FACTS.count("vllm.requests_waiting", "requests that waited in vLLM, the most of all lines", least=0)
FACTS.count("vllm.requests_running", "requests that ran in vLLM, the most of all lines", least=0)
FACTS.number("vllm.cache_ratio", "share of vLLM's KV cache in use, the most of all lines", unit="1")
FACTS.number("vllm.tokens_per_s", "tokens that vLLM generated in a second, the most of all lines", unit="1/s")
FACTS.count("vllm.preemptions", "how often vLLM took a request off the card for want of KV cache", least=0)
FACTS.size("vllm.model_bytes", "memory of the card that the model takes in vLLM")
FACTS.count("vllm.cache_tokens", "tokens that vLLM's KV cache holds")

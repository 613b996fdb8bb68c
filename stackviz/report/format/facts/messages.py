"""What error messages say: which were recognised, what each is about, the sizes in an out-of-memory message.

Read from pasted text alone: the agent asks the machine instead.
"""

from stackviz.report.format.facts.table import FactTable

__all__ = ["FACTS"]

FACTS = FactTable(order=900)

FACTS.text("message.symptoms", "error messages found in the text, by key, space separated; the first one first")
FACTS.text(
    "message.quotes",
    "how each of them is written in the text, in the same order, between ` ¶ `; without names, addresses and secrets",
)
FACTS.text("message.detail", "what the first of them is about: a library, a symbol, an operator, a package")
FACTS.text("message.cards", "cards that the text around a message names in prose, between semicolons")
FACTS.text("message.hints", "what the text says of where it comes from: mac, windows, amd, cpu-build, space separated")
FACTS.text("message.programs", "the programs around torch that the text is of, by key, space separated")
FACTS.text("message.python", "the embedded Python, or that of a venv, with which the text runs programs")
FACTS.text("message.unexplained", "the line that reports an error which no message explains; written as the quotes are")
FACTS.text("message.program", "the program or family of programs that this line is of, by its key")
FACTS.text("message.program_word", "the word by which it is known, where only the text around the line has it")
FACTS.size("message.oom_requested_bytes", "memory that was asked for and not to be had, as the message states it")
FACTS.size("message.oom_total_bytes", "memory of the device, as an out-of-memory message states it")
FACTS.size("message.oom_free_bytes", "memory that was free, as an out-of-memory message states it", least=0)
FACTS.size("message.oom_allocated_bytes", "memory in use by tensors, as an out-of-memory message states it", least=0)
FACTS.size("message.oom_process_bytes", "memory that the process holds, as an out-of-memory message states it", least=0)
FACTS.size("message.oom_other_bytes", "other allocations on a Mac's GPU, as an out-of-memory message has it", least=0)
FACTS.size(
    "message.oom_reserved_total_bytes", "memory reserved, in use or not, as an out-of-memory message states it", least=0
)
FACTS.size("message.oom_reserved_bytes", "memory reserved and unused, as an out-of-memory message states it", least=0)

# What a check script of the site printed: a kernel ran, where, and whether it computed right.
FACTS.text("check.framework", "framework and release that a check script ran with: torch 2.9.1+cu130")
FACTS.text("check.device", "device that it computed on, as the framework calls it: cuda, mps, gpu")
FACTS.text("check.card", "name of this device as the framework states it")
FACTS.size("check.memory_bytes", "memory of this device as the framework states it")
FACTS.text("check.type", "data type that it computed with: float16")
FACTS.truth("check.is_right", "its result was right")

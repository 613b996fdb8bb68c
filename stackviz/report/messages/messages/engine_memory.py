"""Out of memory, as programs other than PyTorch say it: with what was wanted and what was free, where they say so."""

from stackviz.report.messages.tables import table_symptoms

_SIZE = r"\d{1,7}(?:\.\d{1,4})? ?[KMGT]i?B"
_WANTED, _TOTAL = r"(?P<message__oom_requested_bytes>{})", r"(?P<message__oom_total_bytes>{})"
_FREE, _PROCESS = r"(?P<message__oom_free_bytes>{})", r"(?P<message__oom_process_bytes>{})"
_BYTES = r"\d{1,15}"

_WORDINGS = {
    "vllm-memory-at-start": (
        (
            (
                rf"Free memory on device (?:\w{{2,8}}:\d{{1,2}} )?"
                rf"\({_FREE.format(rf'[0-9.]{{1,8}}/{_TOTAL.format(_SIZE)}')}\) on startup is less than desired "
                rf"GPU memory utilization \([0-9.]{{1,6}}, {_WANTED.format(_SIZE)}\)"
            ),
        ),
        ("free memory on device",),
    ),
    "vllm-kv-cache": (
        (
            (
                rf"{_WANTED.format(_SIZE)} KV cache is needed, which is larger than the available KV cache memory "
                rf"\({_FREE.format(_SIZE)}\)"
                r"(?:\. Based on the available memory, (?:the )?estimated maximum model length is (?P<detail>\d{1,9}))?"
            ),
            r"No available memory for the cache blocks",
            r"Available KV cache memory: -[\d.]{1,8} GiB",
            r"is larger than the maximum number of tokens that can be stored in KV cache",
        ),
        ("kv cache is needed", "for the cache blocks", "stored in kv cache", "kv cache memory: -"),
    ),
    "vllm-engine-failed": (
        (r"Engine core initialization failed", r"EngineCore (?:failed to start|encountered a fatal error)"),
        ("engine core init", "enginecore failed", "enginecore encountered"),
    ),
    "vllm-memory-changed": ((r"Error in memory profiling\. Initial free memory",), ("in memory profiling",)),
    "pinned-memory": (
        (
            r"failed to allocate [\d.]{1,10} MiB of pinned memory",
            r"could not allocate pinned (?:host )?memory",
        ),
        ("pinned",),
    ),
    "sglang-memory": (
        (
            r"Not enough memory\. Please try to (?:in|de)crease --mem-fraction-static",
            r"(?:Prefill|Decode) out of memory",
            r"Loaded weights leave no GPU memory for",
            r"Not enough (?:GPU )?memory for the KV cache",
            r"Capture cuda graph failed",
        ),
        (
            "--mem-fraction-static",
            "prefill out of",
            "decode out of",
            "loaded weights leave",
            "for the kv cache",
            "cuda graph failed",
        ),
    ),
    "sglang-cache-full": ((r"KV cache pool is full\. Retract requests",), ("cache pool is full",)),
    "ggml-memory": (
        (
            r"(?:llama runner process has terminated: )?\w{2,6}Malloc failed: out of memory",
            rf"alloc_buffer: allocating {_WANTED.format(_SIZE)}.{{0,80}}: \w{{2,6}}Malloc failed: out of memory",
            r"unable to allocate \w{2,12}(?: host)? buffer",
            rf"failed to allocate \w{{2,12}} buffer of size {_WANTED.format(_BYTES)}",
            r"failed to allocate (?:compute|buffers? for|kv|the)(?: \w{1,10}){0,3} (?:buffers?|cache)",
            r"failed to allocate buffer(?:(?: of size| for|, size =) [\w. ]{1,40})?",
            rf"Device memory allocation of size {_WANTED.format(_BYTES)} failed",
            r"Requested buffer size exceeds device (?:memory allocation|buffer size) limit",
            r"\bErrorOutOf(?:Device|Host)Memory",
            r"failed to fit params to (?:free )?device memory",
            rf"insufficient memory \(attempted to allocate {_WANTED.format(_SIZE)}\)",
        ),
        (
            "malloc failed",
            "unable to allocate",
            "failed to allocate",
            "device memory allocation",
            "exceeds device",
            "erroroutof",
            "failed to fit params",
            "insufficient memory (attempted",
        ),
    ),
    "ggml-metal-working-set": (
        (r"current allocated size is greater than the recommended max working set size",),
        ("recommended max working set",),
    ),
    "ollama-memory": (
        (
            (
                rf"model requires more system memory \({_WANTED.format(_SIZE)}\) than is available "
                rf"\({_FREE.format(_SIZE)}\)"
            ),
            r"model requires more system memory than is currently available",
            r"memory layout cannot be allocated",
        ),
        ("more system memory", "memory layout cannot"),
    ),
    "ollama-runner-ended": (
        (r"llama runner process (?:has terminated|no longer running)",),
        ("llama runner process",),
    ),
    "ollama-memory-not-freed": ((r"VRAM usage didn't recover within timeout",), ("vram usage didn't",)),
    "xla-memory": (
        (
            (
                rf"RESOURCE_EXHAUSTED: (?:[\w .:]{{0,60}}?Out of memory (?:while trying to allocate|allocating) "
                rf"{_WANTED.format(rf'{_BYTES}(?:[.][0-9]{{1,3}})? ?[KMGT]?i?B?')})?"
            ),
            (
                r"Ran out of memory in memory space hbm"
                rf"(?:\. Used {_WANTED.format('[0-9.]{1,8}[KMGT]')} of {_TOTAL.format('[0-9.]{1,8}[KMGT]')} hbm)?"
            ),
            rf"failed to allocate {_WANTED.format(_SIZE)} \(\d{{1,15}} bytes\) from device",
        ),
        ("resource_exhausted", "memory space hbm", "bytes) from device"),
    ),
    "tensorflow-memory": (
        (
            r"OOM when allocating tensor with shape",
            r"Failed to allocate scratch buffer",
            r"ResourceExhaustedError: ",
            (
                rf"Allocator \(\w{{1,20}}\) ran out of memory trying to allocate {_WANTED.format(_SIZE)} "
                r"\(rounded to \d{1,15}\)"
            ),
        ),
        ("oom when allocating", "ran out of memory trying", "allocate scratch buffer", "resourceexhaustederror"),
    ),
    "tensorflow-memory-tried": (
        (r"ran out of memory trying to allocate .{1,60}? The caller indicates that this is not a failure",),
        ("caller indicates that",),
    ),
    "onnxruntime-memory": (
        (
            (
                rf"Available memory of {_FREE.format(_BYTES)} is smaller than requested bytes of "
                rf"{_WANTED.format(_BYTES)}"
            ),
            rf"Failed to allocate memory for requested buffer of size {_WANTED.format(_BYTES)}",
        ),
        ("smaller than requested bytes", "for requested buffer of size"),
    ),
    "tensorrt-memory": (
        (
            rf"Requested amount of GPU memory \({_WANTED.format(_BYTES)} bytes\) could not be allocated",
            r"OutOfMemory \((?:Requested size was \d{1,15} bytes|no further information)",
        ),
        ("amount of gpu memory", "outofmemory ("),
    ),
    "tensorrt-tactic-memory": (
        (r"Tactic Device request: \d{1,9} ?MB Available: \d{1,9} ?MB", r"Device memory is insufficient to use tactic"),
        ("tactic device request", "insufficient to use tactic"),
    ),
    "quantized-model-too-large": (
        (r"Make sure you have enough GPU RAM to fit the quantized model",),
        ("enough gpu ram to fit",),
    ),
    "host-out-of-memory": (
        (
            r"(?:Out of memory: )?Killed process \d{1,9} \((?P<detail>[^)\n]{1,40})\)",
            r"oom-kill:constraint=",
            r"invoked oom-killer:",
            r"Detected \d{1,4} oom[_-]kill event",
            r"\bOOM Killed\b",
            r"line \d{1,6}: \d{1,9} Killed\b",
            r"\bzsh: killed\b",
            r"Signal 9 \(SIGKILL\)",
            r"OOMKilled",
            r"exit(?:ed)?(?: with)?(?: status)?(?: code)?(?: is| =|:)? ?\(?137\b",
            r"(?:returncode|exitcode)\s?[:=] ?-9\b",
            r"died with <Signals\.SIGKILL: 9>",
            (
                rf"DefaultCPUAllocator: (?:can't allocate|not enough) memory: you tried to allocate "
                rf"{_WANTED.format(_BYTES)} bytes"
            ),
            rf"Unable to allocate {_WANTED.format(_SIZE)} for an array with shape",
            r"\bstd::bad_alloc\b",
            r"Cannot allocate memory",
            r"llama runner process has terminated: signal: killed",
        ),
        (
            "killed process",
            "oom-kill",
            "oom_kill",
            "oom kill",
            "oomkilled",
            "137",
            "returncode",
            "exitcode",
            "sigkill",
            "killed",
            "defaultcpuallocator",
            "for an array with shape",
            "bad_alloc",
            "cannot allocate memory",
            "signal: killed",
        ),
    ),
    "windows-paging-file": (
        (r"paging file is too small for this operation", r"(?:WinError|os error) 1455\b"),
        ("paging file is too small", "error 1455"),
    ),
    "mlx-buffer-too-large": (
        (
            (
                rf"Attempting to allocate {_WANTED.format(_BYTES)} bytes which is greater than the maximum allowed "
                rf"buffer size of {_TOTAL.format(_BYTES)} bytes"
            ),
            r"Attempting to allocate \d{1,15} bytes which is greater than the maximum allowed buffer",
        ),
        ("maximum allowed buffer",),
    ),
    "mlx-near-limit": (
        (r"model that requires \d{1,9} MB which is close to the maximum recommended size of \d{1,9} MB",),
        ("maximum recommended size",),
    ),
    "mlx-resource-limit": ((r"Resource limit \(\d{1,9}\) exceeded",), ("resource limit (",)),
}

SYMPTOMS = tuple(table_symptoms("memory", _WORDINGS, general=["vllm-engine-failed", "ollama-runner-ended"]).values())

"""Error codes of the CUDA runtime and driver, by name, number and text: a message for each kind of fault."""

from stackviz.report.messages.commands import BLOCKING_RUN, COLLECT_ENV, NVIDIA_SMI, NVIDIA_SMI_Q
from stackviz.report.messages.messages import cuda_start, memory, torch_builds
from stackviz.report.messages.symptom import Cause, Family, coded, table_rows, text_family, text_pattern
from stackviz.report.messages.tables import code_members

__all__ = ["BUILT_WITHOUT", "EARLIER", "FAMILIES", "FULL", "VERSIONS", "WRONG_CALL"]

_RUNTIME = ("CUDA Runtime API, cudaError", "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html")
_WORDS_OF_A_SENTENCE = 5  # such a text of CUDA is nobody else's

EARLIER = Cause(
    text="An earlier kernel failed, and this is only where it shows.",
    sign="With CUDA_LAUNCH_BLOCKING=1 another error stands first.",
    remedy="Look for that one.",
)
VERSIONS = Cause(
    text="The program, its extension and the CUDA libraries are of releases that do not suit each other.",
    sign="It began with an update, or the same code runs in another environment.",
    remedy="Install the releases that belong together in a new environment.",
)
WRONG_CALL = Cause(
    text="The program passes something that this call does not allow: a size, a shape, a type or a state.",
    sign="It comes at the same place each time; the lines above name the call.",
    remedy="Report it to the program with these lines, or update it.",
)
FULL = Cause(
    text="The card has no free memory left.",
    sign="nvidia-smi shows it nearly full.",
    remedy="A smaller batch, or end other programs.",
)
BUILT_WITHOUT = Cause(
    text="The program or an extension was built without code for this card.",
    sign="torch.cuda.get_arch_list() lacks the card's capability, or only one extension fails.",
    remedy="Install a build with code for the card; build an extension anew with TORCH_CUDA_ARCH_LIST set to it.",
    excluded_by=("kernels-missing",),
)

_SYMPTOMS = (
    coded(
        "cuda-usage",
        "CUDA error: invalid argument",
        "The program, or a library of it, called CUDA in a way that it does not allow. Card and driver are in order.",
        (WRONG_CALL, EARLIER, VERSIONS),
        BLOCKING_RUN,
        "cuda-runtime",
        _RUNTIME,
    ),
    coded(
        "cuda-initialization",
        "CUDA error: initialization error",
        "CUDA could not be started in this process (error 3).",
        (
            Cause(
                text="The process was forked from one that had started CUDA already.",
                sign="It comes in a worker of a DataLoader or of multiprocessing.",
                remedy='Start workers with multiprocessing.set_start_method("spawn"), and use CUDA in them only.',
            ),
            Cause(
                text="The driver or the device files are not usable for this process.",
                sign="nvidia-smi fails in the same shell.",
                remedy="Make nvidia-smi work there first.",
            ),
        ),
        NVIDIA_SMI,
        "cuda-runtime",
        _RUNTIME,
    ),
    coded(
        "cuda-unloading",
        "CUDA error: driver shutting down",
        "CUDA was called while the program was ending; what it had computed before is not affected.",
        (
            Cause(
                text="An object on the card is freed after CUDA was shut down.",
                sign="It is the last line of the program.",
                remedy="Free models and streams before the program ends, or ignore it.",
            ),
            EARLIER,
        ),
        BLOCKING_RUN,
        "cuda-runtime",
        _RUNTIME,
        severity="note",
    ),
    coded(
        "cuda-stub",
        "CUDA error: CUDA driver is a stub library",
        "The program found the stub of libcuda, which is for linking only, instead of the driver's own (error 34).",
        (
            Cause(
                text="A folder stubs of the CUDA toolkit stands in LD_LIBRARY_PATH.",
                sign="echo $LD_LIBRARY_PATH names a folder that ends in stubs.",
                remedy="Remove that folder from LD_LIBRARY_PATH.",
            ),
        ),
        "echo $LD_LIBRARY_PATH",
        "cuda-runtime",
        _RUNTIME,
    ),
    coded(
        "cuda-busy",
        "CUDA error: CUDA-capable device(s) is/are busy or unavailable",
        "The card is there and lets this process not in (error 46).",
        (
            Cause(
                text="Another program holds the card alone: its compute mode is exclusive or prohibited.",
                sign="nvidia-smi -q shows Compute Mode other than Default.",
                remedy="End that program, or: sudo nvidia-smi -c 0",
            ),
            Cause(
                text="The card is in MIG mode without an instance, or the instance is taken.",
                sign="nvidia-smi -L lists no MIG device below the card.",
                remedy="Create an instance, or name a free one in CUDA_VISIBLE_DEVICES.",
            ),
            Cause(
                text="The card is in a bad state after an error.",
                sign="sudo dmesg shows Xid lines.",
                remedy="Reset the card or reboot when nothing else runs on the machine.",
            ),
        ),
        NVIDIA_SMI_Q,
        "hardware",
        _RUNTIME,
    ),
    coded(
        "cuda-no-code",
        "CUDA error: invalid device function",
        "A kernel cannot run on this card: the build has no code for it that fits (errors 98, 218).",
        (BUILT_WITHOUT, VERSIONS),
        COLLECT_ENV,
        "pytorch",
        _RUNTIME,
    ),
    coded(
        "cuda-jit-missing",
        "CUDA error: PTX JIT compiler library not found",
        "The driver's compiler, libnvidia-ptxjitcompiler, is not found (error 221).",
        (
            Cause(
                text="The container was started without the whole driver.",
                sign="NVIDIA_DRIVER_CAPABILITIES lacks compute.",
                remedy="Start it with --gpus all and -e NVIDIA_DRIVER_CAPABILITIES=compute,utility",
            ),
            Cause(
                text="A package of the driver is missing.",
                sign="ldconfig -p lists no libnvidia-ptxjitcompiler.so.1.",
                remedy="Install the driver's package with its compute libraries.",
            ),
        ),
        NVIDIA_SMI,
        "nvidia-driver",
        _RUNTIME,
    ),
    coded(
        "cuda-license",
        "CUDA error: device doesn't have valid Grid license",
        "This is a virtual GPU, and it has no valid license (error 102).",
        (
            Cause(
                text="The virtual machine does not reach the license server, or has no token.",
                sign="nvidia-smi -q shows License Status: Unlicensed.",
                remedy="Ask whoever runs the host for a token; then: sudo systemctl restart nvidia-gridd",
            ),
        ),
        NVIDIA_SMI_Q,
        "nvidia-driver",
        _RUNTIME,
    ),
    coded(
        "cuda-hardware",
        "CUDA error: uncorrectable ECC error encountered",
        "The card reports an error of its memory, of NVLink or of its own (errors 214, 220, 226, 714).",
        (
            Cause(
                text="The memory of the card has an error that could not be corrected.",
                sign="nvidia-smi -q shows uncorrectable errors or rows to be remapped.",
                remedy="End what runs on the card and reset it or reboot; have it replaced if it returns.",
            ),
            Cause(
                text="NVLink or the card at its other end has failed.",
                sign="sudo dmesg shows Xid 74 or an Xid of the other card.",
                remedy="Reset all cards of the machine together, or reboot it.",
            ),
        ),
        NVIDIA_SMI_Q,
        "hardware",
        _RUNTIME,
    ),
    coded(
        "cuda-peer",
        "CUDA error: peer access is not supported between these two devices",
        "One card cannot read the memory of the other (errors 217, 711).",
        (
            Cause(
                text="GeForce cards without NVLink, or cards at two processors, have no direct access to each other.",
                sign="nvidia-smi topo -p2p r shows CNS or NS between them.",
                remedy="Turn direct access off: export NCCL_P2P_DISABLE=1 (slower, and works)",
            ),
            Cause(
                text="The IOMMU or a virtual machine keeps the cards apart.",
                sign="The kernel's command line has no iommu=pt.",
                remedy="Turn ACS off or add iommu=pt; in a virtual machine, ask whoever runs the host.",
            ),
        ),
        "nvidia-smi topo -m",
        "hardware",
        _RUNTIME,
    ),
    coded(
        "cuda-launch-resources",
        "CUDA error: too many resources requested for launch",
        "A kernel asks for more threads, registers or shared memory than this card has (errors 701, 720).",
        (
            Cause(
                text="The kernel is tuned for another card, or built for debugging.",
                sign="The same program runs on a larger card.",
                remedy="Choose a smaller block, head or tile size where the program offers it; update the program.",
            ),
            VERSIONS,
        ),
        BLOCKING_RUN,
        "cuda-runtime",
        _RUNTIME,
    ),
    coded(
        "cuda-launch-timeout",
        "CUDA error: the launch timed out and was terminated",
        "A kernel ran for longer than the system allows on a card that also drives a screen (error 702).",
        (
            Cause(
                text="Windows or the desktop ends kernels after a few seconds.",
                sign="A screen is attached to the card.",
                remedy="Smaller batches; in Windows a higher TdrDelay; or attach the screen to another card.",
            ),
            Cause(
                text="The kernel does not end.",
                sign="It happens on a card without a screen too.",
                remedy="Update the program or extension that it is of.",
            ),
        ),
        BLOCKING_RUN,
        "cuda-runtime",
        _RUNTIME,
    ),
    coded(
        "cuda-not-permitted",
        "CUDA error: operation not permitted",
        "The driver refuses this call to this user (error 800).",
        (
            Cause(
                text="The call reads performance counters, which are for root only.",
                sign="It comes from a profiler.",
                remedy="Run the profiler with sudo, or set NVreg_RestrictProfilingToAdminUsers=0 for the module.",
            ),
            WRONG_CALL,
        ),
        BLOCKING_RUN,
        "cuda-runtime",
        _RUNTIME,
    ),
    coded(
        "cuda-mps",
        "CUDA error: MPS client failed to connect to the MPS control daemon or the MPS server",
        "Programs share this card through MPS, NVIDIA's service for that, and the service fails (errors 805 to 810).",
        (
            Cause(
                text="The control daemon of MPS is not running, belongs to another user, or uses another folder.",
                sign="CUDA_MPS_PIPE_DIRECTORY differs between the daemon and this program.",
                remedy="echo quit | nvidia-cuda-mps-control, then nvidia-cuda-mps-control -d as the same user.",
            ),
            Cause(
                text="Another client of it failed, or there are too many.",
                sign="It worked before.",
                remedy="End all clients and start the daemon again.",
            ),
        ),
        NVIDIA_SMI,
        "cuda-runtime",
        _RUNTIME,
    ),
    coded(
        "cuda-graph-capture",
        "CUDA error: operation not permitted when stream is capturing",
        "A CUDA graph was being recorded, and something was called that a graph cannot hold (errors 900 to 910).",
        (
            Cause(
                text="The model copies to the processor, allocates or synchronises while its graph is recorded.",
                sign="It goes away without CUDA graphs: enforce_eager=True in vLLM, no mode=reduce-overhead in torch.",
                remedy="Run it without CUDA graphs, or update the program.",
            ),
            EARLIER,
        ),
        BLOCKING_RUN,
        "cuda-runtime",
        _RUNTIME,
    ),
)
_KNOWN = {
    symptom.key: symptom for symptom in (*_SYMPTOMS, *cuda_start.SYMPTOMS, *memory.SYMPTOMS, *torch_builds.SYMPTOMS)
}
_ROWS = table_rows("cuda_errors")
_TEXTS = text_pattern(row["text"] for row in _ROWS)
_BARE = [row["text"] for row in _ROWS if len(row["text"].split()) >= _WORDS_OF_A_SENTENCE]
_ERROR = r"CUDA(?: (?:driver|runtime|kernel|API)){0,2}[ _](?:error|failure|failed)|Triton Error \[CUDA\]"
_SAYS = r"(?: (?:failed|returned|status|code|with|error|result))"
_CALLS = r"(?:cuInit|cuda[A-Z]\w{4,40}|CUresult|cudaError_t)(?:\(\w{0,40}\))?"

FAMILIES = (
    Family(
        patterns=(
            r"\b(?P<code>cudaError[A-Z][A-Za-z]{2,40}|CUDA_ERROR_[A-Z_]{3,50})\b",
            (
                rf"\b(?:{_ERROR}|cu(?:da)?[A-Z]\w{{3,40}}(?:\(\w{{0,40}}\))? (?:failed|returned))(?: with)?[ :=]{{1,4}}"
                rf"['\"(]?(?:\d{{1,3}} ?\)?[:,]? ?['\"(]?)?(?P<code>{_TEXTS})"
            ),
            (
                rf"\b(?:(?:{_ERROR}){_SAYS}{{0,4}}|{_CALLS}{_SAYS}{{1,4}}) ?[:=(#]{{0,2}} ?"
                r"(?P<code>(?<!\d)\d{1,3})\b(?!\.?\d| ?%| [KMG]i?B)"
            ),
            rf"\b(?P<code>{text_pattern(_BARE)})",
            r"(?:\[|failed call to cuInit: UNKNOWN ERROR \()(?P<code>\d{1,3})(?:\] Call to cu[A-Z]|\))",
        ),
        anchors=(
            *("cudaerror", "cuda_error", "cuda error", "cuda failure", "cuda driver error", "cuda runtime error"),
            *("cuinit", "cudagetdevicecount", "cudamalloc", "cudasetdevice", "cudamemcpy", "cudadevicesynchronize"),
            *("call to cu", "cumemalloc", "cuctxcreate", "culaunchkernel", "cumoduleload", "error [cuda]"),
            *("cuda kernel failed", "cuda kernel error", *(text.lower() for text in _BARE)),
        ),
        members=code_members("cuda_errors", _KNOWN, ["number", "runtime", "driver", "text"]),
    ),
    text_family("cuda_texts", _KNOWN.values()),
)

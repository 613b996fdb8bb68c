"""NCCL and torch.distributed: processes that wait for each other, or do not reach each other."""

from stackviz.report.messages.messages import libraries
from stackviz.report.messages.symptom import Cause, Family, coded, text_family

_GUIDE = (
    "NCCL, troubleshooting",
    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
)
_LOG = "NCCL_DEBUG=INFO python your_program.py"
_OTHER_FAILED = Cause(
    text="Another process failed or was killed first, often for want of memory.",
    sign="Its own log ends with another error, or with Killed.",
    remedy="Look for the first error among the logs of all processes.",
)
_UNREACHED = Cause(
    text="The machines do not reach each other: a firewall, or the interface that NCCL chose.",
    sign="The log ends at NET/Socket or NET/IB, or names docker0 or another inner address.",
    remedy="Name the interface: export NCCL_SOCKET_IFNAME=eth0 (for InfiniBand: export NCCL_IB_HCA=mlx5_0)",
)
_SHM = Cause(
    text="The container has too little shared memory.",
    sign="df -h /dev/shm shows 64M.",
    remedy="Start it with --ipc=host or --shm-size=8g; in Kubernetes mount an emptyDir of medium Memory at /dev/shm.",
)

_SYMPTOMS = (
    coded(
        "nccl-timeout",
        "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4211, OpType=ALLREDUCE)",
        "One process waited for the others until the time was up: they did not all come to the same operation.",
        (
            _OTHER_FAILED,
            Cause(
                text="One process does something else: an uneven last batch, a longer evaluation, saving, downloading.",
                sign="It always stops at the same step.",
                remedy="Let all processes make the same calls; a longer timeout helps only where the work is longer.",
            ),
            Cause(
                text="Direct access between the cards hangs.",
                sign="It stops at the very first operation, with all cards at 100 %.",
                remedy="Try export NCCL_P2P_DISABLE=1; if that helps, turn ACS or the IOMMU off in the UEFI.",
            ),
            _UNREACHED,
        ),
        _LOG,
        "nccl",
        _GUIDE,
    ),
    coded(
        "nccl-remote",
        "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
        "The process at the other end of a connection is gone. The error here only follows from that.",
        (_OTHER_FAILED, _UNREACHED),
        _LOG,
        "nccl",
        _GUIDE,
    ),
    coded(
        "nccl-rendezvous",
        "torch.distributed.DistNetworkError: The client socket has timed out after 60000ms",
        "The processes did not find each other at the address and port of the first one.",
        (
            Cause(
                text="MASTER_ADDR or MASTER_PORT is wrong, taken, or closed by a firewall.",
                sign="The log says Address already in use, refused or timed out.",
                remedy="Choose another port (torchrun --rdzv-endpoint HOST:PORT) and open it between the machines.",
            ),
            Cause(
                text="Fewer processes were started than the first one waits for.",
                sign="It names how many of them joined.",
                remedy="Start torchrun on every machine with the same --nnodes; the others first failed or wait.",
            ),
            _OTHER_FAILED,
        ),
        _LOG,
        "pytorch",
        ("PyTorch, torchrun", "https://docs.pytorch.org/docs/stable/elastic/run.html"),
    ),
    coded(
        "nccl-network",
        "NCCL WARN Bootstrap : no socket interface found",
        "NCCL found no network by which the processes reach each other, or a call to the network failed.",
        (
            _UNREACHED,
            Cause(
                text="InfiniBand or RoCE is not usable in this container or for this user.",
                sign="The log names ibv_ calls; ulimit -l is not unlimited.",
                remedy="Start the container with --ulimit memlock=-1 and the devices, or export NCCL_IB_DISABLE=1",
            ),
        ),
        _LOG,
        "nccl",
        _GUIDE,
    ),
    coded(
        "nccl-shared-memory",
        "NCCL WARN Error: failed to extend /dev/shm/nccl-AbCdEf to 33030532 bytes",
        "NCCL exchanges data between the cards of a machine in shared memory, and got none.",
        (_SHM,),
        "df -h /dev/shm",
        "nccl",
        _GUIDE,
    ),
    coded(
        "nccl-plugin",
        "NCCL INFO NET/Plugin: Could not find: libnccl-net.so",
        "NCCL looks for a plugin of the network's maker and goes on without it. It is not the fault.",
        (
            Cause(
                text="No plugin is installed, as on most machines.",
                remedy="Nothing has to be done; clouds with a network of their own (EFA) document theirs.",
            ),
        ),
        _LOG,
        "nccl",
        _GUIDE,
        severity="note",
    ),
    coded(
        "nccl-version",
        "Mismatched NCCL version detected",
        "The processes run different releases of NCCL.",
        (
            Cause(
                text="The machines have different environments or images.",
                sign="python -m pip list shows another nvidia-nccl on one of them.",
                remedy="Use the same image or lock file on all machines.",
            ),
        ),
        "python -m pip list",
        "nccl",
        _GUIDE,
    ),
)

FAMILIES = (
    text_family("nccl", (*_SYMPTOMS, *libraries.SYMPTOMS)),
    Family(
        patterns=(r"\bNCCL (?P<code>error|failure)\b",),
        anchors=("nccl error", "nccl failure"),
        members={},
        is_general=True,
        unlisted=next(symptom for symptom in libraries.SYMPTOMS if symptom.key == "nccl-error"),
    ),
)

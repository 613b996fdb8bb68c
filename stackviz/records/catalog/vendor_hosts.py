"""Where vendors publish: a source of kind `maker` lies on one of these hosts, or it is a copy, no word of the vendor.

A host in a domain that is named like the vendor (`www.nvidia.com`, `docs.nvidia.cn`) is the vendor's own.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

# Hosts of other names, with a path where only a part of the host is the vendor's.
OTHER_HOSTS: Mapping[str, tuple[str, ...]] = {
    "amd": ("gpuopen.com", "llvm.org/docs/AMDGPUUsage"),  # AMD writes the documentation of its back end in LLVM
    "aws": ("aws.amazon.com", "awsdocs-neuron.readthedocs-hosted.com"),
    "google": ("jax.dev", "coral.ai", "blog.google"),
    "huawei": ("hisilicon.com", "hiascend.com"),
    "moore-threads": ("mthreads.com",),
    # The servers of its press department's files and of its data sheets.
    "nvidia": ("github.com/NVIDIA/", "dam-cdn.nvd.orangelogic.com", "nvdam.widen.net"),
    "qualcomm": ("quic.github.io",),
    "rebellions": ("rbln.ai",),
    "tenstorrent": ("github.com/tenstorrent/",),
}


def is_host_of(vendor: str, url: str) -> bool:
    """Whether the page at this address is published by the vendor of this slug."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    if host.split(".")[-2:-1] == [vendor]:
        return True
    return any(_is_below(host + parts.path, known) for known in OTHER_HOSTS.get(vendor, ()))


def _is_below(address: str, known: str) -> bool:
    """Whether a host and path are `known`, a host below it, or a path below it."""
    known_host, _slash, known_path = known.partition("/")
    host, _slash, path = address.partition("/")
    return (host == known_host or host.endswith(f".{known_host}")) and path.startswith(known_path)

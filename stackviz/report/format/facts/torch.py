"""torch: which one, what it was built with; packages that are installed and may still not work; pip's index.

Names that only some releases of torch have are read with getattr. What may crash when it is imported is imported in a
child process; what is not installed is not imported.
"""

import configparser
import re
import sys
from collections.abc import Iterator
from importlib import util
from typing import Any
from urllib.parse import urlsplit

from stackviz.base.backports import PATH_WITHOUT_FOLDER
from stackviz.report.format.agent_texts import BUILT_WITHOUT
from stackviz.report.format.facts.asking import MissingFact, Surroundings
from stackviz.report.format.facts.table import FactTable

__all__ = ["FACTS", "mps_backend", "pip_index_url"]

FACTS = FactTable(order=50, probe="torch")

_CUDA_BUILD_ONLY = BUILT_WITHOUT.format(name="CUDA")
_IMPORT_TIMEOUT_S = 45.0  # flash_attn imports torch, which takes long from a network disk
_PROVIDERS = "import onnxruntime; print('providers', *onnxruntime.get_available_providers())"


@FACTS.text(
    "torch.version",
    "torch.__version__, with its local part: 2.13.0+cu130",
    command='python -c "import torch; print(torch.__version__)"',
)
def torch_version(around: Surroundings) -> str | None:
    return str(around.torch.__version__)


@FACTS.text("torch.git_version", "commit torch was built from")
def torch_git_version(around: Surroundings) -> str | None:
    commit = getattr(around.torch.version, "git_version", None)
    return None if commit is None else str(commit)


def _built_with(version: str | None, name: str) -> str:
    if not version:
        raise MissingFact("not_applicable", BUILT_WITHOUT.format(name=name))
    return str(version)


@FACTS.text(
    "torch.cuda_version",
    "CUDA version torch was built with; absent for other builds",
    command='python -c "import torch; print(torch.version.cuda)"',
)
def torch_cuda_version(around: Surroundings) -> str | None:
    return _built_with(around.torch.version.cuda, "CUDA")


@FACTS.text(
    "torch.hip_version",
    "HIP version torch was built with; absent for other builds",
    command="python -m torch.utils.collect_env",
)
def torch_hip_version(around: Surroundings) -> str | None:
    return _built_with(getattr(around.torch.version, "hip", None), "HIP")


@FACTS.truth("torch.debug", "torch was built for debugging")
def torch_debug(around: Surroundings) -> bool:
    return bool(around.torch.version.debug)


def _operators(torch: Any) -> list[str]:  # noqa: ANN401
    """Overloads this build knows. Composites are among them: they are rewritten to operators that have kernels."""
    ask = getattr(torch._C, "_dispatch_get_all_op_names", None)  # noqa: SLF001 - there is no public way
    if ask is None:
        raise MissingFact("not_supported", "this torch does not list its operators")
    return [name for name in ask() if name.startswith("aten::")]


@FACTS.count("torch.operators", "overloads of operators in torch's namespace aten")
def torch_operators(around: Surroundings) -> int:
    return len(_operators(around.torch))


def mps_backend(torch: Any) -> Any:  # noqa: ANN401
    backend = getattr(torch.backends, "mps", None)
    if backend is None:
        raise MissingFact("not_supported", "this torch is older than the mps device (1.12)")
    return backend


def _own_kernels(torch: Any, key: str) -> int:  # noqa: ANN401
    """How many overloads have a kernel registered for exactly this key: what is registered, not what works.

    Some stray kernels of a device are in every build, so a build without the device is not asked.
    """
    if key == "CUDA" and not (torch.version.cuda or getattr(torch.version, "hip", None)):
        raise MissingFact("not_applicable", _CUDA_BUILD_ONLY)
    if key == "MPS" and not mps_backend(torch).is_built():
        raise MissingFact("not_applicable", "this torch was built without the mps device")
    has = torch._C._dispatch_has_kernel_for_dispatch_key  # noqa: SLF001
    return sum(1 for name in _operators(torch) if has(name, key))


@FACTS.count("torch.kernels_cpu", "of these, with a kernel of their own for the CPU", least=0)
def torch_kernels_cpu(around: Surroundings) -> int:
    return _own_kernels(around.torch, "CPU")


@FACTS.count("torch.kernels_cuda", "of these, with a kernel of their own for CUDA or ROCm", least=0)
def torch_kernels_cuda(around: Surroundings) -> int:
    return _own_kernels(around.torch, "CUDA")


@FACTS.count("torch.kernels_mps", "of these, with a kernel of their own for mps", least=0)
def torch_kernels_mps(around: Surroundings) -> int:
    return _own_kernels(around.torch, "MPS")


@FACTS.text("torch.import_error", "how importing torch failed; absent if it did not")
def torch_import_error(_around: Surroundings) -> str:
    """The torch probe states it where the import failed, and asks nothing."""
    raise MissingFact("not_applicable", "torch can be imported")


def is_installed(module: str) -> bool:
    try:
        return util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def in_child(around: Surroundings, code: str) -> str:
    """Run code in a separate Python and return its output. Files in the current folder must not shadow packages."""
    return around.run(sys.executable, "-c", PATH_WITHOUT_FOLDER + code, timeout_s=_IMPORT_TIMEOUT_S)


@FACTS.text("flash_attn.import_error", "how importing flash_attn failed; absent if it did not", probe="packages")
def flash_attn_import_error(around: Surroundings) -> str:
    if not is_installed("flash_attn"):
        raise MissingFact("not_applicable", "flash-attn is not installed for this Python")
    try:
        in_child(around, "import flash_attn")
    except MissingFact as missing:
        if missing.reason != "failed":
            raise
        return (missing.detail or "failed").removeprefix(f"{sys.executable} ")
    raise MissingFact("not_applicable", "flash_attn can be imported")


@FACTS.text("onnxruntime.providers", "execution providers ONNX Runtime offers, space separated", probe="packages")
def onnxruntime_providers(around: Surroundings) -> str | None:
    if not is_installed("onnxruntime"):
        raise MissingFact("not_applicable", "onnxruntime is not installed for this Python")
    lines = [line for line in in_child(around, _PROVIDERS).splitlines() if line.startswith("providers ")]
    return lines[-1].removeprefix("providers ") if lines else None


_PUBLIC_HOST = re.compile(r"(?:[\w-]+\.)*(?:pytorch|pypi)\.org")
_BUILD = re.compile(r"cu\d{2,3}|cpu|xpu|rocm\d[\d.]*")
"""How torch's indexes name a kind of build, as a part of the path: .../whl/cu128."""


def pip_index_url(around: Surroundings) -> str:
    url = around.environ.get("PIP_INDEX_URL") or next(_in_files(around), None)
    if not url:
        raise MissingFact("not_applicable", "pip is set to no index of its own")
    return _shown(url)


def _shown(url: str) -> str:
    """The address of a public index without what may be secret in it; of any other, only the kind of build."""
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname or ""
    except ValueError:
        raise MissingFact("failed", "the address of the index cannot be read") from None
    if _PUBLIC_HOST.fullmatch(host):
        return f"{parts.scheme}://{host}{parts.path}"
    build = next((part for part in parts.path.split("/") if _BUILD.fullmatch(part)), None)
    if build is None:
        raise MissingFact("withheld", "pip is set to an index that is not a public one")
    return f"(another index)/{build}"


def _in_files(around: Surroundings) -> Iterator[str]:
    """The nearest first: of two files the one nearer to this environment counts, as it does for pip."""
    for path in _config_files(around):
        text = around.read(path)
        if not text:
            continue
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(text)
        except configparser.Error:
            continue
        for section in ("install", "global"):
            for option in ("index-url", "index_url"):
                if parser.has_option(section, option):
                    yield parser.get(section, option)


def _config_files(around: Surroundings) -> Iterator[str]:
    environ = around.environ
    if environ.get("PIP_CONFIG_FILE"):
        yield environ["PIP_CONFIG_FILE"]
    if around.system == "Windows":
        yield f"{sys.prefix}\\pip.ini"
        yield from (f"{environ[name]}\\pip\\pip.ini" for name in ("APPDATA", "PROGRAMDATA") if environ.get(name))
        return
    yield f"{sys.prefix}/pip.conf"
    home = environ.get("HOME")
    if home:
        if around.system == "Darwin":
            yield f"{home}/Library/Application Support/pip/pip.conf"
        yield f"{environ.get('XDG_CONFIG_HOME') or home + '/.config'}/pip/pip.conf"
        yield f"{home}/.pip/pip.conf"
    yield from ("/Library/Application Support/pip/pip.conf",) if around.system == "Darwin" else ("/etc/pip.conf",)


FACTS.text("pip.index_url", "package index pip is set to, credentials taken out; absent if unset", probe="python")(
    pip_index_url
)


def _arch_list(torch: Any) -> str | None:  # noqa: ANN401
    if not torch.version.cuda and not getattr(torch.version, "hip", None):
        raise MissingFact("not_applicable", _CUDA_BUILD_ONLY)
    flags = getattr(torch._C, "_cuda_getArchFlags", None)  # noqa: SLF001 - torch.cuda.get_arch_list() is empty without a card
    return str(flags() or "") or None if flags else " ".join(torch.cuda.get_arch_list()) or None


@FACTS.text(
    "torch.arch_list",
    "GPU architectures torch carries kernels for, space separated: sm_80 sm_90",
    command='python -c "import torch; print(torch.cuda.get_arch_list())"',
)
def torch_arch_list(around: Surroundings) -> str | None:
    return _arch_list(around.torch)


@FACTS.text("torch.cpu_capability", "vector level torch chose on this processor: AVX512, NEON")
def torch_cpu_capability(around: Surroundings) -> str | None:
    return str(around.torch.backends.cpu.get_cpu_capability())


@FACTS.count("torch.num_threads", "threads torch uses inside one operator")
def torch_num_threads(around: Surroundings) -> int:
    return int(around.torch.get_num_threads())

"""How much memory a benchmark may use and which caches it must exceed, on machines and in containers made of files."""

import importlib.util
from types import SimpleNamespace

import pytest

from stackviz.agent.benchmarks.devices import Device
from stackviz.agent.benchmarks.memory import amd_cache_bytes, free_main_memory
from stackviz.report.measuring import RUNNABLE
from stackviz.report.measuring.benchmark import MIB, uniform
from tests.agent.processes import TOY_TORCH

GIB = 2**30


def machine(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


MEMORY = {"proc/meminfo": f"MemTotal: {64 * GIB // 1024} kB\nMemAvailable:   {48 * GIB // 1024} kB\n"}


CGROUP = "sys/fs/cgroup"
NO_LIMIT = {
    f"{CGROUP}/memory/memory.limit_in_bytes": "9223372036854771712\n",
    f"{CGROUP}/memory/memory.usage_in_bytes": "4096\n",
}


def group(path, limit, used, stat=None, version=2):
    """The files of a control group."""
    names = ("memory.max", "memory.current") if version == 2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    files = {names[0]: f"{limit}\n", names[1]: f"{used}\n", **({"memory.stat": stat} if stat else {})}
    return {f"{CGROUP}/{path}{name}": text for name, text in files.items()}


@pytest.mark.parametrize(
    ("of_process", "groups", "free"),
    [
        ("0::/user.slice/session\n", group("user.slice/", "max", 1), 48 * GIB),
        (
            "0::/\n",  # what files use does not count
            group("", 3 * GIB // 2, GIB, f"anon 5\ninactive_file {GIB // 4}\nactive_file 7\n"),
            3 * GIB // 4,
        ),
        (
            "0::/slurm/job/step\n",  # the tightest of nested groups
            group("slurm/", 32 * GIB, GIB)
            | group("slurm/job/", 8 * GIB, GIB)
            | group("slurm/job/step/", 16 * GIB, GIB),
            7 * GIB,
        ),
        (
            "9:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n",  # the first version of control groups
            group("memory/docker/x/", 2 * GIB, GIB, f"total_inactive_file {GIB // 2}\n", version=1) | NO_LIMIT,
            3 * GIB // 2,
        ),
        ("0::/\n", group("", 1000, 2000), 0),
    ],
    ids=["no limit", "container", "nested", "version 1", "over its limit"],
)
def test_free_memory_is_what_all_groups_leave(tmp_path, of_process, groups, free):
    assert free_main_memory(machine(tmp_path, MEMORY | {"proc/self/cgroup": of_process} | groups)) == free


def card(kind, **properties):
    hip = properties.pop("hip", None)
    cuda = SimpleNamespace(
        get_device_properties=lambda _n: SimpleNamespace(**properties), mem_get_info=lambda _n: (100 * GIB, 128 * GIB)
    )
    return Device(SimpleNamespace(cuda=cuda, version=SimpleNamespace(hip=hip)), f"{kind}:0", kind)


def test_unified_memory_is_limited_by_the_container(monkeypatch):
    monkeypatch.setattr("stackviz.agent.benchmarks.devices.free_main_memory", lambda: 10 * GIB)
    assert card("cuda", is_integrated=1).free_bytes() == 8 * GIB
    assert card("cuda", is_integrated=0).free_bytes() == 80 * GIB


def test_infinity_cache_is_told_by_the_driver_of_amd(tmp_path, monkeypatch):
    nodes = "sys/class/kfd/kfd/topology/nodes"
    files = {
        f"{nodes}/0/properties": "cpu_cores_count 96\nsimd_count 0\n",
        f"{nodes}/0/caches/0/properties": "level 3\nsize 393216\n",
        f"{nodes}/1/properties": "cpu_cores_count 0\nsimd_count 1216\n",
        f"{nodes}/1/caches/0/properties": "level 2\nsize 4096\n",
        f"{nodes}/1/caches/1/properties": "level 3\nsize 262144\n",
    }
    assert amd_cache_bytes(machine(tmp_path, files)) == 256 * MIB
    assert amd_cache_bytes(tmp_path / "nowhere") is None


@pytest.mark.parametrize(
    ("device", "exceeded"),
    [
        (card("cuda", hip="7.0", L2_cache_size=4 * MIB), 256 * MIB),
        (card("cuda", L2_cache_size=50 * MIB), 50 * MIB),
        (card("xpu"), 408 * MIB),
        (Device(None, "mps", "mps"), 96 * MIB),
    ],
)
def test_an_unknown_cache_is_taken_for_the_largest_of_its_kind(device, exceeded):
    assert device.exceeded_cache_bytes() == exceeded


@pytest.mark.parametrize(
    ("properties", "override", "word"),
    [
        ({"major": 7, "minor": 5}, None, "compute capability 8.0; this card has 7.5"),
        ({"major": 9, "hip": "7.0"}, None, "a type of NVIDIA cards"),
        ({"major": 9}, "0", "NVIDIA_TF32_OVERRIDE=0 forbids TF32"),
        ({"major": 8, "minor": 0}, None, None),
    ],
)
def test_tf32_is_measured_where_it_exists(properties, override, word, monkeypatch):
    monkeypatch.delenv("NVIDIA_TF32_OVERRIDE", raising=False)
    if override:
        monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", override)
    lacking = card("cuda", **properties).lacks("tf32")
    assert word in lacking if word else lacking is None
    assert card("cuda", **properties).lacks("fp32") is None


@pytest.mark.parametrize(
    ("dtype", "off", "problem"),
    [
        ("tf32", 2e-4, None),
        ("tf32", 1e-6, "TF32 was not in effect"),
        ("fp32", 1e-6, None),
        ("fp32", 2e-4, "the product is wrong"),
        ("bf16", 0.0, None),
    ],
)
def test_a_product_proves_its_type_by_its_error(dtype, off, problem, monkeypatch):
    spec = importlib.util.spec_from_file_location("toy_torch", TOY_TORCH / "torch" / "__init__.py")
    toy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(toy)
    monkeypatch.setattr(toy.Tensor, "__float__", lambda _self: off)
    square = {"dtype": dtype, "m": 512, "n": 512, "k": 512}
    told = RUNNABLE["gemm"].prepare(toy, "cpu", square).check()
    assert problem in told if problem else told is None


def test_inputs_of_16_bits_need_the_32_bits_they_are_made_of():
    gemm = RUNNABLE["gemm"]
    square = {"dtype": "bf16", "m": 1024, "n": 1024, "k": 1024}
    assert gemm.extra_bytes(square) == (4 - 2) * 1024**2
    assert gemm.extra_bytes(square | {"dtype": "fp32"}) == 0


@pytest.mark.parametrize(
    ("device", "calls"), [("cpu", ["empty", "zero_", "uniform_"]), ("cuda:0", ["empty", "uniform_"])]
)
def test_on_a_processor_all_threads_touch_the_memory_first(device, calls):
    made = []

    class Tensor:
        def zero_(self):
            made.append("zero_")

        def uniform_(self, _low, _high):
            made.append("uniform_")
            return self

    torch = SimpleNamespace(empty=lambda _shape, **_named: made.append("empty") or Tensor())
    assert isinstance(uniform(torch, device, (4,), "float32"), Tensor)
    assert made == calls

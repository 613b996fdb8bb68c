"""Which kernels a case really runs, by torch's profiler: the best proof of the device and the type it computed in."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from stackviz.agent.benchmarks.devices import AnyDevice
from stackviz.report.measuring import Prepared

__all__ = ["kernels_of"]

_MOST_NAMES = 6
_MOST_CHARS = 200


def kernels_of(device: AnyDevice, prepared: Prepared) -> list[str]:
    """Names of what one run started on the device, those that took longest first; on a processor torch's operators.

    [] where the profiler cannot tell. Not while anything is timed: it slows what it watches.
    """
    with suppress(Exception):
        return _profiled(device, prepared)
    return []


def _profiled(device: AnyDevice, prepared: Prepared) -> list[str]:
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU]
    if device.kind in {"cuda", "xpu"}:
        activities.append(getattr(ProfilerActivity, device.kind.upper()))
    with profile(activities=activities) as watched:
        prepared.run()
        (prepared.wait or device.synchronize)()
    events = watched.events() or []
    on_device = [event for event in events if _device_type(event) in {"CUDA", "XPU", "PrivateUse1"}]
    return _longest(on_device or [event for event in events if event.name.startswith("aten::")])


def _device_type(event: Any) -> str:  # noqa: ANN401 - torch has no types here
    return str(getattr(event, "device_type", "")).rpartition(".")[2]


def _longest(events: Iterable[Any]) -> list[str]:
    took: dict[str, float] = {}
    for event in events:
        name = " ".join(event.name.split())[:_MOST_CHARS]
        took[name] = took.get(name, 0.0) + float(event.time_range.elapsed_us())
    return sorted(took, key=lambda name: -took[name])[:_MOST_NAMES]

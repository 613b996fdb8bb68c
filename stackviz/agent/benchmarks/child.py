"""The process benchmarks run in: plans, then measures, handing back every step."""

from dataclasses import asdict, replace
from typing import Any

from stackviz.agent.benchmarks.cases import Case, plan_cases
from stackviz.agent.benchmarks.devices import Device, card_of, list_devices
from stackviz.agent.benchmarks.measure import measure_case
from stackviz.agent.benchmarks.timing import FULL, QUICK
from stackviz.agent.children import answer_in_file
from stackviz.measuring import RUNNABLE

__all__ = ["main"]


def main() -> None:
    with answer_in_file() as (given, hand_back):
        import torch

        devices = {device.name: device for device in _chosen(torch, given)}
        cases = _cases(given, [(device.name, device.kind) for device in devices.values()])
        cards = {name: card_of(device, given["cards"]) for name, device in devices.items()}
        hand_back({"is": "plan", "cases": [{**asdict(case), "card": cards[case.device]} for case in cases]})
        pace = replace(QUICK if given["quick"] else FULL, budget_s=given["budget_s"])
        measure_case(cases, devices, pace, hand_back)


def _chosen(torch: Any, given: dict[str, Any]) -> list[Device]:  # noqa: ANN401 - torch has no types here
    """All requested devices; a quick run on a machine with several cards uses the first, unless some are named."""
    devices = list_devices(torch, given["devices"])
    if not given["quick"] or given["devices"]:
        return devices
    return [device for device in devices if device.index == 0]


def _cases(given: dict[str, Any], devices: list[tuple[str, str]]) -> list[Case]:
    """The plan, less what an earlier process has done."""
    keys = given["benchmarks"] or list(RUNNABLE)
    done = [Case(**case) for case in given["done"]]
    plan = plan_cases(devices, keys, quick=given["quick"], wanted=given["wanted"])
    return [case for case in plan if case not in done]


if __name__ == "__main__":
    main()

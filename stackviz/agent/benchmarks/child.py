"""The process benchmarks run in: plans, or goes on where another one ended, and measures, handing back every step."""

import os
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from stackviz.agent.benchmarks.cases import Case, plan_cases
from stackviz.agent.benchmarks.devices import AnyDevice, card_of, list_devices, mlx_devices
from stackviz.agent.benchmarks.measure import CaseLeft, measure_case
from stackviz.agent.benchmarks.timing import PACES
from stackviz.agent.children import answer_in_file
from stackviz.report.measuring import RUNNABLE
from stackviz.report.measuring.in_mlx import MLX

__all__ = ["main"]


def main() -> None:
    with answer_in_file() as (given, hand_back):
        began = time.monotonic()
        os.environ.pop("PYTORCH_ENABLE_MPS_FALLBACK", None)  # an operator that Metal lacks fails, instead of the CPU's
        devices = {device.name: device for device in _chosen(given)}
        left = [CaseLeft(**{**each, "case": Case(**each["case"])}) for each in given["left"]]
        if left:
            hand_back({"is": "ready"})
            left_s = given["left_s"] - (time.monotonic() - began)  # torch was imported in the time of the run
        else:
            left_s = given["left_s"]
            left = [CaseLeft(case=case) for case in _cases(given, devices)]
            cards = {name: card_of(device, given["cards"]) for name, device in devices.items()}
            plan = [{**asdict(each.case), **_cards_of(each.case, cards)} for each in left]
            hand_back({"is": "plan", "cases": plan})
        pace = replace(PACES[given["suite"]], budget_s=given["budget_s"])
        measure_case(left, devices, pace, hand_back, left_s)


def _chosen(given: dict[str, Any]) -> list[AnyDevice]:
    """All requested devices; a quick run on a machine with several cards uses the first, unless some are named. Where
    MLX alone is asked for, torch need not be there."""
    if set(given["devices"]) == {MLX}:
        return [*mlx_devices(given["devices"])]
    import torch

    torch.set_warn_always(True)  # a warning that comes once a process would be told of one case alone
    devices = list_devices(torch, given["devices"])
    if given["suite"] != "quick" or given["devices"]:
        return devices
    return [device for device in devices if device.index == 0]


def _cards_of(case: Case, cards: Mapping[str, int | None]) -> dict[str, Any]:
    """The card of the report that a case runs on; of several all of them, or none where one is not known."""
    used = [cards.get(name) for name in RUNNABLE[case.benchmark].devices_used(case.device, case.params)]
    if len(used) == 1:
        return {"card": used[0], "cards": []}
    return {"card": None, "cards": [] if None in used else used}


def _cases(given: dict[str, Any], devices: dict[str, AnyDevice]) -> list[Case]:
    keys = given["benchmarks"] or list(RUNNABLE)
    kinds = [(device.name, device.kind) for device in devices.values()]
    return plan_cases(kinds, keys, suite=given["suite"], wanted=given["wanted"])


if __name__ == "__main__":
    main()

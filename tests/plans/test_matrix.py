"""Under every branch of the driver, planner and diagnosis say the same of every release of torch on every card."""

from itertools import product

from tests.plans.matrix import CARDS, SYSTEMS_WALKED, cells
from tests.sampled import sampled

FIRST = {  # the branches that the first toolkits came with: NVIDIA's matrix, CUDA 12.9 for 10.3 and 12.1
    "5.0": 340, "5.2": 340, "6.0": 367, "6.1": 367, "7.0": 384, "7.5": 410, "8.0": 450, "8.6": 450, "8.9": 520,
    "9.0": 520, "10.0": 570, "10.3": 575, "12.0": 570, "12.1": 575,
}  # fmt: skip
LAST = {"5.0": 580, "5.2": 580, "6.0": 580, "6.1": 580, "7.0": 580}


@sampled(3)
def test_planner_and_diagnosis_agree_under_every_driver(sample):
    for system, capability in sample(list(product(SYSTEMS_WALKED, CARDS))):
        walked = list(cells(system, capability))
        assert len({(cell.torch, cell.branch) for cell in walked}) == len(walked) > 300
        assert [cell for cell in walked if not cell.agrees] == []
        running = {int(cell.branch) for cell in walked if cell.plan}
        assert running
        assert FIRST[capability] <= min(running) <= max(running) <= LAST.get(capability, 9999)

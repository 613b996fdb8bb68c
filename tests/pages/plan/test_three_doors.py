"""A card under a driver that is older than its generation: the planner, the diagnosis and the doctor refuse it alike."""

import json

import pytest

from stackviz.agent.doctor import diagnosed_here
from stackviz.agent.doctor_questions import QUESTIONS, CommandRun
from stackviz.agent.probing.gather import Gathered
from stackviz.desk.contradictions.dumps import DumpedStack

REFUSED = [
    ("nvidia-geforce-rtx-5090", "NVIDIA GeForce RTX 5090", "linux-x86_64", "2.7.0", "12.8", "550.54", "12.0", "R570"),
    ("nvidia-geforce-rtx-4090", "NVIDIA GeForce RTX 4090", "windows-x86_64", "2.0.1", "11.8", "516.94", "8.9", "R520"),
    ("nvidia-h100-sxm5-80gb", "NVIDIA H100 80GB HBM3", "linux-x86_64", "2.0.1", "11.8", "470.57", "9.0", "R520"),
]  # fmt: skip


@pytest.mark.parametrize(("slug", "card", "system", "torch", "cuda", "driver", "capability", "first"), REFUSED)
def test_all_three_refuse_a_driver_before_the_card(
    curated, client, db, slug, card, system, torch, cuda, driver, capability, first
):
    build = "cu" + cuda.replace(".", "")
    text = DumpedStack(system=system, torch=f"{torch}+{build}", cuda=cuda, card=card, driver=driver).text
    refusal = f"Driver {driver} is older than"
    planned = client.get("/plan/", {"accelerator": slug, "system": system, "torch": torch, "driver": driver})
    answered = client.post("/api/v1/diagnose/", text, content_type="text/plain").json()
    [asked] = [question for question in QUESTIONS if "torch.utils.collect_env" in question.argv]
    examined = diagnosed_here([CommandRun(question=asked, state="ran", text=text)], Gathered())
    page = planned.content.decode()
    assert refusal in page
    assert f"capability {capability} begins with {first}" in page
    assert "it works" not in page
    plan = client.get(
        "/plan/", {"accelerator": slug, "system": system, "torch": torch, "driver": driver, "format": "json"}
    )
    assert (plan.json()["outcome"], plan.json()["commands"]) == ("fails", [])
    for answer in (answered, examined):
        [found] = [finding for finding in answer["findings"] if finding["rule"] == "driver-older-than-card"]
        assert found["severity"] == "broken"
        assert found["title"].startswith(refusal)
        assert f"capability {capability} begins with {first}" in found["title"]
        assert "docs.nvidia.com" in json.dumps(found["source"])
        assert "minor-compat-ptx" not in {finding["rule"] for finding in answer["findings"]}


@pytest.mark.parametrize("torch", ["2.0.1", "2.3.1"])
def test_no_plan_runs_a_release_older_than_the_card(curated, client, db, torch):
    asked = {"accelerator": "nvidia-geforce-rtx-5090", "system": "windows-x86_64", "torch": torch, "format": "json"}
    plan = client.get("/plan/", asked).json()
    assert (plan["outcome"], plan["commands"]) == ("fails", [])


def test_an_old_driver_gets_the_newest_release_that_may_run(curated, client, db):
    """No source says which cards the build of CUDA 9.2 is for: that it cannot run would be wrong."""
    asked = {"accelerator": "nvidia-p100-pcie", "system": "linux-x86_64", "driver": "410.104", "format": "json"}
    plan = client.get("/plan/", asked).json()
    assert plan["outcome"] == "cannot-tell"
    assert "torch==1.7.1" in plan["commands"][0]
    assert "whl/cu92" in plan["commands"][0]
    older = client.get("/plan/", asked | {"driver": "340.10"}).json()
    assert (older["outcome"], older["commands"]) == ("fails", [])

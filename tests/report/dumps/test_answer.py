"""The answer is the JSON that is promised: facts by name, null with a reason, findings, results, what was not read."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from stackviz.draw.diagrams.boxes import ALARMS, SEVERITY_STATES
from stackviz.draw.diagrams.layers import LAYER_TITLES as DRAWN
from stackviz.report.dumps.answer import ALWAYS_LISTED, answer
from stackviz.report.dumps.components import _WORST_FIRST, LAYER_TITLES, LAYERS, components, layer_of
from stackviz.report.dumps.machines import machines
from stackviz.report.format import COMPONENTS
from stackviz.report.importers import Paste, read_all
from stackviz.report.rules import Finding, Severity, packaged_tables
from tests.report.dumps.test_machines import reading
from tests.report.importers import nvidia_dumps

TABLES = packaged_tables()
ROOT = Path(__file__).parents[3]
COLLECT_ENV = (ROOT / "tests/fixtures/dumps/collect_env_cuda.txt").read_text(encoding="utf-8")


def answered(*readings, **also) -> dict:
    document = answer(machines(Paste(tuple(readings))), TABLES, **also)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    return document


def test_no_dump_is_an_answer_too():
    document = answered(not_understood=("hello",))
    assert (document["kinds"], document["cards"], document["findings"]) == ([], [], [])
    assert document["not_understood"] == ["hello"]
    assert document["facts"] == dict.fromkeys(ALWAYS_LISTED)
    assert set(document["reasons"]) == set(ALWAYS_LISTED)


def test_every_answer_has_all_facts_or_reasons():
    document = answered(
        reading("collect-env", {"torch.version": "2.5.1", "os.arch": "x86_64"}, absent={"cudnn.version": "failed"})
    )
    assert list(document["facts"])[: len(ALWAYS_LISTED)] == list(ALWAYS_LISTED)
    assert document["facts"]["os.arch"] == "x86_64"
    lacking = {name for name in ALWAYS_LISTED if document["facts"][name] is None}
    assert lacking <= set(document["reasons"])
    assert document["reasons"]["cudnn.version"]["reason"] == "failed"
    assert document["reasons"]["mps.built"]["reason"] == "not_reported"
    assert "torch.version" not in document["reasons"]


@pytest.mark.parametrize(
    ("facts", "name", "value"),
    [
        ({"cuda.toolkit_version": "12.4.131"}, "cuda.runtime_version", "12.4.131"),
        ({"cuda.toolkit_version": "12.4.131", "cuda.runtime_version": "12.1"}, "cuda.runtime_version", "12.1"),
        ({"torch.hip_version": "6.2.41133"}, "rocm.version", "6.2.41133"),
    ],
)
def test_one_fact_stands_in_for_another(facts, name, value):
    assert answered(reading("collect-env", facts))["facts"][name] == value


def test_a_missing_fact_has_the_reason_of_its_stand_in():
    neither = reading("collect-env", absent={"cuda.toolkit_version": "not_applicable"})
    assert answered(neither)["reasons"]["cuda.runtime_version"]["reason"] == "not_applicable"


def test_cards_have_the_fields_that_are_promised():
    smi = reading("nvidia-smi-table", {"nvidia.driver_version": "550.54.15"}, [("NVIDIA H100 PCIe", 80 * 2**30)])
    (card,) = answered(smi, sheet_of=lambda card: f"slug of {card.reported_name}")["cards"]
    assert card == {
        "index": 0,
        "reported_name": "NVIDIA H100 PCIe",
        "accelerator": "slug of NVIDIA H100 PCIe",
        "memory_bytes": 80 * 2**30,
        "driver_version": "550.54.15",
    }


def test_a_card_without_memory_or_sheet_says_why():
    document = answered(reading("collect-env", {}, [("NVIDIA Imaginary 1", None)]))
    assert document["cards"][0]["accelerator"] is None
    assert {"cards[0].accelerator", "cards[0].memory_bytes", "cards[0].driver_version"} <= set(document["reasons"])


def test_real_dump_lists_components_on_layers():
    paste = read_all(COLLECT_ENV)
    document = answer(machines(paste), TABLES, not_understood=paste.not_understood)
    assert document["kinds"] == ["collect-env"]
    on_layer = {(one["layer"], one["component"]) for one in document["components"]}
    assert {
        ("framework", "pytorch"),
        ("driver", "nvidia-driver"),
        ("os", "linux"),
        ("hardware", "hardware"),
    } <= on_layer
    order = [list(LAYERS).index(one["layer"]) for one in document["components"]]
    assert order == sorted(order)
    assert document["findings"]
    assert all(one["source"]["url"] for one in document["findings"])


LOST = "Unable to determine the device handle for GPU 0000:{}:00.0: GPU is lost.  Reboot the system to recover this GPU"


@pytest.mark.parametrize(
    ("text", "rules", "problems"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch", ["nvml-mismatch"], []),
        ("No devices were found", ["smi-no-driver"], []),
        (f"{LOST.format(17)}\n{LOST.format(18)}", ["cards-lost"], []),
        ("Failed to initialize NVML: Lunch Break", [], ["Lunch Break"]),
    ],
)
def test_a_failure_that_a_finding_explains_is_said_once(text, rules, problems):
    paste = read_all(text)
    document = answer(machines(paste), TABLES, not_understood=paste.not_understood)
    assert [finding["rule"] for finding in document["findings"]] == rules
    assert document["problems"] == problems


@pytest.mark.parametrize(
    ("of_machine", "severity", "component", "evidence", "states"),
    [
        (reading("collect-env", {"torch.cuda_version": "12.4"}), "broken", "cuda-runtime", {}, ["broken"]),
        (
            reading("nvidia-smi-table", {}, [("NVIDIA L4", 2**34)] * 2),
            "warning", "hardware", {"card 1": "NVIDIA L4"}, ["reported", "warning"],
        ),
    ],
)  # fmt: skip
def test_a_finding_colours_its_component_alone(of_machine, severity, component, evidence, states):
    finding = Finding(rule="a-rule", severity=severity, component=component, title="title", evidence=evidence)
    (one,) = machines(Paste((of_machine,)))
    assert [part.state for part in components(one.report(), [finding]) if part.component == component] == states


def test_required_but_unreported_driver_is_unknown():
    document = answered(reading("collect-env", {}, [("NVIDIA L4", None)]))
    (driver,) = [one for one in document["components"] if one["component"] == "nvidia-driver"]
    assert driver == {"layer": "driver", "component": "nvidia-driver", "version": None, "state": "unknown"}


def test_further_machines_name_the_difference():
    document = answered(
        reading("collect-env", {"os.name": "Ubuntu"}), reading("system-profiler-json", {"os.name": "macOS"})
    )
    assert document["kinds"] == ["collect-env", "system-profiler-json"]
    (other,) = document["machines"]
    assert other["differs"] == "the system is Linux in one dump and macOS in another"
    assert (other["kinds"], other["facts"]["os.name"]) == (["system-profiler-json"], "macOS")


def test_component_layers_match_the_site():
    described = tomllib.loads((ROOT / "stackviz/records/stacks/data/components.toml").read_text(encoding="utf-8"))
    assert {slug for slug in COMPONENTS if layer_of(slug) is None} == set()
    listed = " ".join(LAYERS.values()).split()
    assert len(listed) == len(set(listed))
    differing = {
        slug: (layer_of(slug), described[slug]["layer"])
        for slug in COMPONENTS
        if slug in described and described[slug].get("layer") and described[slug]["layer"] != layer_of(slug)
    }
    assert differing == {}


def test_layers_have_the_titles_of_the_drawings_in_their_order():
    assert list(LAYER_TITLES.items()) == [(layer.value, title) for layer, title in DRAWN.items()]
    assert list(LAYERS) == list(LAYER_TITLES)


def test_findings_give_a_component_the_state_that_its_box_has():
    worst_first = [SEVERITY_STATES[severity] for severity in _WORST_FIRST]
    assert worst_first == list(reversed(ALARMS))
    assert [state.value for state in worst_first] == [severity.value for severity in _WORST_FIRST]
    assert not {SEVERITY_STATES[severity] for severity in set(Severity) - set(_WORST_FIRST)} & set(ALARMS)


def test_what_has_a_note_is_not_said_to_have_no_problem():
    text = nvidia_dumps.TABLE
    for driver in ("555.42.06", "530.30.02", "545.23.08"):
        document = answer(
            machines(read_all(re.sub(r"(?<=Version: )\d{3}\.[\d.]{4,9}", driver, text))), packaged_tables()
        )
        notes = [finding for finding in document["findings"] if finding["severity"] == "note"]
        assert bool(notes) != ("no problem found" in document["verdict"])

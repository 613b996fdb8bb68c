"""A part of the agent in a process of its own: what hangs, crashes or babbles takes nothing along."""

import os
import time
from pathlib import Path

from stackviz.agent import children
from stackviz.agent.children import Ended, run_child
from stackviz.agent.probing.gather import gather, join
from stackviz.report.format import FACTS

HERE = "tests.agent.made_to_fail"


def test_answers_come_back_in_order_and_are_seen_as_they_come():
    seen = []
    ended = run_child(f"{HERE}.answers", {"count": 3}, 30, seen.append)
    assert ended.state == "ok"
    assert list(ended.lines) == seen == [{"number": 0}, {"number": 1}, {"number": 2}, {"path_is_safe": True}]


def test_a_child_that_hangs_is_ended_with_all_it_started():
    started = time.monotonic()
    ended = run_child(f"{HERE}.hangs", {}, 5.0)
    assert time.monotonic() - started < 60
    assert (ended.state, ended.detail) == ("timeout", "timed out after 5 s")
    assert not _is_running(ended.lines[0]["other"])


def _is_running(pid: int) -> bool:
    for _ in range(600):
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return False
        except (ProcessLookupError, FileNotFoundError):
            return False
        time.sleep(0.1)
    return True


def test_a_crash_or_error_is_told_by_its_last_words():
    ended = run_child(f"{HERE}.crashes", {}, 30)
    assert (ended.state, ended.detail) == ("failed", "ended by signal 11 (SIGSEGV)")
    assert ended.lines == ({"first": 1},)  # whole answers stay
    ended = run_child(f"{HERE}.raises", {"version": 13}, 30)
    assert ended.detail == "ended with 1: ImportError: libcudart.so.13: cannot open shared object file"
    assert "No module named" in (run_child(f"{HERE}.missing", {}, 30).detail or "")


def test_the_probes_of_this_machine_answer():
    told = []
    gathered = gather(60, lambda name, ended: told.append((name, ended.state)), ["system", "python"])
    assert sorted(told) == [("python", "ok"), ("system", "ok")]
    assert gathered.facts["python.implementation"]
    assert [probe["state"] for probe in gathered.probes] == ["ok", "ok"]


def document(**told):
    return {"facts": {}, "absent": {}, "cards": [], "software": [], "problems": []} | told


def ended(document=None, state="ok", detail=None):
    return Ended(state, detail, (document,) if document else (), 0.5)


def card(vendor, index=0, name="a card"):
    return {"index": index, "kind": "gpu", "vendor": vendor, "reported_name": name}


def joined(**probes):
    """What probes told, joined: their documents, or how they ended."""
    return join({name: told if isinstance(told, Ended) else ended(told) for name, told in probes.items()})


def test_a_probe_that_fails_leaves_what_the_others_told():
    late, crash = "did not end in 60 s", "ended by signal 11 (SIGSEGV)"
    gathered = joined(
        system=document(facts={"os.name": "Ubuntu"}),
        nvidia=ended(state="timeout", detail=late),
        torch=ended(state="failed", detail=crash),
    )
    assert gathered.facts == {"os.name": "Ubuntu"}
    probes = [("system", "ok", None), ("nvidia", "timeout", late), ("torch", "failed", crash)]
    assert [(probe["probe"], probe["state"], probe["detail"]) for probe in gathered.probes] == probes
    absent = gathered.absent  # every fact is stated, or absent with its reason
    assert gathered.facts.keys() | absent.keys() == FACTS.keys()
    assert absent["nvidia.driver_version"] == {"reason": "timeout", "detail": f"the nvidia probe {late}"}
    assert absent["cuda.driver_api_version"]["reason"] == "timeout"
    assert absent["cuda.available"]["detail"] == f"the torch probe {crash}"
    assert absent["apple.gpu_cores"]["reason"] == "not_applicable"
    assert absent["rocm.version"]["reason"] == "not_collected"


def test_earlier_probe_wins_and_a_reason_beats_an_excuse():
    absent = {
        "cudnn.version": {"reason": "failed", "detail": None},
        "os.build": {"reason": "not_applicable", "detail": "asked on macOS only"},
    }
    late = {"os.build": {"reason": "timeout", "detail": "sw_vers did not end"}}
    gathered = joined(
        python=document(facts={"os.name": "first"}, absent=absent),
        torch=document(facts={"os.name": "second", "cudnn.version": "9.13.0"}, absent=late),
    )
    assert gathered.facts == {"os.name": "first", "cudnn.version": "9.13.0"}
    assert not gathered.absent.keys() & gathered.facts.keys()
    assert gathered.absent["os.build"]["reason"] == "timeout"


def test_torch_cards_fill_in_for_silent_vendors():
    first = card("nvidia", 0, "NVIDIA H100")
    gathered = joined(nvidia=document(cards=[first]), torch=document(cards=[first, card("intel", 1, "Arc")]))
    assert [(c["vendor"], c["index"]) for c in gathered.cards] == [("nvidia", 0), ("intel", 1)]
    gathered = joined(nvidia=document(cards=[card("nvidia")]), torch=document(cards=[card("amd")]))
    assert [c["index"] for c in gathered.cards] == [0, 1]  # of their own


def test_torch_completes_the_cards_that_it_gives_the_same_uuid():
    def nvidia(index, uuid, **facts):
        return card("nvidia", index, "NVIDIA H100") | {
            "uuid_hash": uuid,
            "facts": facts,
            "absent": {"multiprocessors": {"reason": "not_supported"}},
        }

    nvml = [nvidia(0, "a" * 64, ecc=True), nvidia(1, "b" * 64)]
    torch = [nvidia(0, "b" * 64, multiprocessors=132), nvidia(1, "c" * 64, multiprocessors=1)]
    gathered = join({"nvidia": ended(document(cards=nvml)), "torch": ended(document(cards=torch))})
    assert [c["facts"] for c in gathered.cards] == [{"ecc": True}, {"multiprocessors": 132}]
    assert [list(c["absent"]) for c in gathered.cards] == [["multiprocessors"], []]


def test_cards_of_vendor_tools_match_torch_by_order():
    power, cores = {"power_w": 90.0}, {"multiprocessors": 304}
    tools = [card("amd", n, "MI300X") | {"uuid_hash": str(n) * 64, "facts": power} for n in (0, 1)]
    torch = [card("amd", n, "AMD MI300X") | {"uuid_hash": "ab"[n] * 64, "facts": cores} for n in (0, 1)]
    gathered = joined(tools=document(cards=tools), torch=document(cards=torch))
    assert [(c["uuid_hash"], c["facts"]) for c in gathered.cards] == [(letter * 64, cores | power) for letter in "ab"]
    fewer = joined(tools=document(cards=tools), torch=document(cards=torch[:1]))
    assert [c["facts"] for c in fewer.cards] == [power] * 2


def test_a_component_found_twice_is_one_unless_versions_differ():
    def found(version, by):
        return {"component": "cuda-runtime", "version": version, "found_by": by}

    by_torch = [found("13.0.48", "torch"), found("13.0", "torch.version.cuda")]
    gathered = joined(
        python=document(software=[found("13.0.48", "package metadata")]), torch=document(software=by_torch)
    )
    assert [s["version"] for s in gathered.software] == ["13.0.48", "13.0"]


def test_mac_gpu_limit_defaults_to_recommended():
    recommended = ended(document(facts={"mps.recommended_max_memory_bytes": 38654705664}))
    assert join({"torch": recommended}).facts["memory.gpu_limit_bytes"] == 38654705664
    raised = ended(document(facts={"memory.gpu_limit_bytes": 42949672960}))
    assert join({"apple": raised, "torch": recommended}).facts["memory.gpu_limit_bytes"] == 42949672960


def test_the_guard_hears_of_a_folder_before_there_is_one(monkeypatch):
    """Killed in between, an agent left its folder: starting the guard takes as long as the rest of that moment."""
    seen = []
    monkeypatch.setattr(children, "watch_folder", lambda folder: seen.append((folder, Path(folder).exists())))
    with children._temporary_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
    assert seen == [(str(folder), False)]
    assert not folder.exists()

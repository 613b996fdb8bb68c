"""However the agent ends, nothing that it started goes on and no folder of its stays. Real processes, real signals."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stackviz.agent import guard, guard_process
from tests.agent.processes import HANGING_TORCH, children_of, end, is_running, start_agent, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc; on Windows a job object does this")


@pytest.fixture
def hanging(tmp_path):
    """An agent whose torch probe hangs, with what hangs in it: -> (agent, process ids that must end with it)."""
    started = []

    def start(how="asleep"):
        pids = tmp_path / "pids"
        agent = start_agent(
            "probe", "-q", folder=tmp_path, path=[HANGING_TORCH], HANGING_PIDS=str(pids), HANGING_HOW=how
        )
        started.append(agent)
        wait_for(pids.exists)
        return agent, {*map(int, pids.read_text().split()), *children_of(agent.pid)}

    yield start
    for agent in started:
        agent.kill()
        agent.communicate()


def assert_all_gone(pids, folder):
    wait_for(lambda: not [pid for pid in pids if is_running(pid)], 10)
    wait_for(lambda: not list((folder / "tmp").iterdir()), 10)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_one_signal_ends_the_agent_at_once_with_all_it_started(hanging, tmp_path, name):
    """`end` waits half as long as the agent gives a probe, and this one hangs for ten minutes."""
    agent, pids = hanging()
    agent.send_signal(getattr(signal, name))
    code, out, err = end(agent)
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert_all_gone(pids, tmp_path)


@pytest.mark.parametrize("how", ["asleep", "locked"])
def test_a_killed_agent_leaves_no_process_and_no_folder(hanging, tmp_path, how):
    agent, pids = hanging(how)
    agent.kill()
    assert_all_gone(pids, tmp_path)


def test_children_of_a_killed_agent_end_without_guard(hanging):
    agent, _ = hanging()
    guards = [pid for pid in children_of(agent.pid) if b"guard_process" in cmdline(pid)]
    probes = [pid for pid in children_of(agent.pid) if b"begin(" in cmdline(pid)]
    assert len(guards) == 1
    assert probes
    os.kill(guards[0], signal.SIGKILL)
    agent.kill()
    wait_for(lambda: not [pid for pid in probes if is_running(pid)], 10)
    for pid in processes_marked(agent.pid):  # what a probe started, with both protectors gone
        os.kill(pid, signal.SIGKILL)


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


def processes_marked(agent_pid):
    wanted = f"{guard_process.MARK}={agent_pid}-".encode()
    return [pid for pid in guard_process._own_processes() if guard_process._has_mark(pid, wanted)]


def test_a_child_ends_when_its_input_does(tmp_path):
    """What macOS has in place of a death signal. The child is not ours: only the pipe ties it to anybody."""
    code = "from stackviz.agent.child_start import end_with_input; import time; end_with_input(); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, start_new_session=True)
    assert child.poll() is None
    child.stdin.close()
    assert child.wait(20) == -signal.SIGKILL


def ignores(pid, number):
    (mask,) = re.findall(r"^SigIgn:\s*(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return bool(int(mask, 16) >> (number - 1) & 1)


def test_the_guard_outlives_signals_that_end_the_agent():
    process = guard._started("test-only")
    process.stdin.write(b'nonsense\n["add","group","x"]\n')
    process.stdin.flush()
    wait_for(lambda: ignores(process.pid, signal.SIGHUP))  # the last that it learns to ignore
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        process.send_signal(getattr(signal, name))
    time.sleep(0.1)
    assert process.poll() is None
    process.stdin.close()
    assert process.wait(20) == 0


def test_only_what_has_the_mark_is_ended():
    code = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
    ours = subprocess.Popen(code, env={guard_process.MARK: "test:1:"})
    other = subprocess.Popen(code, env={guard_process.MARK: "test:12:"})
    try:
        guard_process.end_marked("test:1:")
        assert ours.wait(20) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()

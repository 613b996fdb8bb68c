"""Processes of a running site: nothing outlives its parent, whatever dies is started again or messages."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from stackviz.site.up.children import RESTARTS_ALLOWED, ended_with_us
from stackviz.site.up.var_folder import CannotStart
from tests.live import ROOT

SLEEPER = [sys.executable, "-c", "import time; time.sleep(60)"]
# A parent that starts one child with a grandchild, prints both process ids and waits.
FAMILY = """
    import sys, time
    from pathlib import Path
    from stackviz.site.up.children import ended_with_us
    grandchild = "import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); print(p.pid, flush=True); time.sleep(60)"
    with ended_with_us(Path("."), Path(sys.argv[1]), print) as children:
        child = children.start("family", [sys.executable, "-c", grandchild], {})
        while not child.log.read_text().strip():
            time.sleep(0.05)
        print(child.process.pid, child.log.read_text().strip(), flush=True)
        time.sleep(60)
"""


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def until(is_so, patience_s: float = 60) -> bool:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if is_so():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes through /proc")
def test_descendants_end_when_parent_is_killed(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(FAMILY), str(tmp_path / "log")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        child, grandchild = map(int, parent.stdout.readline().split())
        assert is_alive(child)
        assert is_alive(grandchild)
        parent.kill()
    assert until(lambda: not is_alive(child) and not is_alive(grandchild))


def test_dead_child_restarts_with_its_last_lines(tmp_path):
    messages: list[str] = []
    once = f"import pathlib, sys, time; p = pathlib.Path({str(tmp_path / 'seen')!r}); seen = p.exists(); p.touch(); seen or sys.exit('out of coffee'); time.sleep(60)"
    with ended_with_us(ROOT, tmp_path, messages.append) as children:
        child = children.start("barista", [sys.executable, "-c", once], {})
        first = child.process.pid
        watch_for(children, 3)
        assert child.process.poll() is None
        assert child.process.pid != first
    story = "\n".join(messages)
    assert "barista exited with status 1" in story
    assert "out of coffee" in story
    assert "barista restarted" in story


def watch_for(children, seconds: float) -> None:
    """Lets `watch` run a while; it would run for ever."""

    def leave(_number, _frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, leave)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with pytest.raises(TimeoutError):
            children.watch()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_repeatedly_dying_child_stops_the_site(tmp_path):
    messages: list[str] = []
    with ended_with_us(ROOT, tmp_path, messages.append) as children:
        children.start("fuse", [sys.executable, "-S", "-c", "raise SystemExit('blown')"], {})
        with pytest.raises(CannotStart, match=r"(?s)blown.*giving up"):
            children.watch()
    assert len([line for line in messages if "restarted" in line]) == RESTARTS_ALLOWED


def test_waiting_for_a_dying_or_slow_child_is_an_error(tmp_path):
    with ended_with_us(ROOT, tmp_path, print) as children:
        with pytest.raises(CannotStart, match="timed out after 0 s waiting for a full moon"):
            children.wait_until(lambda: False, "a full moon", 0.2)
        children.start("web", [sys.executable, "-c", "raise SystemExit('no such settings')"], {})
        with pytest.raises(CannotStart, match=r"(?s)web exited with status 1.*no such settings"):
            children.wait_until(lambda: False, "never", 30)


def test_the_log_of_the_start_before_is_kept(tmp_path):
    for word in ("first", "second"):
        with ended_with_us(ROOT, tmp_path, print) as children:
            child = children.start("web", [sys.executable, "-S", "-c", f"print({word!r})"], {})
            child.process.wait(60)
    assert (tmp_path / "web.log").read_text() == "second\n"
    assert (tmp_path / "web.log.1").read_text() == "first\n"


def test_program_run_beside_ends_with_the_block(tmp_path):
    with ended_with_us(ROOT, tmp_path, print) as children:
        short = children.run_beside([sys.executable, "-S", "-c", "input()"], dict(os.environ))
        long = children.run_beside(SLEEPER, dict(os.environ))
        short.communicate(b"go on\n", timeout=60)
        watch_for(children, 1)
        assert (short.returncode, long.poll()) == (0, None)
    assert long.poll() is not None

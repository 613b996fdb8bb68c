"""A real agent and a real site, by what a person does: key, the printed line, the question, the machine's page.

`python -m pytest -n 0 -s tests/agent/test_whole_way.py` prints what the person did and how long it took.
"""

import os
import pty
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from html import unescape
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode

from tests.agent.nvml_library import library_folder, needs_library
from tests.agent.processes import TOY_TORCH

NAME = "dr-jekyll-lab-7"
CARDS = ("1111-2222-3333-444455556666", "1652823901234")  # of the cards in nvml.c: the end of each UUID, the serial
_FIRMWARE = ("product_serial", "product_uuid", "board_serial", "chassis_serial")
_SHORTEST = 6  # letters of a name or number that no other text has by chance


class Person:
    """Somebody with a browser and a terminal. `actions`: what they did, in order."""

    def __init__(self, site, home):
        self.actions = []
        self._site, self._home = site, home
        self._browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def open(self, path):
        self.actions.append(f"open {path.partition('?')[0]}")
        return self.read(path)

    def read(self, path, form=None):
        """A page without doing anything for it: it renews itself, or a form leads there."""
        body = urlencode(form).encode() if form else None
        with self._browser.open(self._site.url + path, body, timeout=60) as answer:
            return unescape(answer.read().decode())

    def submit(self, page, path, **fields):
        self.actions.append(f"fill in {', '.join(fields)}")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1]
        return self.read(path, {**fields, "csrfmiddlewaretoken": token})

    def paste(self, line):
        """-> what the terminal showed. The question is answered with yes; agents see a terminal with that name."""
        self.actions += ["paste the line", "answer the question"]
        mine, theirs = pty.openpty()
        os.write(mine, b"y\n")
        done = self.run(["sh", "-c", line], stdin=theirs)
        os.close(mine)
        os.close(theirs)
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(re.findall(r"\[y/N\]", done.stderr)) == 1, done.stderr
        return done

    def run(self, command, **options):
        environ = {
            "PATH": f"{self._home / 'bin'}:{os.environ['PATH']}", "HOME": str(self._home), "TMPDIR": str(self._home),
            "ACCELWEB_LOCK_FOLDER": str(self._home), "PYTHONPATH": str(TOY_TORCH), "LD_LIBRARY_PATH": library_folder(),
            "FAKE_NVML": "h100",
        }  # fmt: skip
        return subprocess.run(
            [*named(NAME), *command], cwd=self._home, env=environ, text=True, capture_output=True, timeout=300,
            check=False, **options,
        )  # fmt: skip


def named(name):
    """Begins a command on a machine of this name; [] where no name can be given: then it has its own."""
    program = 'hostname "$0" && exec "$@"'
    for rights in ([], ["--map-root-user"]):
        begin = ["unshare", *rights, "--uts", "sh", "-c", program, name]
        if (
            shutil.which("unshare")
            and subprocess.run([*begin, "true"], capture_output=True, check=False).returncode == 0
        ):
            return begin
    return []


def own_names():
    """What identifies this machine and its cards, and must stay on it."""
    texts = [NAME if named(NAME) else socket.gethostname(), *CARDS]
    places = [Path("/etc/machine-id"), *(Path("/sys/class/dmi/id") / name for name in _FIRMWARE)]
    places += Path("/sys/class/net").glob("*/address")
    texts += [place.read_text(errors="replace").strip() for place in places if os.access(place, os.R_OK)]
    return [text.encode() for text in texts if len(text) >= _SHORTEST and set(text) - set("0:")]


def files_with(text, folder):
    return [str(path) for path in folder.rglob("*") if path.is_file() and text.lower() in path.read_bytes().lower()]


@needs_library
def test_whole_way_shows_results_and_leaks_no_name(new_site, tmp_path):
    site = new_site(loaded=True)
    site.shell(
        "from django.contrib.auth import get_user_model\n"
        "from stackviz.records.labs.models import Lab\n"
        "lab = Lab.objects.create(slug='north', name='North lab', is_public=False)\n"
        "lab.memberships.create(user=get_user_model().objects.create_user('mei', password='correct horse'))"
    )
    site.start_web()
    site.start_worker()
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (home / "bin" / "python3").chmod(0o755)
    person, begun = Person(site, home), time.monotonic()

    page = person.open("/login/?next=/machines/add/")
    page = person.submit(page, "/login/?next=/machines/add/", username="mei", password="correct horse")
    scope = re.search(r'value="(lab:\d+)"', page)[1]
    page = person.submit(page, "/machines/add/", name="dgx-07", scope=scope, lifetime="90")
    key = re.search(r"aw_[a-z0-9]{8}_[\w-]{32,}", page)[0]
    line = re.search(r"curl -fsSLO [^<]*? run --quick --server http://[\d.:]+", page)[0]
    assert key in line
    assert "hashlib.sha256" in line

    ran = person.paste(line)
    measured_s = time.monotonic() - begun
    receipt = ran.stdout.split()[-1].removeprefix(site.url)
    site.wait_until(lambda: "/machines/north/" in person.read(receipt), "the receipt names the machine")
    path = re.search(r"/machines/north/[\w-]+/", person.read(receipt))[0]
    person.actions.append("follow the link to the machine")
    site.wait_until(lambda: "bf16 1024³" in person.read(path), "the machine's page shows a result")
    print(f"\n{len(person.actions)} actions: {'; '.join(person.actions)}")
    print(
        f"{time.monotonic() - begun:.0f} s until the page shows results, {measured_s:.0f} s until the report was sent"
    )

    agent = ["python3", "accelweb-agent.pyz"]
    dry = person.run([*agent, "run", "--dry-run", "--server", site.url], stdin=subprocess.DEVNULL)
    waits = person.run([*agent, "probe", "--keep", "-q"], stdin=subprocess.DEVNULL)
    assert (dry.returncode, waits.returncode) == (0, 0), dry.stderr + waits.stderr
    assert '"identity"' in dry.stdout
    spool = home / ".local" / "state" / "accelweb-agent"
    assert list(spool.glob("2*.json"))
    ((report,),) = site.rows("SELECT body FROM labs_report")
    shown = "".join(done.stdout + done.stderr for done in (ran, dry, waits))
    for text in (key.encode(), *own_names()):
        assert text.lower() not in (shown + str(report)).lower().encode(), text
        assert files_with(text, site.folder) + files_with(text, spool) == [], text

"""The check script of the recipes: what it prints on a machine, pasted into /diagnose/, is read."""

import contextlib
import io
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from stackviz.pages.learn.chapters import read_chapters
from tests.live import ROOT
from tests.pages.learn.test_chapters import SNIPPET

RECORDED = ROOT / "tests" / "fixtures" / "check_script" / "torch-2.13.0-cpu-linux.txt"  # of a machine without a card
SECTION = next(
    section for chapter in read_chapters("en") if chapter.slug == "recipes" for section in chapter.sections
    if section.anchor == "check"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ones:
    """A square tensor of ones in fp32; a product with itself has its side in each place."""

    side: int
    value: int = 1

    def __matmul__(self, _other):
        return Ones(self.side, self.side)

    def __getitem__(self, _place):
        return SimpleNamespace(item=lambda: self.value)

    def numel(self):
        return self.side**2

    def element_size(self):
        return 4


def torch_of(version, *, cuda=None, hip=None, has_cuda=False, mps=(False, False)):
    """What the script asks of torch, as a build of it answers on one machine. `mps`: is built, is available."""
    device = "cuda" if has_cuda else "mps" if mps[1] else "cpu"
    return SimpleNamespace(
        __version__=version,
        version=SimpleNamespace(cuda=cuda, hip=hip),
        cuda=SimpleNamespace(is_available=lambda: has_cuda),
        backends=SimpleNamespace(mps=SimpleNamespace(is_built=lambda: mps[0], is_available=lambda: mps[1])),
        accelerator=SimpleNamespace(is_available=lambda: device != "cpu", current_accelerator=lambda: device),
        device=str,
        ones=lambda side, _side, **_device: Ones(side),
    )


def printed_by(torch, monkeypatch):
    (code,) = SNIPPET.findall(SECTION.body)
    monkeypatch.setitem(sys.modules, "torch", torch)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})  # our own text, which is what is tested
    return printed.getvalue()


def test_the_recorded_output_is_that_of_the_script(monkeypatch):
    assert printed_by(torch_of("2.13.0+cpu"), monkeypatch) == RECORDED.read_text(encoding="utf-8")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("version", "build", "facts"),
    [
        ("2.13.0+cpu", {}, {"cuda.available": False, "mps.built": False}),
        ("2.13.0+cu130", {"cuda": "13.0", "has_cuda": True}, {"torch.cuda_version": "13.0", "cuda.available": True}),
        (
            "2.13.0+rocm7.2",
            {"hip": "7.2.26015", "has_cuda": True},
            {"rocm.version": "7.2.26015", "cuda.available": True},
        ),
        ("2.13.0", {"mps": (True, True)}, {"mps.built": True, "mps.available": True, "cuda.available": False}),
    ],
    ids=["processor", "CUDA", "ROCm", "Mac"],
)
def test_diagnose_reads_it_on_every_kind_of_machine(client, curated, monkeypatch, version, build, facts):
    text = printed_by(torch_of(version, **build), monkeypatch)
    answer = client.post("/api/v1/diagnose/", text, content_type="text/plain")
    assert answer.status_code == 200, answer.content
    stated = answer.json()["facts"]
    assert {name: stated[name] for name in facts} == facts
    assert stated["torch.version"] == version
    assert answer.json()["not_understood"] == text.splitlines()[-2:]  # the product and the size: no facts
    page = client.post("/diagnose/", {"text": text})
    assert page.status_code == 200
    assert version in page.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("torch", "rules"),
    [
        (torch_of("2.13.0+cu130", cuda="13.0"), ["no-card-passed"]),
        (torch_of("2.13.0+cpu"), ["cpu-only-torch"]),
        (torch_of("2.13.0", mps=(True, True)), []),
        (torch_of("2.13.0"), []),
    ],
)
def test_faults_are_named_from_the_script_alone(client, curated, monkeypatch, torch, rules):
    """The script names no system: only what its name says is a build for processors; 2.13.0 may be that for Macs."""
    answer = client.post("/api/v1/diagnose/", printed_by(torch, monkeypatch), content_type="text/plain").json()
    assert [finding["rule"] for finding in answer["findings"]] == rules


@pytest.mark.django_db
def test_the_log_of_the_slow_chapter_is_one_card_in_many_rows(client, curated):
    """`nvidia-smi --query-gpu=timestamp,index,name,… -l 1`, as the chapter gives it."""
    (chapter,) = (each for each in read_chapters("en") if each.slug == "why-is-it-slow")
    assert any("--query-gpu=timestamp,index,name," in section.body for section in chapter.sections)
    header = "timestamp, index, name, utilization.gpu [%], memory.used [MiB], clocks.current.sm [MHz], power.draw [W]\n"
    rows = [f"2026/11/23 20:58:0{second}.123, 0, Tesla T4, 97 %, 6123 MiB, 1590 MHz, 69.34 W\n" for second in range(5)]
    answer = client.post("/api/v1/diagnose/", header + "".join(rows), content_type="text/plain").json()
    assert [card["reported_name"] for card in answer["cards"]] == ["Tesla T4"]

"""Makes the visits, one after the other, and writes what came back as text that can be compared."""

import contextlib
import gzip
import io
import itertools
import json
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client, override_settings

from tests.golden import pinned
from tests.golden.reports import facts, report, slower
from tests.golden.seed import HEADER, KEYS, TABLE, confirm_table, model, save, signed_in, upload_table
from tests.golden.text import visible_text
from tests.golden.visits import DUMPS, Visit, diagnoses, dumps, pages
from tests.languages import chinese

HEADERS = ("Content-Type", "Location", "Cache-Control", "Content-Disposition", "Vary", "Retry-After", "Allow", "Referrer-Policy",
           "X-Robots-Tag", "Access-Control-Allow-Origin", "HX-Push-Url", "HX-Reswap", "Content-Language", "WWW-Authenticate")  # fmt: skip
XLSX = "spreadsheetml"


class Recorder:
    """Writes under `folder`; `sizes`: bytes of each page of HTML as sent, before compression."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sizes: dict[str, int] = {}
        self.clients: dict[str, Client] = {}

    def client(self, user: str) -> Client:
        if user not in self.clients:
            pinned.reseed(f"client {user}")
            self.clients[user] = signed_in(user) if user else Client(raise_request_exception=False)
        return self.clients[user]

    def visit(self, visit: Visit) -> HttpResponse:
        client = self.client(visit.user)
        pinned.reseed(visit.name)
        with override_settings(**visit.settings) if visit.settings else contextlib.nullcontext():
            if visit.form is not None:
                answer = client.post(visit.path, visit.form, headers=visit.headers)
            elif visit.method == "POST":
                answer = client.post(
                    visit.path, visit.body or b"", content_type=visit.content_type, headers=visit.headers
                )
            else:
                answer = client.get(visit.path, headers=visit.headers)
        self.write(visit.name, answer)
        return answer

    def write(self, name: str, answer: Any) -> None:
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        kind = answer.get("Content-Type", "")
        headers = {header: answer[header] for header in HEADERS if header in answer}
        if kind.split(";")[0].endswith(("/json", "+json")):
            document = {"status": answer.status_code, "headers": headers, "body": json.loads(content)}
            self.put(f"{name.removesuffix('.json')}.json", json.dumps(document, indent=1, ensure_ascii=False))
            return
        head = "".join(f"{key}: {value}\n" for key, value in {"status": answer.status_code, **headers}.items())
        if "html" in kind:
            html = content.decode()
            self.sizes[name] = len(content)
            self.put(f"{name}.page.txt", f"{head}\n{visible_text(html)}")
        elif XLSX in kind:
            self.put(f"{name}.txt", f"{head}\n{cells_of(content)}")
        else:
            self.put(f"{name}.txt", f"{head}\n{content.decode(errors='replace')}")

    def put(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def cells_of(workbook: bytes) -> str:
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(workbook))
    return "\n".join(
        "\t".join(str(cell) for cell in row) for sheet in book for row in sheet.iter_rows(values_only=True)
    )


def record(folder: Path, site: Path, samples: Path | None) -> None:
    """Everything: what is only read, what is diagnosed, the data files, the agent, then what changes the site."""
    pinned.set_clock(pinned.NOW)
    call_command("write_dump", verbosity=0)
    recorder = Recorder(folder)
    recorder.put("sizes.json", "{}")
    made = json.loads((site / "seed.json").read_text())
    for visit in (*pages(), *seeded(made), *diagnoses(), *data_files(site)):
        recorder.visit(visit)
    agent(recorder, samples)
    uploads(recorder)
    saving(recorder)
    members(recorder)
    curation(recorder)
    recorder.put("sizes.json", json.dumps(recorder.sizes, indent=1, sort_keys=True))


def seeded(made: dict[str, Any]) -> Iterator[Visit]:
    """Pages whose address the seed decided."""
    yield Visit(name="saved/page", path=made["saved"])
    yield Visit(name="saved/differences", path=made["saved"] + "?show=differences")
    yield Visit(name="saved/svg", path=made["saved"] + "?format=svg")
    yield Visit(name="saved/zh", path=chinese(made["saved"]))
    for number, pk in enumerate(made["reports"]):
        yield Visit(name=f"receipts/{number:02}", path=f"/receipts/{pk}/")
        yield Visit(name=f"receipts-api/{number:02}", path=f"/api/v1/reports/{pk}/")
    first_private = next(
        pk for pk in made["reports"] if str(model("labs.Report").objects.get(pk=pk).machine.lab.slug) == "cellar"
    )
    key = {"Authorization": f"Bearer {KEYS['goldcell']}"}
    yield Visit(name="receipts/private-member", path=f"/receipts/{first_private}/", user="ada")
    yield Visit(name="receipts-api/private-key", path=f"/api/v1/reports/{first_private}/", headers=key)
    yield Visit(name="key-api/lab", path="/api/v1/key/", headers=key)


def data_files(site: Path) -> Iterator[Visit]:
    """The files of the public data that are text."""
    newest = max(path for path in (site / "data").iterdir() if path.is_dir() and path.name[0] != ".")
    for path in sorted(newest.iterdir()):
        if path.suffix in (".jsonl", ".csv", ".json", ".txt", ".md") and path.name[0] != ".":
            yield Visit(name=f"data/{path.name}", path=f"/data/{path.name}")
    yield Visit(name="data/of-a-dump", path=f"/data/{newest.name}/manifest.json")


def agent(recorder: Recorder, samples: Path | None) -> None:
    """`diagnose` of the command line, as JSON and as text."""
    scratch = recorder.folder / ".dump"
    for name, text in dumps(samples):
        scratch.write_text(text, encoding="utf-8")
        recorder.put(f"agent/{name.removesuffix('.json')}.json", run_agent(name, "diagnose", "--json", str(scratch)))
        recorder.put(f"agent/{name}.txt", run_agent(name, "diagnose", str(scratch)))
    for name in ("--help", "diagnose --help", "bench --help", "run --help", "upload --help"):
        recorder.put(f"agent/help/{name.replace(' ', '')}.txt", run_agent(name, *name.split()))
    scratch.unlink()


def run_agent(name: str, *arguments: str) -> str:
    pinned.reseed(name)
    out, argv = io.StringIO(), sys.argv
    sys.argv = ["accelweb-agent", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            runpy.run_module("stackviz.agent", run_name="__main__", alter_sys=False)
    except SystemExit as ended:
        if ended.code not in (None, 0):
            out.write(f"exit {ended.code}\n")
    finally:
        sys.argv = argv
    return out.getvalue()


def uploads(recorder: Recorder) -> None:
    """A report taken in, again, and everything that is refused."""
    path, north = "/api/v1/reports/", {"Authorization": f"Bearer {KEYS['goldnort']}"}
    body = report("h100-linux", "h100-linux", "2026-11-22T11:30:00Z")
    raw = json.dumps(body).encode()

    def send(name: str, content: bytes, headers: dict[str, str] = north, **more: Any) -> Any:
        return recorder.visit(
            Visit(name=f"uploads/{name}", path=path, method="POST", body=content, headers=headers, **more)
        )

    send("stored", raw)
    send("again", raw)
    send("conflict", json.dumps(slower(body, 2.0)).encode())
    send("no-key", raw, {})
    send("no-bearer", raw, {"Authorization": "Basic eDp5"})
    for key in ("goldrevo", "goldexpi"):
        send(key, raw, {"Authorization": f"Bearer {KEYS[key]}"})
    send("unknown-key", raw, {"Authorization": "Bearer aw_nobody00_" + "s" * 43})
    send(
        "gzip",
        gzip.compress(json.dumps(report("cpu-linux", "zipped", "2026-11-22T11:31:00Z")).encode()),
        north | {"Content-Encoding": "gzip"},
    )
    send("bad-gzip", b"\x1f\x8bxxxx", north | {"Content-Encoding": "gzip"})
    send("encoding", raw, north | {"Content-Encoding": "br"})
    send("type", raw, content_type="text/plain")
    send("too-big", b"x" * (4 * 1024 * 1024 + 1))
    send(
        "private",
        json.dumps(report("cpu-linux", "sealed-desk", "2026-11-22T11:32:00Z")).encode(),
        {"Authorization": f"Bearer {KEYS['goldcell']}"},
    )
    for name, wrong in wrong_reports(body).items():
        send(f"wrong-{name}", wrong)
    limited = {"UPLOADS_PER_MINUTE": 1}
    for number in (1, 2):
        send(f"too-many-{number}", raw, settings=limited)
    after = {"report": f"/api/v1/reports/{body['id']}/", "api-machine": "/api/v1/machines/north/h100-linux/", "machine": "/machines/north/h100-linux/",
             "receipt": f"/receipts/{body['id']}/", "series": "/machines/north/h100-linux/series/1/", "machines": "/machines/", "home": "/"}  # fmt: skip
    for name, address in after.items():
        recorder.visit(Visit(name=f"uploads/after-{name}", path=address))


def wrong_reports(body: dict[str, Any]) -> dict[str, bytes]:
    """Bodies that break the format, each in one place."""
    result, card = body["results"][0], body["cards"][0]
    fresh = {"id": "11111111-1111-4111-8111-111111111111"}
    numbers = itertools.count(1)

    def with_id(change: dict[str, Any]) -> dict[str, Any]:
        return {"id": f"11111111-1111-4111-8111-{next(numbers):012}"} | change

    wrong: dict[str, dict[str, Any]] = {
        "format": {"format": 2},
        "id": {"id": "nonsense"},
        "created": {"created_at": "yesterday"},
        "created-zone": {"created_at": "2026-11-22T11:30:00"},
        "identity": {"machine": {"identity": "x", "name": "y"}},
        "name": {"machine": body["machine"] | {"name": ""}},
        "facts-type": {"facts": []},
        "fact-list": {"facts": {"os.name": ["Linux"]}},
        "fact-name": {"facts": {"Bad Name!": 1}},
        "absent-reason": {"absent": {"x.y": {"reason": "because"}}},
        "card-index": {"cards": [card | {"index": -1}]},
        "card-twice": {"cards": [card, card]},
        "card-kind": {"cards": [card | {"kind": "toaster"}]},
        "card-memory": {"cards": [card | {"memory_bytes": "80 GB"}]},
        "software": {"software": [{"component": "Bad Name"}]},
        "result-state": {"results": [result | {"state": "fine"}]},
        "result-samples": {"results": [result | {"samples": []}]},
        "result-negative": {"results": [result | {"samples": [-1.0]}]},
        "result-unit": {"results": [result | {"unit": "parsec"}]},
        "result-card": {"results": [result | {"card": 9}]},
        "result-started": {"results": [result | {"started_at": None}]},
        "results-missing": {"results": None},
        "probe": {"probes": [{"probe": "x", "state": "odd"}]},
        "long-name": {"machine": body["machine"] | {"name": "n" * 500}},
        "many-facts": {"facts": {f"many.fact{number}": number for number in range(3000)}},
        "unknown-only": {"invented": 1},
        "nested-unknown": {"agent": body["agent"] | {"mood": "good"}},
    }
    texts = {name: json.dumps(body | with_id(change)).encode() for name, change in wrong.items()}
    return texts | {
        "json": b"{nonsense",
        "list": b"[]",
        "empty": b"",
        "nan": json.dumps(body | fresh).replace("0.000362371", "NaN").encode(),
        "infinity": json.dumps(facts(body | fresh, **{"cpu.load": float("inf")})).encode(),
        "twice": b'{"format": 1, "format": 1}',
        "utf-16": json.dumps(body).encode("utf-16"),
        "surrogate": json.dumps(facts(body | fresh, **{"cpu.model": "half \ud83d"})).encode(),
        "nul": json.dumps(facts(body | fresh, **{"cpu.model": "a\0b"})).encode(),
        "deep": b"[" * 5000 + b"]" * 5000,
    }


def saving(recorder: Recorder) -> None:
    """A text saved, seen by who saved it, not deleted by a wrong code, deleted by the right one."""
    pinned.reseed("saving")
    client = recorder.clients["saver"] = Client()
    address, code = save(client, (DUMPS / "collect_env_old_driver.txt").read_text(encoding="utf-8"))
    recorder.visit(Visit(name="saving/own", path=address, user="saver"))
    recorder.visit(Visit(name="saving/wrong-code", path=f"{address}delete/", method="POST", form={"word": "wrong"}))
    recorder.visit(Visit(name="saving/deleted", path=f"{address}delete/", method="POST", form={"word": code}))
    recorder.visit(Visit(name="saving/gone", path=address))
    recorder.visit(Visit(name="saving/old-ticket", path="/diagnose/save/", method="POST",
                         form={"text": (DUMPS / "mac_laptop.txt").read_text(encoding="utf-8"), "ticket": "old"}))  # fmt: skip


def members(recorder: Recorder) -> None:
    """What a member of a lab does: a key, a dump added as a machine."""
    lab = model("labs.Lab").objects.get(slug="cellar")
    add = {"path": "/machines/add/", "method": "POST", "user": "ada"}
    recorder.visit(
        Visit(name="members/key", form={"name": "my key", "scope": f"lab:{lab.pk}", "lifetime": "90"}, **add)
    )
    recorder.visit(Visit(name="members/key-refused", form={"name": "", "scope": "lab:999", "lifetime": "7"}, **add))
    recorder.visit(
        Visit(name="members/key-stranger", form={"name": "x", "scope": "lab:1"}, path="/machines/add/", method="POST")
    )
    newest = model("labs.AgentKey").objects.order_by("-pk").first()
    recorder.visit(Visit(name="members/arrivals", path=f"/machines/add/{newest.prefix}/", user="ada"))
    recorder.visit(Visit(name="members/arrivals-north", path="/machines/add/goldnort/", user="root"))
    recorder.visit(Visit(name="members/revoke-asked", path=f"/machines/add/{newest.prefix}/revoke/", user="ada"))
    recorder.visit(Visit(name="members/manage", path="/machines/north/h100-linux/manage/", user="root"))
    recorder.visit(Visit(name="members/merge", path="/machines/north/h100-linux/manage/?merge=announced", user="root"))
    report = model("labs.Report").objects.filter(machine__slug="h100-linux").order_by("received_at", "pk").first()
    recorder.visit(Visit(name="members/withdraw", path=f"/receipts/{report.pk}/withdraw/", user="root"))
    recorder.visit(Visit(name="members/restore", path=f"/receipts/{report.pk}/restore/", user="root"))
    recorder.visit(
        Visit(name="members/revoke", path=f"/machines/add/{newest.prefix}/revoke/", method="POST", form={}, user="ada")
    )
    text = (DUMPS / "two_machines.txt").read_text(encoding="utf-8")
    dump = {"path": "/diagnose/add/", "method": "POST", "user": "ada"}
    recorder.visit(Visit(name="members/dump", form={"text": text}, **dump))
    recorder.visit(Visit(name="members/dump-refused", form={"text": text, "lab": "999"}, **dump))
    recorder.visit(Visit(name="members/dump-nothing", form={"text": "nothing"}, **dump))
    recorder.visit(Visit(name="members/dump-stranger", path="/diagnose/add/", method="POST", form={"text": text}))


def curation(recorder: Recorder) -> None:
    """The desk at work: refused forms, decisions, names given and undone."""
    waiting = model("catalog.Proposal").objects.filter(state="review").order_by("pk")
    decide = {"method": "POST", "user": "root"}
    root, ben = recorder.client("root"), recorder.client("ben")
    first, second, *_more = waiting
    recorder.visit(
        Visit(
            name="curation/own-approval",
            path=f"/admin/catalog/proposal/{first.pk}/decide/",
            method="POST",
            user="ben",
            form={"decision": "approve"},
        )
    )
    recorder.visit(
        Visit(
            name="curation/reject-silently",
            path=f"/admin/catalog/proposal/{first.pk}/decide/",
            form={"decision": "reject"},
            **decide,
        )
    )
    recorder.visit(
        Visit(name="curation/after-refusal", path=f"/admin/catalog/proposal/{first.pk}/change/", user="root")
    )
    recorder.visit(
        Visit(
            name="curation/approve",
            path=f"/admin/catalog/proposal/{first.pk}/decide/",
            form={"decision": "approve", "answer": "yes"},
            **decide,
        )
    )
    recorder.visit(
        Visit(
            name="curation/withdraw",
            path=f"/admin/catalog/proposal/{second.pk}/decide/",
            method="POST",
            user="ben",
            form={"decision": "withdraw"},
        )
    )
    recorder.visit(Visit(name="curation/queue", path="/admin/catalog/proposal/?state=all", user="root"))
    pinned.reseed("curation")
    preview = upload_table(
        ben, *TABLE[2:], "nvidia-t4,chip,TU104,,,published,public,heise-tesla-t4,", name="second.csv"
    )
    recorder.visit(Visit(name="curation/preview", path=preview, user="ben"))
    recorder.visit(
        Visit(name="curation/confirm-refused", path=preview, method="POST", user="ben", form={"seen": "old"})
    )
    confirm_table(ben, preview)
    recorder.visit(Visit(name="curation/imported", path=preview, user="ben"))
    for name, content in (
        ("header", b"a,b\n1,2\n"),
        ("empty", b"\n"),
        ("archive", b"PKnonsense"),
        ("header-only", HEADER.encode()),
    ):
        from django.core.files.uploadedfile import SimpleUploadedFile

        file = SimpleUploadedFile("bad.csv", content, "text/csv")
        recorder.visit(
            Visit(
                name=f"curation/import-{name}",
                path="/admin/catalog/specvalue/import/",
                method="POST",
                user="root",
                form={"file": file, "reason": "x"},
            )
        )
    value = (
        model("catalog.SpecValue")
        .objects.filter(accelerator__slug="nvidia-t4", field="memory_gb", status="public")
        .order_by("pk")
        .first()
    )
    recorder.visit(Visit(name="curation/value", path=f"/admin/catalog/specvalue/{value.pk}/change/", user="root"))
    recorder.visit(Visit(name="curation/value-refused", path=f"/admin/catalog/specvalue/{value.pk}/change/", method="POST", user="root",
                         form={"accelerator": value.accelerator_id, "field": "memory_gb", "value": "abc", "unit": "W"}))  # fmt: skip
    recorder.visit(
        Visit(name="curation/value-history", path=f"/admin/catalog/specvalue/{value.pk}/history/", user="root")
    )
    accelerator = value.accelerator_id
    recorder.visit(
        Visit(name="curation/accelerator", path=f"/admin/catalog/accelerator/{accelerator}/change/", user="root")
    )
    recorder.visit(
        Visit(
            name="curation/accelerator-history", path=f"/admin/catalog/accelerator/{accelerator}/history/", user="root"
        )
    )
    give = {"path": "/admin/labs/card/names/", "method": "POST", "user": "root"}
    name = {"reported_name": "NVIDIA H999 640GB HBM9", "vendor": "nvidia", "seen": "0"}
    h200 = model("catalog.Accelerator").objects.get(slug="nvidia-h200-sxm")
    recorder.visit(
        Visit(name="curation/name-refused", form=name | {"action": "accept", "accelerator": "0", "reason": ""}, **give)
    )
    recorder.visit(
        Visit(
            name="curation/name-given",
            form=name | {"action": "accept", "accelerator": str(h200.pk), "reason": "a test"},
            **give,
        )
    )
    recorder.visit(Visit(name="curation/names", path="/admin/labs/card/names/", user="root"))
    decision = model("labs.NameDecision").objects.order_by("-pk").first()
    recorder.visit(Visit(name="curation/name-undone", form={"action": "undo", "decision": str(decision.pk)}, **give))
    for name_, path in {
        "changes": "/changes/",
        "sheet": "/accelerators/nvidia-t4/",
        "changes-json": "/changes/?format=json",
        "machine": "/machines/north/prototype/",
    }.items():
        recorder.visit(Visit(name=f"curation/public-{name_}", path=path))
    root.logout()

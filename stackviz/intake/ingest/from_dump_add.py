"""A pasted machine's report, made of a masked text and taken in as an agent's is.

Sending the same text under the same name twice is one report; the machine says that it was pasted.
"""

from dataclasses import dataclass, replace
from hashlib import sha256
from uuid import UUID, uuid5

from django.db import transaction
from django.utils.translation import gettext as _

from stackviz.intake.ingest.accept import Accepted, ReportConflict, accept_report, count_upload
from stackviz.intake.ingest.links import receipt_path
from stackviz.records.labs.keys import Sender, create_key
from stackviz.records.labs.models import AgentKey, Lab, Report
from stackviz.records.labs.queries import Visitor
from stackviz.report.dumps import DumpedMachine
from stackviz.report.dumps.machines import title_of, tool_name
from stackviz.report.dumps.tool_results import tool_results
from stackviz.report.format import LIMITS, Agent, Machine, ProbeRun, hashed, to_json

AGENT = "pasted dump"  # stands where an agent's name stands: on the machine's page, in its reports
KEY_NAME = "pasted dumps"
_REPORTS = UUID("6f2c1f7a-6a0e-5f0b-9c55-3f5f1d1a9b10")  # the namespace of reports made here; never to be changed


@dataclass(frozen=True, slots=True)
class Added:
    """A machine whose report is ours now. `is_new` False: the same text was added before under this name."""

    name: str
    is_new: bool
    receipt: str


def add_machine(lab: Lab, user: Visitor, machine: DumpedMachine, name: str, masked: str) -> Added:
    """Take the machine's report in. Raises what `accept_report` does, and RateLimited."""
    key = _key_of(lab, user)
    count_upload(key.pk)
    identity = hashed("pasted-machine", f"{lab.pk} {name.casefold()}")
    text_digest = sha256(f"{','.join(machine.kinds)} {title_of(machine.reading)} {masked}".encode()).hexdigest()
    report_id = uuid5(_REPORTS, f"{identity} {text_digest}")
    report = machine.report()
    report = replace(
        report,
        id=report_id,
        agent=Agent(AGENT, f"({', '.join(machine.kinds)})"[: LIMITS.name_chars]),
        machine=Machine(identity, name),
        results=tool_results(report.results, report.software),
        probes=tuple(ProbeRun(tool_name(kind), "ok", None, _("read from a pasted text")) for kind in machine.kinds),
    )
    sender = Sender(key.pk, lab.pk, lab.is_public, None, None)
    accepted = _accepted(sender, report_id, to_json(report).encode())
    return Added(name, accepted.is_new, receipt_path(report_id, is_public=lab.is_public))


def _accepted(sender: Sender, report_id: UUID, body: bytes) -> Accepted:
    """The same text again says the same but for the hour: its report of then stays."""
    if Report.objects.filter(pk=report_id, machine__lab_id=sender.lab_id).exists():
        return Accepted(report_id, is_new=False)
    try:
        return accept_report(sender, body, Report.Encoding.PLAIN.value)
    except ReportConflict:  # another request was quicker
        return Accepted(report_id, is_new=False)


@transaction.atomic
def _key_of(lab: Lab, user: Visitor) -> AgentKey:
    """The key for this person's pasted dumps: listed among their keys, its secret never stored."""
    Lab.objects.select_for_update().get(pk=lab.pk)  # of two requests at once one makes it
    key = AgentKey.objects.filter(
        lab=lab, machine=None, created_by_id=user.pk, name=KEY_NAME, revoked_at=None, expires_at=None
    ).first()
    if key is not None:
        return key
    key, _secret = create_key(lab=lab, name=KEY_NAME, created_by=user if user.is_authenticated else None)
    return key

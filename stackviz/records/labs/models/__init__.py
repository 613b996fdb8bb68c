"""Labs, their machines and keys, the reports machines send, what was read from them, and what people decided."""

from stackviz.records.labs.models.decisions import MachineMove, MovedReport, NameDecision, ReportWithdrawal, Reversible
from stackviz.records.labs.models.machines import AgentHeartbeat, AgentKey, Machine
from stackviz.records.labs.models.members import Invitation, Lab, Membership
from stackviz.records.labs.models.reports import WORDED, Card, Finding, Report, Snapshot

__all__ = [
    "WORDED",
    "AgentHeartbeat",
    "AgentKey",
    "Card",
    "Finding",
    "Invitation",
    "Lab",
    "Machine",
    "MachineMove",
    "Membership",
    "MovedReport",
    "NameDecision",
    "Report",
    "ReportWithdrawal",
    "Reversible",
    "Snapshot",
]

"""What the audit log has of labs: themselves, their members, machines, keys and invitations."""

from stackviz.records.audit.record import watch
from stackviz.records.labs import keys, members
from stackviz.records.labs.models import AgentKey, Invitation, Lab, Machine, Membership


def watch_labs() -> None:
    watch(Lab, "lab", lambda lab: f"lab {lab.pk}", shown=("slug", "is_public"), noted=("name",))
    watch(Membership, "member", _membership, shown=("role",))
    watch(Machine, "machine", lambda machine: f"machine {machine.pk} of lab {machine.lab_id}", noted=("name", "slug"))
    watch(Invitation, "invitation", members.invitation_subject, shown=("role",))
    watch(AgentKey, "key", keys.audit_subject, shown=("lab_id", "machine_id", "scope"), noted=("name", "expires_at"))


def _membership(membership: Membership) -> str:
    return f"account {membership.user_id} in lab {membership.lab_id}"

"""What the audit log has of webhooks: that one was set, changed, disabled or removed. Its address may be a secret."""

from stackviz.intake.notices.models import Webhook
from stackviz.intake.notices.webhooks import webhook_subject
from stackviz.records.audit.record import watch


def watch_notices() -> None:
    watch(Webhook, "webhook", webhook_subject, shown=("lab_id",), noted=("url", "nonce", "disabled_at"))

"""What other rooms hear of."""

from django.dispatch import Signal

# Sent with `report_ids` before reports are deleted; a receiver returns what to call after that, in the transaction.
reports_leave = Signal()

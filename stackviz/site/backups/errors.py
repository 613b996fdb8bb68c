"""What may be wrong with a backup or with the database it is for."""


class BackupError(Exception):
    """A backup that cannot be taken or restored; the message says why and what to do."""

"""The audit log: who changed accounts, roles, labs, keys and what counts. Written with the change, never edited."""

"""How an identifier leaves a machine: as a salted SHA-256, and no other way.

The salt is fixed and public, so that one machine gives the same hash from every agent. It keeps a hash from matching
hashes of the same identifier made elsewhere; what protects is that only identifiers of 100 random bits and more are
hashed at all (machine ids, platform and card UUIDs), never serial numbers, which could be tried out.
"""

import hashlib

__all__ = ["hashed", "hashed_uuid"]


def hashed(kind: str, identifier: str) -> str:
    """64 hex digits for an identifier of this kind ("machine-id", "card-uuid", ...)."""
    return hashlib.sha256(f"accelweb:1:{kind}:{identifier.strip().lower()}".encode()).hexdigest()


def hashed_uuid(uuid: str) -> str:
    """The hash of a card's UUID, the same whether a tool writes `GPU-...`, `MIG-...` or the bare UUID."""
    bare = uuid.strip().lower()
    for prefix in ("gpu-", "mig-"):
        bare = bare.removeprefix(prefix)
    return hashed("card-uuid", bare)

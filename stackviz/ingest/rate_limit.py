"""How fast one key may send."""

from stackviz.web.rate_limit import RateLimit

# With a limit of 600 a process asks for every sixth upload.
UPLOADS = RateLimit("uploads", "UPLOADS_PER_MINUTE", 60, "too many uploads with this key", batches=100)


def count_upload(key_id: int) -> None:
    """Count one upload of this key, bad ones like good ones. Raises RateLimited."""
    UPLOADS.count_for(str(key_id))

"""What gunicorn does when one of its workers starts."""

import gc
import runpy
from pathlib import Path

from django.conf import settings


def test_worker_freezes_what_is_loaded():
    found = runpy.run_path(str(Path(settings.BASE_DIR) / "gunicorn.conf.py"))
    try:
        found["post_worker_init"](None)
        assert gc.get_freeze_count() > 100_000
        assert len(gc.get_objects()) < 1_000
    finally:
        gc.unfreeze()

"""What the tests of diagnosing share: real-looking dumps of two machines, and nobody's share used up."""

from pathlib import Path

import pytest
from django.core.cache import cache

from stackviz.web.http import rate_limit

FIXTURES = Path(__file__).parents[2] / "fixtures"
CPU_WHEEL = (Path(__file__).parent / "collect_env_cpu_wheel.txt").read_text(encoding="utf-8")
MIG_XML = (FIXTURES / "dumps/nvidia_smi_a100_mig.xml").read_text(encoding="utf-8")
MAC_JSON = (FIXTURES / "mac/m3_max_system_profiler.json").read_text(encoding="utf-8")
TWO_MACHINES = f"{CPU_WHEEL}\n{MAC_JSON}"
HOSTILE = "</textarea><script>alert(1)</script><img src=x onerror=alert(2)>\"'"


@pytest.fixture(autouse=True)
def _own_counts(settings, tmp_path):
    """Counts of this test alone, in a folder of its own."""
    settings.VAR_DIR = tmp_path
    settings.REDIS_URL = ""
    rate_limit._breaker._until = 0.0
    cache.clear()

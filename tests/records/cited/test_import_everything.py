"""Whole files of the curated results in the admin: every row is recognised."""

import pytest

from stackviz.records.cited.files import DATA
from stackviz.records.cited.import_admin import EXAMPLE
from tests.records.cited.test_import import upload


def plan_of_file(client, name: str, content: bytes):
    return upload(client, content, name).context["plan"]


@pytest.mark.parametrize("name", ["babelstream.csv", "mlx-lm.csv", "gemm.csv"])
def test_a_file_that_is_loaded_changes_nothing(admin_client, cited, db, name):
    content = (DATA / "results" / name).read_bytes()
    plan = plan_of_file(admin_client, name, content)
    assert plan.counts == {"new": 0, "changed": 0, "same": len(content.splitlines()) - 1, "refused": 0}


def test_the_example_can_be_imported(admin_client, cited, db):
    assert plan_of_file(admin_client, "llama-bench.csv", EXAMPLE.encode()).counts["refused"] == 0

"""The sixty searches have the same answers on SQLite and on a real PostgreSQL, machines among them."""

import shutil

from django.contrib.auth.models import AnonymousUser
from django.db import connection, connections

from accelweb.settings import database
from stackviz.pages.search import prepared
from stackviz.pages.search.answers import ranked_hits
from stackviz.records.catalog.load import load_catalogue
from stackviz.records.cited.models import CitedEdition
from stackviz.records.hosts.load import load_hosts
from stackviz.records.stacks.load import load_stacks
from tests.conftest import swap_default
from tests.curated import curated_file
from tests.pages.machines.factories import make_lab, make_machine
from tests.pages.search.searches import PLAIN, SEARCHES

MACHINES = ("rack", "RACK", "northern", "rack 10")
QUERIES = [*SEARCHES, *MACHINES, "qqqqxxxx", "%", "r_ck"]


def answers() -> dict[str, list[tuple[str, float]]]:
    prepared._prepared.cache_clear()
    lab = make_lab(name="Northern lights")
    for name in ("Rack-9", "rack-10", "a-rack"):
        make_machine(lab, name, slug=name.lower())
    return {
        query: [(hit.entry.url, round(hit.score, 6)) for hit in ranked_hits(AnonymousUser(), query)]
        for query in QUERIES
    }


def test_postgresql_answers_as_sqlite_does(on_postgres, tmp_path):
    load_catalogue()
    load_stacks()
    load_hosts()
    assert connection.vendor == "postgresql"
    there = answers()
    file = shutil.copy(curated_file(), tmp_path / "accelweb.sqlite3")
    swap_default(connections.configure_settings({"default": database(f"sqlite:///{file}")})["default"])
    assert connection.vendor == "sqlite"
    connection.cursor().execute("DELETE FROM cited_citedresult")  # not loaded there: it takes minutes
    CitedEdition.renew()  # or other tests of this process meet what is cached of the whole file, without results
    here = answers()
    for query in QUERIES:
        assert there[query] == here[query], query
    assert all(there[query] for query in (*PLAIN, *MACHINES))
    assert not any(there[query] for query in ("qqqqxxxx", "%", "r_ck"))

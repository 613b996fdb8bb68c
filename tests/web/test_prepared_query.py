"""A prepared query returns what the query written anew returns, and is written once for each number of keys."""

import math
from uuid import uuid4

import pytest
from django.utils import timezone

from stackviz.records.catalog.models import Vendor
from stackviz.records.labs.models import Lab, Machine, Report, Snapshot
from stackviz.web.prepared_query import PreparedQuery, _read_json
from tests.pages.machines.factories import make_lab, make_machine, make_report


@pytest.fixture
def pks(db):
    return [Vendor.objects.create(slug=f"vendor-{number}", name=f"Vendor {number}").pk for number in range(5)]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_rows_are_those_of_the_query_written_anew(pks, count, django_assert_num_queries):
    by_name = PreparedQuery(lambda keys: Vendor.objects.filter(pk__in=keys).order_by("-name"))
    names = PreparedQuery(
        lambda keys: Vendor.objects.filter(pk__in=keys).order_by("pk").values_list("name", named=True)
    )
    for keys in (pks[:count], pks[-count:]):
        with django_assert_num_queries(2):
            vendors, rows = by_name(keys), names(keys)
        assert vendors == list(Vendor.objects.filter(pk__in=keys).order_by("-name"))
        assert [row.name for row in rows] == [vendor.name for vendor in reversed(vendors)]


def test_json_is_read_as_django_reads_it(db):
    facts = {"name": "Größe 8", "numbers": [1, 2.5, -(2**63), None, True], "nested": {"a": {}}}
    lab = Lab.objects.create(slug="a", name="a", is_public=True)
    machine = Machine.objects.create(lab=lab, slug="a", name="a")
    report = Report.objects.create(id=uuid4(), machine=machine, body=b"{}")
    Snapshot.objects.create(machine=machine, report=report, taken_at=timezone.now(), facts=facts)
    query = PreparedQuery(lambda keys: Snapshot.objects.filter(machine__in=keys).values_list("facts", "absent"))
    assert query([machine.pk]) == [(facts, {})]


def test_what_only_python_calls_json_is_read_all_the_same():
    assert math.isnan(_read_json('{"a": NaN}', None, None)["a"])
    assert _read_json(None, None, None) is None


@pytest.mark.parametrize("count", [1, 3])
def test_keys_may_be_uuids(db, count):
    machine = make_machine(make_lab())
    keys = [make_report(machine).pk for _number in range(4)]
    prepared = PreparedQuery(lambda ids: Report.objects.filter(pk__in=ids).values_list("pk", flat=True))
    for chosen in (keys[:count], keys[-count:]):
        assert sorted(prepared(chosen)) == sorted(chosen)


def test_no_keys_cost_no_query(pks, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert PreparedQuery(lambda keys: Vendor.objects.filter(pk__in=keys))([]) == []


def test_the_sql_is_written_once_for_each_power_of_two(pks):
    written = []

    def build(keys):
        written.append(len(keys))
        return Vendor.objects.filter(pk__in=keys)

    query = PreparedQuery(build)
    for count in (1, 2, 3, 4, 5, 4, 3, 2, 1):
        assert len(query(pks[:count])) == count
    assert written == [1, 2, 4, 8]


def test_other_values_of_the_query_stay(pks):
    query = PreparedQuery(lambda keys: Vendor.objects.filter(pk__in=keys, slug__in=["vendor-1", "vendor-4"]))
    assert [vendor.slug for vendor in query(pks)] == ["vendor-1", "vendor-4"]
    assert query(pks[:1]) == []


def test_texts_are_keys_too(pks):
    query = PreparedQuery(lambda names: Vendor.objects.filter(slug=names[0], name=names[1]))
    for number in range(3):
        (vendor,) = query([f"vendor-{number}", f"Vendor {number}"])
        assert vendor.pk == pks[number]
    assert query(["vendor-1", "Vendor 2"]) == []
    assert query(["'; DROP TABLE x; --", "%s"]) == []

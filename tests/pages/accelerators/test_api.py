"""The API: accelerators by the list's filters, one with all its public values, values across all, fields, sources."""

import re
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import Accelerator, Alias, CatalogueEdition, SpecValue
from stackviz.web.http.address import write_moment
from tests.live import ROOT

V1 = "/api/v1/"
API = V1 + "accelerators/"
ADDRESSES = [API, API + "hailo-8/", V1 + "values/", V1 + "fields/", V1 + "sources/"]


def specs(client, slug: str, **query) -> dict[tuple[str, str], dict]:
    return {(spec["field"], spec["condition"]): spec for spec in client.get(f"{API}{slug}/", query).json()["specs"]}


def test_accelerators_are_listed_by_name(curated, client, db):
    answer = client.get(API, {"q": "m3 max"}).json()
    items = [
        {
            "slug": f"apple-m3-max-{cores}", "name": f"Apple M3 Max ({cores}-core GPU)", "vendor": "apple", "kind": "soc",
            "address": f"http://testserver/accelerators/apple-m3-max-{cores}/", "costs": [], "specs": [],
        }
        for cores in (30, 40)
    ]  # fmt: skip
    assert answer == {"count": 2, "next": None, "previous": None, "without_figure": 0, "items": items}
    cut = client.get(API, {"vendor": "nvidia", "limit": 2, "offset": 1}).json()
    assert cut["count"] > 90
    assert [item["slug"] for item in cut["items"]] == ["nvidia-a100-pcie-40gb", "nvidia-a100-pcie-80gb"]
    assert client.get(API, {"q": "zzz"}).json()["items"] == []


@pytest.mark.parametrize(
    "address", [API + "?vendor=apple&sort=-memory_gb", V1 + "values/?field=tdp_w", V1 + "sources/?kind=maker"]
)
def test_following_next_reads_everything_once(curated, client, db, address):
    whole = client.get(f"{address}&limit=1000").json()
    assert whole["next"] is None
    found, place, last = [], f"{address}&limit=7", ""
    for _page in range(100):
        answer = client.get(place).json()
        found += answer["items"]
        last, place = place, answer["next"]
        if place is None:
            break
    assert found == whole["items"]
    assert len(found) == whole["count"] > 7
    assert client.get(answer["previous"]).json()["next"] == last


@pytest.mark.parametrize(
    ("query", "inside", "outside"),
    [
        ("supports=fp8", "nvidia-h100-sxm5-80gb", "nvidia-a100-sxm4-80gb"),
        ("architecture=Hopper&form=sxm", "nvidia-h100-sxm5-80gb", "nvidia-h100-pcie-80gb"),
        ("vendor=apple,nvidia&memory_min=128&kind=soc", "apple-m3-max-40", "apple-m3-max-30"),
        ("year_from=2022&year_to=2022&vendor=nvidia", "nvidia-geforce-rtx-4090", "nvidia-geforce-rtx-3090"),
        ("q=Mac15,9", "apple-m3-max-40", "apple-m3-max-30"),
    ],
)
def test_the_filters_are_those_of_the_list(curated, client, db, query, inside, outside):
    found = [item["slug"] for item in client.get(f"{API}?{query}&limit=1000").json()["items"]]
    assert inside in found
    assert outside not in found
    page = client.get(f"/accelerators/?{query}&format=json").json()
    assert sorted(item["slug"] for item in page["items"]) == sorted(found)


def test_list_sorts_unknown_figures_last(curated, client, db):
    answer = client.get(API, {"sort": "-tdp_w", "fields": "tdp_w", "limit": 1000}).json()
    unknown = answer["without_figure"]
    assert 0 < unknown < answer["count"]
    assert all(item["specs"] for item in answer["items"][:-unknown])
    assert client.get(API, {"sort": "tdp_w", "limit": 1}).json()["items"][0] != answer["items"][0]


def test_fields_and_alternatives_choose_the_values_that_come(curated, client, db):
    answer = client.get(API, {"q": "H100 SXM5", "fields": "memory_gb,bf16_tensor_tflops"}).json()
    (item,) = answer["items"]
    assert {(spec["field"], spec["condition"], spec["value"]) for spec in item["specs"]} == {
        ("memory_gb", "", 80),
        ("bf16_tensor_tflops", "sparsity=dense", 989.4),
        ("bf16_tensor_tflops", "sparsity=sparse", 1978.9),
    }
    assert {field for field, _condition in specs(client, "hailo-8", fields="tdp_w")} <= {"tdp_w"}
    address = API + "nvidia-h100-sxm5-80gb/"
    preferred = client.get(address).json()["specs"]
    everything = client.get(address, {"alternatives": 1}).json()["specs"]
    assert preferred
    assert all(spec["is_preferred"] for spec in preferred)
    assert len(everything) > len(preferred)
    assert [spec for spec in everything if spec["is_preferred"]] == preferred
    plain = client.get(V1 + "values/?field=tdp_w").json()["count"]
    assert client.get(V1 + "values/?field=tdp_w&alternatives=1").json()["count"] > plain


@pytest.mark.parametrize(
    ("address", "query", "field"),
    [
        (API, {"limit": "many"}, "limit"),
        (API, {"limit": 0}, "limit"),
        (API, {"offset": -1}, "offset"),
        (API, {"q": "x" * 200}, "q"),
        (API, {"vendor": "acme"}, "vendor"),
        (API, {"vendor": "\0nvidia"}, "vendor"),
        (API, {"kind": "toaster"}, "kind"),
        (API, {"kind": "gpu\0"}, "kind"),
        (API, {"supports": "fp7"}, "supports"),
        (API, {"year_from": "soon"}, "year_from"),
        (API, {"memory_min": "inf"}, "memory_min"),
        (API, {"power_max": "inf"}, "power_max"),
        (API, {"sort": "beauty"}, "sort"),
        (API, {"fields": "memory_gb,taste"}, "fields"),
        (API, {"cols": "memory_gb"}, "cols"),
        (API, {"page": "2"}, "page"),
        (API, {"colour": "red"}, "colour"),
        (API + "hailo-8/", {"fields": "taste"}, "fields"),
        (API + "hailo-8/", {"alternatives": "perhaps"}, "alternatives"),
        (API + "hailo-8/", {"at": "tomorrow"}, "at"),
        (API + "hailo-8/", {"at": "2999-01-01"}, "at"),
        (API + "hailo-8/", {"vendor": "hailo"}, "vendor"),
        (V1 + "values/", {"field": "taste"}, "field"),
        (V1 + "values/", {"condition": "sparsity=maybe"}, "condition"),
        (V1 + "values/", {"condition": "nonsense"}, "condition"),
        (V1 + "values/", {"sort": "memory_gb"}, "sort"),
        (V1 + "values/", {"vendor": "acme"}, "vendor"),
        (V1 + "sources/", {"kind": "rumour"}, "kind"),
        (V1 + "fields/", {"limit": 1}, "limit"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_by_name(curated, client, db, address, query, field):
    response = client.get(address, query)
    body = response.json()
    assert (response.status_code, set(body), body["field"].split(".")[-1]) == (422, {"error", "field"}, field)
    assert body["error"]
    assert "left out" not in body["error"]


@pytest.mark.parametrize(
    ("slug", "field", "condition", "value", "unit"),
    [
        ("nvidia-h100-sxm5-80gb", "bf16_tensor_tflops", "sparsity=dense", 989.4, "TFLOPS"),
        ("nvidia-geforce-rtx-4090", "fp16_tensor_tflops", "sparsity=dense; accumulate=fp32", 165.2, "TFLOPS"),
        ("nvidia-t4", "fp16_tensor_tflops", "sparsity=dense", 65, "TFLOPS"),
        ("apple-m3-max-40", "memory_bandwidth_gb_s", "", 400, "GB/s"),
        ("apple-m3-max-30", "memory_bandwidth_gb_s", "", 300, "GB/s"),
        ("apple-m4-10", "neural_engine_tops", "", 38, "TOPS"),
        ("apple-m3-10", "neural_engine_tops", "", 18, "TOPS"),
        ("google-tpu-v3", "memory_gb", "", 32, "GiB"),
        ("nvidia-h100-sxm5-80gb", "architecture", "", "Hopper", ""),
        ("nvidia-h100-sxm5-80gb", "compute_capability", "", "9.0", ""),
    ],
)
def test_a_value_comes_in_the_unit_named(curated, client, db, slug, field, condition, value, unit):
    spec = specs(client, slug)[field, condition]
    assert (spec["value"], spec["unit"]) == (value, unit)
    assert type(spec["value"]) is type(value)


def test_every_value_has_its_source(curated, client, db):
    answer = client.get(API + "nvidia-h100-sxm5-80gb/").json()
    assert set(answer) == {
        "slug", "name", "vendor", "kind", "address", "family", "aliases", "at", "costs", "drivers", "specs",
    }  # fmt: skip
    assert answer["aliases"] == ["NVIDIA H100", "NVIDIA H100 80GB HBM3"]
    assert len(answer["specs"]) > 30
    assert all(spec["source"]["title"] and spec["source"]["url"].startswith("http") for spec in answer["specs"])


def test_reported_only_name_is_not_in_the_answer(client, card, sheet_source):
    Alias.objects.create(accelerator=card, name="Acme One 8GB", source=sheet_source)
    secret = Alias.objects.create(accelerator=card, name="Projekt Geheim 9000")
    then = write_moment(timezone.now())
    assert client.get(API + "acme-one/").json()["aliases"] == ["Acme One 8GB"]
    secret.delete()
    assert client.get(API + f"acme-one/?at={then}").json()["aliases"] == ["Acme One 8GB"]


def test_what_is_not_public_is_not_in_the_answer(curated, client, db):
    wrong = SpecValue.objects.get(accelerator__slug="nvidia-geforce-rtx-4060", field="die_area_mm2", status="retired")
    assert specs(client, "nvidia-geforce-rtx-4060")["die_area_mm2", ""]["value"] != float(wrong.value)
    Accelerator.objects.filter(slug="nvidia-t4").update(is_public=False)
    assert client.get(API + "nvidia-t4/").status_code == 404
    response = client.get(API + "no-such-card/")
    assert (response.status_code, response.json()) == (
        404,
        {"error": "unknown accelerator 'no-such-card'", "field": "slug"},
    )


def test_a_value_says_who_checked_it_and_that_it_was_corrected(curated, client, db):
    value = SpecValue.objects.get(accelerator__slug="nvidia-t4", field="tdp_w", is_preferred=True)
    assert specs(client, "nvidia-t4")["tdp_w", value.condition]["corrected"] is False
    value.value, value.checked_at = "71", timezone.now()
    value.checked_by = User.objects.create_user("login-of-vera", first_name="vera")
    value.save()
    spec = specs(client, "nvidia-t4")["tdp_w", value.condition]
    assert (spec["value"], spec["corrected"], spec["checked_by"]) == (71, True, "vera")
    assert spec["checked_at"].startswith(value.checked_at.isoformat()[:10])


def test_a_sheet_can_be_asked_for_as_it_stood(client, bandwidth):
    before = timezone.now()
    bandwidth.value = "3352"
    bandwidth.save()
    address = API + "acme-one/"
    assert client.get(address).json()["specs"][0]["value"] == 3352
    then = client.get(address, {"at": before.isoformat()}).json()
    assert (then["specs"][0]["value"], then["at"][:10]) == (3350, before.isoformat()[:10])
    response = client.get(address, {"at": "2001-01-01"})
    assert (response.status_code, response.json()["field"]) == (404, "at")


def test_values_are_found_across_accelerators(curated, client, db):
    query = {"field": "bf16_tensor_tflops", "condition": "sparsity=dense", "vendor": "nvidia", "sort": "-amount"}
    items = client.get(V1 + "values/", {**query, "limit": 1000}).json()["items"]
    amounts = [item["amount"] for item in items]
    assert amounts == sorted(amounts, reverse=True)
    assert {item["condition"] for item in items} == {"sparsity=dense"}
    assert {item["accelerator"]["vendor"] for item in items} == {"nvidia"}
    (h100,) = [item for item in items if item["accelerator"]["slug"] == "nvidia-h100-sxm5-80gb"]
    assert (h100["value"], h100["unit"], h100["amount"], h100["si_unit"]) == (989.4, "TFLOPS", 989.4e12, "FLOP/s")
    items = client.get(V1 + "values/?field=memory_gb&condition=&limit=1000").json()["items"]
    assert {item["condition"] for item in items} == {""}
    assert len(items) < client.get(V1 + "values/?field=memory_gb").json()["count"]
    items = client.get(V1 + "values/?q=Hailo-8&sort=amount&limit=1000").json()["items"]
    texts = [item["amount"] is None for item in items]
    assert texts == sorted(texts)
    assert set(texts) == {True, False}


def test_fields_and_sources_are_listed_whole(curated, client, db):
    answer = client.get(V1 + "fields/").json()
    assert [field["name"] for field in answer["fields"]] == list(FIELDS)
    bandwidth = next(field for field in answer["fields"] if field["name"] == "memory_bandwidth_gb_s")
    assert (bandwidth["unit"], bandwidth["si_unit"], bandwidth["better"]) == ("GB/s", "B/s", "higher")
    sparsity = next(key for key in answer["conditions"] if key["key"] == "sparsity")
    assert "dense" in sparsity["values"]
    answer = client.get(V1 + "sources/", {"kind": "maker", "limit": 1000}).json()
    assert answer["count"] == len(answer["items"]) > 50
    assert all(
        item["values"] > 0 and item["kind"] == "maker" and item["url"].startswith("http") for item in answer["items"]
    )
    assert 0 < client.get(V1 + "sources/?q=hopper").json()["count"] < answer["count"]


def test_a_source_of_drafts_alone_is_not_told(client, bandwidth):
    assert client.get(V1 + "sources/").json()["count"] >= 1
    SpecValue.objects.filter(source=bandwidth.source).update(status="draft", is_preferred=False)
    CatalogueEdition.renew()
    assert "acme-sheet" not in client.get(V1 + "sources/?q=acme").content.decode()


@pytest.mark.parametrize(
    ("address", "queries"),
    [
        (API, 1),
        (API + "?q=m3&sort=-tdp_w&limit=3", 1),
        (API + "?fields=tdp_w,memory_gb&limit=1000", 2),
        (API + "nvidia-h100-sxm5-80gb/", 4),
        (API + "hailo-8/?alternatives=1", 4),
        (API + "nvidia-h100-sxm5-80gb/?at=NOW", 11),
        (V1 + "values/?limit=1", 3),
        (V1 + "values/?limit=1000&alternatives=1", 3),
        (V1 + "fields/", 1),
        (V1 + "sources/?limit=1000", 3),
    ],
)
def test_an_answer_costs_the_same_queries_whatever_is_in_it(
    curated, client, db, django_assert_num_queries, address, queries
):
    address = address.replace("NOW", quote(timezone.now().isoformat()))
    client.get(API)  # what is public is read from now on
    client.get(API + "nvidia-t4/")  # and the tables of drivers
    with django_assert_num_queries(queries):
        assert client.get(address).status_code == 200


@pytest.mark.parametrize("address", ADDRESSES)
def test_who_has_an_answer_is_told_that_it_is_still_right(curated, client, db, django_assert_num_queries, address):
    first = client.get(address)
    assert first.headers["Cache-Control"] == "public, no-cache"
    with django_assert_num_queries(1):
        again = client.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    CatalogueEdition.renew()
    changed = client.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert changed.status_code == 200
    assert changed.headers["ETag"] != first.headers["ETag"]


def test_each_address_has_its_tag_and_a_refusal_none(curated, client, db):
    tags = {client.get(address).headers["ETag"] for address in [*ADDRESSES, API + "?limit=1", API + "?limit=2"]}
    assert len(tags) == len(ADDRESSES) + 2
    assert "ETag" not in client.get(API + "?vendor=acme").headers
    assert "ETag" not in client.get(API + "nothing/").headers


@pytest.mark.parametrize("address", ADDRESSES)
def test_scripts_of_every_site_may_read(curated, client, db, address):
    assert client.get(address).headers["Access-Control-Allow-Origin"] == "*"
    preflight = client.options(
        address, headers={"Origin": "https://else.example", "Access-Control-Request-Method": "GET"}
    )
    assert (preflight.status_code, preflight.headers["Access-Control-Allow-Methods"]) == (204, "GET, HEAD, OPTIONS")
    head = client.head(address)
    assert (head.status_code, head.content, head.headers["Access-Control-Allow-Origin"]) == (200, b"", "*")
    assert head.headers["ETag"] == client.get(address).headers["ETag"]


def test_nul_which_postgresql_refuses_never_reaches_it(curated, client, db):
    for query in ("\0", "h100\0"):
        with CaptureQueriesContext(connection) as asked:
            assert client.get(API, {"q": query}).status_code == 200
        assert [one["sql"] for one in asked if "\0" in one["sql"]] == []


def test_no_answer_depends_on_who_asks(curated, client, admin_client, db):
    cache.clear()
    for address in ADDRESSES:
        ours, theirs = admin_client.get(address), client.get(address)
        assert ours.content == theirs.content
        assert "Cookie" not in theirs.headers.get("Vary", "")


def test_examples_and_addresses_of_the_docs_answer(client, db, curated):
    document = client.get(V1 + "openapi.json").json()
    text = (ROOT / "docs/api.md").read_text()
    for path in ("accelerators/", "accelerators/{slug}/", "values/", "fields/", "sources/", "prices/"):
        operation = document["paths"][V1 + path]["get"]
        assert f"`{V1}{path}" in text
        for parameter in operation.get("parameters", []):
            assert f"`{parameter['name']}`" in text, f"{path}: {parameter['name']} is not in docs/api.md"
        if path != "fields/":
            assert "422" in operation["responses"]
    examples = re.findall(
        r"curl (?:-\S+ )*'https://accelweb[.]example(/api/v1/[^']*)'", (ROOT / "docs/api.md").read_text()
    )
    assert len(examples) >= 4
    for address in examples:
        assert client.get(address).status_code == 200, address


def test_catalogue_and_stacks_refuse_in_one_form(client, db):
    paths = client.get(V1 + "openapi.json").json()["paths"]
    for path in ("accelerators", "stacks"):
        (body,) = paths[f"{V1}{path}/{{slug}}/"]["get"]["responses"]["404"]["content"].values()
        assert body["schema"]["$ref"] == "#/components/schemas/ErrorBody"
        assert set(client.get(f"{V1}{path}/nothing/").json()) == {"error", "field"}


def test_operation_ids_are_stable(client):
    """Ninja names an operation after its module; ids that were published stay when the code moves."""
    paths = client.get(V1 + "openapi.json").json()["paths"]
    ids = {operation["operationId"] for methods in paths.values() for operation in methods.values()}
    assert sorted(ids) == sorted(
        f"stackviz_{room}_{name}"
        for room, names in {
            "catalog_api": "list_accelerators get_accelerator list_values list_fields list_sources list_prices",
            "stacks_api": "list_stacks get_stack",
            "fit_api": "fit fit_models",
            "cited_api": "list_cited get_cited list_cited_benchmarks",
            "hosts_api": "list_hosts get_host",
            "machines_api": "list_machines get_machine",
            "ingest_api": "send_report report_status schema",
            "ingest_key_api": "key_details",
            "ingest_heartbeat_api": "send_heartbeat",
            "watch_api": "list_table_checks",
            "diagnose_api": "diagnose_text",
        }.items()
        for name in names.split()
    )

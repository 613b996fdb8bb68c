"""The OpenAPI document is true: no status that is not in it, no answer that breaks its schema or has another type, no 5xx;
what it allows is accepted, what it forbids is refused.

Here little is asked, and always the same; `python -m tests.api` asks thousands of cases (docs/testing.md).
"""

import json
import re
from collections import Counter

import pytest

from accelweb.api import api
from tests.api.ask import ask, running_site

QUICK = ("--phases", "fuzzing,stateful", "--max-examples", "12", "--generation-deterministic", "--no-shrink")
FEWEST_CASES = 200


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A site with something to answer, and two keys of a lab."""
    with running_site(tmp_path_factory.mktemp("api")) as (site, keys):
        yield site, keys


def document() -> dict:
    return json.loads(json.dumps(api.get_openapi_schema(), default=str))


def test_answers_are_as_the_document_says(asked):
    done = ask(*asked, *QUICK)
    assert done.returncode == 0, done.stdout + done.stderr
    operations = sum(len(methods) for methods in document()["paths"].values())
    assert f"Tested: {operations}\n" in done.stdout
    assert int(re.search(r"(\d+) generated", done.stdout)[1]) >= FEWEST_CASES


def test_document_that_is_not_true_is_noticed(asked, tmp_path):
    site, keys = asked
    changed = document()
    del changed["paths"]["/api/v1/machines/{lab}/{slug}/"]["get"]["responses"]["404"]
    changed["components"]["schemas"]["StackBrief"]["required"].append("state")
    file = tmp_path / "document.json"
    file.write_text(json.dumps(changed))
    paths = ("/api/v1/machines/{lab}/{slug}/", "/api/v1/stacks/")
    options = [option for path in paths for option in ("--include-path", path)]
    done = ask(site, keys, "--url", site.url, *QUICK, *options, location=str(file))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Undocumented status code" in done.stdout
    assert "state" in done.stdout


def test_the_document_names_its_terms_and_server():
    written = document()
    assert written["info"]["license"]["identifier"] == "LicenseRef-accelweb-data"
    assert written["info"]["termsOfService"] == "/data/#terms"
    assert [server["url"] for server in written["servers"]] == ["/"]


def test_each_schema_has_a_name_of_its_own():
    """django-ninja writes the schemas of all rooms into one table by their classes' names: the last of two would win."""
    operations = [
        each
        for router in api._get_bound_routers()
        for view in router.path_operations.values()
        for each in view.operations
    ]
    answers = [model for operation in operations for model in operation.response_models.values()]
    classes = {part for answer in answers for part in schemas_in(answer)}
    assert len(classes) > 40
    assert [
        name
        for name, count in Counter(each.__name__ for each in classes).items()
        if count > 1 and name != "NinjaResponseSchema"
    ] == []


def schemas_in(annotation):
    """The schema classes that an annotation is made of."""
    if hasattr(annotation, "model_fields"):
        yield annotation
        for field in annotation.model_fields.values():
            yield from schemas_in(field.annotation)
    for inner in getattr(annotation, "__args__", ()):
        yield from schemas_in(inner)


def test_links_name_operations_and_what_their_answers_have():
    paths = document()["paths"].values()
    operations = {each["operationId"]: each for methods in paths for each in methods.values()}
    links = [
        link
        for operation in operations.values()
        for answer in operation["responses"].values()
        for link in answer.get("links", {}).values()
    ]
    assert len(links) >= 10
    for link in links:
        names = {each["name"] for each in operations[link["operationId"]]["parameters"]}
        assert set(link["parameters"]) <= names

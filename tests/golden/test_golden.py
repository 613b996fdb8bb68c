"""The tool that holds two commits against each other sees what a reader would see, and visits every page there is."""

import json
from http import HTTPStatus

import pytest
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve

from tests.golden.differences import by_path, print_differences
from tests.golden.reworded import rewording
from tests.golden.seed import save
from tests.golden.text import visible_text
from tests.golden.visits import DUMPS, Visit, diagnoses, pages

# Recorded by `recording`, whose addresses the seed decides, or without words: the browser's own requests.
OTHERWISE = {
    "catalog:correction", "diagnose:saved", "diagnose:delete", "ingest:receipt", "machines:arrivals", "machines:change", "machines:manage", "machines:revoke",
    "ingest:restore", "ingest:withdraw", "opendata:file",
    "opendata:file-of", "pages:favicon", "machines:agent", "machines:wheel",
    "accounts:account", "accounts:change-password", "accounts:logout", "accounts:recovery-codes", "accounts:remove-second-factor", "accounts:withdraw",
    "api:heartbeat", "api:list_prices", "api:list_table_checks", "monitoring:healthz", "monitoring:metrics", "monitoring:readyz",
    "site-state", "accounts:reset", "accounts:reset-done", "accounts:reset-sent", "accounts:second-factor",
    "retention:lab", "retention:export", "notices:unsubscribe",
}  # fmt: skip


def shown(html: str) -> list[str]:
    return visible_text(html).split("\n\n-- links --")[0].splitlines()


def test_a_page_is_read_block_by_block_and_tables_row_by_row():
    html = "<h1>Two  <em>words</em></h1><script>no()</script><table><tr><td>1</td><td>2</td></tr></table><p>a<br>b</p>"
    assert shown(html) == ["Two words", "| 1 | 2", "a", "b"]


def test_recording_includes_controls_and_links():
    html = '<form action="/x/"><input name="q" value="h100" placeholder="Name"><input type="hidden" name="csrfmiddlewaretoken"'
    text = visible_text(html + ' value="secret"></form><a href="/b/">B</a><a href="/a/">A</a>')
    assert "[placeholder: Name][h100]" in text
    assert "a href=/a/\na href=/b/" in text
    assert "form get /x/" in text
    assert "secret" not in text


def test_json_differs_by_path_type_and_order():
    old, new = {"a": [1, 2], "b": 1}, {"a": [1, 3, 4], "b": 1.0}
    assert list(by_path(old, new, "")) == ["~ .a[1]: 2 -> 3", "+ .a[2] = 4", "~ .b: 1 -> 1.0"]
    assert list(by_path({"a": 1, "b": 2}, {"b": 2, "a": 1}, "")) == ["! : keys in another order"]


@pytest.fixture
def recordings(tmp_path):
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "home.page.txt").write_text("status: 200\n\nHello world\n")
        (tmp_path / name / "sizes.json").write_text(json.dumps({"home": 1000}))
    return tmp_path / "before", tmp_path / "after"


def test_equal_recordings_have_no_difference(recordings, capsys):
    assert print_differences(*recordings) == 0
    assert "0 of 1 differ; 0 in white space alone" in capsys.readouterr().out


def test_changes_in_text_spacing_and_size_are_named(recordings, capsys):
    before, after = recordings
    (after / "home.page.txt").write_text("status: 200\n\nHello there\n")
    (before / "list.page.txt").write_text("a ( b")
    (after / "list.page.txt").write_text("a (b")
    (before / "gone.page.txt").write_text("x")
    (after / "sizes.json").write_text(json.dumps({"home": 1100}))
    assert print_differences(before, after) == 1
    out = capsys.readouterr().out
    assert "-Hello world\n  +Hello there" in out
    assert "list.page.txt" not in out
    assert "1 in white space alone" in out
    assert "=== gone.page.txt: 1 lines\n  only before" in out
    assert "grew: home: 1,000 -> 1,100" in out
    print_differences(before, after, spacing=True)
    assert "=== list.page.txt: 3 lines\n  @@ -1 +1 @@\n  -a ( b\n  +a (b" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "text", "expected"),
    [
        (
            "There is no vendor %(name)r",
            "Unknown vendor “%(name)s”",
            "There is no vendor 'x'",
            "There is no vendor 'x'",
        ),
        ("%(a)s has %(b)s.", "%(b)s of <b>%(a)s</b>.", "Ada has tea.", "tea of Ada."),
        ("it was left out", "it was ignored", "zzz: it was left out\nx", "zzz: it was ignored\nx"),
        ("Words", "Glossary", "Swords, Words", "Swords, Glossary"),
    ],
)
def test_rewording_is_applied_to_old_recording(old, new, text, expected):
    made = rewording(old, new)
    assert made is not None
    assert made.applied(text) == expected


def test_a_rewording_that_has_not_landed_yet_is_no_difference(recordings):
    before, after = recordings
    meant = [each for each in (rewording("Hello world", "Hello there"), rewording("status", "state")) if each]
    assert print_differences(before, after, rewordings=meant) == 0
    (after / "home.page.txt").write_text("status: 200\n\nHello there\n")
    assert print_differences(before, after) == 1
    assert print_differences(before, after, rewordings=meant) == 0


def test_no_two_visits_have_one_name():
    names = [visit.name for visit in every_visit()]
    assert len(names) == len(set(names))


def test_every_address_of_the_site_is_visited():
    """A new page, feed or answer of the API is recorded from its first day."""
    visited = {view_of(visit.path) for visit in every_visit()}
    missing = set(view_names(get_resolver(), "")) - visited - OTHERWISE
    assert missing == set()


def every_visit() -> list[Visit]:
    return [*pages(), *diagnoses()]


def view_of(path: str) -> str:
    try:
        return resolve(path.partition("?")[0]).view_name
    except Resolver404:
        return ""


def view_names(resolver: URLResolver, namespace: str):
    """Names of all views but the admin's own, which Django makes for each model."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern) and pattern.name:
            yield f"{namespace}{pattern.name}"
        elif isinstance(pattern, URLResolver) and pattern.namespace != "admin":
            yield from view_names(pattern, f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace)


@pytest.mark.django_db
def test_the_code_of_a_saved_text_deletes_it(client):
    """Seeding and recording read it from the cookies, of which each language has one."""
    address, code = save(client, (DUMPS / "mac_laptop.txt").read_text(encoding="utf-8"))
    assert client.post(f"{address}delete/", {"word": code}).status_code == HTTPStatus.FOUND
    assert client.get(address).status_code == HTTPStatus.NOT_FOUND

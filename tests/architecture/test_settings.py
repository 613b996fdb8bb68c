"""Settings: every variable is documented, wrong combinations are found, a production site is clean."""

import ast
import os
import re

import pytest
from django.test import override_settings

from accelweb.env import EnvError, env_site
from stackviz.pages.home.checks import (
    check_allowed_hosts,
    check_broker_is_shared,
    check_database_is_shared,
    check_database_scheme,
    check_redis_url,
    check_secret_key,
    check_site_url,
)
from tests.live import ROOT


def variables_read() -> set[str]:
    """Names given to the readers in settings; a secret may also come from a file."""
    names = set()
    for path in (ROOT / "accelweb").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            reader = getattr(getattr(node, "func", None), "id", "")
            if reader.startswith("env_") and isinstance(node.args[0], ast.Constant):
                names.add(node.args[0].value)
                if reader == "env_secret":
                    names.add(f"{node.args[0].value}_FILE")
    return names


def variables_of_compose() -> set[str]:
    files = (ROOT / "docker-compose.yml", ROOT / "deploy/https.yml")
    return {name for file in files for name in re.findall(r"(?<!\$)\$\{(\w+)", file.read_text())}


def test_documented_variables_match_the_code():
    read = variables_read() | variables_of_compose()
    example = set(re.findall(r"^(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    table = (ROOT / "docs/operations.md").read_text().partition("## Every variable")[2]
    documented = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert len(read) > 10
    assert example == read
    assert documented == read


def test_settings_use_the_readers_only():
    assert not re.search(r"\b(environ|getenv)\b", (ROOT / "accelweb/settings.py").read_text())


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("PORT", "eighty", "PORT='eighty' is not a whole number"),
        ("MONITORING_NETWORKS", "10.0.0.0/8,home", "MONITORING_NETWORKS holds what is no network: 'home'"),
        ("LOG_FORMAT", "xml", "LOG_FORMAT='xml' is no format of log lines: use text or json"),
    ],
)
def test_a_variable_that_cannot_be_read_is_named(run_python, name, text, problem):
    env = os.environ | {name: text, "DJANGO_SETTINGS_MODULE": "accelweb.settings"}
    done = run_python("manage.py", "check", env=env)
    assert done.returncode != 0
    assert problem in done.stderr


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", ""),
        ("https://stacks.example.org", "https://stacks.example.org"),
        (" HTTPS://Stacks.Example.org/ ", "https://stacks.example.org"),
        ("http://192.0.2.7:8000", "http://192.0.2.7:8000"),
        ("http://[::1]:8000/", "http://[::1]:8000"),
    ],
)
def test_the_address_of_a_site_is_scheme_host_and_port(monkeypatch, text, address):
    monkeypatch.setenv("SITE_URL", text)
    assert env_site("SITE_URL") == address


@pytest.mark.parametrize(
    "text",
    [
        "stacks.example.org", "//stacks.example.org", "ftp://stacks.example.org", "https://", "https:///x", "https://x/y",
        "https://x?y", "https://x#y", "https://ada@x", "https://x:port", "https://x:99999", "https://x:", "https://[x",
        "https://a b", "https://a\nb", "https://a<b", "https://x\\y", "javascript:alert(1)", "https://x//",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_site_is_refused_by_name(monkeypatch, text):
    monkeypatch.setenv("SITE_URL", text)
    with pytest.raises(EnvError, match=r"^SITE_URL=.* is no address of a site: write it as https://"):
        env_site("SITE_URL")


SQLITE = {"DATABASE_URL": "sqlite:////srv/accelweb.sqlite3"}
POSTGRES = {"DATABASE_URL": "postgresql://accelweb@db/accelweb"}
OTHERS = ["accelweb.example"]


@pytest.mark.parametrize(
    ("check", "wrong", "right", "found"),
    [
        (check_secret_key, {"SECRET_KEY": "django-insecure-x", "ALLOWED_HOSTS": OTHERS}, {"SECRET_KEY": "own", "ALLOWED_HOSTS": OTHERS}, "accelweb.E001"),
        (check_secret_key, {"SECRET_KEY": "django-insecure-x", "HTTPS": True}, {"SECRET_KEY": "django-insecure-x", "HTTPS": False, "ALLOWED_HOSTS": ["localhost"]}, "accelweb.E001"),
        (check_database_scheme, {"DATABASE_URL": "mysql://root@db/accelweb"}, SQLITE, "accelweb.E002"),
        (check_redis_url, {"REDIS_URL": "localhost:6379"}, {"REDIS_URL": "unix:///run/redis.sock"}, "accelweb.E003"),
        (check_database_is_shared, SQLITE, POSTGRES, "accelweb.W001"),
        (check_broker_is_shared, {"REDIS_URL": ""}, {"REDIS_URL": "redis://localhost:6379/0"}, "accelweb.W002"),
        (check_site_url, {"EMAIL_HOST": "mail.example", "SITE_URL": ""}, {"EMAIL_HOST": "", "SITE_URL": ""}, "accelweb.W004"),
        (check_site_url, {"SITE_URL": "https://other.example", "ALLOWED_HOSTS": OTHERS}, {"EMAIL_HOST": "mail.example", "SITE_URL": "https://accelweb.example:8443", "ALLOWED_HOSTS": OTHERS}, "accelweb.W005"),
        (check_site_url, {"SITE_URL": "http://accelweb.example", "HTTPS": True, "ALLOWED_HOSTS": OTHERS}, {"SITE_URL": "https://accelweb.example", "HTTPS": True, "ALLOWED_HOSTS": OTHERS}, "accelweb.W006"),
        (check_allowed_hosts, {"ALLOWED_HOSTS": ["localhost", "127.0.0.1"], "HTTPS": False}, {"ALLOWED_HOSTS": OTHERS}, "accelweb.W003"),
    ],
)  # fmt: skip
def test_a_wrong_combination_is_found_and_says_what_to_do(check, wrong, right, found):
    with override_settings(**wrong):
        messages = check()
    assert [message.id for message in messages] == [found]
    assert messages[0].hint
    with override_settings(**right):
        assert check() == []


def test_every_check_stands_in_the_documentation():
    code = "".join((ROOT / f"stackviz/{name}.py").read_text() for name in ("pages/home/checks", "web/squashed"))
    ids = set(re.findall(r'id="(accelweb\.\w+)"', code))
    documented = set(
        re.findall(r"^\| `(accelweb\.[EW]\d+)` \|", (ROOT / "docs/operations.md").read_text(), re.MULTILINE)
    )
    assert ids
    assert documented == ids


def test_every_setting_of_the_example_reaches_the_containers():
    """What `.env.example` offers under "always" is handed on by the compose file, but for a file only the host has."""
    offered = (ROOT / ".env.example").read_text().partition("# --- make run ---")[0]
    compose = (ROOT / "docker-compose.yml").read_text()
    names = set(re.findall(r"^(\w+)=", offered, re.MULTILINE)) - {"SECRET_KEY_FILE"}
    assert names - set(re.findall(r"^    (\w+): \$\{\1:[-?]", compose, re.MULTILINE)) == set()


@pytest.mark.parametrize("public", [{"ALLOWED_HOSTS": "accel.example.org"}, {"HTTPS": "1"}])
def test_public_site_refuses_published_key(run_python, tmp_path, public):
    env = (
        os.environ
        | public
        | {"VAR_DIR": str(tmp_path), "SECRET_KEY": "", "DJANGO_SETTINGS_MODULE": "accelweb.settings"}
    )
    done = run_python("-c", "import accelweb.settings", env=env)
    assert done.returncode != 0
    assert "SECRET_KEY is not set" in done.stderr

"""What is committed: nothing of the machine it was written on, every version fixed, every command documented."""

import re
import shutil
import subprocess

import pytest

from tests.live import ROOT

# Split, so that this file does not find itself.
REGISTRIES = ["pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".org", "npmjs" + ".com", "deb.debian" + ".org"]
PLACES = [r"/" + r"work/(main|shared|plan|var)", r"/" + r"root/\.", r"/" + r"opt/(wheels|pypi)"]
REQUIREMENTS = ["requirements", "requirements-parquet", "requirements-dev", "requirements-lab"]
FORBIDDEN = re.compile("|".join([*map(re.escape, REGISTRIES), *PLACES]))


def committed_files() -> list[str]:
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: what is committed cannot be listed")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_registry_or_a_folder_of_one_machine():
    found = []
    for name in committed_files():
        try:
            text = (ROOT / name).read_text()
        except UnicodeDecodeError:
            continue  # a picture
        found += [f"{name}: {match.group()}" for match in FORBIDDEN.finditer(text)]
    assert found == []


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_requirement_has_one_fixed_version(name):
    lines = [line.split(" #")[0].split(";")[0].strip() for line in (ROOT / f"{name}.txt").read_text().splitlines()]
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert [line for line in pins if not re.fullmatch(r"[a-z0-9.-]+==[0-9][\w.]*", line)] == []


def test_the_requirement_files_agree():
    versions: dict[str, set[str]] = {}
    for name in REQUIREMENTS:
        for package, version in re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / f"{name}.txt").read_text(), re.MULTILINE):
            versions.setdefault(package, set()).add(version)
    assert {package: found for package, found in versions.items() if len(found) > 1} == {}


def test_every_import_of_the_site_is_a_requirement_of_it():
    """A package that only the developers have would break the first real start."""
    import importlib.metadata
    import sys

    pinned = {name.lower().replace("_", "-") for name in re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE)}  # fmt: skip
    lab_only = {"torch", "pynvml", "numpy"}
    optional = {"sentry_sdk", "pyarrow"}  # imported where they are installed
    owners = importlib.metadata.packages_distributions()
    imported = set()
    for folder in ("accelweb", "stackviz"):
        for path in (ROOT / folder).rglob("*.py"):
            imported |= set(re.findall(r"^\s*(?:from|import) ([A-Za-z_]\w*)", path.read_text(), re.MULTILINE))
    foreign = {name for name in imported if name in owners} - lab_only - optional - set(sys.stdlib_module_names)
    missing = {name for name in foreign if not {owner.lower().replace("_", "-") for owner in owners[name]} & pinned}
    assert missing - {"stackviz", "accelweb"} == set()


def test_make_help_names_every_command():
    make = (ROOT / "Makefile").read_text()
    commands = set(re.search(r"^\.PHONY: (.*)$", make, re.MULTILINE)[1].split()) - {"help"}
    assert set(re.findall(r'"make ([\w-]+) ', make)) == commands


def test_developers_have_all_that_the_site_has():
    site, developers = (
        set(re.findall(r"^([\w.-]+==[\w.]+)", (ROOT / f"{name}.txt").read_text(), re.MULTILINE))
        for name in ("requirements", "requirements-dev")
    )
    assert site - developers == set()

"""Rules of security (ruff's S) are on for the product, and whatever leaves one of them out says why on its line."""

import re
import tomllib

from tests.live import ROOT

LINT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
LEFT_OUT = re.compile(r"# noqa: (?P<rules>[A-Z0-9, ]*\bS\d{3}\b[A-Z0-9, ]*)(?P<reason>.*)")


def is_of_security(rule: str) -> bool:
    return re.fullmatch(r"S\d*", rule) is not None


def test_security_rules_are_on_outside_tests_and_bench():
    assert "S" in LINT["select"]
    assert [rule for rule in LINT["ignore"] if is_of_security(rule)] == []
    without = {path for path, rules in LINT["per-file-ignores"].items() if any(map(is_of_security, rules))}
    assert without == {"tests/**", "bench/**"}


def test_each_exception_gives_its_reason():
    lines = {
        f"{path.relative_to(ROOT)}: {line.strip()}": found["reason"]
        for room in ("stackviz", "accelweb", "tools")
        for path in (ROOT / room).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if (found := LEFT_OUT.search(line))
    }
    assert len(lines) > 30
    assert [line for line, reason in lines.items() if not re.search(r"[a-z]{3}", reason)] == []

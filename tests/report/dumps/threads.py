"""Texts as people paste them into issue threads, judged: is the cause named, is any advice dangerous?

`python -m tests.report.dumps.threads` prints the table, of the texts in the repository and, where `ACCELWEB_THREADS` names a
folder with the texts of real threads, of those in it: their list is `threads/TRUTH.tsv` among the samples.
"""

import csv
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stackviz.report.dumps import answer, machines
from stackviz.report.importers import read_all
from stackviz.report.messages.of_findings import EXPLAINS_MESSAGES
from stackviz.report.rules import packaged_tables
from tests.samples import WHOLE_DUMPS

OWN_TEXTS = Path(__file__).parents[2] / "fixtures" / "threads"
REAL_TEXTS = Path(os.environ.get("ACCELWEB_THREADS", ""))
REAL_TRUTH = WHOLE_DUMPS / "threads" / "TRUTH.tsv"
HAS_REAL_TEXTS = bool(os.environ.get("ACCELWEB_THREADS")) and REAL_TEXTS.is_dir() and REAL_TRUTH.is_file()

_SAYS = ("broken", "warning", "note")
_ALARMS = ("broken", "warning")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the diagnosis makes of one text. `dangerous`, `alarming`: rules whose advice or finding is wrong there."""

    file: str
    cause: str
    is_decidable: bool
    is_named: bool
    dangerous: tuple[str, ...]
    alarming: tuple[str, ...]
    findings: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return not self.dangerous and not self.alarming and (self.is_named or not self.is_decidable)


def judge_text(text: str, row: dict[str, str]) -> Verdict:
    """By the columns of TRUTH.tsv: `must` some finding says, `forbid` none advises, `healthy` allows notes only.

    The remedies of a message are in its explanation.

    The end of a driver's support is no alarm.
    """
    paste = read_all(text)
    document = answer(machines(paste), packaged_tables(), not_understood=paste.not_understood)
    findings = [finding for part in (document, *document.get("machines", ())) for finding in part["findings"]]
    named = [finding for finding in findings if finding["severity"] in _SAYS and _says(finding, row["must"])]
    return Verdict(
        file=row["file"],
        cause=row["cause"],
        is_decidable=row["decidable"] == "yes",
        is_named=bool(row["must"] and named),
        dangerous=tuple(
            finding["rule"] for finding in findings if row["forbid"] and _matches(row["forbid"], _remedies(finding))
        ),
        alarming=tuple(
            finding["rule"]
            for finding in findings
            if row["healthy"] == "yes" and finding["severity"] in _ALARMS and finding["rule"] != "driver-branch-ended"
        ),
        findings=tuple(f"{finding['severity']} {finding['rule']}" for finding in findings),
    )


def _remedies(finding: dict[str, str]) -> str:
    if finding["rule"] != EXPLAINS_MESSAGES:
        return finding["advice"]
    return f"{finding['explanation']} {finding['advice']}"


def _says(finding: dict[str, str], must: str) -> bool:
    return _matches(must, f"{finding['title']} {finding['explanation']} {finding['advice']}")


def _matches(pattern: str, text: str | None) -> bool:
    return re.search(pattern, text or "", re.IGNORECASE) is not None


def truth(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def own_verdicts() -> Iterator[Verdict]:
    """Of the texts in the repository: each line of their list has one."""
    for row in truth(OWN_TEXTS / "TRUTH.tsv"):
        yield judge_text((OWN_TEXTS / row["file"]).read_text(encoding="utf-8"), row)


def real_verdicts() -> Iterator[Verdict]:
    """Of the real threads whose text lies in the folder; the others of the list are left out."""
    for row in truth(REAL_TRUTH):
        if (REAL_TEXTS / row["file"]).is_file():
            yield judge_text((REAL_TEXTS / row["file"]).read_text(encoding="utf-8"), row)


def table(verdicts: list[Verdict]) -> str:
    """Markdown: a line a text, and below it how many causes are named and how many texts have something wrong."""
    decidable = [verdict for verdict in verdicts if verdict.is_decidable]
    lines = ["| text | cause | named | wrong | findings |", "|---|---|---|---|---|"]
    for verdict in verdicts:
        named = ("yes" if verdict.is_named else "no") if verdict.is_decidable else "not decidable"
        wrong = ", ".join((*verdict.dangerous, *verdict.alarming)) or "-"
        lines.append(
            f"| {verdict.file} | {verdict.cause} | {named} | {wrong} | {', '.join(verdict.findings) or 'none'} |"
        )
    named_count = sum(verdict.is_named for verdict in decidable)
    wrong_count = sum(bool(verdict.dangerous or verdict.alarming) for verdict in verdicts)
    lines.append(f"\n{named_count} of {len(decidable)} causes named; {wrong_count} of {len(verdicts)} texts with")
    lines[-1] += " a wrong finding or command."
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{table(list(own_verdicts()))}\n")
    if HAS_REAL_TEXTS:
        sys.stdout.write(f"\n{table(list(real_verdicts()))}\n")
    else:
        sys.stdout.write("\nACCELWEB_THREADS names no folder with the texts of real threads.\n")

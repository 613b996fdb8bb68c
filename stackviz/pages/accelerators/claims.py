"""Widely copied claims, checked against sourced figures.

The claims are text files (`data/claims.csv`, `data/claim_sources.csv`): the claim, our verdict, the correct answer. The
figures that decide a claim are not typed there: each line names their sheets and fields, and the page shows what the
catalogue says today. `claim_disagreements` finds a verdict that the catalogue no longer bears out. Each line names the
section of a chapter that explains it, `cards-and-rules#sparse`.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.core.exceptions import ValidationError
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.asked_for import most_requested
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.fields import FIELDS, amount_of
from stackviz.records.catalog.figures import base_condition, for_people, join_variants, usual_values
from stackviz.records.catalog.files import DATA
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.queries import accelerators_by_slug, preferred_values
from stackviz.records.curated.rows import is_web_address
from stackviz.web.i18n.curated_text import curated_words

SAME = 0.02  # figures this close are the same figure, rounded differently
_CHAPTER = re.compile(r"[a-z0-9-]+#[a-z0-9-]+")
_FIGURE = re.compile(r"([a-z0-9-]+):([a-z0-9_]+)(?:\[([^\]]+)\])?")


class ClaimVerdict(models.TextChoices):
    """Whether a claim is right; in the order of the page's filter."""

    WRONG = "wrong", _("wrong")
    OUTDATED = "outdated", _("outdated")
    DEPENDS = "depends", _("depends")
    RIGHT = "right", _("right")


@dataclass(frozen=True, slots=True)
class ClaimedValue:
    """A figure of the catalogue a claim is judged by; an empty condition means the field's usual one."""

    accelerator: str
    field: str
    condition: str


@dataclass(frozen=True, slots=True)
class ClaimSource:
    title: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One line of the file. `claimed`: the number it says, in SI base units; None where it says none to compare.

    `sources` bear out the answer, beside the figures; `seen_at` is where the claim can be read; `chapter` explains it:
    slug and anchor.
    """

    key: str
    subject: str
    text: str
    verdict: ClaimVerdict
    answer: str
    claimed: float | None
    figures: tuple[ClaimedValue, ...]
    sources: tuple[ClaimSource, ...]
    seen_at: tuple[ClaimSource, ...]
    chapter: str

    @property
    def chapter_url(self) -> str:
        slug, _hash, anchor = self.chapter.partition("#")
        return f"{reverse('learn:chapter', args=[slug])}#{anchor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFigure:
    """A figure in today's catalogue: `text` with its unit, "" if nothing is published."""

    accelerator: Accelerator
    title: str
    text: str
    condition: str
    amounts: tuple[float, ...]
    source: ClaimSource | None


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim with the figures it is judged by."""

    claim: Claim
    figures: tuple[ClaimFigure, ...]


class ClaimsError(ValueError):
    """A line of the claims' files that cannot be read; the text names file, line and fault."""


_Links = dict[tuple[str, str], list[ClaimSource]]  # (key of a claim, "source" or "says")


@lru_cache(maxsize=4)
def read_claims(folder: Path = DATA) -> tuple[Claim, ...]:
    """All claims, those about the accelerators that are asked for most first, else in the order of the file.

    Nobody counts how often a claim is copied: what readers ask for stands in for it. Raises ClaimsError.
    """
    links: _Links = defaultdict(list)
    for line, row in _rows(folder / "claim_sources.csv"):
        _must(_is_address(row["url"]), "claim_sources.csv", line, f"{row['url']!r} is not a web address")
        _must(
            row["role"] in ("source", "says"),
            "claim_sources.csv",
            line,
            f"{row['role']!r} is not a role; write source or says",
        )
        links[row["claim"], row["role"]].append(ClaimSource(row["title"], row["url"]))
    claims = [_claim(line, row, links) for line, row in _rows(folder / "claims.csv")]
    unknown = {key for key, _role in links} - {claim.key for claim in claims}
    _must(not unknown, "claim_sources.csv", 0, f"unknown claim {', '.join(sorted(unknown))}")
    _must(len({claim.key for claim in claims}) == len(claims), "claims.csv", 0, "duplicate key")
    return tuple(sorted(claims, key=_rank_among(most_requested())))


def _rank_among(requested: Sequence[str]) -> Callable[[Claim], int]:
    ranks, last = {slug: rank for rank, slug in enumerate(requested)}, len(requested)
    return lambda claim: min((ranks.get(value.accelerator, last) for value in claim.figures), default=last)


def _is_address(url: str) -> bool:
    try:
        is_web_address(url)
    except ValidationError:
        return False
    return True


def _rows(file: Path) -> list[tuple[int, dict[str, str]]]:
    with file.open(encoding="utf-8", newline="") as text:
        return list(enumerate(csv.DictReader(text), start=2))


def _must(is_so: object, file: str, line: int, problem: str) -> None:
    if not is_so:
        raise ClaimsError(f"{file}:{line}: {problem}")


def _claim(line: int, row: Mapping[str, str], links: _Links) -> Claim:
    where = ("claims.csv", line)
    _must(row["verdict"] in ClaimVerdict.values, *where, f"{row['verdict']!r} is not a verdict")
    figures = tuple(_wanted(line, text) for text in row["figures"].split(" | ") if text)
    sources, seen_at = (tuple(links.get((row["key"], role), ())) for role in ("source", "says"))
    _must(_CHAPTER.fullmatch(row["chapter"]), *where, f"{row['chapter']!r} is not slug#anchor of a chapter")
    _must(figures or sources, *where, f"{row['key']} has neither a figure nor a source")
    claimed = None
    if row["claimed"]:
        _must(figures, *where, "a claimed number needs a figure to compare with")
        claimed = amount_of(FIELDS[figures[0].field], row["claimed"], row["unit"])
    verdict = ClaimVerdict(row["verdict"])
    return Claim(
        key=row["key"],
        subject=row["subject"],
        text=row["claim"],
        verdict=verdict,
        answer=row["answer"],
        claimed=claimed,
        figures=figures,
        sources=sources,
        seen_at=seen_at,
        chapter=row["chapter"],
    )


def _wanted(line: int, text: str) -> ClaimedValue:
    match = _FIGURE.fullmatch(text.strip())
    if match is None or match[2] not in FIELDS:
        raise ClaimsError(f"claims.csv:{line}: {text!r} is not a figure; write slug:field or slug:field[condition]")
    return ClaimedValue(match[1], match[2], match[3] or "")


def matching(claims: Sequence[Claim], verdict: str, q: str) -> list[Claim]:
    """The claims with this verdict whose words contain each of `q`, in English or the page's language; empty: any."""
    terms = _comparable(q).split()
    return [
        claim
        for claim in claims
        if (not verdict or claim.verdict == verdict) and all(term in _comparable(_words(claim)) for term in terms)
    ]


def _words(claim: Claim) -> str:
    texts = (claim.subject, claim.text, claim.answer)
    return " ".join((*texts, *map(curated_words, texts)))


def _comparable(text: str) -> str:
    """Case-folded, without thousands separators: 1979 finds 1,979."""
    return text.casefold().replace(",", "")


def checked(claims: Sequence[Claim]) -> list[Checked]:
    """The claims with what the catalogue says today. Two queries however many there are."""
    wanted = [figure for claim in claims for figure in claim.figures]
    sheets = accelerators_by_slug({figure.accelerator for figure in wanted})
    values: dict[tuple[int, str], list[SpecValue]] = defaultdict(list)
    for value in preferred_values(sheet.pk for sheet in sheets.values()).filter(field__in={w.field for w in wanted}):
        values[value.accelerator_id, value.field].append(value)
    return [Checked(claim, tuple(_figures(claim.figures, sheets, values))) for claim in claims]


def _figures(
    wanted: Sequence[ClaimedValue],
    sheets: Mapping[str, Accelerator],
    values: Mapping[tuple[int, str], Sequence[SpecValue]],
) -> list[ClaimFigure]:
    """The figures of public sheets; others are left out."""
    return [
        _figure(item, sheets[item.accelerator], values.get((sheets[item.accelerator].pk, item.field), ()))
        for item in wanted
        if item.accelerator in sheets
    ]


def _figure(wanted: ClaimedValue, sheet: Accelerator, values: Sequence[SpecValue]) -> ClaimFigure:
    field = FIELDS[wanted.field]
    if wanted.condition:
        chosen = [value for value in values if base_condition(value) == wanted.condition]
    else:
        chosen = usual_values(field, values)
    source = chosen[0].source if chosen else None
    return ClaimFigure(
        accelerator=sheet,
        title=field.words[0],
        text=join_variants([for_people(value).label for value in chosen]),
        condition=describe_condition(base_condition(chosen[0])) if chosen else "",
        amounts=tuple(value.amount for value in chosen if value.amount is not None),
        source=ClaimSource(source.title, source.url) if source else None,
    )


def claim_disagreements(checked_claims: Sequence[Checked]) -> list[str]:
    """Claims whose verdict the catalogue contradicts, in words.

    "right" needs a figure that is the same within SAME, "wrong" and "outdated" none; "depends" is not judged.
    """
    problems = []
    for item in checked_claims:
        claim, amounts = item.claim, [amount for figure in item.figures for amount in figure.amounts]
        if claim.figures and not amounts and claim.claimed is not None:
            problems.append(f"{claim.key}: the catalogue publishes none of its figures")
        elif claim.claimed is not None and claim.verdict != ClaimVerdict.DEPENDS:
            is_there = any(abs(amount - claim.claimed) <= SAME * amount for amount in amounts)
            if is_there != (claim.verdict == ClaimVerdict.RIGHT):
                problems.append(f"{claim.key}: marked {claim.verdict.value}, but the catalogue has {amounts}")
    return problems

"""What others saw fit or run out of memory, `cited_limits.csv`, is what we say."""

import csv
from pathlib import Path

import pytest

from stackviz.pages.fit.language_models import language_models
from stackviz.pages.fit.memory import Workload, fullest_card, inference_parts
from stackviz.pages.fit.precisions import PRECISIONS
from stackviz.pages.fit.targets import memory_limit
from stackviz.pages.fit.training import TrainingRun, card_share, training_parts

with (Path(__file__).parent / "cited_limits.csv").open(encoding="utf-8", newline="") as lines:
    CITED = list(csv.DictReader(lines))


def needed(row):
    """Bytes of the fullest card, and what it may use."""
    limit = memory_limit(
        vendor=row["vendor"],
        kind=row["kind"],
        printed_gb=float(row["memory_gb"]),
        has_inband_ecc=row["inband_ecc"] == "yes",
    )
    shape, cards = language_models()[row["model"]].shape, int(row["cards"])
    common = {
        "shape": shape,
        "precision": PRECISIONS[row["precision"]],
        "context": int(row["context"]),
        "batch": int(row["batch"]),
        "cards": cards,
        "split": row["split"],
    }
    if row["method"] == "full":
        parts = training_parts(TrainingRun(**common, optimizer=row["optimizer"]), limit.runtime)
        return card_share(parts, shape, cards, row["split"]), limit.usable
    parts = inference_parts(Workload(**common, has_scores=True, is_unified=limit.is_unified), limit.runtime)
    return fullest_card(parts, shape, cards, row["split"]), limit.usable


@pytest.mark.parametrize(
    "row", CITED, ids=lambda row: f"{row['note']} {row['model']} {row['precision']} {row['context']}"
)
def test_the_verdict_is_what_was_seen(row):
    need, usable = needed(row)
    assert ("yes" if need <= usable else "no") == row["fits"], f"{need / 1e9:.2f} of {usable / 1e9:.2f} GB"


def test_at_least_ten_limits_are_cited_from_several_sources():
    out_of_memory = [row for row in CITED if row["fits"] == "no"]
    assert len(out_of_memory) >= 10
    assert len({row["source_url"] for row in out_of_memory}) >= 5
    assert all(row["source_url"].startswith("https://") for row in CITED)

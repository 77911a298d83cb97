"""The comparison of keyword engines measures the same thing of each."""

from __future__ import annotations

import pytest
from quaere.evals import keyword_speed
from quaere.evals.keyword_speed import ENGINES, TERMS, make, measure


def test_every_engine_answers_the_same_queries_and_ours_in_the_order_of_the_formula(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = make(400, 2)
    timings = {name: measure(engine, made) for name, engine in ENGINES.items()}
    assert keyword_speed._equal(made, timings["quaere"]) == f"{2 * len(TERMS)} of {2 * len(TERMS)} queries"
    ours, theirs = timings["quaere"].rankings, timings["bm25s"].rankings  # the same formula in float32
    for n in TERMS:
        assert all(len(set(one) & set(other)) >= 9 for one, other in zip(ours[n], theirs[n], strict=True))
    keyword_speed.print_table(400, timings)
    told = capsys.readouterr().out
    assert all(f"| {name} |" in told for name in ENGINES)

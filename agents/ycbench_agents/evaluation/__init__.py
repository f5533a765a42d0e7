"""Evaluation: suites of episodes, what is measured of them, statistics, reports (docs/evaluation.md)."""

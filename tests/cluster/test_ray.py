"""An evaluation on a real cluster of Ray on this machine; ``make ray`` runs this in an environment of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told that this was run
ray = pytest.importorskip("ray")

if TYPE_CHECKING:
    from tests.cluster.conftest import Field


@pytest.fixture
def cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield
    ray.shutdown()


@pytest.mark.usefixtures("cluster")
def test_a_suite_is_played_by_ray_as_by_processes_and_a_worker_that_ends_costs_one_episode(field: Field) -> None:
    field.assert_plays_as_here("ray")

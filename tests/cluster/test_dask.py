"""An evaluation on a real cluster of Dask on this machine; ``make dask`` runs this in an environment of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

distributed = pytest.importorskip("distributed")

if TYPE_CHECKING:
    from tests.cluster.conftest import Field


def test_a_suite_is_played_by_dask_as_by_processes_and_a_worker_that_ends_costs_one_episode(field: Field) -> None:
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster:
        field.assert_plays_as_here("dask", cluster.scheduler_address)

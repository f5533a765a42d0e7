"""An evaluation on a real cluster of Dask on this machine; ``make dask`` runs this in an environment of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ycbench_agents.evaluation import Progress, play_suite

distributed = pytest.importorskip("distributed")

if TYPE_CHECKING:
    from tests.cluster.conftest import Field

HANGS = """
import os, time
from pathlib import Path


class Hangs:
    def reset(self, seed):
        Path({folder!r}, f"pid{{os.getpid()}}").touch()

    def act(self, observation):
        time.sleep(600)
"""


@pytest.fixture
def address() -> Iterator[str]:
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster:
        yield cluster.scheduler_address


def test_a_suite_is_played_by_dask_as_by_processes_and_a_worker_that_ends_costs_one_episode(
    field: Field, address: str
) -> None:
    field.assert_plays_as_here("dask", address)


def test_ctrl_c_ends_the_episodes_that_play(field: Field, address: str) -> None:
    (field.folder / "hanging.py").write_text(HANGS.format(folder=str(field.folder)))
    suite = {"name": "s", "presets": ["default"], "seeds": ["1-3"], "policies": [{"name": "hanging:Hangs"}]}

    class Interrupting(Progress):
        def tick(self) -> None:
            if list(field.folder.glob("pid*")):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_suite(suite, field.folder / "e", backend="dask", address=address, progress=Interrupting())
    for _ in range(600):
        processes = [Path("/proc", path.name.removeprefix("pid")) for path in field.folder.glob("pid*")]
        if not any(process.exists() for process in processes):
            return
        time.sleep(0.1)
    pytest.fail("an episode is still played")

"""A state that was saved before settings were added is read, and goes on as it did."""

from __future__ import annotations

import base64
import zlib

from ycbench_env.testing.tiny import carried_out, started, tiny_config, tiny_state
from ycbench_env.types.command import AcceptTask, Resume
from ycbench_env.types.state import State

SAVED = zlib.decompress(base64.b64decode(
    "eNqtVc+LHEUUru2MmyWEJMKgXoSmz+3QO3HIOrckBxFED4IgIkVNdfVMOdVVnarq3Z2NC4M3L2HwJB78UyReJOLBPebu1YMHc/e9"
    "6p7tnj2sCJkfy9T73vv6ez/q7RePH3229/Y3Hx49e/dpwuZC+2T6NFlI541d0aUQFbWm1rlLpuMsTax4UgvnqZelMLWnTnATwPtZ"
    "Ngq4h7AZ40tTFB162GElO6XMe1FWHsPSBH8Ky3xtRTINJN5UtApB52mSC8etrLw0Opkmn2oRO1nWinmRxyvB7DT2zC1jvjCSizR2"
    "nhWF1PM05kpCNrG3tfNpzPJjYR2zkqkWcaMkTZQxFSbMam8o+DDNBWWFF5aCIA0KJ2mCktsTKtKsBKWJl3oFDKAGCbgpK6ZXtAUf"
    "Cc0Xjw3gC2PlmdEUtWIlIMIz62kOGYDjOBtP3ssO4ZMA9YmxKg96OLc1U+Awq53Uwjm6MDUQYEFYrsBES6npTJ4B06ohvkSe+BWF"
    "miICQNOZHFqKzLkpGQRyaGo4+1WFOqBRoAtMaXLMVC225ceGSytyWlnou5yL/xMDOq51H6O0EHDCbE4LnDPKsTfXPyULr37oVh3N"
    "hfLs2uhsdAhxbimVojNjnP8P7+wc3AUMFcepoV6wkjp5Btj7aSK19DBSu9JbfVkHX8pT4lio9j4os2IKOgWzTwvLeDPi2ej+pMMc"
    "+FuJZQwhJbNL4enMmhOHuRasVp4qWUrIYgIOui5pO95Q3uYM9wvohOgsLQ1eHBfSqIQOj+M4/4rC/fKyAhoLIfjcLV4wuc214h7F"
    "Tq6A/dAgudcZznpjme2AcMWwbrs2qa9y4GA7ztR2U1ztfh9zTDHcRXVZbcV21q9rLY3FzuPl3ukbVBnvx64JerQjsjkHgc0ctrw9"
    "tnEbukVk/vof58TrTiNci85t3CxkGBQosplbXESlVFBuo3GgvvyqRV0luAxj0C6YmWS4L0cPwAFXMDRCqjxQJ9OjwBrMheG1Cx10"
    "vf8ADWTZXKow/T3rHFc/bTvfXuBdGNb/zoW6xEJKk+4M63YJTHkdXBs4jDQCMKVU6DzsXajPUWdtFnhj/6Bd2tAKAQ0+PD8fEHIQ"
    "rTcvf/3pjfWfP9+C0w9vXtzF9+BORJ7/eLv/uTO4ahnc+0Sc1i5++NEt0oSRtz4X1ovT+GM2c8D3B9oOoohEB0MCf8n6u7MXe4Rs"
    "bgwv7kbR9hzBeb+D8fj3aMd9fxjtnG8PyHrzy+bVPll//88efr8NaRAyiMiADAcdOXqTNsn1X6+eDcn6xcVNgq93Dnqk+5sbLwf3"
    "rngC8fPff4uCNyTRgBFEkH8BcKXhzw=="
))  # fmt: skip
"""The tiny world after its first task, with two more accepted, as ``to_bytes`` wrote it before settings were added."""

DIGEST = "094bf56be8b44b7b154a734df49640c8b769eb8c2d48938ae426ebf17efca229"


def test_a_state_without_later_settings_is_read_with_those_that_change_nothing() -> None:
    for name in (b"max_open_tasks", b"adversarial_inflation_passes", b"replacement_numbering"):
        assert name not in SAVED
    state = State.from_bytes(SAVED)
    assert state.config == tiny_config()
    assert state.digest() == DIGEST
    assert State.from_bytes(state.to_bytes()) == state


def test_the_same_play_still_makes_the_same_world() -> None:
    state = carried_out(started(tiny_state(), "Task-1", "Emp_1", "Emp_2"), Resume())
    assert carried_out(state, AcceptTask("Task-2"), AcceptTask("Task-4")) == State.from_bytes(SAVED)


def test_later_settings_survive_in_bytes() -> None:
    config = tiny_config(max_open_tasks=3, adversarial_inflation_passes=2, replacement_numbering="episode")
    state = carried_out(tiny_state(config), AcceptTask("Task-2"), AcceptTask("Task-4"))
    back = State.from_bytes(state.to_bytes())
    assert back == state
    assert back.config.world.max_open_tasks == 3
    assert [task.task_id for task in back.market] == ["Task-1", "Task-0", "Task-3", "Task-1-2"]
    assert carried_out(back, AcceptTask("Task-0")) == carried_out(state, AcceptTask("Task-0"))

"""Whole runs of language models over real connections: faults on the way change nothing, and no secret gets out."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import attrs
import pytest

from ycbench_agents.base import Json, JsonObject
from ycbench_agents.llm.client import OpenAIChat
from ycbench_agents.llm.loopback import (
    SOME_OF_EACH,
    Answer,
    FaultPlan,
    LoggedRequest,
    LoopbackFault,
    LoopbackServer,
    Model,
    ScriptedReply,
    Stall,
    Status,
    Trickle,
    chaotic_model,
    greedy_model,
    text_model,
)
from ycbench_agents.llm.loopback.scripted import tool_call
from ycbench_agents.llm.policy import LLMPolicy
from ycbench_agents.llm.pricing import load_prices
from ycbench_agents.llm.public import public_settings
from ycbench_agents.llm.reply import RUN_COMMAND
from ycbench_agents.llm.settings import LLMSettings
from ycbench_agents.records import PlayedRun, RunPlan, Runtime, TurnRecord, play_many, play_run_sync, read_run, same_run

KEY = "sk-test-4f1dA9c0e7b2PLANTED83d6Zq"
HEADER = "hdr-PLANTED-77c1f0a2b9d4"
NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
TIMEOUT_S = 3.0  # far above what a reply takes here, also on a busy machine; stalled replies take all of it
EVERY_KIND: tuple[LoopbackFault, ...] = (
    *SOME_OF_EACH,
    Status(429, retry_after="2"),
    Status(429, retry_after="Mon, 30 Nov 2026 12:00:07 GMT"),
    Answer(503, "<html>busy", {"Retry-After": "1"}, "text/html"),
    Stall(60.0),
    Trickle(0.005),
)
STORM = FaultPlan({2 * place + 1: fault for place, fault in enumerate(EVERY_KIND)}, rate=0.3, seed=4)
"""Each kind once, early, with a reply after each; then three of ten requests."""


class Waits:
    """Waits nothing, and notes how long it was asked to."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await asyncio.sleep(0)


def settings_of(values: dict[str, object]) -> LLMSettings:
    return LLMSettings.from_mapping({"model": "m", "timeout_s": TIMEOUT_S, "max_retries": 20, **values})


def chat_with(server: LoopbackServer, settings: LLMSettings, waits: Waits | None = None) -> OpenAIChat:
    """A client that finds its server in the environment, so that runs against two servers have one identity."""
    environ = {"OPENAI_BASE_URL": server.base_url}
    return OpenAIChat(settings, environ=environ, sleep=waits or Waits(), now=lambda: NOW)


def plan_of(folder: Path, chat: OpenAIChat, settings: LLMSettings, seed: int = 1, **changes: object) -> RunPlan:
    plan = RunPlan(
        folder=folder,
        config="default",
        seed=seed,
        policy=LLMPolicy(chat, settings, "default"),
        name="llm",
        settings=public_settings(settings, load_prices()),
        model=settings.model,
    )
    return attrs.evolve(plan, **changes)


@attrs.frozen
class Played:
    """A run, and what its server saw of it."""

    folder: Path
    requests: tuple[LoggedRequest, ...]
    waits: Waits
    turns: tuple[TurnRecord, ...]


def played(folder: Path, model: Model, values: dict[str, object], faults: FaultPlan | None = None) -> Played:
    """Play a year to its end."""
    settings, waits = settings_of(values), Waits()
    with LoopbackServer(model, faults) as server:
        plan = plan_of(folder, chat_with(server, settings, waits), settings, max_turns=1_000)  # no year is as long
        run = play_run_sync(plan)
        requests = server.requests
    assert run.record.outcome.status == "finished", run.record.outcome.reason
    return Played(folder, requests, waits, tuple(run.record.turns()))


def lines_without_transport(folder: Path) -> list[bytes]:
    """The lines of a run's turns up to what may differ, which stands last; keys in texts have their quotes escaped."""
    lines = (folder / "turns.jsonl").read_bytes().splitlines()
    parts = [line.rpartition(b',"transport":') for line in lines]
    assert all(rest.count(b'"time":') == 1 and separator for _, separator, rest in parts)
    return [kept for kept, _, _ in parts]


def bodies(requests: tuple[LoggedRequest, ...]) -> list[str]:
    """The requests, one that was sent several times in a row once."""
    return [body for body, _ in itertools.groupby(json.dumps(logged.body, sort_keys=True) for logged in requests)]


def told_commands(turn: TurnRecord) -> list[object]:
    return [result["command"] for result in turn.results if isinstance(result, dict)]


def call(command: str) -> Json:
    return tool_call("call_1", RUN_COMMAND, {"command": command})


# ---- faults on the way


YEARS: dict[str, tuple[Model, dict[str, object]]] = {
    "greedy": (greedy_model, {}),
    "greedy in writing": (text_model, {"mode": "text", "keep_turns": 3}),
    "chaotic": (chaotic_model(5), {"keep_turns": 2, "replay_reasoning": ["reasoning_content", "reasoning_details"]}),
    "chaotic in writing": (chaotic_model(6), {"mode": "text", "keep_turns": 1}),
}


@pytest.mark.parametrize("year", list(YEARS))
def test_a_year_full_of_faults_has_the_record_of_a_calm_one(year: str, tmp_path: Path) -> None:
    model, values = YEARS[year]
    calm = played(tmp_path / "calm", model, values)
    stormy = played(tmp_path / "stormy", model, values, STORM)

    assert same_run(read_run(stormy.folder), read_run(calm.folder)) == []
    assert lines_without_transport(stormy.folder) == lines_without_transport(calm.folder)
    # Commands ran once each: the world and what it answered are the same after every turn.
    assert [turn.state_hash for turn in stormy.turns] == [turn.state_hash for turn in calm.turns]
    assert [told_commands(turn) for turn in stormy.turns] == [told_commands(turn) for turn in calm.turns]
    assert stormy.turns[-1].terminal_reason in {"bankruptcy", "horizon_end"}

    # The storm was one, and each request was sent again as it was: no message came twice, and none was refused.
    assert {repr(logged.fault) for logged in stormy.requests} >= {repr(fault) for fault in EVERY_KIND}
    assert bodies(stormy.requests) == bodies(calm.requests)
    assert len(bodies(calm.requests)) == len(calm.requests) == len(calm.turns)
    assert {logged.status for logged in calm.requests} == {200}
    check_transport(stormy, calm)


def check_transport(stormy: Played, calm: Played) -> None:
    """Waits are those that servers asked for, and what went wrong stands where records may differ."""
    assert {7.0, 2.0, 1.0, 0.0} <= set(stormy.waits.asked)
    assert calm.waits.asked == []
    faults = [turn.transport["faults"] for turn in stormy.turns if turn.transport is not None]
    attempts = [turn.transport["attempts"] for turn in stormy.turns if turn.transport is not None]
    assert attempts == [1 + len(told) for told in faults if isinstance(told, list)]
    text = json.dumps(faults)
    for told in ("HTTP 429", "HTTP 500", "HTTP 502", "HTTP 503", "no reply within", "connection failed"):
        assert told in text


def test_a_reply_that_comes_after_its_time_out_never_acts(tmp_path: Path) -> None:
    seen: set[str] = set()

    def late_at_first(request: JsonObject) -> ScriptedReply:
        """Answer each sixth request too late, when it comes for the first time."""
        text = json.dumps(request)
        if text not in seen and len(seen) % 12 == 5:
            seen.add(text)
            time.sleep(0.4)
        seen.add(text)
        return greedy_model(request)

    calm = played(tmp_path / "calm", greedy_model, {"timeout_s": 0.25})
    late = played(tmp_path / "late", late_at_first, {"timeout_s": 0.25})
    assert sum(turn.transport != {**(turn.transport or {}), "attempts": 1} for turn in late.turns) >= 5
    assert lines_without_transport(late.folder) == lines_without_transport(calm.folder)


def test_runs_side_by_side_through_one_client_are_as_they_are_alone(tmp_path: Path) -> None:
    settings = settings_of({"keep_turns": 2})
    storm = FaultPlan(rate=0.4, seed=9)

    def plans(server: LoopbackServer, folder: Path) -> list[RunPlan]:
        chat = chat_with(server, settings)
        return [plan_of(folder / str(seed), chat, settings, seed, max_turns=25) for seed in range(6)]

    with LoopbackServer(chaotic_model(2), storm) as server:
        together = asyncio.run(play_many(plans(server, tmp_path / "together"), concurrency=6))
    with LoopbackServer(chaotic_model(2)) as server:
        alone = [play_run_sync(plan) for plan in plans(server, tmp_path / "alone")]
    for one, other in zip(together, alone, strict=True):
        assert isinstance(one, PlayedRun)
        assert same_run(one.record, other.record) == []
        assert lines_without_transport(one.record.folder) == lines_without_transport(other.record.folder)


def test_a_policy_that_has_played_before_plays_the_next_episode_like_a_new_one(tmp_path: Path) -> None:
    settings = settings_of({})
    with LoopbackServer(chaotic_model(8)) as server:
        chat = chat_with(server, settings)
        used = plan_of(tmp_path / "first", chat, settings, max_turns=12)
        play_run_sync(used)
        again = play_run_sync(attrs.evolve(used, folder=tmp_path / "again", seed=2))
        new = play_run_sync(plan_of(tmp_path / "new", chat, settings, 2, max_turns=12))
    assert same_run(again.record, new.record) == []


# ---- what retrying does not help


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Status(401, message="Incorrect API key provided"), "HTTP 401: Incorrect API key provided"),
        (Status(404, message="no such model"), "HTTP 404: no such model"),
        (Status(429, message="quota used up", code="insufficient_quota"), "HTTP 429: quota used up"),
    ],
    ids=["401", "404", "quota"],
)
def test_a_refusal_for_good_stops_a_run_at_once_with_its_reason_and_it_goes_on_later(
    fault: Status, told: str, tmp_path: Path
) -> None:
    settings = settings_of({})

    def plan(server: LoopbackServer, name: str) -> RunPlan:
        return plan_of(tmp_path / name, chat_with(server, settings), settings, max_turns=15)

    with LoopbackServer(greedy_model) as server:
        calm = play_run_sync(plan(server, "calm")).record
        expected = bodies(server.requests)
    with LoopbackServer(greedy_model, FaultPlan({11: fault})) as server:
        stopped = play_run_sync(plan(server, "run")).record
        assert len(server.requests) == 11
        assert (stopped.outcome.status, stopped.outcome.turns) == ("stopped", 10)
        assert told in (stopped.outcome.reason or "")
        resumed = play_run_sync(plan(server, "run"))
        assert bodies(server.requests) == expected  # the refused one once more, nothing before it
    assert resumed.replayed_turns == 10
    assert same_run(resumed.record, calm) == []


def test_a_small_context_shrinks_the_window_and_the_year_goes_on_also_through_a_resume(tmp_path: Path) -> None:
    def play(folder: Path, stops_after: int | None = None) -> tuple[PlayedRun, tuple[LoggedRequest, ...]]:
        turns = itertools.count()
        runtime = Runtime(keep_going=lambda: stops_after is None or next(turns) < stops_after)
        with LoopbackServer(greedy_model, context_tokens=5_000) as server:
            return play_run_sync(plan_of(folder, chat_with(server, settings), settings), runtime), server.requests

    settings = settings_of({"keep_turns": 30})
    whole, requests = play(tmp_path / "whole")
    too_long = [json.dumps(logged.body) for logged in requests if logged.status == 400]
    assert too_long
    assert len(set(too_long)) == len(too_long)  # never the same request again
    turns = list(whole.record.turns())
    sizes = [turn.trace["shrunk_to"] for turn in turns if turn.trace is not None]
    assert sizes[0] is None
    assert sizes[-1] is not None
    assert whole.record.is_finished
    play(tmp_path / "halves", stops_after=len(turns) // 2)
    halves, later = play(tmp_path / "halves")
    assert halves.replayed_turns == len(turns) // 2
    assert same_run(halves.record, whole.record) == []
    assert not [logged for logged in later if logged.status == 400]  # the smaller window was remembered


# ---- models that are of no use


@pytest.mark.parametrize(
    "said",
    [ScriptedReply(None), ScriptedReply("Let me think."), ScriptedReply(None, [call("sim resume")])],
    ids=["nothing", "prose", "resume with nothing to wait for"],
)
def test_the_year_of_a_model_that_never_acts_comes_to_its_end(said: ScriptedReply, tmp_path: Path) -> None:
    year = played(tmp_path, lambda _: said, {"keep_turns": 3})
    assert year.turns[-1].terminal_reason == "bankruptcy"
    assert {logged.status for logged in year.requests} == {200}


def test_two_megabytes_from_a_model_are_answered_and_do_not_stay_in_later_requests(tmp_path: Path) -> None:
    huge = "x" * 2_000_000

    def model(request: JsonObject) -> ScriptedReply:
        assert isinstance(request["messages"], list)
        if len(request["messages"]) > 2:
            return ScriptedReply(None, [call("company status")])
        return ScriptedReply(huge, [call(f"scratchpad write --content {huge}"), call("company status")])

    settings = settings_of({})
    with LoopbackServer(model) as server:
        run = play_run_sync(plan_of(tmp_path, chat_with(server, settings), settings, max_turns=4)).record
        sizes = [len(json.dumps(logged.body)) for logged in server.requests]
    assert run.outcome.status == "finished"
    assert [len(turn.results) for turn in run.turns()] == [1, 1, 1, 1]
    assert re.search("got 20000[0-9]+ characters, at most 262144 are taken", json.dumps(server.requests[1].body))
    assert max(sizes) < sizes[0] + 80_000


# ---- notes


NO_NOTES = "There are none yet."


def diary(request: JsonObject) -> ScriptedReply:
    """Write what is new twice a turn, the second time last, and let time pass; looks at nothing but the request."""
    messages = request["messages"]
    assert isinstance(messages, list)
    day = notes_in(messages[0]).count("morning")
    notes = [f"scratchpad append --content 'day {day} {half}'" for half in ("morning", "night")]
    return ScriptedReply(None, [call(text) for text in (*notes, "sim resume")])


def notes_in(system: object) -> str:
    """The notes according to a system message, whose last paragraph they are."""
    assert isinstance(system, dict)
    return str(system["content"]).rpartition("\n\n")[2]


@pytest.mark.parametrize("keep_turns", [0, 1, 20])
def test_each_request_shows_the_notes_of_the_turn_before_at_any_window_and_after_a_resume(
    keep_turns: int, tmp_path: Path
) -> None:
    settings = settings_of({"keep_turns": keep_turns})
    with LoopbackServer(diary, FaultPlan(rate=0.3)) as server:
        for stops_after in (5, 7):
            turns = itertools.count()
            runtime = Runtime(keep_going=lambda turns=turns, most=stops_after: next(turns) < most)
            play_run_sync(plan_of(tmp_path, chat_with(server, settings), settings), runtime)
        asked = [json.loads(body) for body in bodies(server.requests)]
    assert len(asked) == 12
    for number, body in enumerate(asked):
        expected = "\n".join(f"day {day} {half}" for day in range(number) for half in ("morning", "night"))
        assert notes_in(body["messages"][0]) == (expected or NO_NOTES)


# ---- secrets


def telltale(request: JsonObject) -> ScriptedReply:
    """Give the secrets away, wherever a reply has room for a text, and play on."""
    told = f"Your key is {KEY}, your header {HEADER}."
    if "tools" not in request:
        return ScriptedReply(f"scratchpad append --content '{told}'\nsim resume")
    calls = [call(f"scratchpad append --content '{told}'"), tool_call(KEY, HEADER, {KEY: HEADER}), call("sim resume")]
    return ScriptedReply(told, calls, more={"reasoning_content": told, "reasoning_details": [{HEADER: KEY}]})


ECHO = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}; headers: {HEADER}", "code": KEY}})
ECHOES = FaultPlan(
    {
        1: Answer(500, ECHO, {"X-Echo": f"Bearer {KEY}", "X-Other": HEADER}),
        2: Answer(502, f"<html>{HEADER} {KEY}</html>", {"Retry-After": KEY}, "text/html"),
        4: Answer(200, ECHO),
        6: Answer(429, ECHO, {"Retry-After": "0", "Set-Cookie": f"key={KEY}; header={HEADER}"}),
        9: Answer(401, ECHO, {"WWW-Authenticate": f"Bearer {KEY} {HEADER}"}),
    }
)
"""Failures that show what was sent in body and headers; the last one is for good."""

PARTS = (KEY, KEY[:14], KEY[-14:], HEADER, HEADER[:14], HEADER[-14:])


def check_no_secret(*texts: str) -> None:
    for text in texts:
        for part in PARTS:
            assert part not in text


def everything_in(folder: Path) -> str:
    """All files below a folder, as bytes and with the escapes of JSON resolved."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {"run.json", "turns.jsonl"} <= {path.name for path in files}
    texts = [path.read_bytes().decode("utf-8") for path in files]
    return "\n".join([*map(str, files), *texts, *(text.encode().decode("unicode_escape") for text in texts)])


@pytest.mark.parametrize("mode", ["tools", "text"])
def test_no_secret_that_a_server_gives_away_reaches_record_error_or_log(
    mode: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in (None, "openai", "httpx", "httpx2", "httpcore", "httpcore2"):
        caplog.set_level(logging.DEBUG, logger=name)
    settings = settings_of({"extra_headers": {"X-Own-Token": f"Token {HEADER}"}, "mode": mode, "backoff_s": 0})
    with LoopbackServer(telltale, ECHOES, api_key=KEY) as server:
        environ = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}
        chat = OpenAIChat(settings, environ=environ, sleep=Waits())
        run = play_run_sync(plan_of(tmp_path, chat, settings), Runtime(environ=environ)).record
        told = repr(chat)
    assert [logged.status for logged in server.requests] == [500, 502, 200, 200, 200, 429, 200, 200, 401]
    assert (run.outcome.status, run.outcome.turns) == ("stopped", 4)
    assert "HTTP 401: Incorrect API key provided: [redacted]" in (run.outcome.reason or "")
    assert "Your key is [redacted], your header [redacted]" in everything_in(tmp_path)
    assert any("receive_response_headers.complete" in record.getMessage() for record in caplog.records)
    check_no_secret(everything_in(tmp_path), caplog.text, told, repr(run))


def test_a_key_that_comes_in_the_escapes_of_json_is_hidden_all_the_same(tmp_path: Path) -> None:
    settings = settings_of({})
    message = {"role": "assistant", "content": "PLACE"}
    body = json.dumps({"choices": [{"message": message}]}).replace("PLACE", "".join(f"\\u{ord(c):04x}" for c in KEY))
    with LoopbackServer(greedy_model, FaultPlan({3: Answer(200, body)})) as server:
        environ = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}
        plan = plan_of(tmp_path, OpenAIChat(settings, environ=environ), settings, max_turns=4)
        record = play_run_sync(plan, Runtime(environ=environ)).record
    check_no_secret(everything_in(tmp_path))
    assert (record.outcome.status, record.outcome.turns) == ("finished", 4)
    assert "[redacted]" in everything_in(tmp_path)


@pytest.mark.parametrize("resumed", [False, True], ids=["run", "resume"])
def test_no_secret_that_a_server_gives_away_is_printed_or_kept_by_the_program(resumed: bool, tmp_path: Path) -> None:
    with LoopbackServer(telltale, ECHOES, api_key=KEY) as server:
        environ = {**os.environ, "OPENAI_API_KEY": KEY, "OPENAI_LOG": "debug"}
        records = str(tmp_path / "records")
        common = ["--header", f"X-Own-Token: Token {HEADER}", "--no-live"]
        address = f"{server.base_url}?sig={HEADER}"
        run = ["run", "--policy", "llm", "--model", "telltale", "--base-url", server.base_url, "--records", records]
        program = [sys.executable, "-m", "ycbench_agents.cli"]
        outputs = [ycbench([*program, *run, "--param", "backoff_s=0", "--max-turns", "9", *common], environ)]
        if resumed:
            outputs.append(ycbench([*program, "resume", records, "--base-url", address, *common], environ))
    codes, texts = [code for code, _ in outputs], "".join(text for _, text in outputs)
    assert codes == ([1, 0] if resumed else [1])
    assert "DEBUG" in texts
    assert "HTTP 401: Incorrect API key provided: [redacted]" in texts
    check_no_secret(texts, everything_in(tmp_path / "records"))


def ycbench(command: list[str], environ: dict[str, str]) -> tuple[int, str]:
    """Exit code of a command, and all that it printed."""
    done = subprocess.run(
        command, env=environ, check=False, timeout=120, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.returncode, done.stdout

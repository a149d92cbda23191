"""Claude's own program as the model: a stand-in for what can go wrong, and the real one against the local model server."""

import json
import os
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings
from pytest_django import Settings

from conversations.context.tokens.estimate import estimate_tokens
from conversations.providers.base import (
    Finished,
    ProviderError,
    ProviderEvent,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ThinkingStarted,
    Usage,
)
from conversations.providers.claude_cli import ClaudeCliProvider, slow
from conversations.providers.claude_cli_output import Output
from conversations.providers.deadline import Deadline
from conversations.providers.errors import SENTENCES, StreamError
from conversations.providers.messages_api import RequestParts
from conversations.providers.thinking import ThinkingPlan
from tests import model_scripts as scripts
from tests.claude_cli.playing import RESULT, Play, Step, closing_steps, opening_steps, play
from tests.conversations.providers.events import without_usage
from tests.model_server import ModelServer
from tests.waiting import until

__all__ = ["play"]

KEY = "sk-local-never-shown"
TEXT = "Grüß dich, 世界 👋 @/etc/hostname"
USAGE = Usage(input_tokens=12, output_tokens=7, cache_read_input_tokens=5, cache_creation_input_tokens=3)
END = Finished(stop_reason="end_turn", usage=USAGE, request_id="req_local", message_id="msg_local", model="local")

ADAPTIVE = ThinkingPlan(mode="adaptive", display="omitted", effort="low", room=40)

provider = ClaudeCliProvider()


def payload(text: str = TEXT, system: str = "Be brief.", plan: ThinkingPlan = ADAPTIVE) -> dict[str, Any]:
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    return provider.render(
        RequestParts(
            model="claude-local",
            max_tokens=64,
            system=[{"type": "text", "text": system}],
            messages=messages,
            thinking=plan,
        )
    )


async def events_of(request: dict[str, Any]) -> list[ProviderEvent]:
    return [event async for event in without_usage(provider.stream(request))]


async def failure_of(request: dict[str, Any]) -> tuple[list[ProviderEvent], tuple[str, bool, int | None, str]]:
    events: list[ProviderEvent] = []
    with pytest.raises(ProviderError) as raised:
        async for event in without_usage(provider.stream(request)):
            events.append(event)
    error = raised.value
    return events, (error.code, error.retryable, error.status, error.message)


@pytest.fixture(autouse=True)
def configured(settings: Settings) -> None:
    settings.ANTHROPIC_API_KEY = KEY
    settings.ANTHROPIC_BASE_URL = ""
    settings.OPENBOOK_FIRST_TOKEN_SECONDS = settings.OPENBOOK_STALL_SECONDS = 30.0


def has_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{pid}/stat")  # a container without an init keeps the dead
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


def is_there(folder: str) -> bool:
    return Path(folder).exists()


async def test_a_reply_streams_in_and_ends_with_its_usage(play: Play) -> None:
    play({"text": "A notice for people\n\n"}, *opening_steps("Hello ", "world"), *closing_steps())
    assert await events_of(payload()) == [TextDelta(text="Hello "), TextDelta(text="world"), END]


async def test_it_is_told_the_conversation_and_nothing_else(
    play: Play, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "secret")
    told = tmp_path / "told.json"
    play({"filler": 1_000_000}, {"tell": str(told)}, *opening_steps("Yes"), *closing_steps())
    request = payload("long " * 400_000, "Base. " * 50_000)
    assert await events_of(request) == [TextDelta(text="Yes"), END]
    seen = json.loads(told.read_text())
    sent = {"system_prompt": "Base. " * 50_000, "standard_input": "Human: " + "long " * 400_000}
    effort = {"arguments": ["--effort", "low"], "environment": {}}
    assert (request["sent"], seen["system"], seen["input"]) == (sent | effort, *sent.values())
    assert not any("long" in argument or "Base" in argument for argument in seen["arguments"])
    assert seen["arguments"][seen["arguments"].index("--tools") + 1] == ""
    assert seen["arguments"][seen["arguments"].index("--model") + 1] == "claude-local"
    assert (seen["beside"], is_there(seen["folder"])) == ([], False)
    environment = seen["environment"]
    assert {"SECRET_OF_THE_SERVER", "DATABASE_URL", "SECRET_KEY"}.isdisjoint(environment)
    assert (environment["ANTHROPIC_API_KEY"], environment["CLAUDE_CODE_MAX_OUTPUT_TOKENS"]) == (KEY, "64")
    assert Path(environment["HOME"]).parent == Path(seen["folder"]).parent


async def test_a_login_that_is_named_takes_the_place_of_the_key(play: Play, tmp_path: Path, settings: Settings) -> None:
    settings.OPENBOOK_CLAUDE_LOGIN = "/a/login"
    play({"tell": str(tmp_path / "told.json")}, *opening_steps("Yes"), *closing_steps())
    await events_of(payload())
    environment = json.loads((tmp_path / "told.json").read_text())["environment"]
    assert (environment["CLAUDE_CONFIG_DIR"], "ANTHROPIC_API_KEY" in environment) == ("/a/login", False)


async def test_what_it_is_called_with_is_recorded_but_for_secrets(play: Play, tmp_path: Path) -> None:
    play({"tell": str(tmp_path / "told.json")}, *opening_steps("Yes"), *closing_steps())
    request = payload()
    await events_of(request)
    seen, recorded = json.loads((tmp_path / "told.json").read_text()), request["program"]
    arguments = [*recorded["arguments"], *request["sent"]["arguments"]]
    named = {"{model}": "claude-local", "{system_prompt}": seen["arguments"][arguments.index("{system_prompt}")]}
    assert [named.get(argument, argument) for argument in arguments] == seen["arguments"]
    shell_sets = {"PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}
    assert set(recorded["environment"]) - shell_sets == set(seen["environment"]) - shell_sets
    assert (recorded["environment"]["ANTHROPIC_API_KEY"], recorded["environment"]["HOME"]) == ("{server}", "{home}")
    assert recorded["environment"]["DISABLE_COMPACT"] == seen["environment"]["DISABLE_COMPACT"] == "1"
    assert (recorded["version"], KEY in json.dumps(request)) == ("2.1.330 (Claude Code)", False)


async def test_it_is_called_as_recorded(play: Play, tmp_path: Path) -> None:
    play({"tell": str(tmp_path / "told.json")}, *opening_steps("Yes"), *closing_steps())
    request = payload()
    request["program"] = provider.program() | {
        "arguments": ["--of-then", "--system-prompt-file", "{system_prompt}"],
        "environment": {"OF_THEN": "1", "ANTHROPIC_API_KEY": "{server}", "MOST": "{max_tokens}"},
    }
    await events_of(request)
    seen = json.loads((tmp_path / "told.json").read_text())
    assert seen["arguments"][:2] == ["--of-then", "--system-prompt-file"]
    assert {"OF_THEN": "1", "ANTHROPIC_API_KEY": KEY, "MOST": "64"}.items() <= seen["environment"].items()


async def test_what_the_cli_says_of_itself_is_in_the_record(play: Play) -> None:
    began = {"claude_code_version": "2.1.330", "model": "claude-local", "tools": ["Odd"], "cwd": "/gone"}
    play({"line": {"type": "system", "subtype": "init", **began}}, *opening_steps("Yes"), *closing_steps())
    *_, end = await events_of(payload())
    told = {"claude_code_version": "2.1.330", "model": "claude-local", "tools": ["Odd"]}
    assert isinstance(end, Finished)
    assert end.diagnostics == {"program": told}


@pytest.mark.parametrize(
    ("says_version", "said"),
    [
        ("echo '2.1.301 (Claude Code)'", " It says: “2.1.301 (Claude Code)”"),
        ("echo '1.9.999 (Claude Code)'", " It says: “1.9.999 (Claude Code)”"),
        ("echo hello", " It says: “hello”"),
        ("exit 1", ""),
    ],
)
async def test_a_program_that_is_too_old_is_a_clear_error(play: Play, says_version: str, said: str) -> None:
    play(*opening_steps("Yes"), *closing_steps(), says_version=says_version)
    obstacle = provider.obstacle()
    message = (
        "The Claude CLI is too old, or does not say its version: 2.1.302 or newer is needed. "
        f"Whoever runs this Openbook has to update it.{said}"
    )
    assert obstacle and (obstacle.code, obstacle.message) == ("cli_version", message)
    assert await failure_of(payload()) == ([], ("cli_version", False, None, message))


@pytest.mark.parametrize("version", ["2.1.302 (Claude Code)", "2.2.0 (Claude Code)", "3.0.0-beta.1"])
def test_newer_programs_will_do(play: Play, version: str) -> None:
    play(says_version=f"echo '{version}'")
    assert provider.obstacle() is None


async def test_a_program_is_asked_for_its_version_once_until_it_is_another(play: Play, tmp_path: Path) -> None:
    play(*opening_steps("Yes"), *closing_steps())
    for _ in range(3):
        assert await events_of(payload()) == [TextDelta(text="Yes"), END]
        assert provider.obstacle() is None
    assert (tmp_path / "versions_asked").read_text() == "x\n"
    play(says_version="echo '2.0.1'")
    assert provider.program()["version"] == "2.0.1"


async def test_a_line_may_be_megabytes_long(play: Play) -> None:
    long = "word " * 1_000_000
    play(*opening_steps(long), *closing_steps())
    assert await events_of(payload()) == [TextDelta(text=long), END]


@pytest.mark.parametrize("reason", ["max_tokens", "tool_use", "refusal", "a_new_one"])
async def test_an_answer_that_is_cut_short_ends_where_it_was_cut(play: Play, reason: str) -> None:
    """Not where the CLI would end, which asks for more by itself."""
    more = opening_steps("Resumed")
    play(*opening_steps("So far"), *closing_steps(reason)[:-1], *more, *closing_steps())
    cut = Finished(stop_reason=reason, usage=USAGE, request_id="req_local", message_id="msg_local", model="local")
    assert await events_of(payload()) == [TextDelta(text="So far"), cut]


OVERLOADED = {"type": "assistant", "is_api_error_message": True, "api_error_status": 529, "message": {"content": []}}


@pytest.mark.parametrize(
    ("steps", "said", "code", "status", "detail"),
    [
        ([{"text": '{"type": "stream_ev\n'}, *closing_steps()], "", "bad_stream", None, ""),
        ([*opening_steps("Half "), {"text": '{"type": "stream_event", "ev'}], "Half ", "cut_off", None, ""),
        ([*opening_steps("Half "), *closing_steps()[:-1]], "Half ", "cut_off", None, ""),
        ([], "", "cut_off", None, ""),
        (opening_steps("Half ") + opening_steps("Whole") + closing_steps(), "Half ", "cut_off", None, ""),
        ([{"stderr": f"Trace\nDon't use {KEY}\nnor sk-ant-oat01-x_y\n\nBad option\n"}, {"exit": 1}], "", "cli_failed",
         None, "Don't use … nor … Bad option"),
        ([{"exit": 3}], "", "cli_failed", None, "It ended with status 3."),
        ([*opening_steps("Half "), {"kill": 9}], "Half ", "cli_killed", None, ""),
        ([*opening_steps("Half "), {"line": OVERLOADED}, *closing_steps()], "Half ", "overloaded", 529, ""),
        ([{"line": {**RESULT, "is_error": True, "result": "Odd"}}], "", "cli_failed", None, "Odd"),
    ],
)  # fmt: skip
async def test_what_goes_wrong_is_a_clear_error(
    play: Play, steps: list[Step], said: str, code: str, status: int | None, detail: str
) -> None:
    play(*steps)
    events, error = await failure_of(payload())
    retryable, sentence = SENTENCES[code]
    message = sentence + (f" It says: “{detail}”" if detail else "")
    assert ("".join(e.text for e in events if isinstance(e, TextDelta)), error) == (
        said,
        (code, retryable, status, message),
    )


@pytest.mark.parametrize(
    ("line", "code", "detail"),
    [
        ({"api_error_type": "billing_error", "result": "Pay"}, "permission", "Pay"),
        ({"api_error_status": 404, "result": "No model"}, "model_not_found", "No model"),
        ({"error": "authentication_failed", "result": "Not logged in"}, "authentication", "Not logged in"),
        ({"api_error": "connection_failed", "result": "Refused"}, "unreachable", "Refused"),
        ({"result": "Prompt is too long"}, "request_too_large", "Prompt is too long"),
        ({"subtype": "error_max_turns", "errors": ["Too many"]}, "cli_failed", "Too many"),
        ({"api_error_status": "529", "result": 7}, "cli_failed", ""),
    ],
)
def test_the_words_of_the_cli_become_openbooks(line: Step, code: str, detail: str) -> None:
    with pytest.raises(StreamError) as raised:
        Output().take(json.dumps({"type": "result", "is_error": True, **line}).encode())
    assert (raised.value.code, raised.value.detail) == (code, detail)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"OPENBOOK_CLAUDE_CLI": "no-such-program"}, "cli_missing"),
        ({"OPENBOOK_CLAUDE_CLI": __file__}, "cli_missing"),
        ({"ANTHROPIC_API_KEY": ""}, "cli_login"),
        ({"ANTHROPIC_API_KEY": "", "OPENBOOK_CLAUDE_LOGIN": "/a/login"}, None),
        ({}, None),
    ],
)
def test_what_keeps_it_from_answering_is_known_beforehand(
    play: Play, changed: dict[str, str], code: str | None
) -> None:
    play()
    with override_settings(**changed):
        obstacle = provider.obstacle()
        assert (obstacle and obstacle.code) == code


async def test_a_program_that_cannot_be_run_is_a_clear_error(settings: Settings, tmp_path: Path) -> None:
    settings.OPENBOOK_CLAUDE_CLI = "no-such-program"
    assert (await failure_of(payload()))[1][0] == "cli_missing"
    broken = tmp_path / "claude"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o700)
    settings.OPENBOOK_CLAUDE_CLI = str(broken)
    assert (await failure_of(payload()))[1][0] == "cli_missing"
    obstacle = provider.obstacle()
    assert obstacle and obstacle.code == "cli_missing"


@pytest.mark.parametrize(
    ("setting", "steps", "code"),
    [
        ("FIRST_TOKEN", [{"wait": 600}], "timeout"),
        ("STALL", [*opening_steps("Half "), {"wait": 600}], "stalled"),
        ("STALL", [*opening_steps("Whole"), *closing_steps()[:-1], {"wait": 600}], "stalled"),
    ],
)
async def test_a_cli_that_hangs_is_given_up(
    play: Play, settings: Settings, setting: str, steps: list[Step], code: str
) -> None:
    setattr(settings, f"OPENBOOK_{setting}_SECONDS", 0.5)
    play(*steps)
    assert (await failure_of(payload()))[1][0] == code


@pytest.mark.parametrize(
    ("retry", "code"),
    [
        ({"error_status": 429}, "rate_limited"),
        ({"error_status": None}, "unreachable"),
        ({"error_status": 529, "retry_delay_ms": 120_000}, "overloaded"),
    ],
)
def test_a_cli_that_tries_in_vain_tells_why(retry: Step, code: str) -> None:
    """In the end, and at once where it would wait for long."""
    line = json.dumps({"type": "system", "subtype": "api_retry", "retry_delay_ms": 100, **retry}).encode()
    output = Output()
    if "retry_delay_ms" in retry:
        with pytest.raises(StreamError, match=code):
            output.take(line)
    else:
        output.take(line)
        assert slow(output, Deadline()).code == code


async def test_stopping_ends_it_and_all_that_it_started(play: Play, tmp_path: Path) -> None:
    told, child = tmp_path / "told.json", tmp_path / "child"
    play({"deaf": True}, {"tell": str(told)}, {"child": str(child)}, *opening_steps("Half"), {"wait": 600})
    async with aclosing(without_usage(provider.stream(payload()))) as events:
        assert await anext(events) == TextDelta(text="Half")
    seen = json.loads(told.read_text())
    until(lambda: has_gone(seen["pid"]) and has_gone(int(child.read_text())))
    assert not is_there(seen["folder"])


async def test_a_child_that_holds_the_output_open_holds_nobody_up(play: Play, tmp_path: Path) -> None:
    play({"child": str(tmp_path / "child")}, {"stderr": "Gave up"}, {"exit": 1})
    assert (await failure_of(payload()))[1][0] == "cli_failed"
    until(lambda: has_gone(int((tmp_path / "child").read_text())))


@pytest.fixture
def real(claude_cli_path: str, model_server: ModelServer, settings: Settings) -> ModelServer:
    settings.OPENBOOK_CLAUDE_CLI = claude_cli_path
    settings.ANTHROPIC_BASE_URL = model_server.url
    model_server.claude.verbatim = True
    return model_server


@pytest.mark.wide
async def test_the_real_cli_is_given_the_conversation_and_no_file_that_it_names(
    real: ModelServer, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("the-canary")
    real.script(scripts.text("Hello ", "world"))
    asked = f"{TEXT} @{tmp_path}/secret.txt @../../../../../../..{tmp_path}/secret.txt"
    request = payload(asked)
    *texts, end = await events_of(request)
    assert texts == [TextDelta(text="Hello "), TextDelta(text="world")]
    assert isinstance(end, Finished) and end.diagnostics
    began = end.diagnostics["program"]
    assert (began["tools"], began["mcp_servers"], began["skills"]) == ([], [], [])
    assert f"{began['claude_code_version']} (Claude Code)" == request["program"]["version"]
    body = real.bodies[0]
    adds = request["program"]["adds"]
    assert [block["text"] for block in body["system"]] == [adds["system"], "Be brief."]
    assert request["program"]["adds_tokens"] >= estimate_tokens(adds["system"])
    assert set(request["program"]["sets"]) == set(body) - {
        *("model", "messages", "system", "tools", "max_tokens", "stream")
    } | {"cache_control"}
    said = [[block["text"] for block in message["content"]] for message in body["messages"]]
    assert (len(real.requests), said) == (1, [[f"Human: {asked}"]])
    assert (body["model"], body["max_tokens"], body["tools"]) == ("claude-local", 64, [])
    assert b"the-canary" not in real.requests[0].raw_body
    assert real.requests[0].headers["x-api-key"] == KEY


@pytest.mark.wide
@pytest.mark.parametrize(
    ("model", "plan", "thinking", "effort"),
    [
        ("claude-sonnet-5-5", ADAPTIVE, {"type": "adaptive"}, "low"),
        ("claude-opus-4-8", ThinkingPlan(effort="max"), None, "max"),
        (
            "claude-haiku-4-5",
            ThinkingPlan(mode="enabled", room=2_000),
            {"type": "enabled", "budget_tokens": 2_000},
            None,
        ),
    ],
)
async def test_the_real_cli_says_of_thinking_and_effort_what_it_is_told(
    real: ModelServer, model: str, plan: ThinkingPlan, thinking: dict[str, Any] | None, effort: str | None
) -> None:
    thought = scripts.Thought(pieces=("Hm.",))
    real.script(scripts.turn(thought, "Hello"))
    events = await events_of(payload(plan=plan) | {"model": model, "max_tokens": 3_000})
    assert events[:-1] == [
        ThinkingStarted(),
        ThinkingDelta(text="Hm."),
        ThinkingDone(block=thought.block),
        TextDelta(text="Hello"),
    ]
    body = real.bodies[0]
    assert (body.get("thinking"), body.get("output_config", {}).get("effort")) == (thinking, effort)


async def test_with_a_login_the_real_cli_adds_about_as_much_as_is_recorded(
    real: ModelServer, tmp_path: Path, settings: Settings
) -> None:
    """The key stands in the login's place, which the test has not."""
    settings.OPENBOOK_CLAUDE_LOGIN = str(tmp_path)
    settings.CLAUDE_CLI_ENVIRONMENT = settings.CLAUDE_CLI_ENVIRONMENT | {"ANTHROPIC_API_KEY": KEY}
    real.script(scripts.text("Yes"))
    request = payload("Hi")
    await events_of(request)
    body = real.bodies[-1]
    texts = [text for message in body["messages"] for text in scripts.texts_of(message)]  # some of them the system's
    added = [text for text in texts if text != "Human: Hi"]
    assert len(added) == len(texts) - 1
    took = estimate_tokens("\n".join([*added, body["system"][0]["text"]]))
    assert 0.8 * took < request["program"]["adds_tokens"] < 1.25 * took


@pytest.mark.wide
@pytest.mark.parametrize(
    ("script", "said", "code"),
    [
        (scripts.error(403, "not yours"), "", "permission"),
        (scripts.stream(*scripts.opening_steps(), scripts.text_delta("Half "), scripts.error_body("overloaded_error", "x")),
         "Half ", "overloaded"),
    ],
)  # fmt: skip
async def test_a_failure_of_the_service_is_told_through_the_real_cli(
    real: ModelServer, script: scripts.Script, said: str, code: str
) -> None:
    real.script(script)
    events, error = await failure_of(payload())
    assert ("".join(e.text for e in events if isinstance(e, TextDelta)), error[0]) == (said, code)


async def test_stopping_the_real_cli_hangs_up(real: ModelServer) -> None:
    real.script(scripts.text("Half", scripts.Gate(), "never"))
    async with aclosing(without_usage(provider.stream(payload()))) as events:
        assert await anext(events) == TextDelta(text="Half")
    real.requests[0].wait_until_ended()
    assert real.requests[0].hung_up

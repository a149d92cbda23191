"""Claude through the command line program ``claude``: the whole conversation as one text, no tools, nothing kept (P2).

The program adds something of its own to each request. What is known of that, and how the program is called, is part of the
request that is recorded (``program``), and it is called as recorded.
"""

import asyncio
import logging
import math
import re
import shutil
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.conf import settings

from conversations.providers import usable_key
from conversations.providers.base import Payload, Program, Provider, ProviderError, ProviderEvent
from conversations.providers.circuit_breaker import CircuitBreaker
from conversations.providers.claude import default_model
from conversations.providers.claude_cli_output import Output
from conversations.providers.claude_cli_process import Files, prepared, running
from conversations.providers.claude_cli_version import is_supported, version_of
from conversations.providers.deadline import Deadline, reported
from conversations.providers.errors import StreamError, provider_error
from conversations.providers.history import Content, blocks_of
from conversations.providers.markers import LABELS, SEPARATOR
from conversations.providers.message_stream import Progress
from conversations.providers.messages_api import RequestParts
from conversations.providers.quoting import mention, transcript
from conversations.providers.thinking import ThinkingPlan, payload_fields
from conversations.runtime.word_tables import read_tables

log = logging.getLogger("openbook.providers")

CALL = read_tables(__file__)
SERVER = "{server}"
"""Stands for what only the server knows."""
SEARCHED = "[searched documents]"
ACTED = "[performed an action]"
DOCUMENTS = frozenset({"document", "search_result"})
NAMES = ("filename", "title", "name")
FAILURES = (StreamError, OSError, UnicodeEncodeError)
TOKEN = re.compile(r"sk-ant-[\w-]+")


class ClaudeCliProvider(Provider):
    name = "claude_cli"
    calls_tools = False
    takes_formats = False
    takes_stops = False
    sends_pictures = False
    marks_cache = False  # the CLI sets its own marks
    default_model = staticmethod(default_model)

    def __init__(self) -> None:
        self.breaker = CircuitBreaker(self.name)

    def wait(self, model: str = "") -> float:
        return self.breaker.wait(model)

    def obstacle(self) -> ProviderError | None:
        """Asks a program that it has not met for its version, which takes a moment."""
        try:
            usable_program()
        except FAILURES as failure:
            return described(understood(failure))
        may_log_in = settings.OPENBOOK_CLAUDE_LOGIN or usable_key(settings.ANTHROPIC_API_KEY)
        return None if may_log_in else provider_error("cli_login")

    def program(self) -> Program:
        """How it is called, and what it is known to add. Without secrets, and the same until it or its settings change."""
        path, login = program_path(), bool(settings.OPENBOOK_CLAUDE_LOGIN)
        version = ""
        with suppress(OSError):  # then the call says why
            version = version_of(path, settings.CLAUDE_CLI_ENVIRONMENT) if path else ""
        added = {place: row for place, row in CALL["adds"].items() if login or place == "system"}
        return {
            "name": "claude",
            "version": version,
            "arguments": [*CALL["arguments"], "--safe-mode" if login else "--bare"],
            "environment": dict.fromkeys(sorted(own_environment()), SERVER) | CALL["environment"],
            "adds": {place: row["text"] for place, row in added.items()},
            "adds_tokens": sum(row["tokens"] for row in added.values()),
            "sets": CALL["sets"],
            "quotes": True,
        }

    def render(self, parts: RequestParts) -> Payload:
        """The context as every provider is given it, and beside it the texts that the CLI is told."""
        program = parts.program or self.program()
        return {
            "model": parts.model,
            "max_tokens": parts.max_tokens,
            "system": [dict(block) for block in parts.system],
            "messages": [dict(message) for message in parts.messages],
            **payload_fields(parts.thinking),
            "sent": {
                "system_prompt": "\n\n".join(block["text"] for block in parts.system),
                "standard_input": prompt(parts.messages, is_quoted=program.get("quotes", False)),
                **told_of_thinking(parts.thinking),
            },
            "program": program,
        }

    async def stream(self, payload: Payload, *, seconds: float = math.inf) -> AsyncGenerator[ProviderEvent]:
        call = self._call(payload, seconds)
        async with aclosing(self.breaker.guard(tuple(own_environment().items()), payload["model"], call)) as events:
            async for event in events:
                yield event

    async def _call(self, payload: Payload, seconds: float) -> AsyncGenerator[ProviderEvent]:
        output = Output()
        with closing(Deadline(seconds)) as deadline:
            try:
                async with aclosing(answered(payload, output, deadline)) as events:
                    async for event in events:
                        yield event
                        deadline.hears(event)  # the time that the reader took is not the model's
            except TimeoutError:
                raise reported(slow(output, deadline), attempt_failed="deadline") from None
            except FAILURES as failure:
                raise reported(described(understood(failure)), type(failure).__name__) from None


async def answered(payload: Payload, output: Output, deadline: Deadline) -> AsyncGenerator[ProviderEvent]:
    """Raises ``TimeoutError`` and one of ``FAILURES``."""
    path, sent = await asyncio.to_thread(usable_program), payload["sent"]
    with prepared(sent["system_prompt"], sent["standard_input"]) as files:
        arguments, environment = called_with(payload, files)
        async with running([path, *arguments], files, environment) as cli, aclosing(cli.lines()) as lines:
            while not output.over:
                line = await deadline.wait(anext(lines, None))
                if line is None:
                    raise ended(await deadline.wait(asyncio.shield(cli.ended)), files)
                for heard in output.take(line):
                    deadline.hears(heard)
                    if not isinstance(heard, Progress):
                        yield heard
            if output.closed:
                await cli.let_end()
    for heard in output.end():
        if not isinstance(heard, Progress):
            yield heard


def called_with(payload: Payload, files: Files) -> tuple[list[str], dict[str, str]]:
    """The arguments and the environment as recorded, with the values that the record only names."""
    program, sent, own = payload["program"], payload["sent"], own_environment()
    values = {
        "{model}": payload["model"],
        "{max_tokens}": str(payload["max_tokens"]),
        "{system_prompt}": f"/dev/fd/{files.system.fileno()}",
        "{home}": str(files.home),
    }
    arguments = [values.get(argument, argument) for argument in [*program["arguments"], *sent["arguments"]]]
    environment = {
        name: own.get(name, "") if value == SERVER else values.get(value, value)
        for name, value in {**program["environment"], **sent["environment"]}.items()
    }
    return arguments, environment


def told_of_thinking(plan: ThinkingPlan) -> dict[str, Any]:
    """How the program is told of a plan. It has no words for what is to be shown of thinking, nor for switching it off where
    a model thinks unasked."""
    arguments = ["--effort", plan.effort] if plan.effort else []
    match plan.mode:
        case "adaptive":
            environment = {}
        case "enabled":
            environment = {"MAX_THINKING_TOKENS": str(plan.room)}
        case _:
            environment = {"CLAUDE_CODE_DISABLE_THINKING": "1"}
    return {"arguments": arguments, "environment": environment}


def program_path() -> str | None:
    executable = shutil.which(settings.OPENBOOK_CLAUDE_CLI, path=settings.CLAUDE_CLI_ENVIRONMENT.get("PATH"))
    return str(Path(executable).absolute()) if executable else None


def usable_program() -> str:
    """Its path. Raises one of ``FAILURES`` where it can't be used."""
    path = program_path()
    if path is None:
        raise StreamError("cli_missing", f"{settings.OPENBOOK_CLAUDE_CLI} was not found, or is no program.")
    version = version_of(path, settings.CLAUDE_CLI_ENVIRONMENT)
    if not is_supported(version):
        raise StreamError("cli_version", version)
    return path


def own_environment() -> dict[str, str]:
    """All that the CLI gets to know of this process: no secret but the one that it is to use."""
    base_url, login = settings.ANTHROPIC_BASE_URL, settings.OPENBOOK_CLAUDE_LOGIN
    own = {"ANTHROPIC_BASE_URL": base_url} if base_url else {}
    if login:
        own["CLAUDE_CONFIG_DIR"] = str(Path(login).absolute())
    else:
        own["ANTHROPIC_API_KEY"] = settings.ANTHROPIC_API_KEY
    return settings.CLAUDE_CLI_ENVIRONMENT | own


def ended(code: int, files: Files) -> StreamError:
    """What a program says by ending before its answer did."""
    if code < 0:
        return StreamError("cli_killed")
    if code == 0:
        return StreamError("cut_off")
    return StreamError("cli_failed", files.last_complaints() or f"It ended with status {code}.")


def slow(output: Output, deadline: Deadline) -> ProviderError:
    """Where the CLI told why it is trying again and again, that is the better answer."""
    return described(output.trouble) if output.trouble and not output.has_text else deadline.error()


def understood(failure: Exception) -> StreamError:
    match failure:
        case StreamError():
            return failure
        case UnicodeEncodeError():  # a lone surrogate in the request
            return StreamError("invalid_request")
        case FileNotFoundError() | PermissionError():
            return StreamError("cli_missing", str(failure.strerror))
        case _:
            return StreamError("cli_failed", str(failure))


def described(failure: StreamError) -> ProviderError:
    """In Openbook's words. Not logged in is another matter than a key that was refused."""
    own = failure.code == "authentication" and (settings.OPENBOOK_CLAUDE_LOGIN or failure.status is None)
    code, detail = "cli_login" if own else failure.code, TOKEN.sub("…", failure.detail)
    return provider_error(
        code,
        detail=detail,
        secrets=[settings.ANTHROPIC_API_KEY],
        status=failure.status,
        retry_after=failure.retry_after,
    )


def prompt(messages: Sequence[Mapping[str, Any]], *, is_quoted: bool = True) -> str:
    """The turns under their labels, oldest first. Turns of no speaker, and turns that nothing is left of, are passed over.
    Unless it ``is_quoted``, a turn may hold what reads as another one: so it was in earlier releases."""
    turns = turns_of(messages, is_quoted=is_quoted)
    if in_a_row := sum(before == after for (before, _), (after, _) in pairwise(turns)):
        log.warning("turns of one role follow one another", extra={"turns": in_a_row})
    return transcript(turns) if is_quoted else SEPARATOR.join(f"{LABELS[role]} {text}" for role, text in turns)


def turns_of(messages: Sequence[Mapping[str, Any]], *, is_quoted: bool = True) -> list[tuple[str, str]]:
    """Role and text of each turn. What one reply says before and after its calls of tools is one turn."""
    turns: list[tuple[str, str]] = []
    after_results = False
    for message in messages:
        role, text = message["role"], text_of(message["content"], is_quoted=is_quoted)
        if text and role == "assistant" and after_results and turns and turns[-1][0] == role:
            turns[-1] = (role, f"{turns[-1][1]}\n\n{text}")
        elif text and role in LABELS:
            turns.append((role, text))
        after_results = role == "user" and not text and bool(blocks_of(message["content"], "tool_result"))
    return turns


def text_of(content: Content, *, is_quoted: bool = True) -> str:
    """What was said in a turn, with short notes for what can't be said in text. Nothing where nothing but calls is left."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    kept = [(block["type"], note) for block in blocks for note in notes(block, is_quoted=is_quoted) if note]
    return "" if {kind for kind, _ in kept} == {"tool_use"} else "\n\n".join(note for _, note in kept)


def notes(block: Mapping[str, Any], *, is_quoted: bool) -> Iterator[str]:
    match block:
        case {"type": "text", "text": str(text)}:
            yield text if text.strip() else ""
        case {"type": "tool_use"}:
            yield SEARCHED if "search" in str(block.get("name")).lower() else ACTED
        case {"type": "tool_result", "content": list(parts)}:
            documents = (part for part in parts if isinstance(part, dict) and part.get("type") in DOCUMENTS)
            yield from (reference(part, is_quoted=is_quoted) for part in documents)
        case {"type": "image"}:
            yield "[image]"
        case {"type": kind} if kind in DOCUMENTS:
            yield reference(block, is_quoted=is_quoted)


def reference(document: Mapping[str, Any], *, is_quoted: bool) -> str:
    source = document.get("source")
    places = [document, source] if isinstance(source, dict) else [document]
    named = (place[name] for place in places for name in NAMES if isinstance(place.get(name), str))
    name = str(next(filter(None, named), "document"))
    return mention("referenced", name) if is_quoted else f"[referenced: {name}]"

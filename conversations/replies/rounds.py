"""A reply at work: the model is asked and the tools that it calls are run, round by round, until it is done."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, closing, suppress
from dataclasses import replace
from typing import Any

import django.db

from conversations.accounts import allowances
from conversations.accounts.group_access import access_of
from conversations.context.built_context import Context
from conversations.context.caller_options import CallerOptions
from conversations.context.choose.files import picture_counter
from conversations.context.files.account import given_parts, sent_parts
from conversations.context.files.thread_files import named_files
from conversations.context.query.rewriting import Rewriting, ask_model
from conversations.context.render.invariants import BrokenInvariant, check
from conversations.context.render.rendering import GO_ON, MOST_ROUNDS, round_text
from conversations.context.rules.fitting import GO_ON_WORDS, Section, resumed, round_section
from conversations.context.tokens.estimate import text_of
from conversations.errors import RateLimited
from conversations.files.store import are_being_read
from conversations.mcp_client import calls as server_calls
from conversations.models import ContextSnapshot, Message, Reply
from conversations.providers import ProviderError, get_provider, provider_name, refusals
from conversations.providers.base import (
    WHOLE,
    Finished,
    ProviderEvent,
    Reservation,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ThinkingStarted,
    ToolCalled,
    ToolDelta,
    ToolStarted,
    ask,
)
from conversations.providers.circuit_breaker import asking_thread
from conversations.providers.errors import provider_error
from conversations.providers.request_parts import in_messages_api
from conversations.replies import fallbacks, model_requests, outcomes, retries
from conversations.replies.closing import end_request
from conversations.replies.journal import LiveReply
from conversations.replies.model_requests import ModelRequest, OpenedReply
from conversations.replies.moderating import Moderation
from conversations.replies.outcomes import Outcome, failed
from conversations.replies.partial_input import InputWatcher
from conversations.replies.transcript import result_block
from conversations.runtime import telemetry
from conversations.runtime.db import in_database, is_away
from conversations.tools import registered, running
from conversations.tools.base import NO_READABLE_FILES, ReadableFiles, ToolContext
from conversations.wire.events import ContextBuiltData, ReplyStartedData, ToolDeltaData, ToolFinishedData
from memory.sources import backend_ranking

log = logging.getLogger("openbook.replies")

CALLING = frozenset({"tool_use", "max_tokens", "model_context_window_exceeded"})
"""Stop reasons after which the whole tool calls of an answer are run; one that was cut off gets an error to go on with."""
PAUSED = "pause_turn"
MOST_PAUSES = 5
"""How often a model may pause in a reply, to be asked to go on."""
SAVE = "save_artifact"
TEXT = "text"
"""The id under which the text of a silent reply is shown as it is written: it becomes an artifact, not a turn."""
LOOK_SECONDS = 0.3
"""How often it is looked whether files have been read."""
AWAY_PAUSES = (0.2, 0.5, 1, 2, 2)
"""Between the attempts to do a step while the database is away: together less than a reply may be stuck."""
TICK_SECONDS = 1.0
"""How often readers are told how long the model has been thinking, while nothing else comes."""


class ThinkingClock:
    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Tick at once, and every second from now on."""
        self.close()
        self._tick()
        self._timer = asyncio.get_running_loop().call_later(TICK_SECONDS, self.start)

    def close(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


async def once_it_answers[**P, R](step: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What the step gives, tried again while the database is away, or slow as it has just started: the step must be one that
    may be done twice. Its lease decides how long the reply is ours."""
    for pause in AWAY_PAUSES:
        try:
            return await in_database(step)(*args, **kwargs)
        except django.db.Error as error:
            if not is_away(error):
                raise
            log.warning("a reply waits for the database", extra={"cause": str(error)})
            await asyncio.sleep(pause)
    return await in_database(step)(*args, **kwargs)


class ReplyRun:
    """One reply that this process runs. ``options`` are those of its newest request."""

    def __init__(self, live: LiveReply, opened: OpenedReply) -> None:
        self.live, self.opened, self.options = live, opened, opened.options
        self.transcript = live.transcript
        self.moderation = Moderation(opened)
        self.asked: set[fallbacks.ModelPlace] = set()
        self.snapshot: ContextSnapshot
        self.reservation: Reservation
        self.context: Context

    async def answer(self) -> Outcome:
        """Raises ``ProviderError``, ``BrokenInvariant`` and what the database raises."""
        asking_thread.set(str(self.opened.thread.id))
        self.live.is_checked_first = await self.moderation.begin()
        await self.moderation.examine_message()
        self.snapshot, self.context = await self._first_request()
        pauses = 0
        sections: Sequence[Section]
        while True:
            self._tell_of_request()
            await self.moderation.examine_files(self.context)
            answered = await self._ask()
            if anew := await self._anew(answered) or await self._elsewhere(answered):
                outcome, self.options = anew
                self.transcript.drop_round()
                await once_it_answers(end_request, self.snapshot, outcome.after(self.live.end_call()))
                query, round = self.context.rewriting, self.snapshot.round + 1
                self.snapshot, self.context = await self._build(query=query, round=round)
                continue
            if isinstance(answered, ProviderError):
                raise answered
            await self.moderation.examine_reply(self.transcript.current)
            self.live.release()
            if answered.stop_reason == refusals.STOP_REASON:
                return self._refused(answered)
            if answered.stop_reason == PAUSED and self.transcript.current and pauses < MOST_PAUSES:
                pauses += 1
                self.transcript.drop_calls()
                sections = resumed(self.transcript.current)
                self.transcript.go_on()
            elif not (sections := await self._run_tools(answered)):
                return self._outcome(answered)
            await self._go_on(sections)

    async def _go_on(self, sections: Sequence[Section]) -> None:
        """The next request, after this was said and done."""
        before, ended = self.snapshot, Outcome(status=Reply.Status.COMPLETED).after(self.live.end_call())
        request = await once_it_answers(model_requests.further_request, before, self.context, sections)
        try:
            recorded = await self._record(request, before=before, ended=ended)
        except RateLimited:
            await once_it_answers(end_request, before, ended)
            raise
        self.snapshot, self.context = recorded

    async def _record(self, request: ModelRequest, **values: Any) -> ModelRequest:
        """Store the next request, with what is set aside for it. Raises ``RateLimited``."""
        recorded = await once_it_answers(model_requests.record, *request, spent=self.live.spent, **values)
        self.reservation = allowances.of_request(recorded[1])
        return recorded

    async def _first_request(self) -> ModelRequest:
        if not self.opened.recorded:
            await self._files_read()
        if self.opened.recorded:
            self.reservation = allowances.of_request(self.opened.recorded[1])
        snapshot, context = self.opened.recorded or await self._build()
        if context.purpose is not ContextSnapshot.Purpose.REWRITE:
            return snapshot, context
        return await self._build(query=await self._ask_for_query(snapshot, context))

    async def _files_read(self) -> None:
        """Once the files that the message brings have been read, as far as they can be."""
        named = named_files(self.opened.message.blocks) if self.opened.message else []
        if not named:
            return
        while await once_it_answers(are_being_read, self.opened.thread.user_id, named):  # noqa: ASYNC110
            await asyncio.sleep(LOOK_SECONDS)  # a worker reads them, and rings no bell

    async def _build(self, *, query: Rewriting | None = None, round: int = 1) -> ModelRequest:
        """The next request, after services were asked for what it is made of. No thread for the database waits for them. Where
        none can be made for a model, it is made for the next of the assistant's list; where something is forgotten meanwhile,
        it is made anew."""
        question = model_requests.question_of(self.opened)
        if question is not None and await once_it_answers(backend_ranking.may_be_asked, question):
            await backend_ranking.ask(question)
        while True:
            opened = replace(self.opened, options=self.options)
            try:
                await self._learn_list(fallbacks.place_of(opened.thread.assistant, self.options))
                forgettings = await once_it_answers(allowances.forgettings_of, opened.thread.user_id)
                request = await once_it_answers(model_requests.first_request, opened, query=query, round=round)
                return await self._record(request, forgettings=forgettings)
            except model_requests.Forgotten:
                continue
            except ProviderError as error:
                unbuilt = fallbacks.place_of(opened.thread.assistant, self.options)
                options = await self._instead(error, unbuilt)
                if options is None:
                    raise
                self.options = replace(options, not_built_for=error.message)

    async def _ask_for_query(self, snapshot: ContextSnapshot, context: Context) -> Rewriting:
        """What a small model makes of the message. Whatever goes wrong, the rules try it at once, and staff can see why."""
        provider, text = get_provider(context.provider), text_of(context.newest.content)
        call = self.live.begin_call(self.reservation)
        with telemetry.listener.model_request(snapshot, call) as step:
            response = await ask_model(
                provider=provider, payload=context.payload, text=text, turns=context.history, call=call
            )
            if response.error:
                step.failed(response.error.code)
        self.live.end_help()
        completed = Outcome(status=Reply.Status.COMPLETED)
        outcome = failed(outcomes.model_error(response.error)) if response.error else completed
        await once_it_answers(end_request, snapshot, outcome.after(call))
        return response.rewriting

    def _tell_of_request(self) -> None:
        live, opened, context = self.live, self.opened, self.context
        if context.files and context.material:
            live.files = live.files.with_request(context.material.files.outlines, given_parts(context.files))
        log.info(
            "model request recorded",
            extra={
                "thread_id": str(opened.thread.id),
                "thread_created": opened.created_thread,
                "reply": str(opened.reply.id),
                "request": str(self.snapshot.id),
                "turns_loaded": context.turns_loaded,
                "turns_kept": len(context.history),
                "turns_left_out": sum(context.left_out.values()),
                "tokens": context.model_tokens,
                "timings_ms": context.timings_ms,
            },
        )
        built: ContextBuiltData = {
            "request": str(self.snapshot.id),
            "total_tokens": context.model_tokens,
            "budget": context.whole_budget.total_tokens,
            "hard_cap": context.whole_budget.hard_cap,
            "message_history_count": len(context.history),
            "left_out": context.left_out,
        }
        live.note("context.built", built)
        if live.model_used != (context.provider, context.model):
            live.model_used = (context.provider, context.model)
            started: ReplyStartedData = {
                "provider": context.provider,
                "model": context.model,
                "fallback_for": context.fallback_for or None,
                "fallback_cause": context.fallback_cause or None,
            }
            live.note("reply.started", started)

    async def _ask(self) -> Finished | ProviderError:
        """How the call ended, be it with an error of the provider's."""
        context = self.context
        try:
            check(
                context.payload,
                newest=text_of(context.newest.content),
                total_tokens=context.model_tokens,
                hard_cap=context.whole_budget.hard_cap,
                go_on=GO_ON_WORDS if any(part.name == GO_ON for part in context.parts.rounds) else "",
            )
            with telemetry.listener.model_request(self.snapshot, self.live.begin_call(self.reservation)):
                return await self._stream()
        except BrokenInvariant:
            if self.options.most_input is None:
                raise
            return provider_error(retries.TOO_LARGE)  # what can't be left out takes more than the model does
        except ProviderError as error:
            return error

    async def _stream(self) -> Finished:
        """Call the model once; what it says and calls goes to readers and is kept in the transcript, how far the call has come
        in ``live.call``. Raises ``ProviderError``."""
        live = self.live
        live.hold()
        watched: dict[str, InputWatcher] = {}
        seconds = live.ends_at - time.monotonic()
        stream = ask(get_provider(self.context.provider), self.context.payload, live.call, seconds=seconds)
        with closing(ThinkingClock(live.think)) as clock:
            async with aclosing(stream):
                async for event in stream:
                    self._take(event, clock, watched)
        self._say(self.transcript.pause())
        if live.call.finished is None:
            raise ProviderError("cut_off", "The model's answer was cut off. Try again.", retryable=True)
        return live.call.finished

    def _take(self, event: ProviderEvent, clock: ThinkingClock, watched: dict[str, InputWatcher]) -> None:
        live, transcript = self.live, self.transcript
        match event:
            case TextDelta():
                self._say(transcript.say(event.text))
            case ThinkingStarted():
                self._say(transcript.pause())
                clock.start()
            case ThinkingDelta():
                if summary := transcript.think(event.text):
                    live.think(summary)
            case ThinkingDone():
                clock.close()
                live.think(transcript.thought(event.block))
            case ToolStarted():
                self._say(transcript.pause())
                tool = registered().get(event.name)
                text = tool.doing if tool else "Working"
                live.write("tool.started", {"id": event.id, "name": event.name, "text": text})
                watched[event.id] = InputWatcher(id=event.id, streamed=tool.streamed if tool else "")
            case ToolDelta():
                self._show(watched[event.id].feed(event.json))
            case ToolCalled():
                self._show(watched[event.id].end(event.input))
                transcript.call(event)

    def _say(self, text: str) -> None:
        if text and self.live.silent:
            self._show({"id": TEXT, "text": text})
        elif text:
            self.live.say(text)

    def _show(self, data: ToolDeltaData | None) -> None:
        if data:
            self.live.write("tool.delta", data)

    async def _anew(self, answered: Finished | ProviderError) -> tuple[Outcome, CallerOptions] | None:
        """How the request ended, and the options with which the same reply asks once more: of another model where this one
        declined and the assistant says so, within fewer tokens where it could not take so many. What readers have been shown
        can't be taken back, so then neither."""
        if self.transcript.shows_text:
            return None
        assistant, context = self.opened.thread.assistant, self.context
        options = replace(self.options, rounds=tuple(context.parts.rounds))
        if isinstance(answered, Finished) and answered.stop_reason == refusals.STOP_REASON:
            other = assistant.fallback_model if assistant.fallback_automatic else ""
            if other in ("", context.model) or options.fallback_for:
                return None
            if not await self._may_ask(fallbacks.ModelPlace(provider_name(assistant), other)):
                return None
            return failed(outcomes.refusal(answered)), replace(
                options, model=other, provider="", fallback_for=context.model, fallback_cause=refusals.CODE
            )
        if isinstance(answered, Finished):
            if answered.stop_reason != retries.WINDOW_EXCEEDED:
                return None
            answered = provider_error(retries.TOO_LARGE)
        if answered.code != retries.TOO_LARGE or options.most_input is not None:
            return None
        less = retries.less_than(context.model_tokens)
        return failed(outcomes.model_error(answered)), replace(options, most_input=less)

    async def _elsewhere(self, answered: Finished | ProviderError) -> tuple[Outcome, CallerOptions] | None:
        """How the request ended, and the options with which the next of the assistant's list is asked: where the model could
        not be asked, or declined and staff want another one to answer then, as long as readers have seen nothing."""
        options = await self._instead(answered, fallbacks.ModelPlace(self.context.provider, self.context.model))
        if options is None:
            return None
        error = outcomes.model_error(answered) if isinstance(answered, ProviderError) else outcomes.refusal(answered)
        return failed(error), options

    async def _instead(self, answered: Finished | ProviderError, place: fallbacks.ModelPlace) -> CallerOptions | None:
        """The options with which the next of the assistant's list is asked in the place of this model, if any may be."""
        assistant = self.opened.thread.assistant
        cause = fallbacks.cause_of(answered, assistant)
        if not cause or not fallbacks.is_unheard(self.live.call, self.transcript):
            return None
        self.asked.add(place)
        other = await self._next_place()
        if other is None:
            return None
        log.warning("fallback", extra={"reply": str(self.live.id), "cause": cause, "provider": other.provider})
        options = replace(self.options, provider=other.provider, model=other.model, least_output=0, most_input=None)
        if options.fallback_for:  # the first one is told of, also where the next can't answer either
            return options
        return replace(options, fallback_for=place.model or place.provider, fallback_cause=cause)

    async def _next_place(self) -> fallbacks.ModelPlace | None:
        """The first of the list that may be asked."""
        for entry in await once_it_answers(fallbacks.entries_of, self.opened.thread.assistant):
            with suppress(ProviderError):
                await self._learn_list(entry)
            place = await once_it_answers(fallbacks.usable, entry, self.asked)
            if place and await self._may_ask(place):
                return place
        return None

    async def _may_ask(self, place: fallbacks.ModelPlace) -> bool:
        """Whether the person's groups allow this model in place of another."""
        access = await once_it_answers(access_of, self.opened.thread.user_id)
        return access.allows_model(place.provider, place.model)

    async def _learn_list(self, place: fallbacks.ModelPlace) -> None:
        """Ask the provider of a model what it offers, where that has to be known first."""
        if provider := await once_it_answers(fallbacks.without_list, place):
            await provider.learn_list()

    async def _run_tools(self, finished: Finished) -> Sequence[Section]:
        """Run the tools that the model called. Returns what was said and done, where the reply goes on."""
        preset, transcript = self.opened.preset, self.transcript
        if finished.stop_reason in CALLING:
            transcript.leave(self.options.fields.names)
        calls = self._calls_to_run(finished)
        if preset and not calls and not transcript.rounds:
            await self._run([self._as_artifact(finished)], offered={SAVE}, messages=())
        if calls:
            request = in_messages_api(self.context.payload)
            offered = {tool["name"] for tool in request.get("tools", ())} - self.options.fields.names
            await self._run(calls, offered=offered, messages=request["messages"])
        if preset and not calls and not transcript.artifacts:
            raise provider_error("no_artifact")
        if not calls or transcript.left or (preset and transcript.artifacts):
            return ()
        return [round_section(round_text(transcript.rounds[-1]))]

    def _calls_to_run(self, finished: Finished) -> list[ToolCalled]:
        """None after the last round, nor where the model stopped for a reason that makes its calls doubtful."""
        if finished.stop_reason in CALLING and len(self.transcript.rounds) < MOST_ROUNDS - 1:
            return list(self.transcript.calls)
        self.transcript.drop_calls()
        return []

    def _as_artifact(self, finished: Finished) -> ToolCalled:
        """What the model wrote in words where it was to save it: the words are the artifact then."""
        preset, text = self.opened.preset, text_of(self.transcript.content)
        assert preset
        if not text.strip():
            raise outcomes.nothing_said(finished)
        values = {"title": preset.name, "kind": str(preset.kind), "content": text}
        return ToolCalled(id=TEXT, name=SAVE, input=values | ({"language": preset.language} if preset.language else {}))

    async def _run(self, calls: list[ToolCalled], *, offered: set[str], messages: Sequence[Mapping[str, Any]]) -> None:
        """Run the calls one after the other. Each gets a result, whatever happens, so that the model can go on."""
        thread, message, preset = self.opened.thread, self.opened.message, self.opened.preset
        call = ToolContext(
            user_id=thread.user_id,
            thread_id=thread.id,
            reply_id=self.opened.reply.id,
            last_position=message.position if message else thread.last_position,
            preset=preset.slug if preset else "",
            files=self._readable_files(),
            messages=messages,
        )
        results = []
        for called in calls:
            with telemetry.listener.tool(called.name, called.id) as step:
                if server_calls.is_of_server(called.name) and called.name in offered:
                    done = await server_calls.run(called.name, called.input, call, call_id=called.id)
                else:
                    done = await running.run(called.name, called.input, call, offered=offered)
                if done.is_error:
                    step.failed("tool_error")
            result = done.result
            call = replace(call, files=call.files.after(result.read))
            self.transcript.files += map(dict, result.made)
            if result.artifact:
                self.transcript.artifacts.append(result.artifact)
            data: ToolFinishedData = {
                "id": called.id,
                "name": called.name,
                "text": result.summary,
                "is_error": done.is_error,
                "artifact": result.artifact,
                "question": result.question,
            }
            self.live.append("tool.finished", data)
            name = (
                called.name if called.name in registered() else "unknown"
            )  # a model may have made one up of what it read
            log.info("tool ran", extra={"reply": str(self.live.id), "tool": name, "is_error": done.is_error})
            text = running.shortened(result.text)
            results.append(result_block(called.id, text, is_error=done.is_error, read=result.read))
        self.transcript.answer(results)

    def _readable_files(self) -> ReadableFiles:
        """What can be read of files after this request."""
        material, choice = self.context.material, self.context.choice
        if material is None or choice is None or not choice.limits.read_room:
            return NO_READABLE_FILES
        given = frozenset(sent_parts(self.context.files))
        room = choice.limits.read_room - choice.parts.read_tokens
        return ReadableFiles(
            outlines=material.files.outlines,
            given=given,
            room=room,
            project=material.request.scope.memory.project,
            pictures=picture_counter(material.facts, material.files.form),
        )

    def _outcome(self, finished: Finished) -> Outcome:
        whole = finished.stop_reason in WHOLE or (finished.stop_reason == "tool_use" and bool(self.transcript.left))
        if not self.transcript.is_new and not (whole and self.transcript.before):
            raise outcomes.nothing_said(finished)
        status = Message.Status.COMPLETE if whole else Message.Status.INCOMPLETE
        return Outcome(status=Reply.Status.COMPLETED, message_status=status)

    def _refused(self, finished: Finished) -> Outcome:
        """What the model wrote before it declined has been shown, and stays as a refused turn."""
        self.transcript.drop_calls()
        begun = self.transcript.is_new and not self.live.silent
        error = outcomes.refusal(finished, begun=begun, silent=self.live.silent)
        if begun:
            return Outcome(status=Reply.Status.COMPLETED, message_status=Message.Status.REFUSED, request_error=error)
        return failed(error)

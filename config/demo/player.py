"""Plays a screenplay: whatever is stored of it, Openbook's own replies, notes and forgetting have stored."""

import asyncio
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import cast

from django.conf import settings
from django.contrib.auth.models import User

from config.demo.clock import Clock, replaced
from config.demo.screenplay import Exchange, Session
from config.demo.scripted_model import ScriptedModel
from conversations import replies
from conversations.models import Allowance, Thread
from conversations.providers import PROVIDERS, built_in, get_provider, model_catalog
from conversations.replies.model_requests import OpenedReply
from memory import forgetting
from memory.consolidation.consolidate import consolidate
from memory.models import Consolidation

PROVIDER = "anthropic"
SETTINGS = {
    "OPENBOOK_PROVIDER": PROVIDER,
    "OPENBOOK_LIMIT_TOKENS_DAY": 0,  # a month's tokens are used in a minute
    "OPENBOOK_MEMORY_BACKEND": "postgres",  # no service elsewhere is asked
}
QUIET = timedelta(minutes=12)
"""After which a worker would take notes."""
LATEST = timedelta(hours=2)
"""How long the last sessions are ago at least: nothing of the demo lies in the future."""
READING_CHARS, TYPING_CHARS = 40, 12
"""In a second."""


class Player:
    def __init__(self, runner: asyncio.Runner, clock: Clock, model: ScriptedModel, until: datetime) -> None:
        self.runner = runner
        self.clock = clock
        self.model = model
        self.until = until
        self.threads: dict[str, uuid.UUID] = {}

    def play(self, people: Mapping[User, Sequence[Session]]) -> None:
        """A month of some people, day by day."""
        month = [(self._start(session), user, session) for user, own in people.items() for session in own]
        self.model.month = {
            exchange.message: (session, exchange) for _, _, session in month for exchange in session.exchanges
        }
        for user in people:
            self._keep_worker_away(user)
        for at, user, session in sorted(month, key=lambda entry: entry[0]):
            self.clock.now = max(at, self.clock.now)
            self._play(user, session)
        for user in people:
            Consolidation.objects.filter(user=user).update(not_before=None)
            Allowance.objects.filter(user=user).delete()  # of today, where it is counted by the true time

    def _start(self, session: Session) -> datetime:
        at = session.at
        start = (self.until - timedelta(days=session.days_ago)).replace(hour=at.hour, minute=at.minute, second=12)
        return min(start, self.until - LATEST)

    def _play(self, user: User, session: Session) -> None:
        forgotten = [message for exchange in session.exchanges if (message := self._exchange(user, session, exchange))]
        if session.title:
            Thread.objects.filter(id=self.threads[session.thread]).update(title=session.title)
        self.clock.wait(QUIET.total_seconds())
        consolidate(user.pk, waits=True)
        self._keep_worker_away(user)
        for message in forgotten:
            forgetting.forget_turn(user, message)

    def _exchange(self, user: User, session: Session, exchange: Exchange) -> uuid.UUID | None:
        """Returns the message if it is to be forgotten."""
        self.clock.wait(3 + len(exchange.message) / TYPING_CHARS)
        opened = self.runner.run(self._reply(user, session, exchange))
        self.threads[session.thread] = opened.thread.id
        self.clock.wait(4 + len(exchange.attempts[-1].text) / READING_CHARS)
        return opened.question.id if exchange.is_forgotten else None

    async def _reply(self, user: User, session: Session, exchange: Exchange) -> OpenedReply:
        thread_id, first, *more = self.threads.get(session.thread), *exchange.attempts
        self.model.attempts.extend(first.rounds)
        if exchange.preset:
            assert thread_id
            opened = await replies.start_preset(user=user, thread_id=thread_id, preset=exchange.preset)
        else:
            opened = await replies.start(
                user=user,
                thread_id=thread_id,
                content=exchange.message,
                assistant=None if thread_id else session.assistant,
            )
        reply = await self._end_of(opened.reply.id)
        for attempt in more:
            self.clock.wait(9)
            self.model.attempts.extend(attempt.rounds)
            reply = await self._end_of((await replies.retry(user=user, reply_id=reply)).reply.id)
        return opened

    async def _end_of(self, reply: uuid.UUID) -> uuid.UUID:
        async for _ in replies.follow(reply):
            pass
        return reply

    def _keep_worker_away(self, user: User) -> None:
        """One that runs beside this takes its notes by the true time."""
        later = {"not_before": self.until + timedelta(minutes=10)}
        Consolidation.objects.update_or_create(user=user, defaults=later)


@contextmanager
def scripted_model(clock: Clock) -> Iterator[ScriptedModel]:
    """In the place of Claude, in this process."""
    before = PROVIDERS[PROVIDER]
    PROVIDERS[PROVIDER] = f"{ScriptedModel.__module__}.{ScriptedModel.__qualname__}"
    built_in.cache_clear()
    try:
        with ExitStack() as stack:
            for name, value in SETTINGS.items():
                stack.enter_context(replaced(settings, name, value))
            model = cast(ScriptedModel, get_provider(PROVIDER))
            model.clock = clock
            model.factor = model_catalog.get(PROVIDER, model.default_model()).token_factor
            yield model
    finally:
        PROVIDERS[PROVIDER] = before
        built_in.cache_clear()

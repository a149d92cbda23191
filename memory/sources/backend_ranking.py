"""Which facts another memory service puts first. It is asked once a session and process, before anything is read.

However it fails, it costs the snippet alone (C9). What it says is only an order: PostgreSQL says what there is.
"""

import asyncio
import time
import uuid
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import field
from datetime import datetime
from threading import Lock

from conversations.context.sessions import Session
from conversations.context.source_problems import Problem, ProblemKind
from conversations.models import Thread
from conversations.runtime.values import dataclass
from memory.backends import get_backend
from memory.backends.base import BackendError, BackendInvalidAnswer, BackendTimedOut
from memory.backends.calling import started
from memory.models import Preferences
from memory.tags import project_tag, thread_tag, user_tag

MOST_RANKED = 20
MOST_KEPT = 4_096
FAILED_FOR = 30.0
"""Seconds until it is asked again after a failure: not every message of a session is to wait for what is down."""
SOURCE = "memory"
ANYTHING = "What is known of the person"


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Asked once for the same person, thread and session, whatever it is asked about then."""

    user_id: int
    thread_id: uuid.UUID
    began_at: datetime
    about: str = field(compare=False)
    project: uuid.UUID | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranking:
    """Ids of memories, best first, or what went wrong."""

    ids: tuple[uuid.UUID, ...] = ()
    problem: Problem | None = None


NOT_ASKED = Ranking(
    problem=Problem(source=SOURCE, kind=ProblemKind.ERROR, message="The memory service was not asked in time.")
)


def question_of(thread: Thread, session: Session, about: str) -> Question | None:
    """What another service is asked for this thread; ``None`` where there is none, or nothing remembered is wanted."""
    if get_backend().is_local or not (thread.remembers and thread.assistant.uses_memory):
        return None
    about = about.strip() or thread.title.strip() or ANYTHING
    return Question(
        user_id=thread.user_id, thread_id=thread.id, began_at=session.started_at, about=about, project=thread.project_id
    )


class Rankings:
    """The newest answers of this process, failures for a short while. The first answer stays, so that the snippet does."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Question, tuple[Ranking, float | None]] = OrderedDict()
        self._lock = Lock()

    def get(self, question: Question) -> Ranking | None:
        with self._lock:
            ranking, until = self._kept.get(question, (None, None))
            return ranking if until is None or time.monotonic() < until else None

    def keep(self, question: Question, ranking: Ranking) -> None:
        with self._lock:
            known = self._kept.get(question)
            if known is None or known[0].problem:
                self._kept[question] = (ranking, time.monotonic() + FAILED_FOR if ranking.problem else None)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)


KNOWN = Rankings()


def prepared(question: Question | None) -> dict[str, Ranking]:
    """What the source of facts is told of the answer, where there is a question."""
    return {SOURCE: KNOWN.get(question) or NOT_ASKED} if question else {}


def may_be_asked(question: Question) -> bool:
    """Not for a person who wants nothing remembered: then not even the question leaves the house. A database step."""
    return not Preferences.objects.filter(user_id=question.user_id, remembers=False).exists()


async def ask(question: Question) -> None:
    """Ask, and keep what came of it, for whoever builds a context next."""
    await asyncio.wrap_future(_start(question))


def ask_and_wait(question: Question) -> None:
    _start(question).result()


def _start(question: Question) -> Future[None]:
    return started(_ask(question))


async def _ask(question: Question) -> None:
    whose = project_tag(question.project) if question.project else user_tag(question.user_id)
    containers = [whose, thread_tag(question.thread_id)]
    try:
        ids = await get_backend().facts(question.user_id, containers, about=question.about, most=MOST_RANKED)
        ranking = Ranking(ids=tuple(ids[:MOST_RANKED]))
    except BackendError as error:
        ranking = Ranking(problem=Problem(source=SOURCE, kind=_kind(error), message=str(error)))
    KNOWN.keep(question, ranking)


def _kind(error: BackendError) -> ProblemKind:
    if isinstance(error, BackendTimedOut):
        return ProblemKind.TIMED_OUT
    return ProblemKind.GARBAGE if isinstance(error, BackendInvalidAnswer) else ProblemKind.ERROR

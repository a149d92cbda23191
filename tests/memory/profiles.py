"""What the sources of memory know of a person, by name, for tests that set it up or look at it."""

import uuid
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from conversations.context.gather.known import KnownQuery, read_known
from conversations.context.rules import standing
from conversations.context.rules.standing import Known, Tier
from conversations.context.sessions import Session
from conversations.context.source_problems import Problem
from conversations.context.sources import SourceQuery
from conversations.models import Assistant
from memory.scope import OUTSIDE
from memory.sources.facts import Facts, KnownFact
from memory.sources.open_topics import OpenTopic, OpenTopics
from memory.sources.rows import Summary

__all__ = ["KnownFact", "OpenTopic", "Profile", "Summary", "build_tiers", "known_query", "read_profile"]


@dataclass(frozen=True, kw_only=True)
class Profile:
    began_at: datetime
    remembers: bool = True
    facts: Sequence[KnownFact] = ()
    today: Summary | None = None
    topics: Sequence[OpenTopic] = ()
    last_conversation: Summary | None = None
    problems: Sequence[Problem] = ()

    @classmethod
    def of(cls, known: Known) -> "Profile":
        held = known.candidates
        facts, topics = held.get("memory"), held.get("open_threads")
        today, last = held.get("today"), held.get("last_conversation")
        assert isinstance(facts, Facts | None) and isinstance(topics, OpenTopics | None)
        assert isinstance(today, Summary | None) and isinstance(last, Summary | None)
        return cls(
            began_at=known.began_at,
            remembers=known.remembers,
            facts=facts.facts if facts else (),
            today=today,
            topics=topics.topics if topics else (),
            last_conversation=last,
            problems=known.problems,
        )

    @property
    def known(self) -> Known:
        held: dict[str, Hashable] = {
            "memory": Facts(began_at=self.began_at, facts=tuple(self.facts)) if self.facts else None,
            "today": _hashable(self.today),
            "open_threads": OpenTopics(began_at=self.began_at, topics=tuple(self.topics)) if self.topics else None,
            "last_conversation": _hashable(self.last_conversation),
        }
        return Known(
            began_at=self.began_at,
            remembers=self.remembers,
            candidates={name: each for name, each in held.items() if each is not None},
            problems=self.problems,
        )


def known_query(user_id: int, thread_id: uuid.UUID | None, session: Session) -> KnownQuery:
    return KnownQuery(query=SourceQuery(user_id=user_id, thread_id=thread_id, session=session, memory=OUTSIDE))


def read_profile(*, user_id: int, thread_id: uuid.UUID | None, session: Session) -> Profile:
    return Profile.of(read_known(known_query(user_id, thread_id, session)))


def build_tiers(profile: Profile, assistant: Assistant) -> list[Tier]:
    return standing.build_tiers(profile.known, assistant)


def _hashable(summary: Summary | None) -> Summary | None:
    return summary and replace(summary, moments=tuple(summary.moments))

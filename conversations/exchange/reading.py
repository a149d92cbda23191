"""The parts of a document as records, checked one by one, so that it need not be in memory as a whole.

Pure but for the ids that it draws.
"""

import uuid
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any, Self

from django.conf import settings

from artifacts.models import ArtifactVersion, Kind
from artifacts.services import MAX_VERSIONS
from conversations.context.tokens import text_of
from conversations.exchange.blocks import blocks_of
from conversations.exchange.records import (
    ArtifactRecord,
    MemoryRecord,
    PreferencesRecord,
    SummaryRecord,
    ThreadRecord,
    TopicRecord,
    TurnRecord,
    VersionRecord,
)
from conversations.exchange.values import (
    at,
    choice,
    count,
    elements,
    identifier,
    line,
    mapping,
    moment,
    refuse,
    switch,
    text,
    title,
)
from conversations.forgetting.blanking import FORGOTTEN
from conversations.ids import uuid7
from conversations.models import Message, text_blocks
from conversations.remembered import zone_names
from conversations.text import clean
from conversations.threads import title_from
from memory.models import Memory

ASSISTANT_CHARS, MEMORY_CHARS, TAG_CHARS = 50, 10_000, 100
LANGUAGE_CHARS, PRESET_CHARS = 40, 50
SUMMARY_CHARS, MADE_BY_CHARS = 10_000, 80
Ids = dict[str, uuid.UUID]
"""An id that the document gives, and the one that is stored for it."""


class ManyIds:
    """The same for turns: as numbers, because there may be hundreds of thousands."""

    def __init__(self) -> None:
        self._stored: dict[int, int] = {}

    def __contains__(self, given: str) -> bool:
        return uuid.UUID(given).int in self._stored

    def __getitem__(self, given: str) -> uuid.UUID:
        return uuid.UUID(int=self._stored[uuid.UUID(given).int])

    def __setitem__(self, given: str, stored: uuid.UUID) -> None:
        number = uuid.UUID(given).int
        self._stored[number] = number if number == stored.int else stored.int


@dataclass(frozen=True, kw_only=True, slots=True)
class Turns:
    """The turns of one thread, to be found by id, by place – from 1 on – and by time."""

    all: Sequence[TurnRecord]
    places: Mapping[uuid.UUID, int]
    earliest: Sequence[datetime]
    """For each turn, the earliest time of it and all that follow: times may go back."""

    @classmethod
    def of(cls, turns: Sequence[TurnRecord]) -> Self:
        earliest = list(accumulate((turn.created_at for turn in reversed(turns)), min))[::-1]
        return cls(all=turns, places={turn.id: place for place, turn in enumerate(turns, 1)}, earliest=earliest)

    def place_of(self, maker: uuid.UUID | None, created_at: datetime) -> int:
        """The place of the turn that an artifact stands below: the one that made it, else the last that is not younger."""
        return self.places[maker] if maker else bisect_right(self.earliest, created_at)


class Reader:
    """Reads the parts of one document and knows the ids so far. Memories come after the threads that they refer to."""

    def __init__(self, *, user_id: int, now: datetime, new_ids: bool) -> None:
        self._user_id, self._now, self._new_ids = user_id, now, new_ids
        self._threads: Ids = {}
        self._turns = ManyIds()
        self._artifacts: Ids = {}
        self._memories: Ids = {}
        self._topics: Ids = {}
        self._summaries: Ids = {}

    def thread(self, value: Any, place: str) -> ThreadRecord:
        thread = mapping(value, place)
        name, assistant = thread.get("title"), thread.get("assistant")
        created_at = moment(thread.get("created_at"), at(place, "created_at"))
        messages = elements(thread, "messages", place)
        turns = self._read_turns(messages, at(place, "messages"), created_at or self._now)
        told = Turns.of(turns)
        return ThreadRecord(
            id=self._id(self._threads, thread, place),
            place=place,
            title=_title_of(turns) if name is None else title(name, at(place, "title")),
            assistant=None if assistant is None else text(assistant, at(place, "assistant"), most=ASSISTANT_CHARS),
            created_at=created_at or (turns[0].created_at if turns else self._now),
            turns=turns,
            artifacts=[
                self._artifact(each, f"{place}.artifacts[{index}]", told, created_at or self._now)
                for index, each in enumerate(elements(thread, "artifacts", place))
            ],
            remembers=switch(thread.get("remembers"), at(place, "remembers"), default=True),
            summaries=self._read_summaries(elements(thread, "summaries", place), at(place, "summaries"), turns),
        )

    def memory(self, value: Any, place: str) -> MemoryRecord:
        memory = mapping(value, place)
        content = text(memory.get("content"), at(place, "content"), most=MEMORY_CHARS)
        if not content.strip():
            refuse(at(place, "content"), "is empty.")
        tags = [
            text(tag, f"{place}.tags[{index}]", most=TAG_CHARS)
            for index, tag in enumerate(elements(memory, "tags", place))
        ]
        source = identifier(memory.get("source"), at(place, "source"))
        times = {name: moment(memory.get(name), at(place, name)) for name in ("valid_from", "valid_until", "ended_at")}
        return MemoryRecord(
            id=self._id(self._memories, memory, place),
            content=content,
            tags=tags_here(tags, user_id=self._user_id, threads=self._threads),
            origin=choice(memory.get("origin", Memory.Origin.PROGRAM), Memory.Origin.values, at(place, "origin")),
            sources=self._sources(memory, place, source),
            created_at=moment(memory.get("created_at"), at(place, "created_at")) or self._now,
            **times,
        )

    def topic(self, value: Any, place: str) -> TopicRecord:
        topic = mapping(value, place)
        thread = identifier(topic.get("thread"), at(place, "thread"))
        name = title(topic.get("title"), at(place, "title"))
        if not name:
            refuse(at(place, "title"), "is empty.")
        return TopicRecord(
            id=self._id(self._topics, topic, place),
            title=name,
            thread=self._threads.get(str(thread)),
            sources=self._sources(topic, place),
            opened_at=moment(topic.get("opened_at"), at(place, "opened_at")) or self._now,
            resolved_at=moment(topic.get("resolved_at"), at(place, "resolved_at")),
        )

    def _sources(self, values: dict[str, Any], place: str, *more: uuid.UUID | None) -> list[uuid.UUID]:
        """The turns that something rests on, as far as they came along."""
        given = [
            identifier(each, f"{place}.sources[{index}]")
            for index, each in enumerate(elements(values, "sources", place))
        ]
        return [self._turns[str(each)] for each in dict.fromkeys([*given, *more]) if each and str(each) in self._turns]

    def _read_summaries(self, values: list[Any], place: str, turns: Sequence[TurnRecord]) -> list[SummaryRecord]:
        summaries: list[SummaryRecord] = []
        for index, value in enumerate(values):
            before = summaries[-1].last if summaries else 0
            summaries.append(self._summary(mapping(value, f"{place}[{index}]"), f"{place}[{index}]", turns, before))
        return summaries

    def _summary(self, summary: dict[str, Any], place: str, turns: Sequence[TurnRecord], before: int) -> SummaryRecord:
        first, last = (count(summary.get(name), at(place, name)) or 0 for name in ("first", "last"))
        if not before < first <= last <= len(turns):
            refuse(place, "must tell of messages behind those of the summary before: `first` and `last`, from 1 on.")
        times = {
            name: moment(summary.get(name), at(place, name))
            for name in ("started_at", "ended_at", "made_at", "stale_since")
        }
        moments = elements(summary, "key_moments", place)
        return SummaryRecord(
            id=self._id(self._summaries, summary, place),
            first=first,
            last=last,
            text=text(summary.get("text"), at(place, "text"), most=SUMMARY_CHARS),
            key_moments=[
                text(each, f"{place}.key_moments[{index}]", most=SUMMARY_CHARS) for index, each in enumerate(moments)
            ],
            sources=self._sources(summary, place),
            started_at=times["started_at"] or turns[first - 1].created_at,
            ended_at=times["ended_at"] or turns[last - 1].created_at,
            made_by=line(summary.get("made_by"), at(place, "made_by"), most=MADE_BY_CHARS),
            made_at=times["made_at"] or self._now,
            stale_since=times["stale_since"],
        )

    def _read_turns(self, messages: list[Any], place: str, start: datetime) -> list[TurnRecord]:
        places = [f"{place}[{index}]" for index in range(len(messages))]
        turns = [mapping(value, each) for value, each in zip(messages, places, strict=True)]
        given = [
            moment(turn.get("created_at"), at(each, "created_at")) for turn, each in zip(turns, places, strict=True)
        ]
        return [
            self._read_turn(turn, each, time)
            for turn, each, time in zip(turns, places, filled(given, start), strict=True)
        ]

    def _read_turn(self, turn: dict[str, Any], place: str, time: datetime) -> TurnRecord:
        """Of a turn that was forgotten nothing is taken but its place, whatever the document says in it."""
        content = blocks_of(turn.get("content"), at(place, "content"))
        status = choice(turn.get("status", Message.Status.COMPLETE), Message.Status.values, at(place, "status"))
        return TurnRecord(
            id=self._id(self._turns, turn, place),
            role=choice(turn.get("role"), Message.Role.values, at(place, "role")),
            content=text_blocks(FORGOTTEN) if status == Message.Status.FORGOTTEN else content,
            created_at=time,
            status=status,
            offline=switch(turn.get("offline"), at(place, "offline"), default=False),
        )

    def _artifact(self, value: Any, place: str, turns: Turns, start: datetime) -> ArtifactRecord:
        artifact = mapping(value, place)
        created_at = moment(artifact.get("created_at"), at(place, "created_at"))
        versions = self._versions(artifact, place, turns, created_at, start)
        created_at = created_at or versions[0].created_at
        after_position = count(artifact.get("after_position"), at(place, "after_position"))
        return ArtifactRecord(
            id=self._id(self._artifacts, artifact, place),
            title=title(artifact.get("title"), at(place, "title")),
            kind=choice(artifact.get("kind", Kind.DOCUMENT), Kind.values, at(place, "kind")),
            language=line(artifact.get("language"), at(place, "language"), most=LANGUAGE_CHARS),
            preset=line(artifact.get("preset"), at(place, "preset"), most=PRESET_CHARS),
            after_position=turns.place_of(versions[0].message, created_at)
            if after_position is None
            else min(after_position, len(turns.all)),
            created_at=created_at,
            versions=versions,
        )

    def _versions(
        self,
        artifact: dict[str, Any],
        place: str,
        turns: Turns,
        created_at: datetime | None,
        start: datetime,
    ) -> list[VersionRecord]:
        """All versions, or the one that the artifact's own ``content`` is. A time that is missing is that of the one before."""
        given = elements(artifact, "versions", place)
        places = [f"{place}.versions[{index}]" for index in range(len(given))]
        if len(given) > MAX_VERSIONS:
            refuse(at(place, "versions"), f"has {len(given):,} versions; the limit is {MAX_VERSIONS:,}.")
        if not given:
            given, places = [artifact], [place]
        versions: list[VersionRecord] = []
        for value, each in zip(given, places, strict=True):
            version = mapping(value, each)
            maker = self._maker(version.get("message"), at(each, "message"), turns)
            time = moment(version.get("created_at"), at(each, "created_at"))
            before = versions[-1].created_at if versions else created_at
            versions.append(
                VersionRecord(
                    content=text(
                        version.get("content"), at(each, "content"), most=settings.OPENBOOK_MAX_ARTIFACT_CHARS
                    ),
                    created_at=time or before or (maker.created_at if maker else start),
                    origin=_origin(version.get("origin")),
                    message=maker.id if maker else None,
                )
            )
        newest = artifact.get("content")
        if newest is not None and not (isinstance(newest, str) and clean(newest) == versions[-1].content):
            refuse(at(place, "content"), "must be that of the last version, or be left out.")
        return versions

    def _maker(self, value: Any, place: str, turns: Turns) -> TurnRecord | None:
        """The turn that made an artifact, by its id or by its place in the thread, from 1."""
        if value is None:
            return None
        if type(value) is int:
            number = value
        else:
            given = str(identifier(value, place))
            number = turns.places.get(self._turns[given], 0) if given in self._turns else 0
        maker = turns.all[number - 1] if 1 <= number <= len(turns.all) else None
        if maker is None or maker.role != Message.Role.ASSISTANT:
            refuse(place, "must be the `id`, or the place from 1 on, of an assistant's message of this thread.")
        return maker

    def _id(self, ids: Ids | ManyIds, values: dict[str, Any], place: str) -> uuid.UUID:
        """The id that is stored; one that is given stands only once in a document."""
        given = identifier(values.get("id"), at(place, "id"))
        if given is None:
            return uuid7()
        if str(given) in ids:
            refuse(at(place, "id"), f"stands twice in the document: {given}.")
        ids[str(given)] = uuid7() if self._new_ids else given
        return ids[str(given)]


def filled(given: Sequence[datetime | None], start: datetime) -> Iterator[datetime]:
    """Times where some are missing: that of the turn before, and for the first ones ``start``, or what comes next if that is
    earlier. Times that are given stay, even where they go back."""
    known = next((time for time in given if time), start)
    last = min(start, known)
    for time in given:
        last = time or last
        yield last


def tags_here(tags: Sequence[str], *, user_id: int, threads: Ids) -> list[str]:
    """Tags of another installation as tags of this one: about this user, and about those threads that came along (C4)."""
    mine = f"user:{user_id}"
    here = [mine if tag.startswith("user:") else _thread_tag(tag, threads) for tag in tags]
    return list(dict.fromkeys([*([] if mine in here else [mine]), *filter(None, here)]))


def _thread_tag(tag: str, threads: Ids) -> str:
    """The tag under the thread's id of here; empty where the thread did not come along."""
    kind, _, name = tag.partition(":")
    if kind != "thread":
        return tag
    return f"thread:{threads[name]}" if name in threads else ""


def preferences(value: Any, place: str) -> PreferencesRecord:
    preferences = mapping(value, place)
    zone = text(preferences.get("time_zone", "UTC"), at(place, "time_zone"))
    if zone not in zone_names():
        refuse(at(place, "time_zone"), "must be the name of a time zone, for example Europe/Paris.")
    return PreferencesRecord(
        time_zone=zone, remembers=switch(preferences.get("remembers"), at(place, "remembers"), default=True)
    )


def _origin(value: Any) -> str:
    """Who made a version. What isn't known was made by a program: this import."""
    return value if value in ArtifactVersion.Origin.values else ArtifactVersion.Origin.PROGRAM.value


def _title_of(turns: Sequence[TurnRecord]) -> str:
    first = next((turn for turn in turns if turn.role == Message.Role.USER), None)
    return title_from(text_of(first.content)) if first else ""

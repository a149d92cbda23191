"""The parts of a document as records, checked one by one, so that it need not be in memory as a whole.

It draws ids, and asks which of those that are given are here already.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time
from typing import Any

from django.conf import settings
from django.db.models import Model

from conversations.context.tokens.estimate import text_of
from conversations.files.of_projects import MOST_FILES as MOST_OF_PROJECT
from conversations.import_export.artifact_reader import ArtifactReader, is_id
from conversations.import_export.disk_lists import Scratch, Spool, gathered
from conversations.import_export.file_intake import Taking
from conversations.import_export.known_ids import OF_THREADS, IdChoice, KnownIds
from conversations.import_export.many_ids import ManyDerived, ManyIds
from conversations.import_export.project_fields import read_project
from conversations.import_export.records import (
    FileRecord,
    LeftOut,
    MemoryRecord,
    PreferencesRecord,
    ProjectRecord,
    PromptRecord,
    ScheduleRecord,
    Successor,
    SummaryRecord,
    ThreadRecord,
    TopicRecord,
    TurnRecord,
)
from conversations.import_export.thread_files import NO_FILES, ThreadFiles
from conversations.import_export.turn_reader import TurnIds, TurnReader
from conversations.import_export.uploads import Document
from conversations.import_export.values import Fields, refuse
from conversations.models import Message, Project, Thread
from conversations.models.projects import LONGEST_INSTRUCTIONS as MOST_INSTRUCTIONS
from conversations.models.prompts import NAME_CHARS, TEXT_CHARS
from conversations.models.schedules import CONTENT_CHARS
from conversations.models.threads import MOST_TAGS
from conversations.models.threads import TAG_CHARS as THREAD_TAG_CHARS
from conversations.runtime.ids import uuid7
from conversations.schedules.times import DAYS, numbers_of
from conversations.threads.labels import distinct
from conversations.threads.titles import title_from
from memory.models import Memory
from memory.services import zone_names

ASSISTANT_CHARS, MODEL_CHARS, MEMORY_CHARS, TAG_CHARS = 50, 121, 10_000, 100
SUMMARY_CHARS, MADE_BY_CHARS = 10_000, 80
MOST_OF_THREAD = 10_000
"""Artifacts, and summaries."""
NO_ID = uuid.UUID(int=0)
Ids = dict[str, uuid.UUID]
"""An id that the document gives, and the one that is stored for it."""


class DocumentReader:
    """Reads the parts of documents and knows the ids so far. Memories come after the threads that they refer to."""

    def __init__(
        self,
        *,
        user_id: int,
        now: datetime,
        new_ids: bool,
        scratch: Scratch,
        take: Taking,
        here: KnownIds | None = None,
    ) -> None:
        """Ids that are given are kept or derived, as ``KnownIds`` says, or with ``new_ids`` replaced wherever they stand.
        ``take`` is given each file."""
        self._user_id, self._now, self._new_ids, self._scratch, self._take = user_id, now, new_ids, scratch, take
        self._here, self._choice = here or KnownIds(user_id), IdChoice()
        self._choices: dict[uuid.UUID, IdChoice] = {}
        self._threads: Ids = {}
        self._files: Ids = {}
        self._derived = ManyDerived(marks=ManyIds(new_ids=False), rule=self._here.derived)
        self._turns = TurnIds(ManyIds(new_ids=new_ids, derived=self._derived), self._turn_id)
        self._artifacts: Ids = {}
        self._memories: Ids = {}
        self._successors: list[tuple[uuid.UUID, uuid.UUID]] = []
        """New ended notes as they are stored, each with the id that the document gives for what took its place."""
        self._topics: Ids = {}
        self._projects: Ids = {}
        self._project_files: dict[str, Mapping[str, FileRecord]] = {}
        """Those of each project, by the ids that the document gives."""
        self._prompts: Ids = {}
        self._schedules: Ids = {}
        self._summaries: Ids = {}

    @property
    def left_out(self) -> list[LeftOut]:
        return self._turns.left_out

    def project(self, value: Any, place: str, document: Document) -> ProjectRecord:
        """Threads and memories come after the projects that they refer to."""
        project = Fields.of(value, place)
        id = project.identifier("id")
        self._choice = self._here.choices(Project, [id])[id] if id and not self._new_ids else IdChoice()
        files = ThreadFiles(self._take, document, lambda file: self._id(self._files, file), self._now)
        if not self._choice.known:
            files.read(project, most=MOST_OF_PROJECT)
        kept = self._id(self._projects, project)
        self._project_files[str(id)] = files.by_id
        return read_project(project, id=kept, known=self._choice.known, files=files.kept, now=self._now)

    def thread(self, value: Any, place: str, document: Document, *, foreign: bool = False) -> ThreadRecord:
        thread = Fields.of(value, place)
        self._choice = self._choice_of(thread, foreign=foreign)
        if foreign:
            left_out = thread.get("left_out") or {}
            self.left_out.extend(LeftOut(place=place, what=what, count=count) for what, count in left_out.items())
        created_at = thread.moment("created_at")
        start = created_at or self._now
        for name in ("artifacts", "summaries"):
            thread.elements(name, most=MOST_OF_THREAD)
        shared = self._project_files.get(str(thread.identifier("project")), NO_FILES)
        files = ThreadFiles(self._take, document, lambda file: self._id(self._files, file), self._now, shared)
        files.read(thread)
        reader = TurnReader(thread, start, files, self._turns)
        turns = self._gathered(thread.elements("messages"), reader.turns())
        branches = self._gathered(thread.elements("branches"), reader.branches())
        artifacts = ArtifactReader(
            thread, start, self._turns, self._scratch, lambda one: self._id(self._artifacts, one)
        )
        source_id, forked_at = self._source(thread)
        return ThreadRecord(
            id=self._id(self._threads, thread),
            place=place,
            title=_title_of(turns) if thread.get("title") is None else thread.title("title"),
            title_through=_title_through(thread, len(turns) + len(branches)),
            assistant=None if thread.get("assistant") is None else thread.text("assistant", most=ASSISTANT_CHARS),
            created_at=created_at or (turns[0].created_at if turns else self._now),
            turns=turns,
            branches=branches,
            artifacts=artifacts.artifacts(turns, branches, reader),
            remembers=thread.switch("remembers", default=True),
            pinned=thread.switch("pinned", default=False),
            archived=thread.switch("archived", default=False),
            tags=self._tags(thread),
            model=thread.line("model", most=MODEL_CHARS),
            # They name places, and are made anew after a while.
            summaries=self._read_summaries(thread, turns, reader) if reader.is_whole and not self._choice.known else [],
            files=files.kept,
            project_id=self._projects.get(str(thread.identifier("project"))),
            instructions=""
            if thread.get("instructions") is None
            else thread.text("instructions", most=MOST_INSTRUCTIONS),
            uses_account_instructions=thread.switch("uses_account_instructions", default=True),
            forked_from_id=source_id,
            forked_at=forked_at,
            known=self._choice.known,
        )

    def _source(self, thread: Fields) -> tuple[uuid.UUID | None, uuid.UUID | None]:
        """The thread that it was forked from, where that came before it or is here, and the turn up to which it was."""
        if thread.get("forked_from") is None:
            return None, None
        source = Fields.of(thread.get("forked_from"), thread.at("forked_from"))
        id, turn = source.identifier("thread"), source.identifier("message")
        if id is None:
            source.refuse("thread", "is missing.")
        turn_id = self._turns.stored[str(turn)] if turn and str(turn) in self._turns.stored else None
        if str(id) in self._threads:
            return self._threads[str(id)], turn_id
        choice = self._here.choices(Thread, [id])[id]
        if not choice.known:
            return None, None
        return (self._here.derived(id), turn and self._here.derived(turn)) if choice.derives else (id, turn)

    def _tags(self, thread: Fields) -> list[str]:
        thread.elements("tags", most=MOST_TAGS, noun="tags")
        return distinct(thread.texts("tags", most=THREAD_TAG_CHARS))

    def _choice_of(self, thread: Fields, *, foreign: bool) -> IdChoice:
        """By which ids the thread and all in it are stored."""
        if self._new_ids:
            return IdChoice()
        id = thread.identifier("id")
        choice = self._here.choices(Thread, [id], foreign=foreign)[id] if id else IdChoice(derives=foreign)
        if choice.known or choice.derives:
            return choice
        given = ((kind, (each.identifier("id") for each in thread.objects(kind))) for kind in OF_THREADS)
        return IdChoice(derives=any(self._here.are_taken(kind, filter(None, ids)) for kind, ids in given))

    def look_up(self, model: type[Model], elements: Sequence[tuple[str, Any]]) -> None:
        """Which of these memories or topics, which come next, are here already."""
        if not self._new_ids:
            given = (value.get("id") for _, value in elements if isinstance(value, dict))
            ids = [uuid.UUID(id) for id in given if isinstance(id, str) and is_id(id)]
            self._choices = self._here.choices(model, ids)

    def _gathered[T](self, elements: Sequence[Any], records: Iterator[T]) -> Sequence[T]:
        """The records of what is given, where that is: in memory, or in the scratch."""
        return gathered(records, self._scratch, few=not isinstance(elements, Spool))

    def memory(self, value: Any, place: str) -> MemoryRecord:
        memory = Fields.of(value, place)
        self._choice = self._choices.get(memory.identifier("id") or NO_ID, IdChoice())
        content = memory.text("content", most=MEMORY_CHARS)
        if not content.strip():
            memory.refuse("content", "is empty.")
        tags = memory.texts("tags", most=TAG_CHARS)
        source = memory.identifier("source")
        times = {name: memory.moment(name) for name in ("valid_from", "valid_until", "ended_at", "settled_at")}
        created_at = memory.moment("created_at") or self._now
        id, successor = self._id(self._memories, memory), memory.identifier("superseded_by")
        if successor and times["ended_at"] and not self._choice.known:
            self._successors.append((id, successor))
        return MemoryRecord(
            id=id,
            content=content,
            tags=tags_here(tags, user_id=self._user_id, threads=self._threads, projects=self._projects),
            origin=memory.choice("origin", Memory.Origin.values, default=Memory.Origin.PROGRAM),
            sources=self._sources(memory, source),
            created_at=created_at,
            said_at=memory.moment("said_at") or times["valid_from"] or created_at,
            known=self._choice.known,
            **times,
        )

    def successors(self) -> Iterator[Successor]:
        """Once all memories are read: those of which both came along."""
        for id, given in self._successors:
            if (successor := self._memories.get(str(given))) and successor != id:
                yield Successor(memory_id=id, superseded_by_id=successor)

    def topic(self, value: Any, place: str) -> TopicRecord:
        topic = Fields.of(value, place)
        self._choice = self._choices.get(topic.identifier("id") or NO_ID, IdChoice())
        thread = topic.identifier("thread")
        title = topic.title("title")
        if not title:
            topic.refuse("title", "is empty.")
        return TopicRecord(
            id=self._id(self._topics, topic),
            title=title,
            thread_id=self._threads.get(str(thread)),
            sources=self._sources(topic),
            opened_at=topic.moment("opened_at") or self._now,
            resolved_at=topic.moment("resolved_at"),
            known=self._choice.known,
        )

    def prompt(self, value: Any, place: str) -> PromptRecord:
        prompt = Fields.of(value, place)
        self._choice = self._choices.get(prompt.identifier("id") or NO_ID, IdChoice())
        name, text = prompt.line("name", most=NAME_CHARS), prompt.text("text", most=TEXT_CHARS)
        if not (name and text.strip()):
            prompt.refuse("text" if name else "name", "is empty.")
        created_at = prompt.moment("created_at") or self._now
        return PromptRecord(
            id=self._id(self._prompts, prompt),
            name=name,
            text=text,
            created_at=created_at,
            updated_at=created_at,
            known=self._choice.known,
        )

    def schedule(self, value: Any, place: str) -> ScheduleRecord:
        """Of one without a valid ``rule``, ``at`` is the time that it is sent at, once."""
        schedule = Fields.of(value, place)
        self._choice = self._choices.get(schedule.identifier("id") or NO_ID, IdChoice())
        content = schedule.text("content", most=CONTENT_CHARS)
        if not content.strip():
            schedule.refuse("content", "is empty.")
        zone = schedule.text("time_zone")
        if zone not in zone_names():
            schedule.refuse("time_zone", "must be the name of a time zone, for example Europe/Paris.")
        days, time = _rule(schedule)
        at = None if time else schedule.moment("at")
        if not (time or at):
            schedule.refuse("at", "is missing, and there is no `rule` either.")
        created_at = schedule.moment("created_at") or self._now
        return ScheduleRecord(
            id=self._id(self._schedules, schedule),
            thread_id=self._threads.get(str(schedule.identifier("thread"))),
            assistant=schedule.line("assistant", most=ASSISTANT_CHARS),
            content=content,
            at=at,
            days=days,
            time=time,
            time_zone=zone,
            next_at=at or created_at,
            created_at=created_at,
            updated_at=created_at,
            known=self._choice.known,
        )

    def _sources(self, fields: Fields, *more: uuid.UUID | None) -> list[uuid.UUID]:
        """The turns that something rests on, as far as they came along."""
        ids = dict.fromkeys([*fields.identifiers("sources"), *more])
        return [self._turns.stored[str(id)] for id in ids if id and str(id) in self._turns.stored]

    def _read_summaries(self, thread: Fields, turns: Sequence[TurnRecord], reader: TurnReader) -> list[SummaryRecord]:
        before, summaries = 0, list[SummaryRecord]()
        for summary in thread.objects("summaries"):
            summaries.append(self._summary(summary, turns, reader, before))
            before = summary.count("last") or 0
        return summaries

    def _summary(self, summary: Fields, turns: Sequence[TurnRecord], reader: TurnReader, before: int) -> SummaryRecord:
        first, last = summary.count("first") or 0, summary.count("last") or 0
        if not before < first <= last <= len(turns):
            refuse(
                summary.place,
                "must tell of messages behind those of the summary before: `first` and `last`, from 1 on.",
            )
        return SummaryRecord(
            id=self._id(self._summaries, summary),
            first_position=reader.position(first),
            last_position=reader.position(last),
            text=summary.text("text", most=SUMMARY_CHARS),
            key_moments=summary.texts("key_moments", most=SUMMARY_CHARS),
            sources=self._sources(summary),
            started_at=summary.moment("started_at") or turns[first - 1].created_at,
            ended_at=summary.moment("ended_at") or turns[last - 1].created_at,
            made_by=summary.line("made_by", most=MADE_BY_CHARS),
            made_at=summary.moment("made_at") or self._now,
            stale_since=summary.moment("stale_since"),
        )

    def _id(self, ids: Ids, fields: Fields) -> uuid.UUID:
        """The id that is stored; one that is given stands only once in a document."""
        id = fields.identifier("id")
        if id is None:
            return uuid7()
        if str(id) in ids:
            fields.refuse("id", f"stands twice in the document: {id}.")
        kept = self._here.derived(id) if self._choice.derives else id
        ids[str(id)] = uuid7() if self._new_ids else kept
        return ids[str(id)]

    def _turn_id(self, turn: Fields, number: int) -> uuid.UUID:
        """The same of a turn, of which there may be many."""
        id, ids = turn.identifier("id"), self._turns.stored
        if id is None:
            return uuid7()
        if str(id) in ids:
            turn.refuse("id", f"stands twice in the document: {id}.")
        ids.add(str(id), number)
        if self._choice.derives:
            self._derived.marks.add(str(id))
        return ids[str(id)]


def _title_through(thread: Fields, turns: int) -> int | None:
    """Of how many of its turns a model made the title."""
    through = thread.count("title_through")
    return min(through, turns) if through and turns else None


def tags_here(tags: Sequence[str], *, user_id: int, threads: Ids, projects: Ids) -> list[str]:
    """Tags of another installation as tags of this one: about this user, and about those threads and projects that came along
    (C4)."""
    mine, ids = f"user:{user_id}", {"thread": threads, "project": projects}
    here = [mine if tag.startswith("user:") else _tag_here(tag, ids) for tag in tags]
    is_projects = any(tag.startswith("project:") for tag in here)
    return list(dict.fromkeys([*([] if mine in here or is_projects else [mine]), *filter(None, here)]))


def _tag_here(tag: str, ids: Mapping[str, Ids]) -> str:
    """The tag under the id of here; empty where what it names did not come along."""
    kind, _, name = tag.partition(":")
    if kind not in ids or (kind == "project" and not is_id(name)):
        return tag
    return f"{kind}:{ids[kind][name]}" if name in ids[kind] else ""


def preferences(value: Any, place: str) -> PreferencesRecord:
    preferences = Fields.of({"time_zone": "UTC", "language": ""} | value if isinstance(value, dict) else value, place)
    zone = preferences.text("time_zone")
    if zone not in zone_names():
        preferences.refuse("time_zone", "must be the name of a time zone, for example Europe/Paris.")
    language = preferences.text("language")
    if language and language not in dict(settings.LANGUAGES):
        preferences.refuse("language", f"must be one of {', '.join(dict(settings.LANGUAGES))}, or empty.")
    remembers = preferences.switch("remembers", default=True)
    return PreferencesRecord(time_zone=zone, remembers=remembers, language=language)


def _rule(schedule: Fields) -> tuple[list[int], time | None]:
    """Days of the week and a time of day; nothing where there is no rule."""
    if schedule.get("rule") is None:
        return [], None
    rule = Fields.of(schedule.get("rule"), schedule.at("rule"))
    names = rule.texts("days", most=3)
    if not names or not {*names} <= {*DAYS}:
        rule.refuse("days", f"must be some of: {', '.join(DAYS)}.")
    try:
        return numbers_of(names), time.fromisoformat(rule.text("time", most=5))
    except ValueError:
        rule.refuse("time", "must be a time of day, for example 08:00.")


def _title_of(turns: Sequence[TurnRecord]) -> str:
    first = next((turn for turn in turns if turn.role == Message.Role.USER), None)
    return title_from(text_of(first.content)) if first else ""

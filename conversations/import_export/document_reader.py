"""The parts of a document as records, checked one by one, so that it need not be in memory as a whole.

It draws ids, and asks which of those that are given are here already.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Model

from artifacts.models import ArtifactVersion, Kind
from artifacts.services import MAX_VERSIONS
from conversations.context.tokens.estimate import text_of
from conversations.errors import ImportTooLarge
from conversations.import_export.blocks import blocks_of
from conversations.import_export.disk_lists import Scratch, Spool, gathered
from conversations.import_export.file_intake import Taking
from conversations.import_export.known_ids import OF_THREADS, IdChoice, KnownIds
from conversations.import_export.many_ids import ManyDerived, ManyIds
from conversations.import_export.project_fields import read_project
from conversations.import_export.records import (
    ArtifactRecord,
    LeftOut,
    MemoryRecord,
    PreferencesRecord,
    ProjectRecord,
    PromptRecord,
    SummaryRecord,
    ThreadRecord,
    TopicRecord,
    TurnRecord,
    VersionRecord,
)
from conversations.import_export.thread_files import ThreadFiles
from conversations.import_export.thread_turns import ThreadTurns
from conversations.import_export.turn_feedback import feedback_in
from conversations.import_export.uploads import Document
from conversations.import_export.values import MOST_CHARS, Fields, TextTooLong, refuse
from conversations.models import Message, Project, Thread, text_blocks
from conversations.models.data_map import FORGOTTEN
from conversations.models.projects import LONGEST_INSTRUCTIONS as MOST_INSTRUCTIONS
from conversations.models.prompts import NAME_CHARS, TEXT_CHARS
from conversations.models.threads import MOST_TAGS
from conversations.models.threads import TAG_CHARS as THREAD_TAG_CHARS
from conversations.runtime.ids import uuid7
from conversations.runtime.text import clean, shortened
from conversations.threads.labels import distinct
from conversations.threads.titles import title_from
from memory.models import Memory
from memory.services import zone_names

ASSISTANT_CHARS, MODEL_CHARS, MEMORY_CHARS, TAG_CHARS = 50, 121, 10_000, 100
LANGUAGE_CHARS, PRESET_CHARS = 40, 50
SUMMARY_CHARS, MADE_BY_CHARS = 10_000, 80
WRITER_CHARS = 200
"""Of the name of the model that wrote a turn. A longer one is cut: for a name no message is left out."""
MOST_TURNS = 1_000_000
"""Of all threads of an upload together."""
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
        self.left_out: list[LeftOut] = []
        self._skipped: list[int] = []
        """Places of the messages of the thread at hand that are left out, from 1 on."""
        self._threads: Ids = {}
        self._files: Ids = {}
        self._derived = ManyDerived(marks=ManyIds(new_ids=False), rule=self._here.derived)
        self._turns, self._turn_count = ManyIds(new_ids=new_ids, derived=self._derived), 0
        self._artifacts: Ids = {}
        self._memories: Ids = {}
        self._topics: Ids = {}
        self._projects: Ids = {}
        self._prompts: Ids = {}
        self._summaries: Ids = {}

    def project(self, value: Any, place: str, document: Document) -> ProjectRecord:
        """Threads and memories come after the projects that they refer to."""
        project = Fields.of(value, place)
        id = project.identifier("id")
        self._choice = self._here.choices(Project, [id])[id] if id and not self._new_ids else IdChoice()
        files = ThreadFiles(self._take, document, lambda file: self._id(self._files, file), self._now)
        if not self._choice.known:
            files.read(project)
        kept = self._id(self._projects, project)
        return read_project(project, id=kept, known=self._choice.known, files=files.kept, now=self._now)

    def thread(self, value: Any, place: str, document: Document, *, foreign: bool = False) -> ThreadRecord:
        thread = Fields.of(value, place)
        self._choice, self._skipped = self._choice_of(thread, foreign=foreign), []
        if foreign:
            left_out = thread.get("left_out") or {}
            self.left_out += [LeftOut(place=place, what=what, count=count) for what, count in left_out.items()]
        created_at = thread.moment("created_at")
        start = created_at or self._now
        messages = thread.elements("messages")
        artifacts = thread.elements("artifacts", most=MOST_OF_THREAD)
        thread.elements("summaries", most=MOST_OF_THREAD)
        files = ThreadFiles(self._take, document, lambda file: self._id(self._files, file), self._now)
        files.read(thread)
        turns = self._gathered(messages, self._read_turns(thread, start, files))
        thread_turns = ThreadTurns.of(turns, self._makers(thread)) if artifacts else ThreadTurns.of((), ())
        return ThreadRecord(
            id=self._id(self._threads, thread),
            place=place,
            title=_title_of(turns) if thread.get("title") is None else thread.title("title"),
            assistant=None if thread.get("assistant") is None else thread.text("assistant", most=ASSISTANT_CHARS),
            created_at=created_at or (turns[0].created_at if turns else self._now),
            turns=turns,
            artifacts=self._gathered(
                artifacts, (self._artifact(each, thread_turns, start) for each in thread.objects("artifacts"))
            ),
            remembers=thread.switch("remembers", default=True),
            pinned=thread.switch("pinned", default=False),
            archived=thread.switch("archived", default=False),
            tags=self._tags(thread),
            model=thread.line("model", most=MODEL_CHARS),
            # They name places, and are made anew after a while.
            summaries=[] if self._skipped or self._choice.known else self._read_summaries(thread, turns),
            files=files.kept,
            project_id=self._projects.get(str(thread.identifier("project"))),
            instructions=""
            if thread.get("instructions") is None
            else thread.text("instructions", most=MOST_INSTRUCTIONS),
            uses_account_instructions=thread.switch("uses_account_instructions", default=True),
            known=self._choice.known,
        )

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
            ids = [uuid.UUID(id) for id in given if isinstance(id, str) and _is_id(id)]
            self._choices = self._here.choices(model, ids)

    def _gathered[T](self, elements: Sequence[Any], records: Iterator[T]) -> Sequence[T]:
        """The records of what is given, where that is: in memory, or in the scratch."""
        return gathered(records, self._scratch, few=not isinstance(elements, Spool))

    def _makers(self, thread: Fields) -> set[uuid.UUID | int]:
        """The turns that artifacts name as those that made them, by id or by place."""
        named = [
            version.get("message")
            for artifact in thread.objects("artifacts")
            for version in (artifact, *artifact.objects("versions"))
        ]
        ids = {each for each in named if isinstance(each, str) and _is_id(each) and each in self._turns}
        return {self._turns[each] for each in ids} | {self._place(each) for each in named if type(each) is int}

    def _place(self, number: int) -> int:
        """The place of a message once those before it are left out; 0 for one that is."""
        return 0 if number in self._skipped else number - sum(skipped < number for skipped in self._skipped)

    def memory(self, value: Any, place: str) -> MemoryRecord:
        memory = Fields.of(value, place)
        self._choice = self._choices.get(memory.identifier("id") or NO_ID, IdChoice())
        content = memory.text("content", most=MEMORY_CHARS)
        if not content.strip():
            memory.refuse("content", "is empty.")
        tags = memory.texts("tags", most=TAG_CHARS)
        source = memory.identifier("source")
        times = {name: memory.moment(name) for name in ("valid_from", "valid_until", "ended_at")}
        return MemoryRecord(
            id=self._id(self._memories, memory),
            content=content,
            tags=tags_here(tags, user_id=self._user_id, threads=self._threads, projects=self._projects),
            origin=memory.choice("origin", Memory.Origin.values, default=Memory.Origin.PROGRAM),
            sources=self._sources(memory, source),
            created_at=memory.moment("created_at") or self._now,
            known=self._choice.known,
            **times,
        )

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

    def _sources(self, fields: Fields, *more: uuid.UUID | None) -> list[uuid.UUID]:
        """The turns that something rests on, as far as they came along."""
        ids = dict.fromkeys([*fields.identifiers("sources"), *more])
        return [self._turns[str(id)] for id in ids if id and str(id) in self._turns]

    def _read_summaries(self, thread: Fields, turns: Sequence[TurnRecord]) -> list[SummaryRecord]:
        summaries: list[SummaryRecord] = []
        for summary in thread.objects("summaries"):
            before = summaries[-1].last_position if summaries else 0
            summaries.append(self._summary(summary, turns, before))
        return summaries

    def _summary(self, summary: Fields, turns: Sequence[TurnRecord], before: int) -> SummaryRecord:
        first, last = summary.count("first") or 0, summary.count("last") or 0
        if not before < first <= last <= len(turns):
            refuse(
                summary.place,
                "must tell of messages behind those of the summary before: `first` and `last`, from 1 on.",
            )
        return SummaryRecord(
            id=self._id(self._summaries, summary),
            first_position=first,
            last_position=last,
            text=summary.text("text", most=SUMMARY_CHARS),
            key_moments=summary.texts("key_moments", most=SUMMARY_CHARS),
            sources=self._sources(summary),
            started_at=summary.moment("started_at") or turns[first - 1].created_at,
            ended_at=summary.moment("ended_at") or turns[last - 1].created_at,
            made_by=summary.line("made_by", most=MADE_BY_CHARS),
            made_at=summary.moment("made_at") or self._now,
            stale_since=summary.moment("stale_since"),
        )

    def _read_turns(self, thread: Fields, start: datetime, files: ThreadFiles) -> Iterator[TurnRecord]:
        def times() -> Iterator[datetime | None]:
            return (turn.moment("created_at") for turn in thread.objects("messages"))

        for number, (turn, time) in enumerate(zip(thread.objects("messages"), filled(times, start), strict=True), 1):
            self._turn_count += 1
            if self._turn_count > MOST_TURNS:
                raise ImportTooLarge(
                    f"The document has more than {MOST_TURNS:,} messages. Nothing was imported: send it as several "
                    "documents, each with some of its threads.",
                    limit=MOST_TURNS,
                )
            try:
                yield self._read_turn(turn, time, files)
            except TextTooLong as error:
                self.left_out.append(LeftOut(place=turn.place, what=f"a message: {error.message}"))
                self._skipped.append(number)

    def _read_turn(self, turn: Fields, time: datetime, files: ThreadFiles) -> TurnRecord:
        """Of a turn that was forgotten nothing is taken but its place, whatever the document says in it."""
        status = turn.choice("status", Message.Status.values, default=Message.Status.COMPLETE)
        is_forgotten, place = status == Message.Status.FORGOTTEN, turn.at("content")
        given = turn.get("content") if is_forgotten else files.in_turn(turn.get("content"), place, time)
        content = blocks_of(given, place)
        role = turn.choice("role", Message.Role.values)
        is_written = role == Message.Role.ASSISTANT and not is_forgotten
        return TurnRecord(
            id=self._id(self._turns, turn),
            role=role,
            content=text_blocks(FORGOTTEN) if is_forgotten else content,
            created_at=time,
            status=status,
            offline=turn.switch("offline", default=False),
            model=shortened(turn.line("model", most=MOST_CHARS), WRITER_CHARS) if is_written else "",
            files=tuple(files.given(turn, content)) if role == Message.Role.USER and not is_forgotten else (),
            citations=() if is_forgotten else tuple(files.cited(turn)),
            feedback=feedback_in(turn, time) if role == Message.Role.ASSISTANT and not is_forgotten else None,
        )

    def _artifact(self, artifact: Fields, turns: ThreadTurns, start: datetime) -> ArtifactRecord:
        created_at = artifact.moment("created_at")
        versions = self._versions(artifact, turns, created_at, start)
        created_at = created_at or versions[0].created_at
        after_position = artifact.count("after_position")
        return ArtifactRecord(
            id=self._id(self._artifacts, artifact),
            title=artifact.title("title"),
            kind=artifact.choice("kind", Kind.values, default=Kind.DOCUMENT),
            language=artifact.line("language", most=LANGUAGE_CHARS),
            preset=artifact.line("preset", most=PRESET_CHARS),
            after_position=turns.place_of(versions[0].message_id, created_at)
            if after_position is None
            else min(after_position - sum(skipped <= after_position for skipped in self._skipped), len(turns.all)),
            created_at=created_at,
            versions=versions,
        )

    def _versions(
        self, artifact: Fields, turns: ThreadTurns, created_at: datetime | None, start: datetime
    ) -> Sequence[VersionRecord]:
        """All versions, or the one that the artifact's own ``content`` is."""
        given = artifact.elements("versions", most=MAX_VERSIONS, noun="versions")
        values = artifact.objects("versions") if given else [artifact]
        versions = self._gathered(given, self._read_versions(values, turns, created_at, start))
        newest = artifact.get("content")
        if newest is not None and not (isinstance(newest, str) and clean(newest) == versions[-1].content):
            artifact.refuse("content", "must be that of the last version, or be left out.")
        return versions

    def _read_versions(
        self, versions: Iterable[Fields], turns: ThreadTurns, before: datetime | None, start: datetime
    ) -> Iterator[VersionRecord]:
        """A time that is missing is that of the one before."""
        for version in versions:
            maker = self._maker(version, turns)
            before = version.moment("created_at") or before or (maker.created_at if maker else start)
            origin = version.get("origin")
            yield VersionRecord(
                content=version.text("content", most=settings.OPENBOOK_MAX_ARTIFACT_CHARS),
                created_at=before,
                # What isn't known was made by a program: this import.
                origin=origin if origin in ArtifactVersion.Origin.values else ArtifactVersion.Origin.PROGRAM.value,
                message_id=maker.id if maker else None,
            )

    def _maker(self, version: Fields, turns: ThreadTurns) -> TurnRecord | None:
        """The turn that made an artifact, by its id or by its place in the thread, from 1."""
        number = version.get("message")
        if number is None:
            return None
        if type(number) is not int:
            id = str(version.identifier("message"))
            number = turns.places.get(self._turns[id], 0) if id in self._turns else 0
        else:
            number = self._place(number)
        maker = turns.all[number - 1] if 1 <= number <= len(turns.all) else None
        if maker is None and self._skipped:
            return None
        if maker is None or maker.role != Message.Role.ASSISTANT:
            version.refuse(
                "message", "must be the `id`, or the place from 1 on, of an assistant's message of this thread."
            )
        return maker

    def _id(self, ids: Ids | ManyIds, fields: Fields) -> uuid.UUID:
        """The id that is stored; one that is given stands only once in a document."""
        id = fields.identifier("id")
        if id is None:
            return uuid7()
        if str(id) in ids:
            fields.refuse("id", f"stands twice in the document: {id}.")
        if isinstance(ids, ManyIds):
            ids.add(str(id))
            if self._choice.derives:
                self._derived.marks.add(str(id))
        else:
            kept = self._here.derived(id) if self._choice.derives else id
            ids[str(id)] = uuid7() if self._new_ids else kept
        return ids[str(id)]


def filled(times: Callable[[], Iterable[datetime | None]], start: datetime) -> Iterator[datetime]:
    """Times where some are missing: that of the turn before, and for the first ones ``start``, or what comes next if that is
    earlier. Times that are given stay, even where they go back."""
    last = min(start, next(filter(None, times()), start))
    for time in times():
        last = time or last
        yield last


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
    if kind not in ids or (kind == "project" and not _is_id(name)):
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


def _is_id(value: str) -> bool:
    try:
        return bool(uuid.UUID(value))
    except ValueError:
        return False


def _title_of(turns: Sequence[TurnRecord]) -> str:
    first = next((turn for turn in turns if turn.role == Message.Role.USER), None)
    return title_from(text_of(first.content)) if first else ""

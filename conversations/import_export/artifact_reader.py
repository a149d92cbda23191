"""The artifacts of one thread of a document, each with its versions and the turns that made them."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from django.conf import settings

from artifacts.models import ArtifactVersion, Kind
from artifacts.services import MAX_VERSIONS
from conversations.import_export.disk_lists import Scratch, Spool, gathered
from conversations.import_export.records import ArtifactRecord, BranchRecord, TurnRecord, VersionRecord
from conversations.import_export.thread_turns import Maker, ThreadTurns
from conversations.import_export.turn_reader import TurnIds, TurnReader
from conversations.import_export.values import Fields
from conversations.models import Message
from conversations.runtime.text import clean

LANGUAGE_CHARS, PRESET_CHARS = 40, 50
MAKER = "must be the `id`, or the place from 1 on, of an assistant's message of this thread."


class ArtifactReader:
    """``start`` is when the thread was begun."""

    def __init__(
        self, thread: Fields, start: datetime, ids: TurnIds, scratch: Scratch, id_of: Callable[[Fields], uuid.UUID]
    ) -> None:
        self._thread, self._start, self._ids, self._scratch, self._id_of = thread, start, ids, scratch, id_of

    def artifacts(
        self, path: Sequence[TurnRecord], branches: Sequence[BranchRecord], reader: TurnReader
    ) -> Sequence[ArtifactRecord]:
        given = self._thread.elements("artifacts")
        if not given:
            return []
        turns = ThreadTurns.of(path, branches, self._named(reader), reader)
        return self._gathered(given, (self._artifact(each, turns) for each in self._thread.objects("artifacts")))

    def _named(self, reader: TurnReader) -> set[uuid.UUID | int]:
        """The turns that artifacts name, by their stored ids or by their places."""
        artifacts = self._thread.objects("artifacts")
        values = [
            value
            for artifact in artifacts
            for value in (artifact.get("after"), *(v.get("message") for v in (artifact, *artifact.objects("versions"))))
        ]
        ids = {each for each in values if isinstance(each, str) and is_id(each) and each in self._ids.stored}
        return {self._ids.stored[each] for each in ids} | {reader.place(each) for each in values if type(each) is int}

    def _gathered[T](self, elements: Sequence[object], records: Iterator[T]) -> Sequence[T]:
        """The records of what is given, where that is: in memory, or in the scratch."""
        return gathered(records, self._scratch, few=not isinstance(elements, Spool))

    def _artifact(self, artifact: Fields, turns: ThreadTurns) -> ArtifactRecord:
        created_at = artifact.moment("created_at")
        versions = self._versions(artifact, turns, created_at)
        created_at = created_at or versions[0].created_at
        return ArtifactRecord(
            id=self._id_of(artifact),
            title=artifact.title("title"),
            kind=artifact.choice("kind", Kind.values, default=Kind.DOCUMENT),
            language=artifact.line("language", most=LANGUAGE_CHARS),
            preset=artifact.line("preset", most=PRESET_CHARS),
            after_position=self._position(artifact, turns, versions[0], created_at),
            created_at=created_at,
            versions=versions,
        )

    def _position(self, artifact: Fields, turns: ThreadTurns, first: VersionRecord, created_at: datetime) -> int:
        """Of the turn that it stands below."""
        if beside := self._maker(artifact, "after", turns):
            return beside.position
        given = artifact.count("after_position")
        if given is not None:
            return turns.reader.position(turns.reader.count_to(given))
        return turns.makers[first.message_id].position if first.message_id else turns.position_at(created_at)

    def _versions(self, artifact: Fields, turns: ThreadTurns, created_at: datetime | None) -> Sequence[VersionRecord]:
        """All versions, or the one that the artifact's own ``content`` is."""
        given = artifact.elements("versions", most=MAX_VERSIONS, noun="versions")
        values = artifact.objects("versions") if given else [artifact]
        versions = self._gathered(given, self._read_versions(values, turns, created_at))
        newest = artifact.get("content")
        if newest is not None and not (isinstance(newest, str) and clean(newest) == versions[-1].content):
            artifact.refuse("content", "must be that of the last version, or be left out.")
        return versions

    def _read_versions(
        self, versions: Iterable[Fields], turns: ThreadTurns, before: datetime | None
    ) -> Iterator[VersionRecord]:
        """A time that is missing is that of the one before."""
        for version in versions:
            maker = self._maker(version, "message", turns)
            if maker and maker.turn.role != Message.Role.ASSISTANT:
                version.refuse("message", MAKER)
            before = version.moment("created_at") or before or (maker.turn.created_at if maker else self._start)
            origin = version.get("origin")
            yield VersionRecord(
                content=version.text("content", most=settings.OPENBOOK_MAX_ARTIFACT_CHARS),
                created_at=before,
                # What isn't known was made by a program: this import.
                origin=origin if origin in ArtifactVersion.Origin.values else ArtifactVersion.Origin.PROGRAM.value,
                message_id=maker.turn.id if maker else None,
            )

    def _maker(self, fields: Fields, name: str, turns: ThreadTurns) -> Maker | None:
        """A turn of the thread, by its id or by its place on the path, from 1 on; ``None`` where it is not told, or was left
        out."""
        given = fields.get(name)
        if given is None:
            return None
        if type(given) is int:
            maker = turns.at(turns.reader.place(given))
        else:
            id = str(fields.identifier(name))
            maker = turns.makers.get(self._ids.stored[id]) if id in self._ids.stored else None
        if maker is None and turns.reader.is_whole:
            fields.refuse(name, MAKER if name == "message" else "must be the `id` of a message of this thread.")
        return maker


def is_id(value: str) -> bool:
    try:
        return bool(uuid.UUID(value))
    except ValueError:
        return False

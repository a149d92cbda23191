"""What stands on the page of a link: made of the rows when somebody opens it, so that what was forgotten or deleted is gone.

Nothing is taken from a row but by name: what a share doesn't show is not read from a list of all there is.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from uuid import UUID

from artifacts.models import Artifact, ArtifactVersion
from conversations.context.reasons import OFF_PATH, Reason, personal_words
from conversations.context.record import snapshots
from conversations.context.turns.groups import FILE
from conversations.context.turns.sources import WebSourceAnswer, sources_of
from conversations.errors import FileNotFound, ShareNotFound
from conversations.models import ContextSnapshot, File, Message, Share
from conversations.runtime.ids import ids_near
from conversations.sharing.path import turn_ids, turns

TURNS = 200
"""Of one page."""
PICTURE = "image"
"""The kind of a file."""
A_FILE = "[a file]"


@dataclass(frozen=True, kw_only=True)
class SharedFile:
    id: UUID
    name: str
    size: int
    is_picture: bool


@dataclass(frozen=True, kw_only=True)
class SharedBook:
    """What a reply was given, in figures: its words are the person's own."""

    model: str
    turns: int
    tokens: int
    left_out: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class SharedTurn:
    """``had_files``: it brought or made files that the link doesn't show. ``sources`` are those of a reply."""

    is_person: bool
    text: str
    status: str
    files: Sequence[SharedFile]
    had_files: bool
    sources: Sequence[WebSourceAnswer]
    book: SharedBook | None


@dataclass(frozen=True, kw_only=True)
class SharedThread:
    """One page of it. ``pages`` counts from 1."""

    turns: Sequence[SharedTurn]
    page: int
    pages: int


@dataclass(frozen=True, kw_only=True)
class SharedArtifact:
    artifact: Artifact
    version: ArtifactVersion


def thread_page(share: Share, number: int) -> SharedThread:
    """Raises ``ShareNotFound`` where nothing of the path is left, or there is no such page."""
    ids = turn_ids(share)
    pages = -(-len(ids) // TURNS)
    if not 1 <= number <= pages:
        raise ShareNotFound
    shown = turns(share, ids[(number - 1) * TURNS : number * TURNS])
    if not shown and pages == 1:
        raise ShareNotFound
    files = _files(share, shown) if share.shows_files else {}
    books = _books(share, shown) if share.shows_book else {}
    return SharedThread(turns=[_turn(share, each, files, books) for each in shown], page=number, pages=pages)


def artifact_of(share: Share) -> SharedArtifact:
    """Raises ``ShareNotFound`` where it is gone."""
    if share.artifact is None:
        raise ShareNotFound
    number = share.version or share.artifact.version
    versions = share.artifact.versions.filter(number=number, user=share.user_id, artifact__user=share.user_id)
    version = versions.select_related("artifact").first()
    if version is None:
        raise ShareNotFound
    return SharedArtifact(artifact=share.artifact, version=version)


def title_of(share: Share) -> str:
    """Empty where it is not to be shown, or there is none."""
    if not share.shows_title:
        return ""
    return share.artifact.title if share.artifact else share.thread.title


def files_of(share: Share) -> list[File]:
    """Those that the turns of the path brought, whether or not they are shown."""
    ids = {id for turn in turns(share, turn_ids(share)) for id in file_ids(turn)}
    return list(File.objects.filter(id__in=ids, user=share.user_id, thread=share.thread_id))


def file_of(share: Share, file_id: UUID) -> File:
    """A file that a turn of the path brought. Raises ``FileNotFound``."""
    if share.shows_files and any(file_id in file_ids(each) for each in turns(share, turn_ids(share))):
        file = File.objects.filter(id=file_id, user=share.user_id, thread=share.thread_id).first()
        if file is not None:
            return file
    raise FileNotFound


def _turn(
    share: Share,
    turn: Message,
    files: Mapping[UUID, SharedFile],
    books: Mapping[UUID | None, SharedBook],
) -> SharedTurn:
    is_person = turn.role == Message.Role.USER
    ids = file_ids(turn)
    return SharedTurn(
        is_person=is_person,
        text=turn.text if share.shows_files else without_files(turn),
        status="" if turn.status in (Message.Status.COMPLETE, Message.Status.REFUSED) else turn.status,
        files=[files[id] for id in ids if id in files],
        had_files=bool(ids) and not share.shows_files,
        sources=[] if is_person else sources_of(turn.blocks),
        book=None if is_person else books.get(turn.reply_id),
    )


def without_files(turn: Message) -> str:
    """What it says, without the names of files in the marks of its citations."""
    marks = {citation["text"] for citation in turn.citations or []}
    return reduce(lambda text, mark: text.replace(mark, A_FILE), sorted(marks, key=len, reverse=True), turn.text)


def file_ids(turn: Message) -> list[UUID]:
    return [UUID(block["file"]) for block in turn.blocks if block.get("type") == FILE]


def _files(share: Share, shown: Sequence[Message]) -> dict[UUID, SharedFile]:
    ids = {id for turn in shown for id in file_ids(turn)}
    rows = File.objects.filter(id__in=ids, user=share.user_id, thread=share.thread_id)
    return {row.id: SharedFile(id=row.id, name=row.name, size=row.size, is_picture=row.kind == PICTURE) for row in rows}


def _books(share: Share, shown: Sequence[Message]) -> dict[UUID | None, SharedBook]:
    """By reply; of several requests of one, the last."""
    replies = [turn.reply_id for turn in shown if turn.reply_id]
    if not replies:
        return {}
    near = ids_near(min(replies), max(replies))
    requests = ContextSnapshot.objects.filter(id__range=near, user=share.user_id, reply__in=replies)
    made = requests.exclude(purpose=ContextSnapshot.Purpose.REWRITE).order_by("round")
    return {request.reply_id: _book(request) for request in made}


def _book(request: ContextSnapshot) -> SharedBook:
    left_out: defaultdict[str, int] = defaultdict(int)
    for reason, count in snapshots.left_out(request).items():
        if reason not in OFF_PATH:  # not even how many there are
            left_out[personal_words(Reason(reason), "message")] += count
    return SharedBook(
        model=request.model,
        turns=request.message_history_count,
        tokens=request.total_tokens,
        left_out=dict(left_out),
    )

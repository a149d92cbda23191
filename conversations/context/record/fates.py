"""What became of everything that a request might have held, counted: the account that book, admin and API share. Pure.

Turns of the thread itself and of other threads are never counted together: only the first can fall out of its window.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from conversations.context.files.excerpts import PartKey, read_ranges, write_ranges
from conversations.context.files.part_words import LABELS, PAGES, PartName, part_words
from conversations.context.files.unread import CONTENT, things
from conversations.context.reasons import Reason, personal_words
from conversations.context.record.snapshot_shapes import FateAnswer, FileInRequestAnswer, ItemAnswer, UnreadAnswer
from conversations.context.sources import source_of

TURN, ELSEWHERE = "message", "message_elsewhere"
FILE, PART, PICTURE = "file", "part", "picture"
OF_FILES = (FILE, PART, PICTURE, CONTENT)
NOUNS = {
    TURN: ("turn", "turns"),
    ELSEWHERE: ("turn of another conversation", "turns of other conversations"),
    "memory": ("memory", "memories"),
    "summary": ("summary", "summaries"),
    "instructions": ("text about you and how to answer", "texts about you and how to answer"),
    "project_instructions": ("instruction of the project", "instructions of the project"),
    "server_tool": ("tool of a connected server", "tools of connected servers"),
    "thread_instructions": ("instruction of this conversation", "instructions of this conversation"),
}
"""Where the code of a kind, with an s for several, is not what people read."""
GONE = "A file that was deleted since"


class PartGroup(NamedTuple):
    """Parts of a file that share a fate; or things that are in no part (``unread``)."""

    file: FileInRequestAnswer
    kind: str
    included: bool
    reason: Reason
    numbers: Sequence[int]
    unread: UnreadAnswer | None = None


def item_fates(items: Iterable[ItemAnswer], *, thread: str | None) -> list[FateAnswer]:
    """Of turns and what the sources hold. ``thread`` is the one that was answered in."""
    counts: Counter[tuple[str, str, bool, str]] = Counter()
    for item in items:
        counts[_kind(item, thread), _source(item), item["included"], item["reason"]] += item.get("count", 1)
    return [
        {
            "kind": kind,
            "source": source,
            "included": included,
            "reason": reason,
            "count": count,
            "file": None,
            "parts": "",
            "what": _counted(count, kind),
            "why": personal_words(Reason(reason), kind),
        }
        for (kind, source, included, reason), count in counts.items()
    ]


def part_groups(files: Iterable[FileInRequestAnswer], *, newest: int | None) -> list[PartGroup]:
    """``newest`` is the position of the message that was answered."""
    return [group for file in files for group in _groups_of(file, newest)]


def file_fates(
    groups: Iterable[PartGroup], kinds: Mapping[str, str], names: Mapping[PartKey, PartName]
) -> list[FateAnswer]:
    """``kinds`` are those of the files that there still are, ``names`` those of the parts that ``wanted_names`` names."""
    return [
        {
            "kind": group.kind,
            "source": "",
            "included": group.included,
            "reason": group.reason.value,
            "count": group.unread["count"] if group.unread else len(group.numbers) or 1,
            "file": group.file["id"],
            "parts": write_ranges(group.numbers),
            "what": _parts_in_words(group, kinds.get(group.file["id"], ""), names),
            "why": personal_words(group.reason, group.kind),
        }
        for group in groups
    ]


def beyond_fates(beyond: tuple[int, int]) -> list[FateAnswer]:
    """Files of the project of which nothing bore on the message."""
    files, _ = beyond
    if not files:
        return []
    return [
        {
            "kind": FILE,
            "source": "",
            "included": False,
            "reason": Reason.UNRELATED.value,
            "count": files,
            "file": None,
            "parts": "",
            "what": f"{files:,} other file{'' if files == 1 else 's'} of the project",
            "why": personal_words(Reason.UNRELATED, FILE),
        }
    ]


def wanted_names(groups: Iterable[PartGroup], kinds: Mapping[str, str]) -> dict[str, list[int]]:
    """Numbers of the parts whose names the words for these groups need, by file: all pages, but few of other parts."""
    wanted: dict[str, list[int]] = {}
    for group in groups:
        if kinds.get(group.file["id"]) in PAGES or len(group.numbers) <= LABELS:
            wanted.setdefault(group.file["id"], []).extend(group.numbers)
    return wanted


def _kind(item: ItemAnswer, thread: str | None) -> str:
    if item["kind"] not in (TURN, "range"):
        return item["kind"]
    return TURN if item.get("thread", thread) == thread else ELSEWHERE


def _source(item: ItemAnswer) -> str:
    if item["kind"] == "range" or (item["kind"] == TURN and "thread" not in item):
        return ""
    source = source_of(item)
    return source.name if source else ""


def forms_of(kind: str) -> tuple[str, str]:
    """Of one and of several, with the number as `{count}`."""
    noun, several = NOUNS.get(kind, (kind, f"{kind}s"))
    return f"{{count}} {noun}", f"{{count}} {several}"


def _counted(count: int, kind: str) -> str:
    one, several = forms_of(kind)
    return (one if count == 1 else several).format(count=f"{count:,}")


def _groups_of(file: FileInRequestAnswer, newest: int | None) -> Iterator[PartGroup]:
    if not file["parts"]:
        yield PartGroup(file, FILE, included=False, reason=Reason.UNREAD, numbers=())
        return
    numbers: dict[tuple[bool, Reason], set[int]] = {}
    for given in file["given"]:
        reason = Reason.NEWEST if given["position"] == newest else Reason.RECENT
        numbers.setdefault((True, reason), set()).update(read_ranges(given["parts"]))
    for read in file["read"]:
        numbers.setdefault((True, Reason.READ), set()).update(read_ranges(read["parts"]))
    for row in file["left_out"]:
        numbers.setdefault((False, Reason(row["reason"])), set()).update(read_ranges(row["parts"]))
    for (included, reason), parts in numbers.items():
        if parts:
            yield PartGroup(file, PART, included=included, reason=reason, numbers=sorted(parts))
    if file["without_pictures"]:
        pictures = read_ranges(file["without_pictures"])
        yield PartGroup(file, PICTURE, included=False, reason=Reason.UNSEEN, numbers=pictures)
    for entry in file["unread"]:
        yield PartGroup(file, CONTENT, included=False, reason=Reason(entry["why"]), numbers=(), unread=entry)


def _parts_in_words(group: PartGroup, kind: str, names: Mapping[PartKey, PartName]) -> str:
    file, numbers = group.file, group.numbers
    if file["name"] is None:
        return f"{GONE}, {_counted(len(numbers), group.kind)}" if numbers else GONE
    if group.unread:
        return f"{file['name']}, {things(group.unread)}"
    known = {number: names[file["id"], number] for number in numbers if (file["id"], number) in names}
    unread = file["unread"] if group.kind == PART else ()
    words = part_words(kind, numbers, known, parts=file["parts"], unread=unread) if numbers else ""
    if group.kind == PICTURE:
        return f"{file['name']}, {_counted(len(numbers), PICTURE)}{f' on {words}' if words else ''}"
    return f"{file['name']}, {words}" if words else file["name"]

"""What of a person's files stands in a turn: which parts, and as which blocks of the Messages API. Pure.

A small file stands whole in the turn that brought it. Of a larger one stand an outline and the parts that bear on the message;
a later message may bring further parts of it. What was given with a turn stays in it, so that the prompt cache holds.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any

from conversations.context.tokens.estimate import estimate_tokens
from conversations.models import text_blocks
from conversations.providers.file_frames import file_closing, file_opening, outline, part_closing, part_opening
from conversations.providers.quoting import fence
from conversations.runtime.values import dataclass

OUTLINE_TOKENS = 300
"""What the outline of a file that is not whole may take."""
FILE_TOKENS, PART_TOKENS = 36, 20
"""What the words around a file and a part may take, beside names and problems."""
NOTE_TOKENS = 24
"""What the words in an outline take."""
SHARE_ALONE, SHARE_BESIDE = 0.5, 0.125
"""Of the room that is left, for the beginning of new files: where nothing bears on the message, and where something does."""
FAINT = 0.15
"""What bears so much less on the message than the best part of any file is not given."""

RUN = re.compile(r" ?(\d{1,6})(?: ?[-–] ?(\d{1,6}))? ?", re.ASCII)
LONGEST_RANGES = 30_000
"""Characters."""
MOST_PARTS = 100_000
"""No file has as many."""

PICTURE_FOLLOWS = "(Its picture follows.)"
READ_FILE = "read_file"
"""The tool with which the model reads parts that it was not given."""
READ_MORE = f"Read other parts with {READ_FILE}."

type Block = dict[str, Any]
type PartKey = tuple[str, int]
"""A file's id, and the number of a part of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileForm:
    """How files are written in a request. ``pictures``: the model sees them. ``readable``: it can read further parts.
    ``documents``: as documents that the provider cites by itself. ``fenced``: the tags around a file are none that it holds;
    ``accounted``: it is said what is in none of its parts. Requests of earlier releases are neither."""

    pictures: bool = False
    readable: bool = False
    documents: bool = False
    fenced: bool = True
    accounted: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class PartOutline:
    """A part as far as it can be chosen without its text. ``tokens`` are estimated ones, its picture's among them. Where it
    ``has_picture`` it may say nothing besides (``has_text``)."""

    number: int
    label: str
    heading: str = ""
    tokens: int
    has_picture: bool = False
    has_text: bool = True

    @property
    def sent_tokens(self) -> int:
        """With the words around it."""
        return self.tokens + PART_TOKENS + len(self.label) // 2


@dataclass(frozen=True, kw_only=True, slots=True)
class FileOutline:
    """A file of the ``user``. ``problem`` is why it has no parts, or not all; ``left_out`` is in none. Of a project's file only
    those ``parts`` are told that may be given: ``part_count`` is how many it has, numbered from 1 without holes."""

    id: str
    name: str
    kind: str
    user: int = 0
    parts: Sequence[PartOutline] = ()
    problem: str = ""
    left_out: str = ""
    known_count: int = 0

    @property
    def part_count(self) -> int:
        return self.known_count or len(self.parts)

    @property
    def is_partial(self) -> bool:
        return len(self.parts) < self.part_count

    def with_parts(self, others: Sequence[PartOutline]) -> "FileOutline":
        """With those of them that it does not tell of yet."""
        parts = {part.number: part for part in (*others, *self.parts)}
        return replace(self, parts=[parts[number] for number in sorted(parts)], known_count=self.part_count)


@dataclass(frozen=True, kw_only=True)
class FileExcerpt:
    """What of a file stands in a turn: the parts of these numbers, in order. ``outlined``: with a list of all the others."""

    file: FileOutline
    numbers: tuple[int, ...] = ()
    outlined: bool = False

    @property
    def is_whole(self) -> bool:
        return len(self.numbers) == self.file.part_count

    @cached_property
    def tokens(self) -> int:
        """Estimated, with the words around the parts; never less than what is sent."""
        chosen = {*self.numbers}
        outline = OUTLINE_TOKENS + NOTE_TOKENS if self.outlined else 0
        parts = sum(part.sent_tokens for part in self.file.parts if part.number in chosen)
        return FILE_TOKENS + len(self.file.name) + len(self.file.problem) + len(self.file.left_out) + outline + parts


def whole_file(file: FileOutline) -> FileExcerpt:
    return FileExcerpt(file=file, numbers=tuple(part.number for part in file.parts))


@dataclass(frozen=True, kw_only=True, slots=True)
class PartContent:
    """What a part says. ``picture`` is a block of the Messages API, or words in its place."""

    text: str
    picture: Block | None = None


def least_score(scores: Mapping[PartKey, float]) -> float:
    """What bears no more than this on the message, beside the best part of any file, does not bear on it."""
    return FAINT * max(scores.values(), default=0.0)


def choose(
    new: Sequence[FileOutline],
    before: Sequence[FileExcerpt],
    scores: Mapping[PartKey, float],
    room: int,
    shared: Sequence[FileOutline] = (),
) -> list[FileExcerpt]:
    """What a message is given of the files that it brings, of those that stand in earlier turns, beyond what stands there, and
    of those that are ``shared`` by all threads of a project.

    ``scores`` is how much parts bear on the message; one that has none does not. Small files go in whole, the smallest first;
    of the others the parts that bear most, and their beginning: much of it where nothing bears on the message.
    """
    choice = _Choice(room)
    for whole in sorted(map(whole_file, new), key=lambda excerpt: (excerpt.tokens, excerpt.file.id)):
        choice.add_file(whole)
    standing = {(excerpt.file.id, number) for excerpt in before for number in excerpt.numbers}
    earlier = {file.id: file for file in (*(excerpt.file for excerpt in before), *shared)}
    least = least_score(scores)
    bearing = [
        (file, part)
        for file in [*new, *earlier.values()]
        for part in file.parts
        if (file.id, part.number) not in standing and scores.get((file.id, part.number), 0.0) > least
    ]
    for file, part in sorted(bearing, key=lambda pair: -scores[pair[0].id, pair[1].number]):
        choice.add_part(file, part)
    share = SHARE_BESIDE if bearing else SHARE_ALONE
    leaving = choice.room - int(choice.room * share)
    for file in new:
        choice.add_beginning(file, leaving)
    files = {file.id: file for file in (*new, *earlier.values())}
    return [choice.excerpt(file) for file in files.values() if file.id in choice.numbers]


class _Choice:
    """The numbers of the parts chosen so far, by file, which files are outlined, and the estimated tokens that are left."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.numbers: dict[str, set[int]] = {}
        self.outlined: set[str] = set()

    def excerpt(self, file: FileOutline) -> FileExcerpt:
        return FileExcerpt(file=file, numbers=tuple(sorted(self.numbers[file.id])), outlined=file.id in self.outlined)

    def add_file(self, whole: FileExcerpt) -> None:
        """If there is room for it, else its outline, whatever room there is: it must be known that it is there."""
        excerpt = whole if whole.tokens <= self.room else FileExcerpt(file=whole.file, outlined=True)
        self.numbers[whole.file.id] = {*excerpt.numbers}
        if excerpt.outlined:
            self.outlined.add(whole.file.id)
        self.room -= excerpt.tokens

    def add_beginning(self, file: FileOutline, leaving: int) -> None:
        """Its first parts, as long as so much room is left."""
        for part in file.parts:
            if self.room - part.sent_tokens < leaving:
                return
            self.add_part(file, part)

    def add_part(self, file: FileOutline, part: PartOutline) -> None:
        """If there is room for it, and it is not there."""
        numbers = self.numbers.get(file.id)
        added = part.sent_tokens + (FileExcerpt(file=file).tokens if numbers is None else 0)
        if added <= self.room and part.number not in (numbers or ()):
            self.numbers.setdefault(file.id, set()).add(part.number)
            self.room -= added


def kept(turns: Sequence[Sequence[FileExcerpt]], room: int) -> list[bool]:
    """Of which turns, oldest first, the files stay: the newest that fit the room. When it is full it drops to half in one
    step, so that the beginning of a request changes seldom; the newest stay as long as they fit by themselves."""
    keeps = [False] * len(turns)
    standing: list[tuple[int, int]] = []
    for place, excerpts in enumerate(turns):
        tokens = sum(excerpt.tokens for excerpt in excerpts)
        if not tokens:
            continue
        standing.append((place, tokens))
        if sum(tokens for _, tokens in standing) > room:
            while len(standing) > 1 and sum(tokens for _, tokens in standing) > room // 2:
                standing.pop(0)
            if tokens > room:
                standing.clear()
    for place, _ in standing:
        keeps[place] = True
    return keeps


def blocks(excerpt: FileExcerpt, contents: Mapping[int, PartContent], form: FileForm) -> list[Block]:
    """The file as blocks of the Messages API: texts, and pictures where they stand among them; or one document."""
    if form.documents and (document := _document(excerpt, contents, form)):
        return [document]
    sent: list[Block] = []
    tag_number = _fence(excerpt, contents, form)
    text = _opening(excerpt, form, tag_number)
    for part in excerpt.file.parts:
        if part.number in excerpt.numbers and (content := contents.get(part.number)):
            text += part_opening(part.number, part.label, tag_number)
            if content.picture:
                sent += [*text_blocks(text), content.picture]
                text = ""
            text += f"{f'{content.text}\n' if content.text else ''}{part_closing(tag_number)}\n"
    return [*sent, *text_blocks(text + file_closing(tag_number))]


def _fence(excerpt: FileExcerpt, contents: Mapping[int, PartContent], form: FileForm) -> str:
    """What tells the tags around the file from all that it holds."""
    if not form.fenced:
        return ""
    texts = (content.text for number in excerpt.numbers if (content := contents.get(number)))
    listed = (f"{part.label} {part.heading}" for part in excerpt.file.parts) if excerpt.outlined else ()
    return fence([*texts, *listed])


def _document(excerpt: FileExcerpt, contents: Mapping[int, PartContent], form: FileForm) -> Block | None:
    """With a text for each part, which is the least that can be cited, and its picture behind it. ``None`` where there is no
    text: pictures alone can't be cited."""
    written: list[Block] = []
    tag_number = _fence(excerpt, contents, form)
    if not any(contents[number].text for number in excerpt.numbers if number in contents):
        return None
    for part in excerpt.file.parts:
        if part.number in excerpt.numbers and (content := contents.get(part.number)):
            picture = content.picture or {}
            words = [picture.get("text", PICTURE_FOLLOWS if picture else ""), content.text]
            opening = part_opening(part.number, part.label, tag_number).rstrip()
            written += text_blocks("\n".join(filter(None, [opening, *words, part_closing(tag_number)])))
            written += [picture] if picture.get("type") == "image" else []
    return {
        "type": "document",
        "source": {"type": "content", "content": written},
        "title": excerpt.file.name,
        "context": _opening(excerpt, form, tag_number) + file_closing(tag_number),
        "citations": {"enabled": True},
    }


def text_in(blocks: Sequence[Block]) -> str:
    """What blocks say, documents among them."""
    texts = (
        _text_of_document(block) if block["type"] == "document" else str(block.get("text", "")) for block in blocks
    )
    return "\n\n".join(filter(None, texts))


def _text_of_document(block: Block) -> str:
    content = block["source"].get("content")
    return "\n".join([str(block.get("context", "")), *(part.get("text", "") for part in content or () if part)])


def _opening(excerpt: FileExcerpt, form: FileForm, tag_number: str) -> str:
    file = excerpt.file
    given = None if excerpt.is_whole else write_ranges(excerpt.numbers) or "none"
    opening = file_opening(
        file.name,
        parts=file.part_count,
        given=given,
        problem=file.problem,
        left_out=file.left_out if form.accounted else "",
        fence=tag_number,
    )
    if not excerpt.outlined:
        return opening
    return opening + outline(_outline(file), note=READ_MORE if form.readable else "", fence=tag_number)


def _outline(file: FileOutline) -> str:
    """What parts there are, as much of it as an outline may take, evenly."""
    lines = [
        f"{part.number}: {part.label}{f' – {part.heading}' if part.heading and part.heading not in part.label else ''}\n"
        for part in file.parts
    ]
    step = 1
    while step < len(lines) and estimate_tokens("".join(lines[::step])) > OUTLINE_TOKENS:
        step *= 2
    return "".join(lines[::step])


def write_ranges(numbers: Sequence[int]) -> str:
    """Numbers in order, for example ``1-3, 7``."""
    runs = [[pair[1] for pair in run] for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def write_all_but(numbers: Sequence[int], most: int) -> str:
    """All numbers from 1 to ``most`` without these, which are in order: what it takes depends on how many these are."""
    bounds = [0, *numbers, most + 1]
    runs = ((before + 1, after - 1) for before, after in pairwise(bounds) if after - before > 1)
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def read_ranges(text: str, *, most: int = MOST_PARTS) -> list[int]:
    """The numbers that are written so, or as a person or a model writes them (``1–3,7``), each once, in order, and up to
    ``most``. Takes no longer than the text and the numbers are long. Raises ``ValueError`` where it is no such text."""
    if not text:
        return []
    if len(text) > LONGEST_RANGES or not (runs := list(map(RUN.fullmatch, text.split(",")))) or not all(runs):
        raise ValueError("no ranges of parts")
    spans = sorted((int(run[1]), int(run[2] or run[1])) for run in runs if run)
    if any(not 1 <= first <= last for first, last in spans):
        raise ValueError("a range of parts that begins before the first or ends before it begins")
    numbers: list[int] = []
    for first, last in spans:
        numbers += range(max(first, numbers[-1] + 1 if numbers else 1), min(last, most) + 1)
    return numbers

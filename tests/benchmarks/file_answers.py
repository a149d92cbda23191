"""Whether the place that answers is among the parts of a file that a message is given: fifty questions on five documents.

Beside it, of the same parts and within the same room: PostgreSQL's ``ts_rank``, BM25 over words as they stand, and parts drawn
at random.
"""

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from django.contrib.auth.models import User

from conversations.context.files.excerpts import FileOutline, PartKey, choose
from conversations.context.files.thread_files import PictureCounter
from conversations.context.gather.files import FilesQuery, read_files
from conversations.context.tokens.factor import PLAIN
from conversations.files.progress import read_file
from conversations.models import File, FilePart
from tests.benchmarks.file_documents import DOCUMENTS, Document, Question
from tests.benchmarks.measuring import doing
from tests.benchmarks.memory import others
from tests.conversations.factories import make_file, make_user

ROOMS = {24_000: 12_000, 8_000: 4_000}
"""An assistant's file tokens, and what of them a message's own files may take."""
DRAWS = 20
COUNTER = PictureCounter(are_seen=False, factor=PLAIN)

type Way = Callable[[str], Sequence[PartKey]]
"""The parts that a message is given, by its text."""


@dataclass(frozen=True, kw_only=True)
class StoredFile:
    """A document as it was read."""

    document: Document
    user: User
    id: str
    outline: FileOutline
    texts: Mapping[PartKey, str]
    pages: int


def main() -> None:
    user = make_user("reader")
    with doing("making and reading the documents"):
        files = [stored(user, document) for document in DOCUMENTS]
    print(
        "\n== fifty questions about five documents in the public domain: is the place that answers among the parts sent?"
    )
    for file in files:
        tokens = sum(part.tokens for part in file.outline.parts)
        print(f"  {file.document.title:<24}{file.document.extension:>6}{file.pages:>6} pages or sections"
              f"{len(file.outline.parts):>6} parts{tokens:>9,} tokens")  # fmt: skip
    for file_tokens, room in ROOMS.items():
        print(f"\n  file tokens {file_tokens:,}: {room:,} for the files of a message", end="")
        print(f"\n  {'%':<28}{'tuned on':>10}{'kept aside':>12}{'all':>6}{'tokens':>9}")
        show(files, room, together=False)
    print("\n  all five in one message, file tokens 24,000")
    show(files, ROOMS[24_000], together=True)


def show(files: Sequence[StoredFile], room: int, *, together: bool) -> None:
    """A line for each way: its share of answers, and the tokens of the parts that it gives. ``together``: all files at once."""
    for name in WAYS:
        found = [*answered(name, files, room, together=together)]
        halves = [[hit for question, hit, _ in found if question.is_kept is kept] for kept in (False, True)]
        shares = "".join(f"{100 * mean(half):{width}.0f}" for half, width in zip(halves, (10, 12), strict=True))
        tokens = mean(tokens for _, _, tokens in found)
        print(f"  {name:<28}{shares}{100 * mean(hit for _, hit, _ in found):6.0f}{tokens:9,.0f}", flush=True)
        if name == OURS:
            missed = [question.text for question, hit, _ in found if not hit and not question.is_kept]
            sys.stderr.writelines(f"    missed: {text}\n" for text in missed)


def answered(
    name: str, files: Sequence[StoredFile], room: int, *, together: bool
) -> Iterator[tuple[Question, float, int]]:
    """How often each question is answered by the parts that it brings, of its own file or of all, and what these take."""
    texts = {key: text for file in files for key, text in file.texts.items()}
    tokens = {(file.id, part.number): part.tokens for file in files for part in file.outline.parts}
    for file in files:
        choose_parts = WAYS[name](files if together else [file], file.document.language, room)
        for question in file.document.questions:
            draws = [choose_parts(question.text) for _ in range(DRAWS if name == AT_RANDOM else 1)]
            hits = [any(question.is_answered_by(texts[key]) for key in keys) for keys in draws]
            yield question, mean(hits), sum(tokens[key] for key in draws[0])


def ours(files: Sequence[StoredFile], language: str, room: int) -> Way:
    """What the product chooses for a message that brings the files."""
    user, new = files[0].user, [file.id for file in files]

    def choose_parts(text: str) -> Sequence[PartKey]:
        query = FilesQuery(user_id=user.pk, thread_id=None, position=0, new=new, text=text, pictures=COUNTER)
        read = read_files(query)
        chosen = choose([read.outlines[id] for id in new], (), read.scores, room)
        return [(excerpt.file.id, number) for excerpt in chosen for number in excerpt.numbers]

    return choose_parts


def by_rank(search: Callable[[Sequence[str], str], others.Way]) -> Callable[[Sequence[StoredFile], str, int], Way]:
    """The best of what another way of searching finds."""

    def make(files: Sequence[StoredFile], language: str, room: int) -> Way:
        keys = {text: key for file in files for key, text in file.texts.items()}
        find = search([*keys], language)
        return lambda text: first_fitting([keys[found] for found in find(text)], files, room)

    return make


def at_random(files: Sequence[StoredFile], language: str, room: int) -> Way:
    draw, keys = random.Random(1), [key for file in files for key in file.texts]
    return lambda text: first_fitting(draw.sample(keys, len(keys)), files, room)


def first_fitting(ranked: Sequence[PartKey], files: Sequence[StoredFile], room: int) -> Sequence[PartKey]:
    tokens = {(file.id, part.number): part.sent_tokens for file in files for part in file.outline.parts}
    chosen = []
    for key in ranked:
        if tokens[key] <= room:
            room -= tokens[key]
            chosen.append(key)
    return chosen


OURS, AT_RANDOM = "ours", "at random"
WAYS: Mapping[str, Callable[[Sequence[StoredFile], str, int], Way]] = {
    OURS: ours,
    "ts_rank": by_rank(others.ts_rank),
    "BM25": by_rank(lambda texts, language: others.bm25(texts)),
    AT_RANDOM: at_random,
}


def stored(user: User, document: Document, sections: int | None = None) -> StoredFile:
    """The document as a file that was uploaded and read, all of it or its first sections."""
    content = document.as_file(sections)
    file = make_file(user, content, name=f"{document.title}.{document.extension}", state=File.State.READING)
    read_file(file.id)
    file.refresh_from_db()
    assert file.state == File.State.READY, file.error
    rows = [*FilePart.objects.filter(file=file).order_by("number")]
    id = str(file.id)
    read = read_files(FilesQuery(user_id=user.pk, thread_id=None, position=0, new=[id], text="", pictures=COUNTER))
    return StoredFile(
        document=document,
        user=user,
        id=id,
        outline=read.outlines[id],
        texts={(id, row.number): row.text for row in rows},
        pages=file.pages_total or len({row.heading for row in rows}),
    )

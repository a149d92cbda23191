"""The context of a message in a project with 100 files of 20,000 parts, by that of one in a project without files.

Alone: ``make bench ONLY=project_files``.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import batched, cycle, islice
from pathlib import Path

from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from conversations.context.files.ranking import part_terms
from conversations.context.tokens.estimate import estimate_tokens
from conversations.models import Assistant, File, FilePart, Project, Thread
from memory.index.index_turns import catch_up
from tests.benchmarks.context import build_read_only
from tests.benchmarks.measuring import doing, side_by_side, table
from tests.conversations.factories import make_project, make_thread, make_user

FILES, PARTS = 100, 200
"""In the project, and in each of them."""
FEW = 10
"""Files of the smaller project."""
CHARACTERS = 1_500
"""Of a part."""
QUESTIONS = (
    "What happened to the white whale when the boats came near it?",
    "How large may a page of the database be, and who decides?",
    "What was agreed about item Q4711-17?",
    "Who says so?",
)
"""Of words that hundreds and thousands of parts hold, of one that a single part holds, and of none that count."""
WITHOUT = "a project without files"


def main() -> None:
    """The ratio that is wanted is 1.5 at most."""
    with doing("writing 20,000 parts"):
        user = make_user("asker")
        texts = list(chunks())
        known = {text: part_terms(user.pk, text) for text in texts}
        projects = {
            WITHOUT: make_project(user, "Empty"),
            f"{FEW} files, {FEW * PARTS:,} parts": filled(user, FEW, texts, known),
            f"{FILES} files, {FILES * PARTS:,} parts": filled(user, FILES, texts, known),
        }
        threads = {name: thread_in(project) for name, project in projects.items()}
        catch_up(user.pk)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE conversations_file, conversations_filepart, memory_indexedpassage")
    for name, thread in threads.items():
        given = sum(len(excerpt.numbers) for ask in QUESTIONS for excerpt in build_read_only(thread, ask).newest.files)
        assert bool(given) == (name != WITHOUT)
        print(f"  {name}: {given} parts given for {len(QUESTIONS)} questions")
    for question in QUESTIONS:
        builds = {name: partial(build_read_only, thread, question) for name, thread in threads.items()}
        taken = side_by_side(builds, rounds=8)
        table(f"the context of “{question}”", taken, limit=WITHOUT)
    taken = side_by_side({name: in_turn(thread) for name, thread in threads.items()})
    table("the context of all of them in turn, 1.5 x at most are wanted", taken, limit=WITHOUT)


def chunks() -> Iterator[str]:
    for path in sorted((Path(__file__).parent / "documents").glob("*.md")):
        text = path.read_text("utf-8")
        yield from (text[start : start + CHARACTERS] for start in range(0, len(text), CHARACTERS))


def filled(user: User, files: int, texts: Sequence[str], known: dict[str, list[int]]) -> Project:
    """Its parts are of real documents, some of them in several files; each says something that no other does."""
    project, now = make_project(user, f"{files} files"), timezone.now()
    made = File.objects.bulk_create(
        File(
            user=user,
            project=project,
            name=f"contract-{number}.pdf",
            kind="pdf",
            media_type="application/pdf",
            size=1,
            sha256=b"",
            place=f"bench-{files}-{number}",
            state=File.State.READY,
            parts_read=PARTS,
            created_at=now,
        )
        for number in range(files)
    )
    rows = parts_of(made, cycle(texts), known)
    for some in batched(rows, 1_000):
        FilePart.objects.bulk_create(some)
    return project


def parts_of(files: Sequence[File], texts: Iterator[str], known: dict[str, list[int]]) -> Iterator[FilePart]:
    for at, file in enumerate(files):
        for number, text in enumerate(islice(texts, PARTS), 1):
            own = f"Item Q{at * 47 + 11}-{number} was agreed upon."
            yield FilePart(
                file=file,
                user_id=file.user_id,
                number=number,
                label=f"page {number}",
                heading="Terms",
                page=number,
                text=f"{text}\n\n{own}",
                token_count=estimate_tokens(text),
                terms=[*known[text], *part_terms(file.user_id, own)],
            )


def thread_in(project: Project) -> Thread:
    turns = [f"Turn {n}: the harbour lay quiet, and nobody had yet come down to the boats." for n in range(40)]
    thread = make_thread(project.user, turns, project=project)
    Assistant.objects.filter(id=thread.assistant_id).update(rewriting=Assistant.Rewriting.OFF)
    return Thread.objects.select_related("assistant").get(id=thread.id)


def in_turn(thread: Thread) -> Callable[[], object]:
    questions = cycle(QUESTIONS)
    return lambda: build_read_only(thread, next(questions))

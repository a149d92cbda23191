"""Book, admin and API tell the same of a request, and it is what its bytes hold: for every kind of item and every reason."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Model as Row

from artifacts.models import Artifact
from artifacts.reading.left_out import LeftOutObject
from conversations.context.files.excerpts import read_ranges
from conversations.context.reasons import Reason, personal_words
from conversations.context.record import snapshot_api, snapshots
from conversations.context.record.fates import OF_FILES, TURN
from conversations.context.record.snapshot_shapes import FateAnswer, fate_kinds
from conversations.context.render.rendering import canonical
from conversations.context.render.tool_sections import ToolTexts
from conversations.models import Assistant, ContextSnapshot, File, FilePart, Message, Model, Thread, TurnFile
from conversations.providers import get_provider, model_catalog
from conversations.staff.snapshot.snapshot_page import SnapshotPage, snapshot_page
from memory.consolidation.consolidate import consolidate
from memory.index.index_turns import catch_up
from memory.models import DailySummary, Memory, ThreadSummary, Topic
from tests import model_scripts as scripts
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import chain, make_context, make_file, make_reply, make_thread, make_user, record
from tests.memory.factories import make_daily_summary, make_memory, make_thread_summary, make_topic
from tests.model_server import ModelServer

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
TEXTS: dict[type[Row], str] = {
    Message: "text",
    Memory: "content",
    Topic: "title",
    DailySummary: "text",
    ThreadSummary: "text",
    Artifact: "title",
}
MARK = re.compile(r"\bmark\d+x")
PATH: Sequence[tuple[str, dict[str, Any]]] = (
    ("The orchids in the greenhouse are my aunt’s.", {}),
    ("Noted.", {}),
    *((f"Small talk, number {number}.", {}) for number in range(12)),
    ("Write the greenhouse plan.", {}),
    ("Here is the plan.", {"makes": True}),
    ("Something that nobody may ask.", {"status": "refused"}),
    ("I can't help with that.", {"status": "refused"}),
    ("And the weather?", {}),
    ("I began, but", {"status": "failed"}),
    ("Are you there?", {}),
    ("This is the offline responder.", {"offline": True}),
    ("Find boats.", {}),
    ("", {"content": [{"type": "tool_use", "id": "t", "name": "search", "input": {"q": "boats"}}]}),
    ("What of the orchids in the greenhouse?", {}),
)


class Marks:
    """Words that stand in one row alone, so that bytes tell whether it was sent."""

    def __init__(self) -> None:
        self.count = 0

    def on(self, text: str) -> str:
        self.count += 1
        return f"{text} mark{self.count}x" if text else ""


def rows_marked(user: User) -> dict[str, str]:
    """The mark of each row by its id."""
    return {
        str(row.pk): found[0]
        for model, text in TEXTS.items()
        for row in model._default_manager.filter(**{"thread__user" if model is Artifact else "user": user})
        if (found := MARK.findall(getattr(row, text)))
    }


def make_history(user: User, marks: Marks) -> Thread:
    """A thread with a turn of every fate."""
    thread = make_thread(user, created_at=NOW - timedelta(hours=2))
    turns = chain(thread, [marks.on(text) for text, _ in PATH])
    for turn, (_, values) in zip(turns, PATH, strict=True):
        for name, value in values.items():
            setattr(turn, name, value)
    turns[-1].position += 1  # an attempt stands before it that a later one replaced
    Message.objects.bulk_create(turns)
    plan = next(turn for turn, (_, values) in zip(turns, PATH, strict=True) if "makes" in values)
    make_artifact(thread, title=marks.on("Greenhouse plan"), message=plan, created_at=plan.created_at)
    newest = turns[-1]
    other = chain(thread, [marks.on("An answer that was replaced.")])[0]
    other.position, other.depth, other.is_active, other.role = len(turns), len(turns) - 1, False, "assistant"
    other.save(force_insert=True)
    Thread.objects.filter(pk=thread.pk).update(last_position=newest.position, message_count=len(turns))
    thread.refresh_from_db()
    return thread


def make_memories(user: User, marks: Marks) -> None:
    """What is known of the person, and what was said elsewhere."""
    make_memory(user, marks.on("Ada bakes bread."), created_at=NOW - timedelta(days=9))
    make_memory(user, marks.on("A long story. " * 300), created_at=NOW - timedelta(days=30))
    past = NOW - timedelta(days=1)
    make_memory(user, marks.on("Ada is on holiday."), created_at=past, valid_until=past)
    for number in range(7):
        make_topic(user, marks.on(f"Topic {number}"), opened_at=NOW - timedelta(days=1, hours=number))
    make_daily_summary(user, "2026-11-24", marks.on("Ada planned her week."), updated_at=NOW - timedelta(hours=3))
    for number in range(30):
        text = marks.on(f"The orchids in greenhouse {number} need {number} litres of water. {'Much more. ' * 20}")
        make_thread(user, [text, marks.on("Noted.")], created_at=NOW - timedelta(days=60, hours=number))
    for _ in range(2):
        said = "The orchids in the greenhouse are violet, as everybody knows."
        elsewhere = make_thread(user, [said, marks.on("I see.")], created_at=NOW - timedelta(days=5))
    make_thread_summary(elsewhere, NOW - timedelta(days=4), marks.on("Ada talked of violet flowers."))


def sent(thread: Thread) -> tuple[ContextSnapshot, str]:
    """The recorded request to Anthropic for the newest message, and its bytes."""
    reply = make_reply(thread)
    context = make_context(reply, get_provider("anthropic"), tools=ToolTexts(definitions=[{"name": "search"}]))
    snapshot = record(context, reply)
    return ContextSnapshot.objects.get(pk=snapshot.pk), canonical(context.payload).decode()


def agree(snapshot: ContextSnapshot) -> tuple[dict[str, Any], SnapshotPage]:
    """What API, book and admin tell, which must be the same."""
    body: dict[str, Any] = dict(snapshot_api.body(snapshot))
    page = snapshot_page(snapshot, shown=True)
    fates: list[FateAnswer] = body["fates"]
    assert {fate["kind"] for fate in fates} <= {*fate_kinds()}
    assert [fate["why"] for fate in fates] == [personal_words(Reason(fate["reason"]), fate["kind"]) for fate in fates]
    own = [fate for fate in fates if fate["kind"] == TURN and not fate["source"]]
    told = {cause.code: cause.count for cause in page.causes}
    assert told == {fate["reason"]: fate["count"] for fate in own if not fate["included"]}
    given = sum(fate["count"] for fate in own if fate["included"])
    assert given == len([*page.sent.folded, *page.sent.open]) + page.sent.hidden
    assert sum(row.count for row in page.left_out) == sum(told.values())
    others = Counter((fate["what"], fate["included"], fate["reason"]) for fate in fates if fate["source"])
    assert others == Counter((tally.what, tally.included, tally.code) for tally in page.known_tally)
    assert len(page.known) == sum(fate["count"] for fate in fates if fate["source"])
    things = {(file.id, row.things) for file in page.files for row in file.fates if row.things}
    assert {thing for _, thing in things} == {
        fate["what"].rpartition(", ")[2] for fate in fates if fate["kind"] == "content"
    }
    parts = {
        (file.id, row.fate == "given", number)
        for file in page.files
        for row in file.fates
        if not row.reason.startswith("their pictures")
        for number in (read_ranges(row.parts) if row.parts != "none" else ())
    }
    assert parts == {
        (fate["file"], fate["included"], number)
        for fate in fates
        if fate["kind"] == "part"
        for number in read_ranges(fate["parts"])
    }
    return body, page


def items_in_bytes(body: dict[str, Any], payload: str, user: User) -> None:
    """What is called included is sent, and nothing else."""
    marks = rows_marked(user)
    shown = {*MARK.findall(payload)}
    for item in body["items"]:
        if item["kind"] == "range":
            turns = Message.objects.filter(
                thread=body["thread"], position__range=(item["first"], item["last"]), is_active=True
            )
            assert not shown & {marks[str(turn.pk)] for turn in turns if str(turn.pk) in marks}
        elif mark := marks.get(item["id"] or ""):
            assert (mark in shown) == item["included"], (item, mark)


def test_every_item_of_a_conversation_has_one_fate_in_book_admin_api_and_bytes() -> None:
    user, marks = make_user(), Marks()
    limits = {"history_turns_max": 8, "history_turns_min": 4, "recall_tokens": 300}
    Assistant.objects.filter(slug="companion").update(**limits)
    make_memories(user, marks)
    thread = make_history(user, marks)
    catch_up(user.pk)
    snapshot, payload = sent(thread)
    body, _ = agree(snapshot)
    items_in_bytes(body, payload, user)
    told = {(fate["kind"], fate["included"], fate["reason"]) for fate in body["fates"]}
    assert told == {
        ("message", True, "newest"),
        ("message", True, "recent"),
        ("message", True, "recalled"),
        ("message", False, "turn_limit"),
        ("message", False, "fulfilled_artifact"),
        ("message", False, "refused"),
        ("message", False, "failed"),
        ("message", False, "offline"),
        ("message", False, "orphan_tool"),
        ("message", False, "other_branch"),
        ("message_elsewhere", True, "recalled"),
        ("message_elsewhere", False, "over_budget"),
        ("message_elsewhere", False, "repeated"),
        ("memory", True, "remembered"),
        ("memory", False, "over_budget"),
        ("memory", False, "expired"),
        ("topic", True, "remembered"),
        ("topic", False, "limit"),
        ("summary", True, "remembered"),
        ("artifact", True, "listed"),
    }


def test_turns_of_other_threads_never_count_as_fallen_out_of_this_one() -> None:
    user, marks = make_user(), Marks()
    Assistant.objects.filter(slug="companion").update(recall_tokens=300)
    make_memories(user, marks)
    thread = make_thread(user, [marks.on("What of the orchids in the greenhouse?")], created_at=NOW)
    catch_up(user.pk)
    body, page = agree(sent(thread)[0])
    assert body["window_begins"] is None
    assert page.causes == []
    elsewhere = [fate for fate in body["fates"] if fate["kind"] == "message_elsewhere" and not fate["included"]]
    (no_room,) = [fate for fate in elsewhere if fate["reason"] == "over_budget"]
    assert no_room["what"] == f"{no_room['count']} turns of other conversations"
    assert no_room["why"] == "no room was left beside your message"
    assert [fate for fate in body["fates"] if fate["kind"] == TURN] == [
        {
            "kind": "message",
            "source": "",
            "included": True,
            "reason": "newest",
            "count": 1,
            "file": None,
            "parts": "",
            "what": "1 turn",
            "why": "the message to answer",
        }
    ]


def test_a_turn_that_was_shortened_is_told_as_such() -> None:
    thread = make_thread(turns=["A log. " * 60_000], created_at=NOW)
    snapshot, payload = sent(thread)
    body, _ = agree(snapshot)
    assert [(fate["what"], fate["reason"]) for fate in body["fates"]] == [("1 turn", "shortened")]
    assert len(payload) < 400_000


def test_what_is_not_of_the_part_that_is_noted_is_told_as_such(model: ModelServer) -> None:
    model.script(*[scripts.text(json.dumps({"summary": "Ada oils doors.", "key_moments": [], "facts": []}))] * 3)
    user, marks = make_user(), Marks()
    turns = [marks.on("How do I oil a door?"), marks.on("With linseed oil.")]
    thread = make_thread(user, turns, created_at=NOW - timedelta(days=3))
    consolidate(user.pk, at=NOW - timedelta(days=2))
    later = chain(thread, [*turns, marks.on("And the hinges?"), marks.on("With grease.")])[2:]
    for turn in later:
        turn.created_at = NOW - timedelta(days=1)
    later[0].parent_id = thread.messages.get(position=2).pk
    Message.objects.bulk_create(later)
    Thread.objects.filter(pk=thread.pk).update(last_position=4, message_count=4, updated_at=later[-1].created_at)
    consolidate(user.pk, at=NOW)
    noting = ContextSnapshot.objects.filter(purpose=ContextSnapshot.Purpose.CONSOLIDATION).latest("created_at")
    body, _ = agree(noting)
    items_in_bytes(body, json.dumps(model.bodies[-1]), user)
    assert ("message", False, "outside_part") in {
        (fate["kind"], fate["included"], fate["reason"]) for fate in body["fates"]
    }


LEFT_OUT: Sequence[LeftOutObject] = [
    {"what": "hidden paragraph", "why": "hidden", "count": 3, "places": []},
    {"what": "chart", "why": "not_read", "count": 1, "places": ["page 2"]},
]
BROKEN_OFF = {"type": "file", "code": "too_large", "message": "It was read up to page 1.", "details": {}}


def make_pdf(user: User, marks: Marks, pages: int, **values: Any) -> File:
    known = {"name": "lease.pdf", "kind": "pdf", "media_type": "application/pdf", "state": File.State.READY}
    texts = [marks.on(f"Page {number} of the lease. ") for number in range(1, pages + 1)]
    file = make_file(user, parts=texts, **known | values)
    for part in file.parts.all():
        FilePart.objects.filter(pk=part.pk).update(page=part.number, label=f"page {part.number}")
    return file


def test_of_a_file_every_part_is_told_as_given_read_or_left_out() -> None:
    """Of thirty pages three are given: the other 27 are named, and why. A picture that the model can't see is not given."""
    user, marks = make_user(), Marks()
    Model.objects.filter(provider="anthropic").update(takes_images=False)
    model_catalog.reread()
    thread = make_thread(user, created_at=NOW, message_count=1, last_position=1)
    lease = make_pdf(user, marks, 30, thread=thread)
    photo = make_file(user, parts=[""], picture=b"\x89PNG", name="photo.png", kind="image", state=File.State.READY)
    scan = make_pdf(user, marks, 2, name="scan.pdf", picture=b"\x89PNG")
    FilePart.objects.filter(file__in=[photo, scan], number=1).update(width=640, height=480)
    unread = make_file(user, name="draft.docx", kind="document", state=File.State.READING)
    report = make_pdf(user, marks, 2, name="report.docx", kind="document", left_out=LEFT_OUT)
    book = make_pdf(user, marks, 1, name="book.epub", kind="book", error=BROKEN_OFF)
    files = [
        (lease, [1, 2, 17], True),
        (photo, [1], False),
        (scan, [1, 2], False),
        (unread, [], False),
        (report, [1, 2], False),
        (book, [1], False),
    ]
    for place, (file, numbers, outlined) in enumerate(files):
        File.objects.filter(pk=file.pk).update(thread=thread)
        TurnFile.objects.create(
            thread=thread, position=1, place=place, file=file, numbers=numbers, outlined=outlined, user_id=user.pk
        )
    question = chain(thread, [marks.on("Who pays for the garden?")])[0]
    blocks = [{"type": "file", "file": str(file.pk), "name": file.name} for file, *_ in files]
    question.content = [*blocks, *question.blocks]
    question.save(force_insert=True)
    snapshot, payload = sent(thread)
    assert snapshots.proof(snapshot)
    body, page = agree(snapshot)
    told = [
        (fate["kind"], fate["included"], fate["what"], fate["why"], fate["count"])
        for fate in body["fates"]
        if fate["kind"] in OF_FILES
    ]
    assert sorted(told) == [
        ("content", False, "book.epub, the rest", "its reading ended before that", 1),
        ("content", False, "report.docx, 1 chart", "of a kind that is not read", 1),
        ("content", False, "report.docx, 3 hidden paragraphs", "not seen by anybody who opens the file", 3),
        ("file", False, "draft.docx", "nothing of it could be read by then", 1),
        ("part", False, "lease.pdf, pages 3–16, 18–30", "does not bear on what you asked", 27),
        ("part", False, "photo.png", "a picture, which this model can’t see", 1),
        ("part", True, "book.epub, all that could be read", "given with your message", 1),
        ("part", True, "lease.pdf, pages 1–2, 17", "given with your message", 3),
        ("part", True, "report.docx, all that could be read", "given with your message", 2),
        ("part", True, "scan.pdf", "given with your message", 2),
        ("picture", False, "scan.pdf, 1 picture on page 1", "this model can’t see pictures", 1),
    ]
    shown = {*MARK.findall(payload)}
    for fate in body["fates"]:
        if fate["kind"] == "part" and fate["file"] != str(photo.pk):
            texts = FilePart.objects.filter(file=fate["file"], number__in=read_ranges(fate["parts"]))
            found = {MARK.findall(text)[0] in shown for text in texts.values_list("text", flat=True)}
            assert found == {fate["included"]}
    assert payload.count("which this model can’t see") == 2
    assert '"type":"image"' not in payload
    by_file = {file["id"]: file for file in body["files"]}
    whole = [by_file[str(file.pk)]["given"][0]["whole"] for file in (photo, scan, report, book)]
    assert whole == [False, True, False, False]
    assert [entry["text"] for entry in by_file[str(report.pk)]["unread"]] == [
        "3 hidden paragraphs: not seen by anybody who opens the file.",
        "1 chart: of a kind that is not read (page 2).",
    ]
    assert [entry["text"] for entry in by_file[str(book.pk)]["unread"]] == ["It was read up to page 1."]
    assert 'name=\\"report.docx\\" parts=\\"2\\" left_out=\\"3 hidden paragraphs, 1 chart\\">' in payload
    masked = snapshot_page(snapshot, shown=False)
    assert "lease.pdf" not in repr((masked.files, masked.known_tally, masked.causes))
    rows = [(row.parts, row.fate, row.reason) for file in page.files if file.id == str(lease.pk) for row in file.fates]
    assert ("3-16, 18-30", "left out", "Does not bear on a message that it could have been given with") in rows
    (of_report,) = (file.fates for file in page.files if file.id == str(report.pk))
    assert [(row.things or row.fate, row.reason) for row in of_report] == [
        ("given", "all that could be read"),
        ("3 hidden paragraphs", "In the file, and nobody sees it who opens that"),
        ("1 chart", "Of a kind that is not read"),
    ]
    assert "chart" not in repr(masked.files)

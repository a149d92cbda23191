"""Pictures and documents through the door of the Messages API, sent by its official SDK."""

import asyncio
import base64
import io
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from conversations.accounts import tokens
from conversations.context.files.excerpts import text_in
from conversations.context.record import snapshots
from conversations.files import progress, storage
from conversations.import_export.disk_lists import Scratch
from conversations.import_export.json_stream import Text
from conversations.models import ContextSnapshot, File, FilePart, Message, Thread
from conversations.providers.http_client import trusted
from conversations.providers.image_tokens import image_rule, image_tokens
from conversations.rest.message_files import RawText, read_raw_text
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.artifacts.reading.helpers import SAMPLES
from tests.asgi_server import serving
from tests.conversations.factories import make_file, make_thread
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

LOOK_SECONDS = 0.05


@pytest.fixture
async def client(user: User, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncAnthropic]:
    """The SDK, with a worker that reads what it brings."""
    monkeypatch.setattr(AsyncAnthropic, "_calculate_retry_timeout", lambda *_, **__: 0.01)
    key = await in_database(tokens.issue)(user=user, name="tests")
    http = DefaultAsyncHttpxClient(verify=trusted())
    async with (
        serving(get_asgi_application()) as url,
        AsyncAnthropic(api_key=key, base_url=url, http_client=http) as client,
        files_being_read(),
    ):
        yield client


@asynccontextmanager
async def files_being_read() -> AsyncIterator[None]:
    async def read_on() -> None:
        while True:
            async for file in File.objects.filter(state=File.State.READING):
                await in_database(progress.read_file)(file.id)
            await asyncio.sleep(LOOK_SECONDS)

    worker = asyncio.create_task(read_on())
    try:
        yield
    finally:
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)


def png(width: int = 640, height: int = 480, colour: str = "teal") -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(stream, "PNG")
    return stream.getvalue()


def in_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def image(content: bytes, media_type: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": in_base64(content)}}


def pdf(content: bytes, **more: Any) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "application/pdf", "data": in_base64(content)}
    return {"type": "document", "source": source, **more}


def document(content: str, **more: Any) -> dict[str, Any]:
    return {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": content}, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def asking(*blocks: dict[str, Any], before: Sequence[Any] = (), **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 500, "messages": [*before, {"role": "user", "content": list(blocks)}], **more}


def given_text(model: ModelServer) -> str:
    content = model.bodies[-1]["messages"][-1]["content"]
    return text_in(content)


async def nothing_stored() -> bool:
    return not (await File.objects.aexists() or await Thread.objects.aexists())


async def test_a_picture_is_a_file_of_the_turn_counted_as_published_and_proven(
    user: User, api: Api, client: AsyncAnthropic, model: ModelServer
) -> None:
    raw = await client.messages.with_raw_response.create(**asking(image(png()), text("What is in it?")))
    file = await File.objects.aget()
    assert (file.name, file.kind, file.state, str(file.thread_id)) == (
        "image-1.png",
        "image",
        "ready",
        raw.headers["x-openbook-thread"],
    )
    turn = await Message.objects.aget(role="user")
    assert turn.text == "What is in it?"
    assert turn.blocks == [{"type": "file", "file": str(file.id), "name": "image-1.png"}, text("What is in it?")]
    sent = [block for block in model.bodies[-1]["messages"][-1]["content"] if block["type"] == "image"]
    assert [Image.open(io.BytesIO(base64.b64decode(each["source"]["data"]))).size for each in sent] == [(640, 480)]
    snapshot = await ContextSnapshot.objects.aget(id=raw.headers["x-openbook-request"])
    assert snapshot.files
    published = image_tokens(640, 480, image_rule(snapshot.model))
    assert published <= snapshot.files["tokens"] <= published + 100
    assert await in_database(snapshots.proof)(snapshot)
    (told,) = (await api.get(f"requests/{snapshot.id}/")).body["files"]
    assert (told["id"], told["name"], [row["whole"] for row in told["given"]]) == (str(file.id), "image-1.png", [True])


async def test_documents_are_read_and_what_is_said_of_them_is_text(client: AsyncAnthropic, model: ModelServer) -> None:
    report = (SAMPLES / "report.pdf").read_bytes()
    parts = {"type": "content", "content": [text("The harbour"), text("is closed.")]}
    blocks = [
        pdf(report, title="Annual report", context="Of last year.", cache_control={"type": "ephemeral"}),
        document("Ferries leave at nine.", title="ferries.md", citations={"enabled": True}),
        {"type": "document", "source": parts},
        {"type": "tool_result", "tool_use_id": "t", "content": [text("12 degrees"), image(png())]},
        text("Sum it up."),
    ]
    await client.messages.create(**asking(*blocks))
    files = [(file.name, file.kind, file.media_type) async for file in File.objects.order_by("id")]
    assert files == [
        ("Annual report.pdf", "pdf", "application/pdf"),
        ("ferries.md", "text", "text/markdown"),
        ("document-1.txt", "text", "text/plain"),
        ("image-1.png", "image", "image/png"),
        ("tool-result-1.txt", "text", "text/plain"),
    ]
    turn = await Message.objects.aget(role="user")
    assert turn.text == "Annual report.pdf: Of last year.\n\nSum it up."
    given = given_text(model)
    assert [
        words
        for words in (
            '<file name="Annual report.pdf"',
            "Ferries leave at nine.",
            "The harbour",
            "is closed.",
            "12 degrees",
        )
        if words not in given
    ] == []
    assert any(block["type"] == "image" for block in model.bodies[-1]["messages"][-1]["content"])
    assert await in_database(snapshots.proof)(await ContextSnapshot.objects.aget())


async def test_a_file_that_was_uploaded_before_is_named_by_its_id(
    user: User, client: AsyncAnthropic, model: ModelServer
) -> None:
    file = await in_database(make_file)(user, parts=["The canary sings."], state=File.State.READY)
    named = {"type": "document", "source": {"type": "file", "file_id": str(file.id)}, "context": "Look here."}
    answer = await client.beta.messages.create(**asking(named, text("What does it do?")))
    assert "The canary sings." in given_text(model)
    assert (await Message.objects.aget(role="user")).text == "Look here.\n\nWhat does it do?"
    before = [*asking(named, text("What does it do?"))["messages"], {"role": "assistant", "content": answer.content}]
    await client.beta.messages.create(**asking(text("Thanks"), before=json.loads(json.dumps(before, default=vars_of))))
    assert (await Thread.objects.acount(), await File.objects.acount()) == (1, 1)


def vars_of(block: Any) -> Any:
    return block.model_dump(exclude_none=True)


@pytest.mark.wide
async def test_a_loop_with_pictures_keeps_one_thread_also_where_later_calls_leave_them_out(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    model.script(scripts.text("Teal."), scripts.text("Red."), scripts.text("Blue."), scripts.text("Yes."))
    messages: list[Any] = []
    for blocks in ([image(png()), text("Look")], [image(png(colour="red"))], [text("And?"), image(png(colour="blue"))]):
        messages.append({"role": "user", "content": blocks})
        answer = await client.messages.create(model="m", max_tokens=9, messages=messages)
        messages.append({"role": "assistant", "content": vars_of(answer)["content"]})
    words = [
        {**message, "content": [block for block in message["content"] if block["type"] == "text"]}
        for message in messages
    ]
    kept = [message for message in words if message["content"]]
    assert len(kept) == 5
    await client.messages.create(**asking(text("Sure?"), before=messages))
    assert (await Thread.objects.acount(), await File.objects.acount()) == (1, 3)
    turns = [(turn.role, turn.text) async for turn in Message.objects.order_by("position")]
    assert turns[:6] == [
        *(("user", "Look"), ("assistant", "Teal."), ("user", ""), ("assistant", "Red."), ("user", "And?")),
        ("assistant", "Blue."),
    ]
    assert [bool(await in_database(snapshots.proof)(each)) async for each in ContextSnapshot.objects.all()] == [
        True
    ] * 4


@pytest.mark.wide
async def test_a_history_from_elsewhere_brings_its_files(client: AsyncAnthropic, model: ModelServer) -> None:
    """Each stands in its turn; what can't be read is left out; and the thread is found again."""
    model.script(scripts.text("Yes."), scripts.text("No."))
    before = [
        {"role": "user", "content": [image(png()), pdf(b"MZ program"), text("Look")]},
        {"role": "assistant", "content": "Teal."},
        {"role": "user", "content": [document("Ferries leave at nine.")]},
        {"role": "assistant", "content": "So they do."},
    ]
    counted = await client.messages.count_tokens(model="m", messages=asking(text("Really?"), before=before)["messages"])
    assert await nothing_stored()
    first = await client.messages.create(**asking(text("Really?"), before=before))
    snapshot = await ContextSnapshot.objects.aget()
    assert counted.input_tokens == pytest.approx(snapshot.total_tokens, rel=0.1)
    sent = model.bodies[0]["messages"]
    assert [block["type"] for block in sent[0]["content"]] == ["text", "image", "text", "text"]
    assert "Ferries leave at nine." in text_in(sent[2]["content"])
    files = {file.name: file async for file in File.objects.all()}
    thread = await Thread.objects.aget()
    assert {name: file.thread_id for name, file in files.items()} == {
        "image-1.png": thread.id,
        "document-1.txt": thread.id,
    }
    answered = [
        *before,
        {"role": "user", "content": "Really?"},
        {"role": "assistant", "content": vars_of(first)["content"]},
    ]
    await client.messages.create(**asking(text("Sure?"), before=answered))
    assert (await Thread.objects.acount(), await File.objects.acount()) == (1, 2)
    assert model.bodies[1]["messages"][0] == sent[0]
    requests = [each async for each in ContextSnapshot.objects.all()]
    assert [bool(await in_database(snapshots.proof)(each)) for each in requests] == [True, True]


@pytest.mark.wide
async def test_the_same_words_with_another_picture_are_another_conversation(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    model.script(scripts.error(400), scripts.text("Red."), scripts.text("Teal."))
    retried = {"X-Stainless-Retry-Count": "1"}
    with pytest.raises(anthropic.APIStatusError):
        await client.messages.create(**asking(image(png()), text("Which colour?")))
    await client.messages.create(**asking(image(png(colour="red")), text("Which colour?")), extra_headers=retried)
    assert (await Thread.objects.acount(), await File.objects.acount()) == (2, 2)
    await client.messages.create(**asking(image(png()), text("Which colour?")), extra_headers=retried)
    assert (await Thread.objects.acount(), await File.objects.acount()) == (2, 2)
    assert [turn.text async for turn in Message.objects.filter(role="assistant").order_by("created_at")] == [
        "Red.",
        "Teal.",
    ]


@pytest.mark.wide
async def test_what_can_not_be_taken_is_refused_in_words_and_leaves_nothing(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    cases: list[tuple[dict[str, Any], int, str]] = [
        (image(png(), "image/jpeg"), 400, "source.media_type` is image/jpeg, but this is image/png"),
        (image(b"words"), 400, "source.media_type` is image/png, but this is text/plain"),
        (image(png(), "image/tiff"), 400, "must be one of image/jpeg, image/png, image/gif, image/webp"),
        (pdf(png()), 400, "source.media_type` is application/pdf, but this is image/png"),
        (pdf(b"\x7fELF\2\1\1"), 400, "`messages[0].content[0]`: This is a program"),
        (pdf(b"MZ is how it begins"), 400, "source.media_type` is application/pdf, but this is text/plain"),
        ({"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}}, 400, "fetches nothing"),
        ({"type": "search_result", "source": "x", "title": "y", "content": []}, 400, "is of type 'search_result'"),
        ({**image(b""), "source": {"type": "base64", "media_type": "image/png", "data": "!!"}}, 400, "is no base64"),
        (
            {**image(b""), "source": {"type": "base64", "media_type": "image/png", "data": "QQ==QQ=="}},
            400,
            "is no base64",
        ),
        ({"type": "document", "source": {"type": "file", "file_id": "x"}}, 400, "POST /api/v1/files/"),
        (
            {"type": "document", "source": {"type": "file", "file_id": "0198c0de-0000-7000-8000-00000000abcd"}},
            404,
            "There is no such file",
        ),
    ]
    for block, status, problem in cases:
        with pytest.raises(anthropic.APIStatusError) as refused:
            await client.messages.create(**asking(block, image(png()), text("Look")))
        assert (refused.value.status_code, problem in str(refused.value)) == (status, True), refused.value
        assert (await nothing_stored(), model.bodies) == (True, []), block
        assert [path.name for path in storage.scratch_root().iterdir() if path.name.startswith("upload-")] == [], block


async def test_a_file_over_the_limit_is_refused(client: AsyncAnthropic, settings: Any) -> None:
    settings.OPENBOOK_MAX_FILE_MB = 0
    with pytest.raises(anthropic.APIStatusError, match="The file is too large") as refused:
        await client.messages.create(**asking(image(png()), text("Look")))
    assert (refused.value.status_code, await nothing_stored()) == (413, True)


@pytest.mark.wide
async def test_a_call_that_fails_once_its_files_are_stored_leaves_none(user: User, client: AsyncAnthropic) -> None:
    thread = await in_database(make_thread)(user)
    elsewhere = await in_database(make_file)(user, parts=["Words"], state=File.State.READY, thread=thread)
    named = {"type": "document", "source": {"type": "file", "file_id": str(elsewhere.id)}}
    with pytest.raises(anthropic.ConflictError, match="belongs to another thread"):
        await client.messages.create(**asking(image(png()), named, text("Look")))
    assert [file.id async for file in File.objects.all()] == [elsewhere.id]


@pytest.mark.wide
async def test_a_message_with_a_key_that_is_sent_again_brings_its_files_once(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    keyed = {"Idempotency-Key": "one"}
    answers = [
        await client.messages.create(**asking(image(png()), text("Look")), extra_headers=keyed) for _ in range(2)
    ]
    assert answers[0].id == answers[1].id
    assert (await Thread.objects.acount(), await File.objects.acount(), len(model.bodies)) == (1, 1, 1)


@pytest.mark.wide
async def test_files_are_counted_without_being_stored(client: AsyncAnthropic, model: ModelServer) -> None:
    call = asking(image(png()), document("Ferries leave at nine. " * 50), text("Look"))
    del call["max_tokens"]
    counted = await client.messages.count_tokens(**call)
    assert (await nothing_stored(), model.requests) == (True, [])
    assert [path.name for path in storage.scratch_root().iterdir()] == []
    await client.messages.create(**call, max_tokens=500)
    snapshot = await ContextSnapshot.objects.aget()
    assert snapshot.files
    assert counted.input_tokens == pytest.approx(snapshot.total_tokens, abs=20)  # an id may take a token more or less
    assert snapshot.files["tokens"] < counted.input_tokens


@pytest.mark.wide
async def test_a_large_picture_in_escapes_of_other_programs_is_taken(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    """Some write a slash and a plus as escapes. 15 MB of base64 are more than is made of a body at once."""
    stream = io.BytesIO()
    Image.new("RGB", (2_000, 2_000), (251, 239, 190)).save(stream, "PNG", compress_level=0)
    body = json.dumps(asking(image(stream.getvalue()), text("Look"))).replace("/", "\\/").replace("+", "\\u002B")
    assert len(body) > 15 * 2**20
    async with httpx2.AsyncClient(timeout=60) as http:
        headers = {"x-api-key": str(client.api_key), "content-type": "application/json"}
        answer = await http.post(f"{str(client.base_url).rstrip('/')}/v1/messages", content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    part = await FilePart.objects.aget()
    assert (part.width, part.height) == (2_000, 2_000)


class Trickle(io.BytesIO):
    """Gives a few bytes at a time, however many are asked for."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 7, 7))


@given(words=st.text(max_size=60), escaped=st.booleans())
def test_a_text_on_the_disk_is_the_one_that_was_sent(words: str, escaped: bool) -> None:
    sent = json.dumps([words, 1], ensure_ascii=escaped).replace("/", "\\/").encode("utf-8", "surrogatepass")
    scratch = Scratch()
    text = Text(Trickle(sent), scratch)
    found = [read_raw_text(text, scratch) for _ in text.elements()]
    assert isinstance(found[0], RawText)
    assert (found[0].text(), found[1]) == (words, 1)
    scratch.close()

"""What is taken away is nowhere: no table, no folder, no log and no request made again holds a word of it."""

import io
import json
import shutil
import uuid
from collections.abc import Awaitable, Callable, Iterator

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from PIL import Image, PngImagePlugin
from pytest_django import Settings

from conversations.context.caller_options import NO_OPTIONS
from conversations.context.record import snapshots
from conversations.context.record.snapshots import NotRebuildable
from conversations.context.render.rendering import canonical
from conversations.files import progress, storage
from conversations.models import ContextSnapshot, File, Message, text_blocks
from conversations.replies import cursor, opening
from conversations.replies.model_requests import TurnToAnswer, build_if_possible
from conversations.replies.user_content import NewMessage
from conversations.runtime.db import in_database
from conversations.threads import deletion
from memory import forgetting
from memory.index.index_turns import catch_up
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api, ApiResponse
from tests.memory.forgetting.test_forgetting import rows_with
from tests.model_server import ModelServer
from tests.uploads import FORM, form, stored

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

WRITTEN, SAID, NAME = "xylquorbin", "zwengelmaat", "quibberdane"
"""Words that stand in a file, in the turn that brings it, and in the file's name."""
PLAN = f"# {WRITTEN.title()}\n\nThe notice period of the {WRITTEN} lease is fourteen weeks.\n".encode()

type Ids = dict[str, str]
type Way = Callable[[Api, Ids], Awaitable[ApiResponse | None]]


@pytest.fixture(autouse=True)
def _folder(settings: Settings) -> Iterator[None]:
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)
    yield
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)


def photo() -> bytes:
    about = PngImagePlugin.PngInfo()
    about.add_text("Title", WRITTEN)
    stream = io.BytesIO()
    Image.new("RGB", (64, 48), "teal").save(stream, "PNG", pnginfo=about)
    return stream.getvalue()


async def told_everywhere(user: User, api: Api, model: ModelServer) -> Ids:
    """A thread whose turn brings two files, one that searches for what stands in them, and one that recalls the turn."""
    files = []
    for name, data in ((f"{NAME}.md", PLAN), (f"{NAME}.png", photo())):
        uploaded = (await api.send("POST", "files/", form(data, name), FORM)).body
        await in_database(progress.read_file)(uuid.UUID(uploaded["id"]))
        await api.get(f"files/{uploaded['id']}/thumbnail/")
        files.append(uploaded["id"])
    model.script(
        scripts.text("I have read it."),
        scripts.tool_use("search_messages", {"query": "notice period of the lease"}),
        scripts.text("Fourteen weeks."),
        scripts.text("That one."),
    )
    content = f"Keep the {SAID} ferry timetable and the lease."
    first = (await api.post("threads/new/messages/", {"content": content, "files": files})).body
    await in_database(catch_up)(user.pk)
    asked = {"content": "When can I leave the flat?", "assistant": "analyst"}
    searched = (await api.post("threads/new/messages/", asked)).body
    recalled = (await api.post("threads/new/messages/", {"content": "Which ferry timetable did I want kept?"})).body
    assert [each["reply"]["status"] for each in (first, searched, recalled)] == ["completed"] * 3
    quoted = json.dumps(model.bodies[2], ensure_ascii=False)
    assert f'UTC, file “{NAME}.md”, section \\"{WRITTEN.title()}\\": ' in quoted
    assert "fourteen weeks" in quoted
    assert SAID in json.dumps(model.bodies[3])
    return {
        "thread": first["thread"],
        "turn": first["user_message"]["id"],
        "file": files[0],
        "picture": files[1],
        "searched": searched["assistant_message"]["id"],
    }


async def forget_turn(api: Api, ids: Ids) -> ApiResponse:
    return await api.post(f"messages/{ids['turn']}/forget/")


async def clear_thread(api: Api, ids: Ids) -> ApiResponse:
    return await api.post(f"threads/{ids['thread']}/clear/")


async def delete_thread(api: Api, ids: Ids) -> ApiResponse:
    return await api.call("DELETE", f"threads/{ids['thread']}/")


async def delete_account(api: Api, ids: Ids) -> None:
    await in_database(lambda: deletion.delete_user(File.objects.get(id=ids["file"]).user))()


async def delete_files(api: Api, ids: Ids) -> ApiResponse:
    assert (await api.call("DELETE", f"files/{ids['picture']}/")).status == 204
    return await api.call("DELETE", f"files/{ids['file']}/")


def rebuilt() -> list[bytes]:
    """All requests that can be made again."""
    requests = []
    for snapshot in ContextSnapshot.objects.order_by("id"):
        try:
            requests.append(canonical(snapshots.rebuild(snapshot)))
        except NotRebuildable:
            continue
    return requests


@pytest.mark.wide
@pytest.mark.parametrize(
    ("way", "words"),
    [
        (forget_turn, (WRITTEN, SAID, NAME)),
        (clear_thread, (WRITTEN, SAID, NAME)),
        (delete_thread, (WRITTEN, SAID, NAME)),
        (delete_account, (WRITTEN, SAID, NAME)),
        (delete_files, (WRITTEN,)),  # the turn stays, and the names in it
    ],
)
async def test_no_table_no_folder_no_log_and_no_request_holds_a_word_of_what_was_taken_away(
    user: User,
    api: Api,
    model: ModelServer,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    way: Way,
    words: tuple[str, ...],
) -> None:
    ids = await told_everywhere(user, api, model)
    before = await in_database(rebuilt)()
    assert {row.partition(":")[0] for row in await in_database(rows_with)(*words)} >= {
        *("conversations_filepart", "conversations_message", "conversations_contextblock")
    }
    answer = await way(api, ids)
    assert answer is None or answer.status in (200, 204), answer.body
    await in_database(storage.remove_due)(timezone.now())
    assert await in_database(rows_with)(*words) == []
    assert stored() == {}
    after = await in_database(rebuilt)()
    assert len(after) < len(before)
    assert [word for word in words for request in after if word in request.decode().casefold()] == []
    told = capfd.readouterr()
    logs = f"{told.out}{told.err}{caplog.text}".casefold()
    assert [word for word in words if word in logs] == []


@pytest.mark.wide
async def test_a_file_that_is_deleted_takes_the_replies_along_that_quote_it(
    user: User, api: Api, model: ModelServer
) -> None:
    ids = await told_everywhere(user, api, model)
    await delete_files(api, ids)
    assert (await Message.objects.aget(id=ids["searched"])).text == "[forgotten]"
    assert SAID in (await Message.objects.aget(id=ids["turn"])).text


@pytest.mark.wide
@pytest.mark.parametrize("is_new", [True, False])
def test_a_request_that_was_built_before_is_not_stored_afterwards(user: User, is_new: bool) -> None:
    told = make_thread(user, [f"My spare key lies under the {SAID} stone.", "Noted."])
    catch_up(user.pk)
    here = None if is_new else make_thread(user, ["Hello", "Hi"]).id
    place = cursor.place_of(user, here, None, "")
    message = cursor.next_turn(place, text_blocks("Where does my spare key lie?"), None)
    session = cursor.session_after(place, message.created_at)
    context = build_if_possible(TurnToAnswer.of(message, place, session), NO_OPTIONS)
    assert context
    assert SAID in json.dumps(context.payload)
    forgetting.forget_turn(user, told.messages.get(position=1).id)
    assert opening.store_turn(place, message, session, context) is None
    assert rows_with(SAID) == []
    opened = opening.open_turn(NewMessage(user=user, thread_id=here, blocks=message.blocks))
    assert opened.recorded
    assert rows_with(SAID) == []

"""Words of every kind are put in by the ways that people, models and services have, and taken away by each way there is: then
no table, folder, export or next request holds one. What the data map declares and nothing puts in fails here."""

import json
import shutil
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from conversations.files import progress, storage
from conversations.holds import actions, release
from conversations.holds.actions import HoldSubject
from conversations.models import HeldRow, Thread
from conversations.models.data_map import TABLES
from conversations.runtime.db import in_database
from conversations.threads import deletion
from memory.index.index_turns import catch_up
from memory.models import Memory
from tests import model_scripts as scripts
from tests.conversations.rest.client import Api
from tests.conversations.upkeep.kinds import delete
from tests.kept_rows import KeptRows, keep, put_back
from tests.memory.factories import make_daily_summary, make_memory, make_thread_summary, make_topic
from tests.memory.forgetting.test_forgetting import rows_with
from tests.model_server import ModelServer
from tests.uploads import FORM, form

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

LENGTHS = {
    "a word": "{}",
    "three words": "my {} stone",
    "a sentence": "Please keep in mind that the spare {} lies behind the old birch.",
}
OWN = ("fact", "about", "style", "project", "projectwish", "prompt", "prompttext", "scheduled")
"""Of no thread. The fact stands in all the others, and in the instructions of the thread."""
PLACES = (
    *(*OWN, "wish"),
    *("turn", "clientid", "filename", "filetext", "answer", "query", "artifacttitle", "artifact", "title", "error"),
    "label",
    *("refusal", "note", "tag", "summary", "moment", "day", "topic", "log", "question", "feedback"),
)
TOKENS = {place: f"zq{place}vix" for place in PLACES}
NOT_PUT_IN = {
    "conversations.File": {"title", "error", "left_out"},
    "conversations.FilePart": {"label", "heading", "terms"},
    "conversations.Reply": {"client_id", "request_id", "stop_reason"},
    "conversations.ContextSnapshot": {
        *("problems", "diagnostics", "stop_reason", "provider_request_id", "provider_message_id")
    },
    "conversations.Message": {"citations", "model"},
    "conversations.CaseAnswer": {"problem", "reason", "stop_reason", "text", "verdict_problem"},
    "memory.Memory": {"confined_to"},
    "admin.LogEntry": {"change_message"},
    "conversations.HeldRow": {"data"},
}
"""Columns that this conversation leaves empty, or that hold numbers of words: `tests/belongings.py` fills most of them."""

type Ids = Mapping[str, str]
type Told = Callable[[str], Awaitable[tuple[Api, Ids]]]
type Way = Callable[[Api, Ids], Awaitable[None]]


@pytest.fixture(autouse=True)
def _folder(settings: Settings) -> Iterator[None]:
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)
    yield
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)


async def put_in(user: User, api: Api, model: ModelServer, form_of: str) -> Ids:
    words = {place: form_of.format(token) for place, token in TOKENS.items()}
    written = {place: f"{words['fact']} {TOKENS[place]}" for place in (*OWN[1:], "wish")}
    wishes = {"about": written["about"], "style": written["style"]}
    assert (await api.call("PATCH", "account/instructions/", wishes)).status == 200
    project = {"name": written["project"], "instructions": written["projectwish"]}
    assert (await api.post("projects/", project)).status == 201
    assert (await api.post("prompts/", {"name": written["prompt"], "text": written["prompttext"]})).status == 201
    scheduled = {"content": written["scheduled"], "at": "2100-01-01T08:00Z"}
    assert (await api.post("schedules/", scheduled)).status == 201
    name = f"{TOKENS['filename']}.md"
    uploaded = (await api.send("POST", "files/", form(f"{words['filetext']}\n".encode(), name), FORM)).body
    await in_database(progress.read_file)(uuid.UUID(uploaded["id"]))
    made = {"title": words["artifacttitle"], "kind": "document", "content": words["artifact"]}
    model.script(
        scripts.tool_use("search_messages", {"query": words["query"]}),
        scripts.text(words["answer"]),
    )
    first = {"content": words["turn"], "client_message_id": TOKENS["clientid"], "files": [uploaded["id"]]}
    sent = (await api.post("threads/new/messages/", {"assistant": "analyst", **first})).body
    thread = sent["thread"]
    labels = {"title": words["title"], "tags": [TOKENS["label"]], "instructions": written["wish"]}
    assert (await api.call("PATCH", f"threads/{thread}/", labels)).status == 200
    said = {"value": -1, "text": words["feedback"]}
    assert (await api.post(f"messages/{sent['assistant_message']['id']}/feedback/", said)).status == 200
    await in_database(catch_up)(user.pk)
    model.script(scripts.error(400, message=f"can't read “{words['turn']}” {words['error']}"))
    await api.post(f"threads/{thread}/messages/", {"content": "Go on."})
    model.script(scripts.refusal(explanation=words["refusal"]))
    await api.post(f"threads/{thread}/messages/", {"content": words["question"]})
    # Last, as an exchange that made an artifact is in no later request.
    model.script(scripts.tool_use("save_artifact", made), scripts.text("Saved."))
    await api.post(f"threads/{thread}/messages/", {"content": "Write it down."})
    model.script(
        scripts.tool_use("search_messages", {"query": f"{TOKENS['turn']} {TOKENS['filetext']}"}),
        scripts.text("I have read it."),
    )
    other = (await api.post("threads/new/messages/", {"content": "What was it?", "assistant": "analyst"})).body
    quoted = json.dumps(model.bodies[-1], ensure_ascii=False)
    assert TOKENS["turn"] in quoted
    assert TOKENS["filetext"] in quoted
    turn = sent["user_message"]["id"]
    memory = await in_database(remember)(user, thread, turn, words)
    fact = str((await in_database(make_memory)(user, words["fact"])).id)
    places = {"thread": thread, "turn": turn, "file": uploaded["id"], "other": other["thread"]}
    return places | {"memory": memory, "fact": fact}


KEPT: dict[str, tuple[Ids, KeptRows]] = {}
"""What was put in, by the form of its words."""


@pytest.fixture
def told(
    user: User, api: Api, model: ModelServer, settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Told:
    """Puts words of this form in, or back: the person's API, and what is where."""

    async def put(form_of: str) -> tuple[Api, Ids]:
        files = Path(settings.OPENBOOK_FILES_DIR)
        if form_of not in KEPT:
            ids = await put_in(user, api, model, form_of)
            KEPT[form_of] = ids, await in_database(keep)(files, tmp_path_factory.mktemp("told") / "files")
            return api, ids
        ids, kept = KEPT[form_of]
        await in_database(put_back)(kept, files)
        return await in_database(lambda: Api(Thread.objects.get(id=ids["thread"]).user))(), ids

    return put


def remember(user: User, thread_id: str, turn: str, words: Mapping[str, str]) -> str:
    """What is remembered of the turn, and what staff's log calls it."""
    thread, sources = Thread.objects.get(id=thread_id), [uuid.UUID(turn)]
    memory = make_memory(user, words["note"], sources=sources, tags=[f"user:{user.pk}", TOKENS["tag"]])
    part = make_thread_summary(thread, timezone.now(), words["summary"], key_moments=[words["moment"]], sources=sources)
    make_daily_summary(user, "2026-11-20", words["day"], key_moments=[words["day"]], parts=[part.id])
    make_topic(user, words["topic"], thread=thread, sources=sources)
    LogEntry.objects.create(
        user=user,
        content_type=ContentType.objects.get_for_model(Memory),
        object_id=str(memory.id),
        object_repr=words["log"],
        action_flag=CHANGE,
    )
    return str(memory.id)


DELETED = (200, 204)
"""With words on what a hold keeps, and without."""


async def forget_turn(api: Api, ids: Ids) -> None:
    assert (await api.post(f"messages/{ids['turn']}/forget/")).status == 200


async def forget_memory(api: Api, ids: Ids) -> None:
    """And the fact, unless it went as it says nearly the same."""
    statuses = [(await api.post(f"memories/{memory}/forget/")).status for memory in (ids["memory"], ids["fact"])]
    assert statuses in ([200, 200], [200, 404])


async def delete_file(api: Api, ids: Ids) -> None:
    assert (await api.call("DELETE", f"files/{ids['file']}/")).status in DELETED


async def clear(api: Api, ids: Ids) -> None:
    assert (await api.post(f"threads/{ids['thread']}/clear/")).status == 200


async def delete_thread(api: Api, ids: Ids) -> None:
    assert (await api.call("DELETE", f"threads/{ids['thread']}/")).status in DELETED


async def delete_account(api: Api, ids: Ids) -> None:
    await in_database(lambda: deletion.delete_user(Thread.objects.get(id=ids["thread"]).user))()


async def retain(api: Api, ids: Ids) -> None:
    await in_database(delete)("threads", timezone.now() + timedelta(minutes=1))


OF_TURN = {
    *("turn", "clientid", "filename", "filetext", "error", "refusal", "note", "tag", "summary", "moment", "day"),
    *("topic", "log", "feedback"),
}
STAYS = {*OWN, "artifact", "artifacttitle", "title", "label", "wish"}
GONE: dict[Way, set[str]] = {
    forget_turn: OF_TURN,
    forget_memory: OF_TURN | {*OWN, "wish"},
    delete_file: {"filetext"},
    clear: {*PLACES} - STAYS,
    delete_thread: {*PLACES} - {*OWN},
    delete_account: {*PLACES},
    retain: {*PLACES} - {*OWN},
}
"""What each way takes along. What was said in other turns, and made, stays where those turns stay."""


@pytest.mark.once("*-a word")
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("way", GONE)
async def test_what_is_taken_away_is_nowhere(
    told: Told, model: ModelServer, settings: Settings, way: Way, length: str
) -> None:
    api, ids = await told(LENGTHS[length])
    gone = [TOKENS[place] for place in sorted(GONE[way])]
    before = await in_database(rows_with)(*TOKENS.values())
    assert not [
        token for token in TOKENS.values() if not any(token in row.lower() or hexed(token) in row for row in before)
    ]
    await way(api, ids)
    await in_database(storage.remove_due)(timezone.now())
    left = await in_database(rows_with)(*gone)
    assert {token for token in gone for row in left if token in row or hexed(token) in row} == set(), left
    assert list(files_with(settings.OPENBOOK_FILES_DIR, gone)) == []
    if way is delete_account:
        return
    exported = json.dumps((await api.get("export/")).body, ensure_ascii=False)
    assert [token for token in gone if token in exported] == []
    sent = len(model.bodies)
    model.script(scripts.text("I see."), scripts.text("I see."))
    for thread in ("new", ids["other"]):
        await api.post(f"threads/{thread}/messages/", {"content": "What was behind the birch?"})
    asked = json.dumps(model.bodies[sent:], ensure_ascii=False)
    assert [token for token in gone if token in asked] == []


NOT_HELD = {"summary", "moment", "day", "log"}
"""What is made of what was said: it goes, and is in no row that a hold keeps."""


@pytest.mark.once("delete_thread")
@pytest.mark.parametrize("way", [way for way in GONE if way is not retain])
async def test_what_a_hold_keeps_is_nowhere_else_and_goes_with_its_end(
    told: Told, model: ModelServer, settings: Settings, way: Way
) -> None:
    api, ids = await told(LENGTHS["a word"])
    person = await in_database(lambda: Thread.objects.get(id=ids["thread"]).user)()
    gone = {TOKENS[place] for place in GONE[way]}
    kept = {TOKENS[place] for place in GONE[way] - NOT_HELD}
    before = await in_database(columns_with_tokens)(gone)
    hold = await in_database(actions.begin)(HoldSubject(user=person), reason="A lawsuit", by="root")
    await way(api, ids)
    after = await in_database(columns_with_tokens)(gone)
    assert after.keys() == {"conversations.HeldRow"}
    held = await in_database(lambda: json.dumps([*HeldRow.objects.values_list("data", flat=True)]))()
    assert {token for token in kept if token not in held and hexed(token) not in held} == set(), before
    bytes_before = [*files_with(settings.OPENBOOK_FILES_DIR, [TOKENS["filetext"]])]
    await in_database(storage.remove_due)(timezone.now())
    assert [*files_with(settings.OPENBOOK_FILES_DIR, [TOKENS["filetext"]])] == bytes_before != []
    if way is not delete_account:
        exported = json.dumps((await api.get("export/")).body, ensure_ascii=False)
        assert [token for token in gone if token in exported] == []
        sent = len(model.bodies)
        model.script(scripts.text("I see."))
        await api.post("threads/new/messages/", {"content": "What was behind the birch?"})
        assert [token for token in gone if token in json.dumps(model.bodies[sent:])] == []
    assert await in_database(release.release_due)() == 0
    await in_database(actions.end)(hold, by="root")
    assert await in_database(release.release_due)() > 0
    await in_database(storage.remove_due)(timezone.now())
    left = await in_database(rows_with)(*gone)
    assert {token for token in gone for row in left if token in row or hexed(token) in row} == set(), left
    assert list(files_with(settings.OPENBOOK_FILES_DIR, sorted(gone))) == []


def hexed(token: str) -> str:
    return token.encode().hex()


def files_with(folder: Path, tokens: list[str]) -> Iterator[Path]:
    for path in Path(folder).rglob("*"):
        if path.is_file() and any(token.encode() in path.read_bytes() or token in str(path) for token in tokens):
            yield path


def columns_with_tokens(tokens: Iterable[str] = TOKENS.values()) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for label in TABLES:
        model = apps.get_model(label)
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT to_jsonb(one) FROM "{model._meta.db_table}" AS one')  # noqa: S608
            rows = [json.loads(row) if isinstance(row, str) else row for (row,) in cursor.fetchall()]
        names = {
            name
            for row in rows
            for name, value in row.items()
            if any(token in json.dumps(value).lower() for token in tokens)
        }
        if names:
            found[label] = names
    return found


async def test_words_are_put_into_every_column_that_the_map_declares(told: Told) -> None:
    """And into no column of which it says that it holds none."""
    await told(LENGTHS["a word"])
    declared = {
        label: {name for name, column in table.columns.items() if column.has_words} - NOT_PUT_IN.get(label, set())
        for label, table in TABLES.items()
        if table.has_words and label != "memory.IndexedPassage"
    }
    filled = {label: columns for label, columns in declared.items() if columns}
    assert await in_database(columns_with_tokens)() == filled


async def test_the_export_tells_what_the_map_says_and_nothing_else(told: Told) -> None:
    api, _ = await told(LENGTHS["a word"])
    exported = json.dumps((await api.get("export/")).body, ensure_ascii=False)
    for token in TOKENS.values():
        columns = await in_database(columns_with_tokens)([token])
        exported_as = {TABLES[label].columns[name].exported for label, names in columns.items() for name in names} - {
            ""
        }
        assert (token in exported) == bool(exported_as), (token, columns)

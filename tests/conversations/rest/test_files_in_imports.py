"""Files that go out with an export and come in with an import: the same again, each checked as an upload is."""

import base64
import hashlib
import io
import json
import shutil
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from django_tasks_db.models import DBTaskResult
from pytest_django import Settings

from conversations.files import progress, storage
from conversations.models import BytesToRemove, File, FilePart, Thread, TurnFile, UserLimits
from conversations.runtime.db import in_database
from conversations.threads import deletion
from tests import model_scripts as scripts
from tests.artifacts.reading.helpers import SAMPLES
from tests.conversations.rest.client import Api, ApiResponse
from tests.conversations.rest.test_messages_with_files import make_report, pages, send
from tests.model_server import ModelServer
from tests.uploads import FORM, form, stored

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine", "_files_folder")]

NAMES = ["report.pdf", "photo.jpg", "budget.xlsx"]
NOTES = b"# Harbour\n\nThe ferry leaves at nine.\n"
FILE = uuid.UUID(int=7)


@pytest.fixture
def _files_folder(settings: Settings) -> Iterator[None]:
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)
    yield
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)


async def upload(api: Api, name: str, content: bytes) -> str:
    """The id of a file that has been read."""
    answer = await api.send("POST", "files/", form(content, name), FORM)
    assert answer.status == 201, answer.body
    await in_database(progress.read_file)(uuid.UUID(answer.body["id"]))
    return str(answer.body["id"])


async def downloaded(api: Api, path: str) -> bytes:
    response = await api._response("GET", path, b"", "application/json", {})
    assert response.status_code == 200
    return b"".join([part async for part in response])


async def imported(api: Api, upload: bytes, ids: str = "keep") -> ApiResponse:
    return await api.send("POST", f"import/?ids={ids}", upload, "application/zip")


def packed(members: Mapping[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def book(*files: dict[str, Any], content: Any = "Look") -> str:
    """A document of one thread with these files, each named by its message."""
    named = [{"type": "file", "file": file["id"], "name": file["name"]} for file in files if "id" in file]
    text = [{"type": "text", "text": content}] if isinstance(content, str) else content
    thread = {"files": files, "messages": [{"role": "user", "content": [*named, *text]}]}
    return json.dumps({"format": "openbook/1", "threads": [thread]})


async def everything(api: Api) -> dict[str, Any]:
    """What there is of threads and files, but for times of reading."""
    told: dict[str, Any] = {}
    for thread in (await api.get("threads/")).body["results"]:
        rows = (await api.get(f"threads/{thread['id']}/messages/")).body["results"]
        keys = ("id", "position", "role", "content", "text", "status", "created_at")
        told[thread["id"]] = [{key: row[key] for key in keys} for row in rows]
    for file in (await api.get("files/")).body["results"]:
        parts = (await api.get(f"files/{file['id']}/parts/")).body["results"]
        texts = [(await api.get(f"files/{file['id']}/parts/{part['number']}/")).body["text"] for part in parts]
        content = await downloaded(api, f"files/{file['id']}/content/")
        told[file["id"]] = (file, parts, texts, hashlib.sha256(content).hexdigest())
    return told


async def given() -> list[Any]:
    rows = TurnFile.objects.order_by("thread", "position", "place")
    return [each async for each in rows.values_list("thread", "position", "place", "file", "numbers", "outlined")]


def read_all() -> None:
    for id in File.objects.filter(state=File.State.READING).values_list("id", flat=True):
        progress.read_file(id)


def delete_all() -> None:
    for thread in Thread.objects.all():
        deletion.delete_thread(thread)


@pytest.mark.wide
async def test_a_zip_brings_the_same_threads_and_files_into_an_empty_installation(
    user: User, other_user: User, api: Api, others_api: Api, model: ModelServer
) -> None:
    files = [await upload(api, name, (SAMPLES / name).read_bytes()) for name in NAMES]
    first = await api.post("threads/new/messages/", {"content": "What do they say?", "files": files})
    thread = first.body["thread"]
    notes = await upload(api, "notes: ferry?.md", NOTES)
    second = await api.post(f"threads/{thread}/messages/", {"content": "And this?", "files": [notes]})
    assert (first.status, second.status) == (201, 201)
    before, standing = await everything(api), await given()
    assert len(standing) >= 4
    whole, alone = await downloaded(api, "export/?as=zip"), await downloaded(api, f"threads/{thread}/export/")
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [
            "conversations.json",
            *(f"files/{id}-{name}" for id, name in zip([*files, notes], [*NAMES, "notes- ferry-.md"], strict=True)),
        ]
    await api.post(f"threads/{thread}/messages/", {"content": "What are the costs?"})
    asked = model.bodies[-1]["messages"]

    for export in (whole, alone):
        await in_database(delete_all)()
        assert (await File.objects.acount(), await given()) == (0, [])
        answer = await imported(others_api, export)
        assert (answer.status, answer.body["files"], answer.body.get("files_refused")) == (201, 4, None), answer.body
        assert await BytesToRemove.objects.filter(place__in=File.objects.values("place")).acount() == 0
        assert await File.objects.filter(user=other_user, state="reading").acount() == 4
        await in_database(read_all)()
        assert await everything(others_api) == before
        assert await given() == standing
    await others_api.post(f"threads/{thread}/messages/", {"content": "What are the costs?"})
    assert model.bodies[-1]["messages"] == asked


async def test_copies_have_ids_of_their_own(user: User, api: Api, model: ModelServer) -> None:
    id = await upload(api, "notes.md", NOTES)
    sent = await api.post("threads/new/messages/", {"content": "What does it say?", "files": [id]})
    export = await downloaded(api, "export/?as=zip")
    assert (await imported(api, export)).body["known"] == {"threads": 1}
    assert await File.objects.acount() == 1
    answer = await imported(api, export, ids="new")
    (copy,) = [each["id"] for each in answer.body["threads"]]
    (file,) = [str(each.id) async for each in File.objects.filter(thread=copy)]
    assert file != id
    turn = (await api.get(f"threads/{copy}/messages/")).body["results"][0]
    assert turn["content"][0] == {"type": "file", "file": file, "name": "notes.md"}
    assert await TurnFile.objects.filter(file_id=file).values_list("numbers", "outlined").aget() == ([1], False)
    assert await downloaded(api, f"files/{file}/content/") == NOTES
    assert copy != sent.body["thread"]


async def test_what_a_model_read_and_cited_names_the_files_that_came_along(
    user: User, api: Api, model: ModelServer
) -> None:
    file = await in_database(make_report)(user, pages(60, p9="Ann paid. "))
    words = "Ann [report.pdf, section 9]."
    model.script(scripts.tool_use("read_file", {"file": "report.pdf", "parts": "9-10"}), scripts.text(words))
    answer = await send(api, "How many orchids are in the greenhouse?", file)
    asked = answer.body["assistant_message"]
    assert asked["citations"]
    answer = await imported(api, await downloaded(api, "export/?as=zip"), ids="new")
    (copy,) = [each["id"] for each in answer.body["threads"]]
    here = str((await File.objects.aget(thread=copy)).id)
    turn = (await api.get(f"threads/{copy}/messages/")).body["results"][1]
    assert turn["citations"] == [{**each, "file": here} for each in asked["citations"]]
    assert turn["content"] == json.loads(json.dumps(asked["content"]).replace(str(file.id), here))
    assert here in json.dumps(turn["content"])


async def test_the_json_form_tells_of_files_and_says_that_their_bytes_are_not_there(
    user: User, api: Api, others_api: Api, model: ModelServer
) -> None:
    id = await upload(api, "notes.md", NOTES)
    await api.post("threads/new/messages/", {"content": "What does it say?", "files": [id]})
    export = await downloaded(api, "export/")
    (thread,) = json.loads(export)["threads"]
    (file,) = thread["files"]
    assert file.pop("created_at")
    assert file == {
        "id": id,
        "name": "notes.md",
        "kind": "text",
        "media_type": "text/markdown",
        "bytes": len(NOTES),
        "sha256": hashlib.sha256(NOTES).hexdigest(),
        "path": None,
    }
    assert thread["messages"][0]["files"] == [{"file": id, "parts": "1", "outlined": False}]
    answer = await imported(others_api, export, ids="new")
    assert {name: answer.body[name] for name in answer.body if name.startswith("files")} == {
        "files_left_out": 1,
        "files_refused": [
            {
                "name": "notes.md",
                "place": "threads[0].files[0]",
                "code": "missing",
                "message": "The import does not hold its bytes.",
            }
        ],
    }
    copy = answer.body["threads"][0]["id"]
    turn = (await others_api.get(f"threads/{copy}/messages/")).body["results"][0]
    assert turn["text"] == "[attached: notes.md – it is not here]\n\nWhat does it say?"
    assert (await api.get("export/?as=xml")).code == (400, "invalid_request", "invalid_message")


def as_member(content: bytes, name: str = "notes.md", **values: Any) -> tuple[dict[str, bytes | str], dict[str, Any]]:
    file = {"id": str(FILE), "name": name, "path": "files/1"} | values
    return {"conversations.json": book(file), "files/1": content}, file


def member(content: bytes, name: str = "notes.md", method: int = zipfile.ZIP_DEFLATED, **values: Any) -> bytes:
    return packed(as_member(content, name, **values)[0], method)


def second_entry(archive: bytes) -> int:
    first = archive.index(b"PK\x01\x02")
    return archive.index(b"PK\x01\x02", first + 4)


def with_flag(archive: bytes, flag: int) -> bytes:
    flagged = bytearray(archive)
    flagged[second_entry(archive) + 8] |= flag
    return bytes(flagged)


def overlapping(archive: bytes) -> bytes:
    """The second member begins where the first does."""
    moved, entry = bytearray(archive), second_entry(archive)
    moved[entry + 42 : entry + 46] = bytes(4)
    return bytes(moved)


def changed(archive: bytes) -> bytes:
    """The bytes of the second member are others than its checksum tells."""
    other = bytearray(archive)
    other[archive.rindex(b"ferry")] ^= 1
    return bytes(other)


def unusual(archive: bytes) -> bytes:
    file = io.BytesIO(archive)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_LZMA) as appended:
        appended.writestr("files/2", NOTES)
    return file.getvalue()


TWINS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "not there": ("missing", lambda: member(NOTES, path="files/2")),
    "no path": ("missing", lambda: member(NOTES, path=None)),
    "outside": ("missing", lambda: member(NOTES, path="../../conversations.json")),
    "archive": ("unknown_type", lambda: member(packed({"a.txt": b"words"}), "a.zip")),
    "bomb": ("file_too_large", lambda: member(b"words " * 400_000)),
    "program": ("unknown_type", lambda: member(b"\x7fELF\x02\x01\x01" + bytes(400), "report.pdf")),
    "locked document": ("encrypted", lambda: member((SAMPLES / "locked.docx").read_bytes(), "report.docx")),
    "other bytes": ("damaged", lambda: member(NOTES, sha256="0" * 64)),
    "empty": ("empty", lambda: member(b" \n")),
    "encrypted": ("encrypted", lambda: with_flag(member(NOTES), 1)),
    "overlapping": ("damaged", lambda: overlapping(member(NOTES))),
    "changed": ("damaged", lambda: changed(member(NOTES * 9_000, method=zipfile.ZIP_STORED))),
    "unusual": ("damaged", lambda: unusual(member(NOTES, path="files/2"))),
}
"""ZIP files with one file that can't be taken, and why."""


@pytest.mark.parametrize("name", TWINS)
async def test_a_file_that_cannot_be_taken_costs_itself_only_and_is_told(
    user: User, api: Api, settings: Settings, name: str
) -> None:
    settings.OPENBOOK_MAX_FILE_MB = 1
    code, archive = TWINS[name]
    answer = await imported(api, archive())
    assert answer.status == 201, answer.body
    (refused,) = answer.body["files_refused"]
    assert (refused["code"], refused["place"]) == (code, "threads[0].files[0]")
    assert refused["message"]
    turn = (await api.get(f"threads/{answer.body['threads'][0]['id']}/messages/")).body["results"][0]
    assert turn["text"].endswith(" – it is not here]\n\nLook")
    assert await nothing_is_kept()


async def nothing_is_kept() -> bool:
    return (await File.objects.acount(), await FilePart.objects.acount(), stored()) == (0, 0, {})


def chatgpt(*messages: tuple[str, Any, dict[str, Any]]) -> bytes:
    """A conversation whose messages follow one another."""
    mapping: dict[str, Any] = {"root": {"message": None, "parent": None}}
    parent = "root"
    for number, (role, content, metadata) in enumerate(messages):
        message = {"id": f"m{number}", "author": {"role": role}, "content": content, "metadata": metadata}
        mapping[f"m{number}"] = {"message": message, "parent": parent}
        parent = f"m{number}"
    return json.dumps([{"conversation_id": str(FILE), "mapping": mapping, "current_node": parent}]).encode()


def shown(pointer: str, **metadata: Any) -> dict[str, Any]:
    return {"content_type": "image_asset_pointer", "asset_pointer": pointer, "metadata": metadata}


def multimodal(*parts: Any) -> dict[str, Any]:
    return {"content_type": "multimodal_text", "parts": list(parts)}


async def test_a_zip_of_chatgpt_brings_its_pictures_and_attachments(user: User, api: Api, model: ModelServer) -> None:
    photo, scan = (SAMPLES / "photo.png").read_bytes(), (SAMPLES / "scan.pdf").read_bytes()
    painted = (SAMPLES / "photo.webp").read_bytes()
    attached = {"attachments": [{"id": "file-Pdf1", "name": "scan.pdf"}, {"id": "file-Gone", "name": "gone.docx"}]}
    conversation = chatgpt(
        ("user", multimodal(shown("file-service://file-AbC"), shown("sediment://file_00ab#p_0"), "Look"), attached),
        ("assistant", {"content_type": "text", "parts": ["I see."]}, {}),
        ("user", multimodal("Draw it", shown("sediment://file_00lost")), {}),
        ("tool", multimodal(shown("file-service://file-Dall", dalle={"prompt": "a dinghy"})), {}),
    )
    members = {
        "conversations.json": conversation,
        "file-AbC-boat.png": photo,
        "user-1/file_00ab-sanitized.png": photo,
        "file-Pdf1-scan.pdf": scan,
        "dalle-generations/file-Dall-0b7f.webp": painted,
        "file-AbCD-other.png": b"of nobody",
        "chat.html": b"<html>",
    }
    answer = await imported(api, packed(members))
    assert (answer.status, answer.body["files"]) == (201, 4), answer.body
    assert [(each["name"], each["code"]) for each in answer.body["files_refused"]] == [
        ("gone.docx", "missing"),
        ("file", "missing"),
    ]
    thread = answer.body["threads"][0]["id"]
    await in_database(read_all)()
    by_name = {file["name"]: file for file in (await api.get("files/")).body["results"]}
    assert {name: (file["kind"], file["status"]) for name, file in by_name.items()} == {
        "picture.png": ("image", "ready"),
        "scan.pdf": ("pdf", "ready"),
        "picture.webp": ("image", "ready"),
    }
    assert await downloaded(api, f"files/{by_name['scan.pdf']['id']}/content/") == scan
    turns = (await api.get(f"threads/{thread}/messages/")).body["results"]
    names = [[block["name"] for block in turn["content"] if block["type"] == "file"] for turn in turns]
    assert names == [["picture.png", "picture.png", "scan.pdf"], [], [], ["picture.webp"]]
    assert [turn["text"] for turn in turns] == [
        "Look\n\n[attached: gone.docx – it is not here]",
        "I see.",
        "Draw it\n\n[image]",
        "[image: a dinghy]",
    ]
    assert [(row[1], row[4], row[5]) for row in await given()] == [(1, [1], False), (1, [1], False), (1, [], True)]
    sent = await api.post(f"threads/{thread}/messages/", {"content": "And now?"})
    assert sent.status == 201
    kinds = [[block["type"] for block in message["content"]] for message in model.bodies[-1]["messages"]]
    assert kinds[0].count("image") == 2
    assert "scan.pdf" in json.dumps(model.bodies[-1]["messages"][0])
    assert "image" not in kinds[3]


async def test_a_zip_of_claude_brings_what_there_is_of_files(user: User, api: Api, model: ModelServer) -> None:
    uuids = [str(uuid.UUID(int=number)) for number in range(4)]
    message = {
        "uuid": uuids[0],
        "sender": "human",
        "text": "Look",
        "attachments": [
            {"file_name": "harbour.pdf", "extracted_content": "The ferry leaves at nine."},
            {"file_name": "empty.docx", "extracted_content": ""},
        ],
        "files": [{"file_uuid": uuids[1], "file_name": "boat.png"}, {"file_uuid": uuids[2], "file_name": "there.png"}],
        "files_v2": [{"file_uuid": uuids[1], "file_name": "boat.png"}],
    }
    conversations = json.dumps([{"uuid": uuids[3], "chat_messages": [message]}])
    photo = (SAMPLES / "photo.png").read_bytes()
    answer = await imported(api, packed({"conversations.json": conversations, f"files/{uuids[2]}.png": photo}))
    assert [(each["name"], each["code"], each["place"]) for each in answer.body["files_refused"]] == [
        ("empty.docx", "missing", "[0].files[1]"),
        ("boat.png", "missing", "[0].files[2]"),
    ]
    await in_database(read_all)()
    thread = answer.body["threads"][0]["id"]
    (turn,) = (await api.get(f"threads/{thread}/messages/")).body["results"]
    assert [block.get("name") for block in turn["content"]] == [None, "harbour.pdf.txt", None, "there.png"]
    assert turn["text"] == ("Look\n\n[attached: empty.docx – it is not here]\n\n[attached: boat.png – it is not here]")
    await api.post(f"threads/{thread}/messages/", {"content": "When does the ferry leave?"})
    assert "The ferry leaves at nine." in json.dumps(model.bodies[-1]["messages"])


PNG = (SAMPLES / "photo.png").read_bytes()
IN_BASE64 = base64.b64encode(PNG).decode()
URL = f"data:image/png;base64,{IN_BASE64}"


@pytest.mark.parametrize(
    ("block", "name", "text"),
    [
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IN_BASE64}},
            "picture.png",
            "",
        ),
        ({"type": "image_url", "image_url": {"url": URL}}, "picture.png", ""),
        ({"type": "input_image", "image_url": URL}, "picture.png", ""),
        ({"type": "file", "file": {"filename": "boat.png", "file_data": URL}}, "boat.png", ""),
        ({"type": "input_file", "filename": "boat.png", "file_data": URL}, "boat.png", ""),
        ({"type": "text", "text": f"So: ![a boat]({URL}) is it."}, "picture.png", "So:\n\n[image: a boat]\n\nis it."),
    ],
)
async def test_pictures_in_base64_become_files(user: User, api: Api, block: Any, name: str, text: str) -> None:
    answer = await imported(api, book(content=[block, {"type": "text", "text": "What is it?"}]).encode())
    assert (answer.status, answer.body["files"]) == (201, 1), answer.body
    file = await File.objects.aget()
    assert (file.name, file.kind, stored()[f"kept/{file.place}"]) == (name, "image", PNG)
    turn = (await api.get(f"threads/{file.thread_id}/messages/")).body["results"][0]
    assert {"type": "file", "file": str(file.id), "name": name} in turn["content"]
    assert turn["text"].split() == f"{text} What is it?".split()
    assert turn["token_count"] < 100
    assert [row[3:] for row in await given()] == [(file.id, [1], False)]


async def test_what_is_no_picture_in_base64_is_told_and_not_kept_as_prose(user: User, api: Api) -> None:
    blocks = [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4_000}},
        {"type": "image_url", "image_url": {"url": "https://pictures.example/1.png"}},
        {"type": "text", "text": "What is it?"},
    ]
    answer = await imported(api, book(content=blocks).encode())
    assert [(each["code"], each["place"]) for each in answer.body["files_refused"]] == [
        ("unknown_type", "threads[0].messages[0].content")
    ]
    turn = (await api.get(f"threads/{answer.body['threads'][0]['id']}/messages/")).body["results"][0]
    assert [block["type"] for block in turn["content"]] == ["text", "image_url", "text"]
    assert turn["text"] == "[attached: a file – it is not here]\n\nWhat is it?"


async def test_results_of_tools_keep_their_pictures(user: User, api: Api) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IN_BASE64}}
    blocks = [{"type": "tool_result", "tool_use_id": "t", "content": [image]}, {"type": "file", "file": 7}]
    answer = await imported(api, book(content=blocks).encode())
    turn = (await api.get(f"threads/{answer.body['threads'][0]['id']}/messages/")).body["results"][0]
    note = {"type": "text", "text": "[attached: a file – it is not here]"}
    assert (turn["content"], answer.body.get("files")) == ([blocks[0], note], None)


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [("../../etc/passwd", "passwd"), ("a\u202etxt.exe", "atxt.exe"), ("C:\\boot\\notes.md", "notes.md")],
)
async def test_names_lead_nowhere(user: User, api: Api, given_name: str, kept: str) -> None:
    members, _ = as_member(NOTES, given_name, path="../../files/1")
    members["../../files/1"] = members.pop("files/1")
    answer = await imported(api, packed(members))
    assert answer.body["files"] == 1
    file = await File.objects.aget()
    assert (file.name, file.kind) == (kept, "text")
    assert stored() == {f"kept/{file.place}": NOTES}


async def test_files_have_the_room_that_the_person_has(user: User, api: Api) -> None:
    await UserLimits.objects.acreate(user=user, files_mb=1)
    files = [{"id": str(uuid.UUID(int=number)), "name": f"{number}.txt", "path": f"{number}"} for number in range(3)]
    members = {f"{number}": b"word " * 80_000 for number in range(3)} | {"conversations.json": book(*files)}
    answer = await imported(api, packed(members))
    assert (answer.body["files"], answer.body["files_left_out"]) == (2, 1)
    assert [(each["name"], each["code"]) for each in answer.body["files_refused"]] == [("2.txt", "files_full")]
    assert await File.objects.acount() == 2


async def test_all_that_is_unpacked_of_one_import_is_bounded(user: User, api: Api, settings: Settings) -> None:
    settings.OPENBOOK_MAX_IMPORT_ZIP_MB = 1
    files = [{"id": str(uuid.UUID(int=number)), "name": f"{number}.txt", "path": f"{number}"} for number in range(3)]
    members = {f"{number}": b"word " * 80_000 for number in range(3)} | {"conversations.json": book(*files)}
    answer = await imported(api, packed(members))
    assert [(each["name"], each["code"]) for each in answer.body["files_refused"]] == [("2.txt", "import_too_large")]


@pytest.mark.parametrize("fails", ["format", "twice", "storage"])
async def test_an_import_that_fails_leaves_no_bytes(
    user: User, api: Api, settings: Settings, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    members, file = as_member(NOTES)
    if fails == "format":
        members["conversations.json"] = book(file, content=[{"type": "text", "text": 7}])
    if fails == "twice":
        members["conversations.json"] = book(file, file)
    if fails == "storage":
        settings.OPENBOOK_FILES_DIR.mkdir(parents=True, exist_ok=True)
        (settings.OPENBOOK_FILES_DIR / "scratch").write_bytes(b"no folder")
    answer = await imported(api, packed(members))
    assert answer.code[::2] == ((503, "storage_away") if fails == "storage" else (400, "invalid_import"))
    if fails == "storage":
        return
    await in_database(storage.remove_due)((await BytesToRemove.objects.alatest("due_at")).due_at)
    assert await nothing_is_kept()
    assert await Thread.objects.acount() == 0


async def test_what_was_imported_is_read_after_what_somebody_waits_for(user: User, api: Api) -> None:
    await imported(api, packed(as_member(NOTES)[0]))
    await api.send("POST", "files/", form(NOTES, "later.md"), FORM)

    def waiting() -> list[str]:
        tasks = DBTaskResult.objects.filter(queue_name="files").ready()
        return [File.objects.get(id=task.args_kwargs["args"][0]).name for task in tasks]

    assert await in_database(waiting)() == ["later.md", "notes.md"]


async def test_an_import_tells_how_many_files_it_has_kept(user: User, api: Api) -> None:
    answer = await api.send("POST", "import/?progress=true", packed(as_member(NOTES)[0]))
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert [line.get("files") for line in lines] == [None, 1, 1, 1]
    assert [line["type"] for line in lines] == ["progress", "progress", "progress", "done"]

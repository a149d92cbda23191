"""Programs that models write: what they may do, what they may not, and what becomes of what they make."""

import json
from pathlib import Path

import pytest
from django.conf import settings as server
from django.contrib.auth.models import User
from pytest_django import Settings

from conversations import replies
from conversations.files import storage
from conversations.models import Assistant, File, Message, Quotation
from conversations.runtime.db import in_database
from conversations.threads import deletion
from conversations.tools import programs, registered
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.conversations.rest.test_messages_with_files import make_report, pages
from tests.model_server import ModelServer

BOMB = "import os\nfor _ in range(50):\n    os.fork()"
THREADS = (
    "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
)
NETWORK = "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1/')"
DISK = "n = 0\nwhile True:\n    open(f'{n}', 'wb').write(b'x' * 2**22)\n    n += 1"
ENTRIES = "n = 0\nwhile True:\n    open(f'{n}', 'w')\n    n += 1"

MEASURE = """
size = len(open('Report.pdf', 'rb').read())
open('size.csv', 'w').write(f'bytes,{size}')
open('x.bin', 'wb').write(bytes(99))
print('done')
"""


@pytest.mark.wide
@pytest.mark.parametrize(
    ("program", "told"),
    [
        (NETWORK, "Operation not permitted"),
        ("import socket; socket.socket(socket.AF_UNIX)", "Operation not permitted"),
        (BOMB, "Operation not permitted"),
        (THREADS, "can't start new thread"),
        ("import subprocess; subprocess.run(['id'])", "PermissionError"),
        ("import os, signal; os.kill(os.getppid(), signal.SIGKILL)", "Operation not permitted"),
        ("open('/etc/passwd')", "Permission denied"),
        ("import os; os.listdir({data!r})", "Permission denied"),
        ("open({settings!r})", "Permission denied"),
        ("open('/proc/self/environ')", "Permission denied"),
        ("import os; os.link({settings!r}, 'mine'); print('linked')", "cross-device link"),
        ("import os; os.symlink('/etc/passwd', 'mine')", "Permission denied"),
        ("import os; os.mkdir('below')", "Permission denied"),
        ("x = bytearray(2**30)", "MemoryError"),
        ("print('y' * 10**8)", "99,984,001 characters of what was printed are left out here"),
        ("print('é' * 10**6, end='')", "984,000 characters of what was printed are left out here"),
        (
            "import os; print(sorted(os.environ))",
            "['HOME', 'LC_CTYPE', 'OPENBLAS_NUM_THREADS', 'PYTHONUTF8', 'TMPDIR']",
        ),
        ("open('big', 'wb').write(b'x' * 2**25)", "File too large"),
    ],
)
async def test_a_program_that_means_harm_is_refused(program: str, told: str, tmp_path: Path) -> None:
    places = {"data": str(server.LOCAL_DIR), "settings": str(server.BASE_DIR / "config/settings.py")}
    for name, place in places.items():
        program = program.replace(f"{{{name}!r}}", repr(place))
    ran = await programs.run(program, tmp_path)
    assert told in ran.printed, ran
    assert len(ran.printed) < programs.MOST_PRINTED + 100
    assert not [file for file in ran.files if file.name != "big"]


@pytest.mark.wide
@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("while True: pass", "more than 1 s of processor time"),
        ("import time; time.sleep(60)", "longer than 1.5 s"),
        ("import time\nwhile True: print('x' * 1000); time.sleep(0.001)", "longer than 1.5 s"),
        (DISK, "wrote more than"),
        (ENTRIES, "wrote more than"),
    ],
)
async def test_a_program_without_an_end_is_ended(
    program: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "CPU_SECONDS", 1)
    monkeypatch.setattr(programs, "SECONDS", 30.0 if "wrote" in problem or "processor" in problem else 1.5)
    ran = await programs.run(program, tmp_path)
    assert problem in ran.problem, ran


async def test_what_it_made_or_changed_is_kept(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n1,2\n")
    (tmp_path / "same.csv").write_text("same")
    program = (
        "import numpy, xlsxwriter, tempfile\nfrom PIL import Image\n"
        "tempfile.NamedTemporaryFile(delete=False).close()\n"
        "open('in.csv', 'a').write('3,4'); Image.new('RGB', (9, 9)).save('dot.png')\n"
        "print(numpy.arange(3).sum()); 1 / 0"
    )
    ran = await programs.run(program, tmp_path)
    assert [file.name for file in ran.files] == ["dot.png", "in.csv"]
    assert ran.printed.startswith("3\nTraceback") and "program_child" not in ran.printed and ran.status == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
async def test_files_go_in_and_come_out_below_the_reply(user: User, model: ModelServer, settings: Settings) -> None:
    settings.OPENBOOK_RUN_PYTHON = 1
    settings.TOOLS = [*settings.TOOLS, "conversations.tools.run_python.TOOL"]
    registered.cache_clear()
    try:
        assistant = await Assistant.objects.aget(slug="analyst")
        assistant.tools = [*assistant.tools, "run_python"]
        await assistant.asave()
        thread = await in_database(make_thread)(user, assistant=assistant)
        report = await in_database(make_report)(user, pages(2))
        await File.objects.filter(id=report.id).aupdate(thread=thread)
        wanted = {"program": MEASURE, "files": ["Report.pdf"]}
        model.script(scripts.tool_use("run_python", {"program": "1", "files": ["other.pdf"]}, tool_id="toolu_1"))
        model.script(scripts.tool_use("run_python", wanted, tool_id="toolu_2"), scripts.text("There it is."))
        opened = await replies.start(user=user, thread_id=thread.id, content="How large?")
        async for _ in replies.follow(opened.reply.id):
            pass
        answer = await Message.objects.aget(reply=opened.reply)
        told = [block["content"] for block in answer.blocks if block["type"] == "tool_result"]
        assert "no file “other.pdf”" in told[0] and "“report.pdf”" in told[0]
        assert "It made" in told[1] and "done" in told[1] and "Not kept: " in told[1]
        assert answer.blocks[-2:] == [
            {"type": "text", "text": "There it is."},
            {"type": "file", "file": answer.blocks[-1]["file"], "name": "size.csv"},
        ]
        made = await File.objects.aget(name="size.csv")
        assert (made.user_id, made.thread_id) == (user.pk, thread.id)
        with storage.open_bytes(made.place) as kept:
            assert kept.read() == b"bytes,%d" % report.size
        assert await Quotation.objects.filter(reply_id=opened.reply.id, source=report.id).aexists()

        model.script(scripts.text("Yes."))
        opened = await replies.start(user=user, thread_id=thread.id, content="Sure?")
        async for _ in replies.follow(opened.reply.id):
            pass
        assert "size.csv" in json.dumps(model.bodies[-1]["messages"])

        await in_database(deletion.delete_file)(report)  # its size goes with it
        await answer.arefresh_from_db()
        assert answer.text == "[forgotten]" and not await File.objects.filter(name="size.csv").aexists()
    finally:
        registered.cache_clear()


async def test_no_program_runs_where_it_cannot_be_shut_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "CHILD", "tests.conversations.tools.unconfined_child")
    with pytest.raises(programs.NotConfined):
        await programs.run("open('ran', 'w')", tmp_path)
    assert not (tmp_path / "ran").exists()

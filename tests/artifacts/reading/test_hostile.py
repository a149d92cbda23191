"""What is meant to harm costs itself only, and says why in words."""

import shutil
import socket
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from artifacts.reading.kinds import FileType, Kind
from artifacts.reading.problems import FileProblem
from artifacts.reading.process import Limits, page_pictures, read
from tests.artifacts.reading import hostile
from tests.artifacts.reading.helpers import SAMPLES, read_file
from tests.processes import ROOT

REFUSED = [
    (hostile.zip_bomb, "too_large", "unpacks to far more"),
    (hostile.sheet_bomb, "too_large", "unpacks to far more"),
    (hostile.laughs, "damaged", "amplification"),
    (hostile.entity_of_a_file, "damaged", "undefined entity"),
    (hostile.encrypted_text, "encrypted", "password"),
    (hostile.png_bomb, "too_large", "40000 × 40000 pixels"),
]
READ = [
    (hostile.sheet_of_two_corners, "| x |  |\n| --- | --- |\n|  | x |"),
    (hostile.repeated_cells, "Mooring in Zürich"),
    (hostile.html_of_many_levels, "found"),
    (hostile.mail_of_many_levels, "found"),
    (hostile.mail_of_many_parts, "found"),
    (hostile.mail_of_many_headers, "found"),
    (hostile.mail_of_false_boundaries, "found"),
    (hostile.mail_packed_in_mail, "Enclosed message: x"),
    (hostile.pdf_of_circles, "(This page is empty.)"),
    (hostile.pdf_with_many_bookmarks, "(This page is empty.)"),
]
BINARY = sorted(file.name for file in SAMPLES.iterdir() if file.suffix not in {".md", ".fodt", ".fods", ".html"})
MADE_OF_TEXT = {"damaged", "empty", "failed", "unknown_type", "encrypted", ""}


@pytest.mark.once("laughs-*", "encrypted_text-*")
@pytest.mark.parametrize(("make", "code", "words"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_file_that_harms_is_refused_in_words(
    make: Callable[[Path], Path], code: str, words: str, tmp_path: Path
) -> None:
    outcome = read_file(make(tmp_path), tmp_path)
    assert outcome.problem == code
    assert words in outcome.message
    assert outcome.parts == []


@pytest.mark.once("repeated_cells-*", "pdf_of_circles-*")
@pytest.mark.parametrize(("make", "words"), READ, ids=lambda value: getattr(value, "__name__", ""))
def test_a_file_that_would_go_on_for_ever_is_read_once(
    make: Callable[[Path], Path], words: str, tmp_path: Path
) -> None:
    outcome = read_file(make(tmp_path), tmp_path)
    assert (outcome.problem, words in outcome.text) == ("", True)
    assert len(outcome.parts) < 5


@pytest.mark.once("*-report.docx", "*-budget.xlsx", "*-report.pdf")
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("harm", [hostile.truncated, hostile.scrambled])
def test_a_damaged_file_ends_in_parts_or_in_words(harm: Callable[[str, Path], Path], name: str, tmp_path: Path) -> None:
    outcome = read_file(harm(name, tmp_path), tmp_path)
    assert outcome.problem in MADE_OF_TEXT
    assert outcome.parts or outcome.message


def test_an_encrypted_pdf_says_so(tmp_path: Path) -> None:
    outcome = read_file(SAMPLES / "locked.pdf", tmp_path)
    assert (outcome.problem, outcome.parts) == ("encrypted", [])


def test_deep_nesting_does_not_end_the_reading_of_the_rest(tmp_path: Path) -> None:
    outcome = read_file(hostile.deep_tables(tmp_path), tmp_path)
    assert "Without tax" in outcome.text


def test_of_too_many_pages_the_first_are_read_and_that_is_said(tmp_path: Path) -> None:
    outcome = read_file(hostile.pdf_of_many_pages(tmp_path), tmp_path, Limits(parts=20))
    assert (outcome.total, len(outcome.parts), outcome.problem) == (100_000, 20, "too_many_parts")
    assert outcome.message == "The file is too long: its first 20 parts were read, up to page 20."


def test_of_too_much_text_the_beginning_is_read_and_that_is_said(tmp_path: Path) -> None:
    outcome = read_file(hostile.json_of_one_line(tmp_path), tmp_path, Limits(text_bytes=100_000))
    assert (outcome.problem, len(outcome.parts)) == ("too_large", 15)
    assert "it was read up to line 1 (15)" in outcome.message


@pytest.mark.wide
def test_rows_after_an_open_quote_are_read(tmp_path: Path) -> None:
    outcome = read_file(hostile.csv_of_an_open_quote(tmp_path), tmp_path)
    assert outcome.text.startswith('| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n| 5 | "open |\n| open |')
    assert outcome.text.count("open |") == hostile.OPEN_ROWS
    assert outcome.text.endswith("(A quotation mark is never closed in row 4: it was read as an ordinary character.)")
    assert outcome.problem == ""


def test_a_giant_page_is_drawn_no_larger_than_others(tmp_path: Path) -> None:
    [part] = read_file(hostile.pdf_of_a_giant_page(tmp_path), tmp_path).parts
    assert (part.width, part.height) == (1_568, 1_568)


def test_pictures_have_a_limit_together(tmp_path: Path) -> None:
    outcome = read_file(SAMPLES / "scan.pdf", tmp_path, Limits(picture_bytes=10))
    assert outcome.problem == "too_large"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limits", [Limits(seconds=0.2), Limits(cpu_seconds=1)])
def test_time_is_bounded(limits: Limits, tmp_path: Path) -> None:
    rows = tmp_path / "long.csv"
    rows.write_text("a,b\n" + "1,2\n" * 10_000_000)
    outcome = read_file(rows, tmp_path, limits)
    assert outcome.problem == "too_long"


def test_memory_is_bounded(tmp_path: Path) -> None:
    outcome = read_file(hostile.zip_bomb(tmp_path, megabytes=300), tmp_path, Limits(memory_bytes=256 * 2**20))
    assert (outcome.problem, outcome.parts) == ("too_much_memory", [])


def test_a_book_leads_nowhere_but_into_itself(tmp_path: Path) -> None:
    outcome = read_file(hostile.book_without_a_chapter(tmp_path), tmp_path)
    assert (outcome.problem, outcome.labels) == ("", ['section "Section 1"', 'section "Outlook"'])
    assert "damaged: chapter × 1" in outcome.left_out


@pytest.mark.wide
def test_a_type_that_is_not_the_files_own_does_no_harm(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "photo.png", tmp_path / "a")
    for kind in Kind:
        with closing(read(tmp_path / "a", FileType(kind, "", "x"), folder=tmp_path, limits=Limits())) as parts:
            try:
                found = list(parts)
            except FileProblem as problem:
                assert problem.message
            else:
                assert found


def test_macros_are_not_looked_at(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "report.docx", tmp_path / "a.docm")
    with zipfile.ZipFile(tmp_path / "a.docm", "a") as archive:
        archive.writestr("word/vbaProject.bin", b"Sub AutoOpen()")
    outcome = read_file(tmp_path / "a.docm", tmp_path)
    assert "AutoOpen" not in outcome.text
    assert outcome.labels[1] == 'section "Costs"'


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def outward(address: str, folder: Path) -> Iterator[Path]:
    """Files that lead elsewhere: as pages, pictures, templates, entities, links."""
    page = folder / "page.html"
    page.write_text(
        f"<!doctype html><base href='{address}'><link rel=stylesheet href='{address}/a.css'>"
        f"<script src='{address}/a.js'></script>"
        f"<h1>Here</h1><img src='{address}/a.png'><iframe src='{address}'></iframe><svg><image href='{address}/b.png'/></svg>"
    )
    yield page
    mail = folder / "mail.eml"
    mail.write_text(f"From: a@b\nSubject: Here\nContent-Type: text/html\n\n{page.read_text()}")
    yield mail
    entity = f'<!DOCTYPE x SYSTEM "{address}/x.dtd" [<!ENTITY % e SYSTEM "{address}/e.dtd"> %e;]>'
    inside = hostile.body("<w:p><w:r><w:t>Here</w:t></w:r></w:p>", entity)
    yield hostile.rewritten("report.docx", folder / "entity.docx", {"word/document.xml": inside})
    yield hostile.rewritten(
        "report.docx",
        folder / "template.docx",
        {
            "word/_rels/document.xml.rels": lambda content: content.replace(
                b"</Relationships>",
                b'<Relationship Id="t" TargetMode="External" Target="%s/t.dotm" Type='
                b'"http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate"/></Relationships>'
                % address.encode(),
            )
        },
    )
    objects = [
        f"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/URI/URI({address})>>>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/AA<</O<</S/SubmitForm/F({address})>>>>>>",
    ]
    yield hostile.pdf(objects, folder / "open.pdf")


def test_nothing_is_reached_by_what_a_file_leads_to(listener: socket.socket, tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    outcomes = [read_file(file, tmp_path) for file in outward(address, tmp_path)]
    assert all("Here" in outcome.text for outcome in outcomes[:3])
    assert [outcome.problem for outcome in outcomes] == [""] * 5
    with pytest.raises(BlockingIOError):
        listener.accept()


ESCAPES = """
import os, resource, signal, socket, subprocess, sys, threading
from pathlib import Path
folder = Path(sys.argv[4])
from conversations.runtime import confinement
assert confinement.cut_off()
(folder / "own.txt").write_text("before")
assert confinement.keep_to_files(readable=[Path("conversations")], writable=folder)
(folder / "own.txt").write_text((folder / "own.txt").read_text() + "after")
threading.Thread(target=lambda: None).start()
secret, page = sys.argv[3], "conversations/__init__.py"
ways = [
    lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1]))),
    lambda: socket.socket(socket.AF_UNIX).connect(sys.argv[2]),
    lambda: socket.socketpair(),
    lambda: subprocess.run([sys.executable, "-c", ""]),
    lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
    lambda: open(sys.argv[3]),
    lambda: open("manage.py"),
    lambda: open("conversations/runtime/made.txt", "w"),
    lambda: os.listdir("/"),
    lambda: os.rename(secret, folder / "taken"),
    lambda: os.unlink(secret),
    *(
        lambda path=path, way=way: way(path)
        for path in (secret, page)
        for way in (
            lambda path: os.truncate(path, 0),
            lambda path: os.close(os.open(path, os.O_RDONLY | os.O_TRUNC)),
            lambda path: os.chmod(path, 0o777),
            lambda path: os.chown(path, os.getuid(), os.getgid()),
            lambda path: os.utime(path, (1, 1)),
            lambda path: os.setxattr(path, "user.mark", b"x"),
        )
    ),
    lambda: os.fchmod(os.open(page, os.O_RDONLY), 0o777),
    lambda: os.kill(os.getppid(), 0),
    lambda: os.kill(-1, 0),
    lambda: signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 0),
    os.fork,
    lambda: os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}),
    lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
    lambda: os.sched_setaffinity(os.getppid(), {0}),
    lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (9, 9)),
    lambda: os.unshare(os.CLONE_NEWUSER),
]
for way in ways:
    try:
        way()
    except OSError as error:
        print(error.errno)
"""


def test_code_that_ran_in_the_child_could_reach_nothing(listener: socket.socket, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "local"))
        local.listen()
        port = str(listener.getsockname()[1])
        (tmp_path / "secret").write_text("secret")
        mode = stat.S_IMODE((tmp_path / "secret").stat().st_mode)
        (tmp_path / "own").mkdir()
        command = [sys.executable, "-c", ESCAPES, port, *(str(tmp_path / name) for name in ("local", "secret", "own"))]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        kept = (tmp_path / "secret").stat().st_mode, (tmp_path / "secret").read_text()
    assert (done.stdout.split()[:9], done.stderr) == (["1"] * 5 + ["13"] * 4, "")
    assert {*done.stdout.split()[9:]} <= {"1", "13", "18"} and len(done.stdout.split()) == 9 + 2 + 12 + 10
    assert kept == (stat.S_IFREG | mode, "secret")
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_the_process_that_reads_knows_nothing_of_django_and_no_secrets() -> None:
    code = (
        "import importlib, sys; from artifacts.reading import child, readers\n"
        "for name in [*readers.READERS.values(), readers.OPEN_DOCUMENT]:\n"
        "    importlib.import_module(f'artifacts.reading.{name}')\n"
        "print([name for name in sys.modules if name.split('.')[0] in {'django', 'config'}])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={}, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_page_of_what_is_damaged_is_not_drawn(tmp_path: Path) -> None:
    file = hostile.truncated("photo.png", tmp_path)
    with pytest.raises(FileProblem) as refused:
        list(page_pictures(file, FileType(Kind.PDF, "", "pdf"), [1], folder=tmp_path, limits=Limits()))
    assert refused.value.code == "damaged"
